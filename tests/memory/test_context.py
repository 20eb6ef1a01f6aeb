"""The projection of events into requests that a provider takes, through both codecs on one history."""

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
    Piece,
    Replacement,
    RequestSent,
    Text,
    ToolCall,
    ToolReturned,
    build_context,
)

CODECS: list[Codec] = [
    ChatCodec(),
    ChatCodec(reasoning="return"),
    ChatCodec(tools="schema"),
    AnthropicCodec(),
    AnthropicCodec(cache="off"),
]
TOOLS = ({"name": "search", "description": "Search.", "parameters": {"type": "object"}},)


def config(codec: Codec, system: str = "Be brief.") -> ConfigSet:
    settings = {"model": "m", "max_tokens": 100}
    return ConfigSet("m", codec.name, codec.version, dict(codec.options), system, TOOLS, settings)


def body(codec: Codec, entries: list[Entry], tail: str = "", system: str = "Be brief.") -> bytes:
    context = build_context(entries)
    context.close_open_calls()
    pieces: list[Piece] = [piece for item in context.items for piece in codec.pieces(item)]
    return codec.body(codec.head(config(codec, system)), pieces, tail)


def check(codec: Codec, request: bytes) -> list[dict[str, object]]:
    return check_chat(request) if codec.name == "chat" else check_anthropic(request)


def entries(*events: Event) -> list[Entry]:
    return [Entry(seq, "t", 0.0, event) for seq, event in enumerate(events, start=2)]


def user(text: str) -> MessageAdded:
    return MessageAdded((Text(text),))


@given(
    history=histories,
    tail=st.sampled_from(["", "Status: 1 of 3."]),
    system=st.sampled_from(["", "S"]),
)
def test_any_history_cut_anywhere_is_a_valid_request(
    history: list[Entry], tail: str, system: str
) -> None:
    for codec in CODECS:
        for cut in range(len(history) + 1):
            check(codec, body(codec, history[:cut], tail, system))


@given(history=histories)
def test_a_request_is_the_prefix_of_the_next_up_to_its_tail(history: list[Entry]) -> None:
    """G7: what was sent stays as it was, whatever is appended."""
    sent = Entry(0, "t", 0.0, RequestSent(0, 0, "", 1, "", 0))
    for codec in CODECS:
        before, line = b"", entries(user("task"))
        for entry in [*history, entries(user("and now?"))[0]]:
            line += [entry, sent]
            request = body(codec, line, tail="TAIL-OF-REQUEST")
            assert request.startswith(before)
            before = request[: request.rindex(b"TAIL-OF-REQUEST")]
            before = before[: before.rindex(_tail_start(codec))].rstrip(b",")
            before = before.removesuffix(b']},{"role":"user","content":[')


def _tail_start(codec: Codec) -> bytes:
    """What the tail begins with: its message, its block, or the cache mark before it."""
    if codec.name == "chat":
        return b'{"role":"user","content":"'
    return b',"cache_control"' if codec.options["cache"] == "on" else b'{"type":"text"'


@pytest.mark.parametrize("codec", CODECS, ids=repr)
def test_an_interrupted_call_is_answered_before_the_next_message(codec: Codec) -> None:
    """The user speaks after a crash between call and result."""
    calls = (ToolCall("a", "search", "{}"), ToolCall("b", "search", "{}"))
    line = entries(
        user("find it"), reply(calls), ToolReturned("b", "search", (Text("found"),)), user("hello?")
    )
    request = body(codec, line)
    check(codec, request)
    assert b"found" in request
    assert b"interrupted before a result" in request
    assert request.index(b"interrupted before a result") < request.index(b"hello?")


@pytest.mark.parametrize("codec", CODECS, ids=repr)
def test_calls_of_one_id_each_meet_their_result(codec: Codec) -> None:
    calls = (ToolCall("x", "search", '{"q": 1}'), ToolCall("x", "search", '{"q": 2}'))
    results = [ToolReturned("x", "search", (Text(text),)) for text in ("first", "second")]
    request = body(codec, entries(user("go"), reply(calls), *results))
    check(codec, request)
    assert request.index(b"first") < request.index(b"second")


@pytest.mark.parametrize("codec", CODECS, ids=repr)
def test_a_result_without_a_call_is_not_sent(codec: Codec) -> None:
    line = entries(
        user("go"), ToolReturned("ghost", "search", (Text("boo"),)), reply((Text("ok"),))
    )
    request = body(codec, line)
    check(codec, request)
    assert b"boo" not in request


@pytest.mark.parametrize("codec", CODECS, ids=repr)
def test_a_compaction_stands_where_the_hidden_events_stood(codec: Codec) -> None:
    line = entries(
        user("the task"),
        reply((ToolCall("a", "search", "{}"),)),
        ToolReturned("a", "search", (Text("a long result"),)),
        reply((Text("so far so good"),)),
        user("go on"),
        ContextCompacted("test", (Replacement((3, 4, 5), "They searched once."),)),
    )
    request = body(codec, line)
    check(codec, request)
    assert b"a long result" not in request
    places = [request.index(text) for text in (b"the task", b"They searched", b"go on")]
    assert places == sorted(places)
    assert build_context(line).revision == 1


def test_whole_turns_hidden_leave_a_valid_request() -> None:
    """Every range of whole turns, hidden with and without a text in its place."""
    turn: list[Event] = []
    for number in range(4):
        turn += [
            reply((Text(f"step {number}"), ToolCall(f"c{number}", "search", "{}"))),
            ToolReturned(f"c{number}", "search", (Text(f"result {number}"),)),
        ]
    line = entries(user("task"), *turn)
    for first in range(0, 8, 2):
        for last in range(first + 2, 9, 2):
            hidden = tuple(range(3 + first, 3 + last))
            for text in ("Summary.", ""):
                compacted = Entry(
                    99, "t", 0.0, ContextCompacted("test", (Replacement(hidden, text),))
                )
                for codec in CODECS:
                    check(codec, body(codec, [*line, compacted]))
