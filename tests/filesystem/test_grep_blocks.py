"""A file searched in blocks gives what the same file gives as a whole."""

import random
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from filesystem import Hit, Query
from filesystem.searching import search_files
from filesystem.text import encode

words = st.sampled_from(
    ["pin", "PIN", "hay ", "\n", "\n", "\r\n", "p", "\u00e9", "e\u0301", "\ud800"]
)


def found(data: bytes, sizes: list[int], query: Query) -> tuple[Hit, ...]:
    def chunks():
        rest, n = data, 0
        while rest:
            size = sizes[n % len(sizes)]
            yield rest[:size]
            rest, n = rest[size:], n + 1

    return search_files([("f", chunks())], query).hits


@settings(max_examples=300, deadline=None)
@given(
    st.lists(words, max_size=60).map("".join),
    st.lists(st.integers(1, 40), min_size=1, max_size=4),
    st.integers(0, 3),
    st.sampled_from(["pin", "\u00e9", "y\n", "n\npin", "\ud800"]),
    st.booleans(),
)
def test_any_chunks_give_the_same_hits(text, sizes, context, wanted, ignore_case):
    query = Query(wanted, context=context, ignore_case=ignore_case)
    data = encode(text)
    whole = found(data, [len(data) or 1], query)
    assert found(data, sizes, query) == whole
    fold = unicodedata.normalize("NFC", text)
    if "\n" not in wanted and not ignore_case:
        lines = [n for n, line in enumerate(fold.split("\n"), 1) if wanted in line]
        assert [hit.line for hit in whole] == lines
    for hit in whole:
        assert text.split("\n")[hit.line - 1].removesuffix("\r") == hit.text
        assert text[: hit.char].count("\n") == hit.line - 1
        first = unicodedata.normalize("NFC", wanted)[0]
        shown = unicodedata.normalize("NFC", text[hit.char : hit.char + 8])
        assert shown[0].casefold() == first.casefold()


@pytest.mark.parametrize("regex", [False, True])
def test_every_place_in_a_very_long_line(regex):
    """Each needle is reported once, also where two blocks share it or it lies on their border."""
    chance = random.Random(3)
    parts = ["start "]
    for _ in range(9_000):
        parts += ["x" * chance.randint(300, 700), "n\u00e9edle"]
    line = "".join(parts)
    places = [at for at in range(len(line)) if line.startswith("n\u00e9edle", at)]
    assert len(line) > 4 << 20
    query = Query("n.edle" if regex else "ne\u0301edle", regex=regex, limit=10**6)
    for size in (1 << 20, 700_001):
        hits = found(encode("first\n" + line + "\nlast"), [size], query)
        assert [hit.column for hit in hits] == places
        assert {hit.line for hit in hits} == {2}
        assert all(hit.char == hit.column + 6 for hit in hits)
        assert all(line[hit.text_column :].startswith(hit.text) for hit in hits)


@pytest.mark.parametrize("before", range(6))
@pytest.mark.parametrize("regex", [False, True])
def test_a_match_on_the_border_of_two_blocks_of_a_line(before, regex):
    line = "x" * ((1 << 20) - before) + "needle" + "y" * (1 << 20)
    hits = found(encode(line), [1 << 20], Query("needle", regex=regex))
    assert [hit.column for hit in hits] == [(1 << 20) - before]


def test_more_hits_than_the_limit_wherever_blocks_end():
    line = b"pin" + b" hay" * 700 + b"\n"
    data = line * 1_000
    for limit in (1, 7, 999, 1_000, 1_001):
        hits = search_files(
            [("f", iter([data[:1_700_000], data[1_700_000:]]))],
            Query("pin", limit=limit, context=3),
        )
        assert [hit.line for hit in hits.hits] == list(range(1, min(limit, 1_000) + 1))
        assert hits.more is (limit < 1_000)


def test_bad_bytes_only_hide_themselves():
    data = b"one pin\n\xff\xfe pin\n" + "p\u00efn pin \ud800\n".encode("utf-8", "surrogatepass")
    for sizes in ([100], [9, 1, 3]):
        assert [hit.line for hit in found(data, sizes, Query("pin"))] == [1, 2, 3]


def test_a_match_that_is_longer_in_the_text_than_in_the_query():
    hits = found(
        encode("x STRASSE \ufb01sh\nMa\u00dfe"), [100], Query("stra\u00dfe fi", ignore_case=True)
    )
    assert [(hit.line, hit.column) for hit in hits] == [(1, 2)]
    assert found(b"masse", [9], Query("MA\u00dfE", ignore_case=True))[0].column == 0
