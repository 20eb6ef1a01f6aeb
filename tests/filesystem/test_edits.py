"""Replacing text exactly."""

import pytest

from filesystem import BadArgument, EditAmbiguous, EditFailed, EditNoMatch
from filesystem.edits import replace_exact
from filesystem.text import encode


def edited(text: str, old: str, new: str, *, every: bool = False) -> str:
    done = replace_exact("f", encode(text), old, new, every=every)
    return done.data.decode("utf-8", "surrogatepass")


@pytest.mark.parametrize(
    ("text", "old", "new", "result"),
    [
        ("a b c", "b", "B", "a B c"),
        ("a\nb\n", "a\nb", "c", "c\n"),
        ("one\r\ntwo\r\n", "one\r\ntwo", "1\r\n2", "1\r\n2\r\n"),
        ("one\r\ntwo\r\n", "one\ntwo", "1\n2", "1\r\n2\r\n"),
        ("one\r\ntwo\r\n", "two", "two\nthree", "one\r\ntwo\r\nthree\r\n"),
        ("one\r\ntwo\r\n", "two", "two\r\nthree", "one\r\ntwo\r\nthree\r\n"),
        ("one\r\ntwo\nthree\n", "one\ntwo", "1\n2", "1\r\n2\nthree\n"),
        ("one\r\ntwo\nthree\n", "two\nthree", "2\n3", "one\r\n2\n3\n"),
        ("one\ntwo\n", "two\n", "", "one\n"),
        ("x\f\u2028\0\ud800y", "\u2028\0\ud800", "!", "x\f!y"),
        (".*", ".*", "\\1", "\\1"),
    ],
)
def test_exact_replacement(text, old, new, result):
    assert edited(text, old, new) == result


def test_case_41_appending_by_replacement_keeps_crlf_history():
    """Twice, as two compactions would: the end of the text is replaced by itself and more."""
    text = "# history\r\n\r\nfirst\r\n"
    for entry in ("second", "third"):
        last = text.split("\r\n")[-2]
        text = edited(text, f"{last}\n", f"{last}\n\n{entry}\n")
    assert text == "# history\r\n\r\nfirst\r\n\r\nsecond\r\n\r\nthird\r\n"


def test_every_place_or_one():
    assert edited("a-a-a", "a", "b", every=True) == "b-b-b"
    with pytest.raises(EditAmbiguous, match="3 times, on lines 1, 1, 3") as caught:
        edited("a-a\n\na", "a", "b")
    assert "every occurrence" in str(caught.value)
    with pytest.raises(EditAmbiguous, match=r"9 times, on lines 1, 2, 3, 4, 5, \.\.\."):
        edited("a\n" * 9, "a", "b")


@pytest.mark.parametrize(
    ("text", "old", "reason"),
    [
        ("def f():\n\treturn 1\n", "def f():\n    return 1", "but for white space"),
        ("Total Sum", "total sum", "upper and lower case"),
        ("caf\u00e9 noir", "cafe\u0301 noir", "how accents are encoded"),
        ("alpha\nbeta\n", "  1\talpha\n  2\tbeta", "begin with line numbers"),
        ("the quick brown fox\njumps over\n", "the quick brown dog", "on line 1"),
        ("a\nb\nthe quick brown fox\njumps\n", "x\nthe quick brown dog\ny", "on line 2"),
        ("", "a", "the file is empty"),
    ],
)
def test_no_match_says_why_and_shows_the_nearest(text, old, reason):
    with pytest.raises(EditNoMatch, match=reason) as caught:
        edited(text, old, "new")
    if "on line" in reason:
        assert "the quick brown fox" in str(caught.value)


def test_nothing_like_it_shows_nothing():
    with pytest.raises(EditNoMatch) as caught:
        edited("aaaa\nbbbb\n", "zzzz yyyy", "x")
    assert "nearest" not in caught.value.problem


def test_refusals():
    with pytest.raises(BadArgument, match="is empty"):
        edited("a", "", "b")
    with pytest.raises(BadArgument, match="equals"):
        edited("a", "a", "a")
    with pytest.raises(EditFailed, match="not UTF-8"):
        replace_exact("f", b"\xff\xfea", "a", "b", every=False)


def test_a_huge_file_is_told_quickly_and_shortly():
    text = "x" * 5_000_000 + "\n" + "word " * 400_000
    with pytest.raises(EditNoMatch) as caught:
        edited(text, "w0rd " * 1_000, "y")
    assert len(str(caught.value)) < 1_500
