"""Transcripts as it happens: complete, never doubled, whatever stops the program."""

import pytest

from memory import (
    ContextCompacted,
    MessageAdded,
    Replacement,
    SqliteEventLog,
    Text,
    ThreadStarted,
    ToolReturned,
    TranscribingLog,
    loads,
    read_entries,
    transcript_text,
)


def opened(tmp_path):
    return TranscribingLog(SqliteEventLog(tmp_path / "events.db"), tmp_path)


async def written(log, texts, thread="main"):
    for text in texts:
        log.append(thread, MessageAdded((Text(text),)))
        await log.commit()


def lines(path):
    return [loads(line)["seq"] for line in path.read_bytes().splitlines()]


def same(tmp_path, thread="main"):
    entries = read_entries(tmp_path / "events.db", thread)
    assert (tmp_path / f"{thread}.txt").read_bytes().decode() == transcript_text(entries)
    assert lines(tmp_path / f"{thread}.jsonl") == [entry.seq for entry in entries]
    return entries


async def test_each_thread_has_its_text_and_its_lines(tmp_path):
    log = opened(tmp_path)
    log.append("", ThreadStarted("run"))
    await written(log, ["literal text\r\n=== 9 not a frame", "二"])
    await written(log, ["other"], "main.1-1")
    log.append("main", ToolReturned("c", "fetch", (Text("not committed before the end"),)))
    await log.close()
    assert len(same(tmp_path)) == 3
    assert len(same(tmp_path, "main.1-1")) == 1
    assert lines(tmp_path / "run.jsonl") == [1]
    assert (tmp_path / "main.txt").stat().st_mode & 0o077 == 0


async def test_case_41_crlf_history_is_whole_after_two_compactions(tmp_path):
    log = opened(tmp_path)
    texts = [f"line {n}\r\nwith its end\r\n\r\n" for n in range(6)]
    for first in (0, 3):
        await written(log, texts[first : first + 3])
        hidden = tuple(e.seq for e in await log.read("main") if isinstance(e.event, MessageAdded))
        log.append("main", ContextCompacted("test", (Replacement(hidden, "a\r\nsummary"),)))
        await log.commit()
    await log.close()
    same(tmp_path)
    kept = (tmp_path / "main.txt").read_bytes().decode()
    assert [kept.count(text) for text in texts] == [1] * 6
    assert kept.count("a\r\nsummary") == 2


@pytest.mark.parametrize("cut", [0, 1, 7, 60, 500])
@pytest.mark.parametrize("ending", ["txt", "jsonl"])
async def test_a_run_that_goes_on_completes_what_a_crash_cut_off(tmp_path, cut, ending):
    log = opened(tmp_path)
    await written(log, [f"message {n} " * 20 for n in range(5)])
    await log.close()
    if ending == "txt":  # a text that is cut has no line for machines yet
        for name in ("main.jsonl", "main.txt"):
            _cut(tmp_path / name, cut)
    else:
        _cut(tmp_path / "main.jsonl", cut)
    log = opened(tmp_path)
    await log.complete(await log.read())
    await written(log, ["after the crash"])
    await log.close()
    assert len(same(tmp_path)) == 6


def _cut(path, count):
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - count])


async def test_secrets_are_not_written_and_a_full_disk_does_not_stop_the_log(tmp_path):
    log = opened(tmp_path)
    await written(log, ["the key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"])
    await log.close()
    for name in ("main.txt", "main.jsonl"):
        assert "abcdefghijklmnopqrstuvwxyz" not in (tmp_path / name).read_text()
    (tmp_path / "main.txt").unlink()
    (tmp_path / "main.txt").mkdir()
    log = opened(tmp_path)
    await written(log, ["still logged"])
    await log.close()
    assert log.failure
    assert len(read_entries(tmp_path / "events.db")) == 2
