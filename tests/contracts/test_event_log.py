"""What every event log promises, run over both implementations."""

import asyncio
import itertools
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import (
    ConfigSet,
    ContextCompacted,
    Entry,
    Image,
    LaterEvent,
    LogError,
    MemoryEventLog,
    MessageAdded,
    Noticed,
    Reasoning,
    Replacement,
    ReplyReceived,
    RequestSent,
    RunStarted,
    SqliteEventLog,
    Text,
    ThreadEnded,
    ThreadStarted,
    ToolCall,
    ToolReturned,
    Unknown,
    Usage,
    decode_event,
    encode_event,
)

SAMPLES = [
    RunStarted("r1", "what is it?", {"kind": "research", "n": 3}),
    ThreadStarted("lead", None, "task"),
    ConfigSet("m", "chat", 1, {"reasoning": "omit"}, "be good", ({"name": "t"},), {"model": "m"}),
    MessageAdded((Text("hello \ud800 \x00 \u2028"), Image("image/png", "aGk=")), "user"),
    RequestSent(0, 4, "tail", 3, "ab" * 32, 10),
    ReplyReceived(
        (Reasoning("hm", {"signature": "s"}), Text("ok"), ToolCall("c1", "t", '{"a": 1')),
        "tool_calls",
        Usage(5, 2, 1),
        "m-1",
        {"role": "assistant"},
        5,
    ),
    ToolReturned("c1", "t", (Text("result"), Unknown("audio", {"x": [1]})), True, 0.5, "exception"),
    ContextCompacted("latest-n", (Replacement((1, 2, 3), "summary"),), "size", 9, 3),
    Noticed("model_fallback", {"from": "a", "to": "b"}),
    ThreadEnded("partial", "why", {"output": {"answer": "x"}}),
]


@pytest.fixture(params=["memory", "sqlite"])
async def log(request, tmp_path):
    clock = itertools.count(1.0).__next__
    made = (
        MemoryEventLog(clock)
        if request.param == "memory"
        else SqliteEventLog(tmp_path / "events.db", clock=clock)
    )
    yield made
    await made.close()


async def test_what_goes_in_comes_out_in_order(log):
    entries = [log.append("main" if i % 2 else "other", event) for i, event in enumerate(SAMPLES)]
    await log.commit()
    assert [entry.seq for entry in entries] == list(range(1, len(SAMPLES) + 1))
    assert await log.read() == entries
    assert await log.read("main") == [e for e in entries if e.thread == "main"]
    assert await log.read(after=4) == entries[4:]
    assert await log.read("main", after=4) == [e for e in entries[4:] if e.thread == "main"]


async def test_reading_sees_what_was_not_committed_yet(log):
    entry = log.append("main", SAMPLES[0])
    assert await log.read() == [entry]


async def test_it_knows_its_threads(log):
    assert not log.has("main")
    log.append("main", SAMPLES[1])
    assert log.has("main")
    assert not log.has("mai")


async def test_many_threads_share_it_and_lose_nothing(log):
    async def work(name: str) -> None:
        for number in range(20):
            log.append(name, Noticed("step", {"n": number}))
            await log.commit()

    await asyncio.gather(*(work(f"t{i}") for i in range(30)))
    entries = await log.read()
    assert [entry.seq for entry in entries] == list(range(1, 601))
    for i in range(30):
        own = [e.event.data["n"] for e in entries if e.thread == f"t{i}"]
        assert own == list(range(20))


async def test_closing_twice_is_allowed(log):
    log.append("main", SAMPLES[0])
    await log.close()
    await log.close()


async def test_a_closed_file_log_refuses_appends(tmp_path):
    log = SqliteEventLog(tmp_path / "events.db")
    await log.close()
    with pytest.raises(LogError, match="closed"):
        log.append("main", SAMPLES[0])


@pytest.mark.parametrize("event", SAMPLES, ids=lambda e: type(e).__name__)
def test_every_kind_survives_its_stored_form(event):
    kind, version, body = encode_event(event)
    assert decode_event(kind, version, body) == event


def test_later_kinds_and_versions_are_kept_as_they_are():
    event = decode_event("dream_recorded", 1, b'{"colour":"blue"}')
    assert event == LaterEvent("dream_recorded", 1, {"colour": "blue"})
    assert encode_event(event) == ("dream_recorded", 1, b'{"colour":"blue"}')
    assert isinstance(decode_event("noticed", 99, b'{"topic":"x","data":{}}'), LaterEvent)


def test_a_later_versions_new_field_does_not_stop_a_reader():
    event = decode_event(
        "thread_started", 1, b'{"agent":"a","parent":null,"task":"t","mood":"good"}'
    )
    assert event == ThreadStarted("a", None, "t")


@given(st.text(st.characters()), st.text(st.characters()), st.integers())
def test_any_text_and_number_survives(text, key, number):
    event = Noticed("x", {key: [text, number, {"deep": text}]})
    kind, version, body = encode_event(event)
    assert decode_event(kind, version, body) == event
    assert Entry(1, "t", 0.0, event).event is event


@pytest.mark.parametrize("number", [2**63, -(2**64), 10**40, 2**53 + 1, 0.1])
def test_numbers_of_any_size_stay_what_they_were(number):
    kind, version, body = encode_event(Noticed("x", {"n": number}))
    assert decode_event(kind, version, body).data["n"] == number


words = st.text(st.characters(blacklist_categories=()), max_size=30)
threads = st.sampled_from(["", "main", "main.1-1", "tëst 2"])
steps = st.lists(
    st.tuples(threads, words, st.sampled_from(["append", "commit", "read", "reopen"])), max_size=25
)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@given(steps=steps)
async def test_any_use_keeps_every_event_once_in_order_without_gaps(kind, steps):
    """Appends, commits, reads and (on disk) restarts in any order, against a plain list."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.db"
        log = MemoryEventLog() if kind == "memory" else SqliteEventLog(path)
        kept = []
        for thread, text, action in steps:
            kept.append(log.append(thread, Noticed("said", {"text": text})))
            if action == "commit":
                await log.commit()
            elif action == "read":
                assert await log.read() == kept
            elif action == "reopen" and kind == "sqlite":
                await log.close()
                log = SqliteEventLog(path)
        for thread in ("", "main", "main.1-1", "tëst 2", "absent"):
            own = [entry for entry in kept if entry.thread == thread]
            assert await log.read(thread) == own
            assert log.has(thread) == bool(own)
        for after in range(len(kept) + 1):
            assert await log.read(after=after) == kept[after:]
        assert [entry.seq for entry in kept] == list(range(1, len(kept) + 1))
        await log.close()
