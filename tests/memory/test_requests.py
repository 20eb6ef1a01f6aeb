"""Requests made again from the log, byte for byte (G1), through both codecs."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.histories import histories, reply

from agents import AnthropicCodec, ChatCodec, codec_for
from memory import (
    Codec,
    ConfigSet,
    ContextCompacted,
    ContextError,
    Entry,
    MemoryEventLog,
    MessageAdded,
    Replacement,
    Text,
    Thread,
    ToolCall,
    ToolReturned,
    decode_event,
    encode_event,
    rebuild_request,
    requests_of,
)

CODECS: list[Codec] = [
    ChatCodec(),
    ChatCodec(reasoning="return", tools="schema"),
    ChatCodec(reasoning="blocks"),
    AnthropicCodec(),
]


def config(codec: Codec) -> ConfigSet:
    tools = ({"name": "f", "description": "d", "parameters": {"type": "object"}},)
    return ConfigSet(
        "m", codec.name, codec.version, dict(codec.options), "sys", tools, {"model": "m"}
    )


async def stored(log: MemoryEventLog) -> list[Entry]:
    """The entries as a later process reads them: through their stored form."""
    return [
        replace(entry, event=decode_event(*encode_event(entry.event)))
        for entry in await log.read("t")
    ]


@given(history=histories, every=st.integers(1, 3))
async def test_every_request_is_rebuilt_from_the_log(history: list[Entry], every: int) -> None:
    for codec in CODECS:
        log = MemoryEventLog()
        thread = Thread(log, "t")
        thread.configure(config(codec), codec)
        sent: dict[int, bytes] = {}
        for number, entry in enumerate(history):
            thread.append(entry.event)
            if number % every == 0:
                request = thread.request(f"turn {number}" if number % 2 else "")
                sent[request.seq] = request.body
        await thread.commit()
        entries = await stored(log)
        assert [entry.seq for entry in requests_of(entries)] == list(sent)
        for seq, body in sent.items():
            assert rebuild_request(entries, seq, codec_for) == body


@pytest.mark.parametrize("codec", CODECS, ids=repr)
async def test_requests_before_and_after_a_compaction_and_a_change_of_codec(codec: Codec) -> None:
    log = MemoryEventLog()
    thread = Thread(log, "t")
    thread.configure(config(codec), codec)
    bodies: dict[int, bytes] = {}

    def ask() -> None:
        request = thread.request("tail")
        bodies[request.seq] = request.body

    thread.append(MessageAdded((Text("task"),)))
    ask()
    first = thread.append(reply((ToolCall("a", "f", "{}"),)))
    second = thread.append(ToolReturned("a", "f", (Text("out"),)))
    ask()
    thread.append(reply((Text("so"),)))
    thread.append(ContextCompacted("test", (Replacement((first.seq, second.seq), "gone"),)))
    ask()
    other = AnthropicCodec(cache="off")
    thread.configure(config(other), other)
    ask()
    entries = await stored(log)
    assert len(set(bodies.values())) == 4
    for seq, body in bodies.items():
        assert rebuild_request(entries, seq, codec_for) == body


async def test_a_changed_log_is_told() -> None:
    log = MemoryEventLog()
    thread = Thread(log, "t")
    thread.configure(config(CODECS[0]), CODECS[0])
    thread.append(MessageAdded((Text("task"),)))
    request = thread.request()
    entries = await log.read("t")
    forged = [
        replace(entry, event=MessageAdded((Text("another task"),)))
        if isinstance(entry.event, MessageAdded)
        else entry
        for entry in entries
    ]
    with pytest.raises(ContextError, match="cannot be rebuilt"):
        rebuild_request(forged, request.seq, codec_for)
    with pytest.raises(ContextError, match="is not a request"):
        rebuild_request(entries, 1, codec_for)
