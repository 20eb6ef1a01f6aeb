"""Untrusted text in Markdown: it shows as it is, and nothing in it is read as markup."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from orchestrator.researching.markup import (
    clean,
    clip,
    escape,
    marked_like,
    quoted,
    unescape,
    unmarked,
)

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


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("**Aurora** costs *about* **$96M** `now`.", "Aurora costs about $96M now."),
        ("__All is__ _well said_ and ***loud***", "All is well said and loud"),
        ("**a `b` _c d_**", "a b c d"),
        ("`**kwargs` and `` a`b ``", "**kwargs and a`b"),
        ("**First. Then", "First. Then"),
        ("and last.**", "and last."),
        ("5 * 3 * 2, 5*3*2, snake_case_name, __init__, a ** b", None),
        ("价格**高**的", "价格高的"),
        ("*open and `shut", None),
    ],
)
def test_marks_of_emphasis_and_code_are_not_shown(text: str, seen: str | None) -> None:
    assert unmarked(text) == (seen or text)


@given(NASTY, NASTY)
def test_what_is_shown_without_marks_is_found_again(before: str, text: str) -> None:
    seen = unmarked(text)
    if clean(re.sub("[*_`]", "", seen)):
        found = marked_like(seen, clean(f"{before} {text}"))
        assert found is not None
        assert re.sub(r"[*_`\s]", "", found) == re.sub(r"[*_`\s]", "", seen)


def test_a_long_run_of_marks_is_read_in_time() -> None:
    for text in ("*a " * 7_000, "*" * 20_000, "**`_" * 5_000, "_a*b`" * 4_000):
        assert unmarked(text)


def test_clip_cuts_at_a_word() -> None:
    assert clip("one two three", 9) == "one two..."
    assert clip("one\ntwo", 9) == "one two"
