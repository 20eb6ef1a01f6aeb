"""Untrusted text in Markdown: it shows as it is, and nothing in it is read as markup."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from orchestrator.researching.markup import clean, clip, escape, quoted, unescape

# Characters with a meaning in Markdown, terminals or our own marks, beside plain ones.
NASTY = st.text(
    st.sampled_from("\\`*_[]()<>#!|~-+=.:&;\"'1 9a\n\t\r\x1b\x07\u202e\u200b\u2028@/"), max_size=60
)
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
ATTACKS = [
    "# Fake heading",
    "## 7. Section\n[1] evil.md, line 1",
    "[click](https://evil.example)",
    "![image](https://evil.example/x.png)",
    "[1]: https://evil.example",
    "<script>alert(1)</script>",
    "<!-- evidence:1=e0000000 -->",
    "&lt;b&gt;",
    "<https://evil.example>",
    "a claim [1][2]",
    "a claim [unverified]",
    "- item",
    "1. item",
    "1) item",
    "> quote",
    "```python",
    "~~~",
    "---",
    "===",
    "***",
    "___",
    "| a | b |",
    ":--- | ---",
    "**bold** _it_ __it__ ~~gone~~ `code`",
    "snake_case_name",
    "back\\slash \\[1\\] \\\\",
    "ends with \\",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 text",
    "line\nbreak\r\nand\u2028more",
    "bidi \u202eoverride",
    "    indented",
]


def shown(markdown: str) -> str:
    """What a reader sees of one paragraph of plain text; fails when it is anything else."""
    tokens = PARSER.parse(markdown)
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    children = tokens[1].children or []
    assert {child.type for child in children} <= {"text", "text_special"}
    return "".join(child.content for child in children)


@pytest.mark.parametrize("text", ATTACKS)
def test_an_attack_shows_as_plain_text(text: str) -> None:
    assert shown(escape(text)) == clean(text)


@given(NASTY)
def test_any_text_shows_as_plain_text(text: str) -> None:
    if clean(text):
        assert shown(escape(text)) == clean(text)


@given(NASTY, NASTY)
def test_no_line_is_changed_by_the_one_before(first: str, second: str) -> None:
    if clean(first) and clean(second):
        tokens = PARSER.parse(f"{escape(first)}\n{escape(second)}")
        assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]


@given(NASTY)
def test_a_heading_keeps_its_text(text: str) -> None:
    if clean(text):
        tokens = PARSER.parse(f"## 1. {escape(text)}")
        assert [token.type for token in tokens] == ["heading_open", "inline", "heading_close"]
        children = tokens[1].children or []
        assert "".join(child.content for child in children) == f"1. {clean(text)}"


@given(st.one_of(NASTY, st.text()))
def test_escaping_can_be_undone(text: str) -> None:
    assert unescape(escape(text)) == clean(text)
    assert unescape(quoted(text)[1:-1]) == clean(text)


@given(st.text())
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@pytest.mark.parametrize(
    "link", ["see https://evil.example/x", "see HTTP://evil.example", "www.evil.example"]
)
def test_a_bare_address_is_broken_up_for_renderers_that_make_links(link: str) -> None:
    assert not re.search(r"(?i)https?://|www\.e", escape(link))
    assert shown(escape(link)) == link


def test_terminal_sequences_leave_nothing_behind() -> None:
    assert clean("\x1b[31mred\x1b[0m \x1b]0;title\x07text\x9b1m \x00 end") == "red text end"


def test_plain_prose_and_names_stay_readable() -> None:
    text = 'RaaS costs $1,950 per robot_unit; AT&T (EU), 99.2% - "fine" & 5 > 3.'
    assert escape(text) == text


def test_clip_cuts_at_a_word() -> None:
    assert clip("one two three", 9) == "one two..."
    assert clip("one\ntwo", 9) == "one two"
