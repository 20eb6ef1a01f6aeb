"""Sentence spans, picked sentences, terms and quotes; properties over any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filesystem import pick_sentences, split_sentences, terms
from filesystem.corpus.chunks import chunk
from filesystem.corpus.extracted import Extracted
from filesystem.corpus.quotes import find_verbatim

TEXTS = st.text(
    st.one_of(
        st.sampled_from("ab Z.9!?。！|#-*\n\t\r\u2028\x85\u3000\x1c'\"中文กา́"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=400,
)


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@given(TEXTS)
def test_spans_are_ordered_apart_and_trimmed(text: str) -> None:
    previous = 0
    for start, end in split_sentences(text):
        assert previous <= start < end <= len(text)
        sentence = text[start:end]
        assert sentence == sentence.strip()
        assert any(character.isalnum() for character in sentence)
        assert len(sentence) <= 1_000
        previous = end


@given(TEXTS)
def test_spans_cover_every_letter_and_digit(text: str) -> None:
    covered = {at for start, end in split_sentences(text) for at in range(start, end)}
    assert all(at in covered for at, character in enumerate(text) if character.isalnum())


@given(TEXTS, st.integers(1, 40))
def test_pieces_tile_the_text(text: str, times: int) -> None:
    whole = f"{text}\n\n" * times
    assert "".join(each.piece for each in chunk(Extracted(whole))) == whole


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Who met J. Smith. He left.", ["Dr. Who met J. Smith.", "He left."]),
        (
            "It rose 4.5 % vs. 3 %. Why? See e.g. Fig. 3.",
            ["It rose 4.5 % vs. 3 %.", "Why?", "See e.g. Fig. 3."],
        ),
        ("一つ目です。二つ目です！", ["一つ目です。", "二つ目です！"]),
        ("هل هذا صحيح؟ نعم.", ["هل هذا صحيح؟", "نعم."]),
        ("यह एक है। यह दो है।", ["यह एक है।", "यह दो है।"]),
        ("# Head\nText goes\non here.", ["# Head", "Text goes\non here."]),
        ("- one\n- two\n  more\n\n1. three", ["- one", "- two\n  more", "1. three"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", ["| a | b |", "| 1 | 2 |"]),
        ("Name\n=====\nText.\n---\nMore.", ["Name", "Text.", "More."]),
        ('He said "Go." Then left.', ['He said "Go."', "Then left."]),
    ],
)
def test_boundaries(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_picks_what_answers_and_never_a_heading() -> None:
    texts = [
        "The office has plants.\n\n# Funding history\n\n| Series C | Oct 2025 | $85M |",
        "Lunch is at noon. The cantina serves soup.",
    ]
    picked = pick_sentences("funding rounds", texts, 1)
    assert [(pick.text_index, pick.sentence) for pick in picked] == [
        (0, "| Series C | Oct 2025 | $85M |")
    ]


@given(st.lists(TEXTS, max_size=4), TEXTS, st.integers(0, 5))
def test_picked_sentences_are_verbatim(texts: list[str], query: str, limit: int) -> None:
    picked = pick_sentences(query, texts, limit)
    assert len(picked) <= limit
    assert [pick.score for pick in picked] == sorted((p.score for p in picked), reverse=True)
    for pick in picked:
        assert texts[pick.text_index][pick.start : pick.end] == pick.sentence


def test_repeated_sentences_are_picked_once() -> None:
    assert len(pick_sentences("noon", ["Lunch is at noon.", "Lunch is at noon."], 5)) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Verträge Häuser", "Vertrag Haus"),
        ("STRASSE", "straße"),
        ("E\u0301te\u0301", "été"),
        ("hợp đồng", "hop dong"),
        ("договоров", "договоры"),
        ("المدرسةُ", "مدرسه"),
        ("ﾀﾜｰ", "タワー"),
        ("48,500", "48500"),
        ("running", "runs"),
    ],
)
def test_forms_of_a_word_share_a_term(one: str, other: str) -> None:
    german = "und die der das mit nicht " if "Haus" in other else ""
    assert set(terms(german + other)) & set(terms(german + one)) - set(terms(german))


def test_compounds_are_found_whole_and_in_parts() -> None:
    assert {"vlx", "400", "vlx400"} <= set(terms("VLX-400"))
    assert {"get", "user", "getuser"} <= set(terms("getUser"))
    assert "4.7.2" in terms("v4.7.2")


@given(TEXTS)
def test_terms_never_hold_what_the_index_would_cut(text: str) -> None:
    for term in terms(text):
        assert term
        assert not any(c.isascii() and not (c.isalnum() or c == ".") for c in term)
        assert not any(c.isspace() for c in term)


@given(TEXTS, st.data())
def test_a_quote_is_found_however_its_white_space_runs(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    quote = text[start : data.draw(st.integers(start, len(text)))]
    respaced = data.draw(st.sampled_from([" ", "\n", " \t\n"])).join(quote.split())
    found = find_verbatim(text, respaced)
    if not quote.strip():
        assert found is None
    else:
        assert found is not None
        assert text[found[0] : found[1]].split() == quote.split()


@given(TEXTS, TEXTS)
def test_what_is_not_there_is_not_found(text: str, quote: str) -> None:
    there = " ".join(quote.split()) in " ".join(text.split()) and bool(quote.strip())
    assert (find_verbatim(text, quote) is not None) == there
