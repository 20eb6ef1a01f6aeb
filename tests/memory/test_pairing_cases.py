"""Calls and results stay together whatever is hidden: cases from the field, through both codecs."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.histories import histories, reply
from support.provider_rules import check_anthropic, check_chat

from agents import AnthropicCodec, ChatCodec
from memory import (
    Codec,
    ConfigSet,
    ContextCompacted,
    Entry,
    Event,
    MessageAdded,
    Replacement,
    Text,
    ToolCall,
    ToolReturned,
    build_context,
)

CODECS: list[Codec] = [ChatCodec(), ChatCodec(tools="schema"), AnthropicCodec()]
TOOLS = ({"name": "search", "description": "Search.", "parameters": {"type": "object"}},)


def request(codec: Codec, entries: list[Entry]) -> bytes:
    """A request of these events, checked by the rules of its provider."""
    options = dict(codec.options)
    config = ConfigSet("m", codec.name, codec.version, options, "Be brief.", TOOLS, {"model": "m"})
    context = build_context(entries)
    context.close_open_calls()
    pieces = [piece for item in context.items for piece in codec.pieces(item)]
    body = codec.body(codec.head(config), pieces, "")
    (check_chat if codec.name == "chat" else check_anthropic)(body)
    return body


def entries(*events: Event) -> list[Entry]:
    return [Entry(seq, "t", 0.0, event) for seq, event in enumerate(events, start=1)]


def hiding(*seqs: int, text: str = "") -> ContextCompacted:
    return ContextCompacted("test", (Replacement(seqs, text),))


def call(number: int) -> ToolCall:
    return ToolCall(f"c{number}", "search", f'{{"n": {number}}}')


def result(number: int) -> ToolReturned:
    return ToolReturned(f"c{number}", "search", (Text(f"found {number}"),))


@pytest.mark.parametrize("codec", CODECS, ids=repr)
def test_case_1_no_cut_of_a_session_keeps_a_result_without_its_call(codec: Codec) -> None:
    """Any set of events hidden, as a limit of N items would, in a session of messages, calls, results."""
    line = entries(
        MessageAdded((Text("the task"),)),
        reply((call(1),), "tool_calls"),
        result(1),
        reply((Text("the answer"),)),
        MessageAdded((Text("and more"),)),
    )
    for count in range(1, 6):
        for hidden in itertools.combinations(range(1, 6), count):
            body = request(codec, [*line, Entry(9, "t", 0.0, hiding(*hidden))])
            # Call and result stay unless both are named.
            assert (b"found 1" in body) == (not {2, 3} <= set(hidden))


@pytest.mark.parametrize("codec", CODECS, ids=repr)
def test_case_2_parallel_calls_are_hidden_with_all_their_results_or_stay(codec: Codec) -> None:
    """A parent is cut between its two calls' results: it is kept whole."""
    line = entries(
        MessageAdded((Text("the task"),)),
        reply((Text("both"), call(1), call(2)), "tool_calls"),
        result(2),
        result(1),
        MessageAdded((Text("go on"),)),
    )
    for hidden in ((2,), (2, 3), (2, 4), (3,), (3, 4), (4, 5)):
        body = request(codec, [*line, Entry(9, "t", 0.0, hiding(*hidden, text="Summary."))])
        assert body.count(b"found") == 2
    whole = request(codec, [*line, Entry(9, "t", 0.0, hiding(2, 3, 4, text="Summary."))])
    assert b"found" not in whole
    assert b"Summary." in whole


@pytest.mark.parametrize("codec", CODECS, ids=repr)
def test_case_7_a_history_of_nothing_but_calls_can_be_cut_anywhere(codec: Codec) -> None:
    turns = [part for n in range(20) for part in (reply((call(n),), "tool_calls"), result(n))]
    line = entries(MessageAdded((Text("the task"),)), *turns)
    for cut in range(1, 21):
        hidden = range(2, 2 + 2 * cut)
        body = request(codec, [*line, Entry(99, "t", 0.0, hiding(*hidden))])
        assert body.count(b"found") == 20 - cut
        assert b"the task" in body


@pytest.mark.parametrize("codec", CODECS, ids=repr)
def test_case_8_an_orphan_is_repaired_in_every_request_from_the_first_on(codec: Codec) -> None:
    """Whatever comes after it, the request is valid, and the orphan never turns up again."""
    line = entries(
        MessageAdded((Text("the task"),)),
        reply((call(1),), "tool_calls"),
        ToolReturned("nobody", "search", (Text("orphaned"),)),
        MessageAdded((Text("hello"),)),
        result(1),
        reply((Text("so"), call(2), call(2)), "tool_calls"),
        result(2),
        MessageAdded((Text("are you there?"),)),
        reply((Text("yes"),)),
        MessageAdded((Text("good"),)),
    )
    for end in range(1, len(line) + 1):
        body = request(codec, line[:end])
        assert b"orphaned" not in body
        assert b"found 1" not in body, "its call was answered before"


@given(history=histories, data=st.data())
def test_any_history_with_any_events_hidden_is_a_valid_request(
    history: list[Entry], data: st.DataObject
) -> None:
    seqs = [entry.seq for entry in history]
    line = list(history)
    for number in range(data.draw(st.integers(1, 3))):
        hidden = data.draw(st.lists(st.sampled_from(seqs), unique=True)) if seqs else []
        text = data.draw(st.sampled_from(["", "Summary."]))
        at = data.draw(st.integers(0, len(line)))
        line.insert(at, Entry(1000 + number, "t", 0.0, hiding(*sorted(hidden), text=text)))
    for codec in CODECS:
        for cut in range(len(line) + 1):
            request(codec, line[:cut])
