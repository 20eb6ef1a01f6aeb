"""Nothing from a model or a document steers the terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.cli.screen import clean, one_line, visible


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("plain \u4e2d\u6587\tand\nlines\r\n", "plain \u4e2d\u6587\tand\nlines\n"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07kept", "kept"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b2Jcleared", "cleared"),
        ("\x1bPdevice\x1b\\kept", "kept"),
        ("over\rwritten\x08\x00", "overwritten"),
        ("\u202eevil\u2066", "evil"),
        ("half \ud800", "half "),
        ("\x1b", ""),
    ],
)
def test_control_sequences_are_taken_out(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


def test_what_is_shown_of_a_log_is_written_out() -> None:
    assert visible("a\x1b[2Jb\r\u202ec\ud800\n") == "a\\x1b[2Jb\\x0d\\u202ec\\ud800\n"


@given(st.text(st.characters(codec=None)))
def test_no_text_keeps_a_control_character(text: str) -> None:
    for made in (clean(text), visible(text)):
        assert all(c in "\t\n" or (ord(c) >= 0x20 and not 0x7F <= ord(c) < 0xA0) for c in made)
        made.encode()  # no half of a character is left


def test_a_line_is_cut_at_its_width() -> None:
    assert one_line("a\n b\t c") == "a b c"
    assert one_line("x" * 100, 10) == "x" * 7 + "..."
