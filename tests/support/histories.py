"""Histories of one thread for hypothesis: any events in any order, as a log could hold them."""

from typing import Any

from hypothesis import strategies as st

from memory import (
    Block,
    Entry,
    Event,
    Image,
    MessageAdded,
    Noticed,
    Reasoning,
    ReplyReceived,
    Text,
    ToolCall,
    ToolResult,
    ToolReturned,
    Unknown,
    Usage,
)

# Surrogates and control characters included: tools and models do produce them.
words = st.text(
    st.characters(blacklist_categories=()) | st.sampled_from('\ud800\udfff\0 \n"\\'), max_size=20
)
objects = st.dictionaries(words, st.integers(-(2**63), 2**64 - 1) | words | st.none(), max_size=3)
call_ids = st.sampled_from(["a", "b", "", "functions.f:0", "x" * 60, "ä"]) | words
arguments = (
    st.sampled_from(
        [
            "{}",
            "",
            " ",
            '{"a": 1}',
            '{"a": 1',
            "[1]",
            "null",
            '{"a": NaN}',
            '{"n": 99999999999999999999999}',
        ]
    )
    | words
)
names = st.sampled_from(["search", "read file", "", "n" * 80, "日本"])

images = st.builds(
    Image, st.just("image/png"), st.sampled_from(["aGVsbG8=", "https://example.org/a.png"])
)
unknown = st.builds(Unknown, st.sampled_from(["audio", "file"]), objects)
texts = st.builds(Text, words)
reasoning = st.builds(
    Reasoning,
    words,
    st.none()
    | st.just({"signature": "c2ln"})
    | st.just({"type": "redacted_thinking", "data": "eA=="})
    | st.just({"field": "reasoning", "reasoning_details": [{"type": "reasoning.text"}]}),
)
calls = st.builds(ToolCall, call_ids, names, arguments)
results = st.lists(texts | images | unknown, max_size=3).map(tuple)

replies = st.lists(texts | reasoning | calls | unknown | images, max_size=5).map(tuple)
user_parts = st.lists(
    texts | images | unknown | st.builds(ToolResult, call_ids, names, results), max_size=3
).map(tuple)


def reply(content: tuple[Block, ...], finish: str = "stop") -> ReplyReceived:
    return ReplyReceived(content, finish, Usage(), "m", {})


events: st.SearchStrategy[Event] = st.one_of(
    st.builds(MessageAdded, user_parts, st.sampled_from(["user", "agent", "framework"])),
    replies.map(reply),
    st.builds(ToolReturned, call_ids, names, results, st.booleans()),
    st.builds(Noticed, st.just("note"), st.just({})),
)


@st.composite
def turns(draw: Any) -> list[Event]:
    """A reply with its results, in any order, some left out, some of no call."""
    content = draw(replies)
    ids = [block.id for block in content if isinstance(block, ToolCall)]
    answered = draw(st.permutations(ids))[: draw(st.integers(0, len(ids)))]
    done = [ToolReturned(i, draw(names), draw(results), draw(st.booleans())) for i in answered]
    return [reply(content), *done]


histories = st.lists(events.map(lambda event: [event]) | turns(), max_size=8).map(
    lambda parts: [
        Entry(seq, "t", float(seq), event)
        for seq, event in enumerate((e for part in parts for e in part), start=2)
    ]
)
