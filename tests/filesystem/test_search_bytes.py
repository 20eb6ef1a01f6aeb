"""A search that looks at a file's bytes first finds what it would find in every file."""

import re
import unicodedata
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from filesystem import BadPattern, Query, SearchTimedOut
from filesystem.matchers import LiteralMatcher, compose
from filesystem.needles import Needle
from filesystem.regex_child import fixed_texts, search_with
from filesystem.searching import search_files
from filesystem.text import encode

pieces = st.sampled_from(
    [
        *("a", "e", "k", "K", "s", "ss", "ab", ";", "`", "7", " ", "_", "\n", "\r\n", "\x1c", "\0"),
        *("\u0301", "e\u0301", "\u00e9", "\u212a", "\u017f", "\u037e", "\u1fef", "\u00df", "\ud800"),
        *("\ufb01", "\u4e2d", "\uf900", "\u2028", "\f", "\u0660"),
    ]
)  # fmt: skip
texts = st.lists(pieces, max_size=8).map("".join)
atoms = st.sampled_from(
    [
        *("a", "e", "k", "K", "s", "ab", r"\.", ";", "`", "7", " ", r"\n", "\u00e9", "\u212a", "\x1c"),
        *(r"\w", r"\W", r"\s", r"\S", r"\d", r"\b", ".", "^", "$", "[ak]", "[^a]", r"\x4b", r"\u017f"),
        *("(?i:k)", "(?P<n>ab)", "(?=a)", "(?!k)", "(?<=a)"),
    ]
)  # fmt: skip
expressions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=4).map("".join),
        st.tuples(inner, st.sampled_from(["?", "*", "+", "{2}", "{0,1}", "+?"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
        st.lists(inner, min_size=2, max_size=3).map(lambda found: f"({'|'.join(found)})"),
    ),
    max_leaves=5,
)


@settings(max_examples=2_000, deadline=None)
@given(texts, texts.filter(bool), st.booleans())
def test_a_text_that_is_found_was_not_left_out(text, wanted, any_case):
    matcher = LiteralMatcher(wanted, ignore_case=any_case)
    if matcher.fold(wanted) in matcher.fold(text):
        assert matcher.needle.may_be_in(encode(text))


@settings(max_examples=3_000, deadline=None)
@given(texts, expressions, st.booleans())
def test_an_expression_that_matches_was_not_left_out_and_matches_as_python_says(
    text, expression, any_case
):
    flags = re.MULTILINE | (re.IGNORECASE if any_case else 0)
    pattern, folded = compose(expression), compose(text)
    try:
        plain = re.compile(pattern, flags)
    except re.error:
        return
    shown = folded if "\\r" in pattern else folded.replace("\r\n", "\n")
    match = plain.search(shown)
    fixed, free = fixed_texts(pattern, flags)
    if match:
        assert Needle(fixed, any_case=free).may_be_in(encode(text))
    found = search_with(pattern, flags)(folded, 1)
    is_behind_the_end = (
        match is not None and match.start() == len(shown) and shown[-1:] in ("", "\n")
    )
    assert [place for *_, place in found] == (
        [] if match is None or is_behind_the_end else [match.start()]
    )


def test_only_three_ascii_characters_have_other_bytes_that_are_the_same_text():
    others = map(chr, range(0x80, 0x110000))
    made = {char for other in others for char in unicodedata.normalize("NFC", other)}
    assert {char for char in made if char.isascii()} == set(";`K")


@pytest.mark.parametrize(
    ("pattern", "needle"),
    [
        (r"Error\d+", b"Error"),
        (r"\brate \w+ limit\b", b" limit"),
        (r"(?:ab)+c(de)f", b"cdef"),
        (r"x(?:abc)?y", b"x"),
        (r"(?i)Time(Out)", b"timeout"),
        (r"(?i:abc)d", b"d"),
        (r"error|errand", b"err"),
        (r"[Zz]\u00fcrich", b"rich"),
        (r"a\.b\nlonger", b"longer"),
        (r"\w+", b""),
    ],
)
def test_the_longest_fixed_text_of_an_expression(pattern, needle):
    fixed, free = fixed_texts(pattern, re.MULTILINE)
    chosen = Needle(fixed, any_case=free)
    assert chosen.may_be_in(b"-" + needle + b"-")
    for at in range(len(needle)):
        assert not chosen.may_be_in(needle[:at] + needle[at + 1 :])


@pytest.mark.parametrize("regex", [False, True])
def test_files_that_hold_no_match_count_as_searched_and_their_time_is_limited(regex):
    files = [(f"{n}", [b"hay" * n]) for n in range(5)]
    found = search_files(files, Query("needle", regex=regex))
    assert (found.files, found.hits, found.more) == (5, (), False)

    def endless():
        for n in range(10**9):
            yield str(n), [b"hay"]

    with pytest.raises(SearchTimedOut):
        search_files(endless(), Query("needle", regex=regex, seconds=0.3))


def test_a_wrong_expression_is_refused_although_no_file_could_match():
    for pattern in ("needle(", "needle(?<=a+)"):
        with pytest.raises(BadPattern):
            search_files([("f", [b"hay"])], Query(pattern, regex=True))


def test_every_way_to_write_a_text_is_found_in_every_way():
    forms = ("caf\u00e9 K;` s", "cafe\u0301 \u212a\u037e\u1fef s")
    for wanted, there, regex in product(forms, forms, (False, True)):
        files = [("plain", [b"hay"]), ("f", [encode(f"x {there}\n")])]
        hits = search_files(files, Query(wanted, regex=regex)).hits
        assert [(hit.path, hit.line, hit.column) for hit in hits] == [("f", 1, 2)]


def test_line_ends_of_either_kind_and_every_white_space():
    for pattern, data, place in (
        ("end\nbegin", b"end\r\nbegin", (1, 0)),
        ("end\\nbegin", b"end\r\nbegin", (1, 0)),
        (r"a\sb", b"\na\x1cb", (2, 0)),
        (r"(?s:a.b)", b"\na\x1cb", (2, 0)),
    ):
        (hit,) = search_files([("f", [data])], Query(pattern, regex=True)).hits
        assert (hit.line, hit.column) == place
