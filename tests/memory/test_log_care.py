"""What can be done with a log afterwards: check it, compare requests, read a turn, fork it, purge it."""

import sqlite3
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.histories import histories, reply

from agents import AnthropicCodec, ChatCodec, codec_for
from memory import (
    Codec,
    ConfigSet,
    ContextError,
    Entry,
    LogDamaged,
    LogLocked,
    MemoryEventLog,
    MessageAdded,
    RequestSent,
    RunForked,
    RunStarted,
    SecretPurged,
    SqliteEventLog,
    Text,
    Thread,
    ToolCall,
    ToolReturned,
    common_prefix,
    compare_requests,
    encode_event,
    end_of_history,
    end_of_turn,
    fork_log,
    part_at,
    purge_log,
    read_entries,
    rebuild_request,
    remake_request,
    remake_requests,
    requests_of,
    turn_of,
    turn_text,
    verify_log,
)

CODECS: list[Codec] = [ChatCodec(), ChatCodec(tools="schema"), AnthropicCodec()]
SECRET = 'hu"sh\\ü-4711'


def config(codec: Codec, system: str = "sys") -> ConfigSet:
    tools = ({"name": "f", "description": "d", "parameters": {"type": "object"}},)
    return ConfigSet(
        "m", codec.name, codec.version, dict(codec.options), system, tools, {"model": "m"}
    )


async def talk(
    log: SqliteEventLog | MemoryEventLog, turns: int, codec: Codec = CODECS[0]
) -> Thread:
    """A thread of so many turns: a request, a reply with a call, its result; a note in each tail."""
    if not log.has(""):
        log.append("", RunStarted("r", "the task", {}))
    thread = Thread(log, "t")
    thread.configure(config(codec), codec)
    thread.append(MessageAdded((Text("the task"),)))
    for number in range(turns):
        sent = thread.request(f"turn {number} of {turns}").seq
        calls = (ToolCall(f"c{number}", "f", f'{{"n": {number}}}'),)
        answer = reply(calls, "tool_calls")
        thread.append(type(answer)(calls, "tool_calls", answer.usage, "m", {}, sent))
        thread.append(ToolReturned(f"c{number}", "f", (Text(f"result {number} " + "x" * 50),)))
    await thread.commit()
    return thread


async def written(path: Path, turns: int = 4, codec: Codec = CODECS[0]) -> list[Entry]:
    log = SqliteEventLog(path)
    await talk(log, turns, codec)
    await log.close()
    return read_entries(path, "t")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.db"


@pytest.mark.parametrize("codec", CODECS, ids=repr)
async def test_a_whole_log_verifies(path: Path, codec: Codec) -> None:
    await written(path, 5, codec)
    found = verify_log(path, codec_for)
    assert (found.events, found.threads, found.requests) == (18, 1, 5)
    assert (found.purged, found.problems) == ((), ())


async def test_every_kind_of_damage_is_a_problem_and_no_raise(path: Path) -> None:
    await written(path)
    with sqlite3.connect(path) as db:
        db.execute("update event set body = cast('{}' as blob) where seq = 6")
        db.execute("delete from event where seq = 9")
    found = verify_log(path, codec_for)
    words = "\n".join(found.problems)
    assert "event 6 in" in words
    assert "events 6 is missing" not in words
    assert "event 9 is missing" in words
    assert "is not what was sent" in words
    assert found.events == 13
    assert found.requests < 4


async def test_a_request_whose_record_was_forged_is_told(path: Path) -> None:
    await written(path)
    entry = requests_of(read_entries(path, "t"))[1]
    assert isinstance(entry.event, RequestSent)
    forged = RequestSent(
        0, entry.event.last_event, "another tail", entry.event.config, "ab" * 32, 5
    )
    kind, version, body = encode_event(forged)
    crc = zlib.crc32(body, zlib.crc32(f"t\0{kind}\0{version}\0".encode()))
    with sqlite3.connect(path) as db:
        db.execute("update event set body = ?, crc = ? where seq = ?", (body, crc, entry.seq))
    found = verify_log(path, codec_for)
    assert found.requests == 3
    assert found.problems == (
        f"request {entry.seq} of thread 't' is not what was sent: its bytes do not match their hash",
    )


@given(history=histories, every=st.integers(1, 3))
async def test_the_recorded_prefix_is_the_measured_one(history: list[Entry], every: int) -> None:
    """For any history, in both codecs, also for a thread that another process goes on with."""
    for codec in CODECS:
        log = MemoryEventLog()
        thread = Thread(log, "t")
        thread.configure(config(codec), codec)
        answered, recorded, measured = b"", list[int](), list[int]()
        for number, entry in enumerate(history):
            thread.append(entry.event)
            if number % every == 0:
                sent = thread.request(f"tail {number}")
                measured.append(common_prefix(answered, sent.body))
                if number % 2 == 0:
                    answer = reply((Text("ok"),))
                    thread.append(
                        type(answer)(answer.content, "stop", answer.usage, "m", {}, sent.seq)
                    )
                    answered = sent.body
            if number % 4 == 3:
                thread = Thread.of(log, "t", await log.read("t"))
                thread.configure(config(codec), codec)
        entries = await log.read("t")
        for entry in requests_of(entries):
            assert isinstance(entry.event, RequestSent)
            recorded.append(entry.event.prefix)
        assert recorded == measured
        remade = list(remake_requests(entries, codec_for))
        assert all(request.exact for request in remade)
        assert [r.body for r in remade] == [
            rebuild_request(entries, r.entry.seq, codec_for) for r in remade
        ]


async def test_another_configuration_reuses_nothing() -> None:
    log = MemoryEventLog()
    thread = await talk(log, 2)
    thread.configure(config(CODECS[0], "another system"), CODECS[0])
    thread.request()
    sent = [e.event for e in requests_of(await log.read("t"))]
    assert [s.prefix > 0 for s in sent if isinstance(s, RequestSent)] == [False, True, False]


@given(st.binary(max_size=40), st.binary(max_size=40), st.integers(0, 200_000))
def test_the_common_prefix_of_any_two(first: bytes, second: bytes, shared: int) -> None:
    start = b"ab" * (shared // 2)
    found = common_prefix(start + first, start + second)
    brute = next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), None)
    assert found - len(start) == (min(len(first), len(second)) if brute is None else brute)


@pytest.mark.parametrize("codec", CODECS, ids=repr)
async def test_case_74_two_requests_part_at_the_event_that_was_added(codec: Codec) -> None:
    log = MemoryEventLog()
    await talk(log, 3, codec)
    entries = await log.read("t")
    first, second = (
        remake_request(entries, turn_of(entries, n).seq, codec_for).check() for n in (2, 3)
    )
    found = compare_requests(first, second)
    assert first.body[: found.prefix] == second.body[: found.prefix]
    assert first.body[found.prefix] != second.body[found.prefix]
    assert found.prefix >= end_of_history(first)
    added = [e.seq for e in entries if first.entry.seq < e.seq < second.entry.seq]
    assert found.parts[0].kind == "tail"
    assert found.parts[1].seq in (added[0], second.items[-3].seq)
    assert 0.5 < found.share < 1
    assert compare_requests(first, first).equal
    with pytest.raises(ContextError, match="no turn 4: this thread has 3"):
        turn_of(entries, 4)


async def test_a_changed_head_is_named_as_what_differs() -> None:
    log = MemoryEventLog()
    thread = await talk(log, 1)
    thread.configure(config(CODECS[0], "sys with the time in it"), CODECS[0])
    thread.request()
    entries = await log.read("t")
    first, second = remake_requests(entries, codec_for)
    found = compare_requests(first, second)
    assert [part.kind for part in found.parts] == ["head", "head"]
    assert found.parts[1].seq == second.sent.config
    assert part_at(second, len(second.body) - 3).kind in ("result", "tail")


async def test_a_turn_can_be_read_with_what_is_hidden() -> None:
    log = MemoryEventLog()
    thread = await talk(log, 2)
    thread.append(ToolReturned("ghost", "f", (Text("nobody asked"),)))
    thread.request("the tail")
    entries = await log.read("t")
    request = remake_request(entries, turn_of(entries, 3).seq, codec_for)
    text = turn_text(entries, request)
    for words in (
        "the bytes that were sent",
        "system (model m; tools: f)\nsys",
        "message from user\nthe task",
        "result 1 xxx",
        "tail (recorded with the request, no part of the history)\nthe tail",
        "hidden: 1 events, kept in the event log",
        "result of 12 characters: it adds nothing to a request",
    ):
        assert words in text
    first = turn_text(entries, remake_request(entries, turn_of(entries, 1).seq, codec_for))
    assert "nothing is hidden" in first
    assert "result 0" not in first


async def test_a_fork_shares_the_events_byte_for_byte(path: Path, tmp_path: Path) -> None:
    entries = await written(path, 4)
    forked = RunForked("new", "r", "t", 2)
    last = end_of_turn(entries, 2)
    fork_log(path, tmp_path / "fork.db", last, forked)
    copied = read_entries(tmp_path / "fork.db")
    assert copied[:-1] == [e for e in read_entries(path) if e.seq <= last]
    assert (copied[-1].seq, copied[-1].event) == (last + 1, forked)
    assert (tmp_path / "fork.db").stat().st_mode & 0o077 == 0
    assert verify_log(tmp_path / "fork.db", codec_for).problems == ()
    log = SqliteEventLog(tmp_path / "fork.db")
    thread = Thread.of(log, "t", await log.read("t"))
    thread.configure(config(CODECS[0]), CODECS[0])
    assert thread.request("turn 2 of 4").body == rebuild_request(
        entries, turn_of(entries, 3).seq, codec_for
    )
    await log.close()


async def test_where_turns_end() -> None:
    log = MemoryEventLog()
    thread = await talk(log, 2)
    thread.append(MessageAdded((Text("a follow-up"),)))
    thread.request()
    entries = await log.read("t")
    ends = [end_of_turn(entries, turn) for turn in (0, 1, 2)]
    kinds = [type(next(e.event for e in entries if e.seq == end)).__name__ for end in ends]
    assert kinds == ["MessageAdded", "ToolReturned", "ToolReturned"]
    with pytest.raises(ContextError, match="turn 3 has no reply yet"):
        end_of_turn(entries, 3)
    with pytest.raises(ContextError, match="no turn 4"):
        end_of_turn(entries, 4)


async def test_a_damaged_log_is_not_forked(path: Path, tmp_path: Path) -> None:
    await written(path)
    with sqlite3.connect(path) as db:
        db.execute("update event set body = cast('{}' as blob) where seq = 3")
    with pytest.raises(LogDamaged, match="event 3"):
        fork_log(path, tmp_path / "fork.db", 8, RunForked("new", "r", "t", 1))


def _without(text: str) -> str:
    for form in (SECRET, 'hu\\"sh\\\\ü-4711', 'hu\\"sh\\\\\\u00fc-4711'):
        text = text.replace(form, "[purged]")
    return text


@pytest.mark.parametrize("codec", CODECS, ids=repr)
async def test_a_purge_leaves_no_byte_and_a_log_that_verifies(path: Path, codec: Codec) -> None:
    log = SqliteEventLog(path)
    thread = await talk(log, 2, codec)
    thread.append(MessageAdded((Text(f"use {SECRET} here"),)))
    thread.append(reply((ToolCall("z", "f", '{"key": "hu\\"sh\\\\ü-4711"}'),), "tool_calls"))
    thread.append(ToolReturned("z", "f", (Text("fine"),)))
    for _ in range(2):
        thread.request("tail")
    await log.close()
    before = read_entries(path)

    event = purge_log(path, _without, codec_for, files=3)
    assert (event.events, event.files, len(event.requests)) == (2, 3, 2)
    for file in path.parent.iterdir():
        assert "4711" not in file.read_bytes().decode("utf-8", "replace"), file
    after = read_entries(path)
    assert after[-1].event == event
    assert [e.seq for e in after] == list(range(1, len(before) + 2))
    changed = [a.seq for a, b in zip(after, before, strict=False) if a.event != b.event]
    assert len(changed) == 4  # the two events, and the two requests that showed them
    found = verify_log(path, codec_for)
    assert (found.problems, found.purged) == ((), event.requests)
    assert found.requests == 4
    assert purge_log(path, _without, codec_for) == SecretPurged(0, 0, ())
    assert len(read_entries(path)) == len(after)


async def test_a_log_at_work_is_not_purged(path: Path) -> None:
    log = SqliteEventLog(path)
    await talk(log, 1)
    with pytest.raises(LogLocked):
        purge_log(path, _without, codec_for)
    await log.close()
