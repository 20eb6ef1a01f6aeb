"""Text as bytes, and where it may be cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filesystem.text import (
    border_after,
    border_before,
    count_lines,
    decode,
    decode_head,
    decode_tail,
    encode,
    is_text,
)

odd = st.sampled_from("\ud800\udfff\r\n\f\0\u2028\u0301\u200d\U0001f1e9\U0001f468\U0010ffff")
any_text = st.text(odd | st.characters(), max_size=60)


@given(any_text)
def test_every_string_comes_back(text):
    assert decode(encode(text)) == text
    assert is_text(encode(text))


@given(any_text, st.integers(0, 200))
def test_cut_bytes_lose_no_whole_character(text, at):
    data = encode(text)
    head, tail = decode_head(data[:at]), decode_tail(data[at:])
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(text) - len(head) - len(tail) in (0, 1)


@given(st.binary(max_size=40))
def test_bad_bytes_are_shown_not_raised(data):
    assert isinstance(decode(data), str)
    assert decode(data).count("\n") == data.count(b"\n")
    decode_head(data)
    decode_tail(data)


@pytest.mark.parametrize(
    "cluster",
    [
        "\r\n",
        "e\u0301\u0323",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\U0001f44d\U0001f3fd",
        "\U0001f1e9\U0001f1ea",
        "\u1100\u1161\u11a8",
        "\u0915\u094d\u0937",
        "\u0e01\u0e33"[:1] + "\u0e34",
        "\ud83d\ude00",
        "1\ufe0f\u20e3",
    ],
)
def test_no_cut_inside_a_character(cluster):
    text = "ab" + cluster + "cd"
    for inside in range(1, len(cluster)):
        assert border_before(text, 2 + inside) == 2
        assert border_after(text, 2 + inside) == 2 + len(cluster)
    assert border_before(text, 2) == border_after(text, 2) == 2
    end = 2 + len(cluster)
    assert border_before(text, end) == border_after(text, end) == end


def test_flags_are_cut_in_pairs():
    flags = "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7"
    assert border_before(flags, 3) == 2
    assert border_after(flags, 1) == 2


def test_a_pile_of_marks_does_not_stop_a_cut():
    pile = "a" + "\u0301" * 5_000
    assert border_before(pile, 3_000) == 3_000
    assert border_after(pile, 3_000) == 3_000


@pytest.mark.parametrize(
    ("text", "lines"),
    [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\r\n\u2028\f", 2), ("\n\n", 2)],
)
def test_only_a_line_feed_ends_a_line(text, lines):
    assert count_lines(text) == lines
