"""Running samples: written as they are done, gone on with after a break, faults as records."""

import asyncio
import json
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from evals.errors import EvalError
from evals.results import PLANNED, Record, read_results
from evals.running import Running, Sample, run_samples
from evals.summary import summarise


def record(name: str, passed: bool = True) -> Record:
    return Record(
        suite="goal-drift",
        sample=name,
        cluster=name,
        family="f",
        policy="p",
        passed=passed,
    )


def samples(*names: str) -> list[Sample[str]]:
    return [Sample(name, (record(name, False),)) for name in names]


class Suite:
    """Passes every sample, except those whose name says what else it does."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.most = self.under_way = 0

    async def __call__(self, name: str) -> Sequence[Record]:
        self.ran.append(name)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(0)
        self.under_way -= 1
        if "raises" in name:
            raise ValueError(f"no such thing as {name}")
        if "hangs" in name:
            await asyncio.Event().wait()
        if "stops" in name:
            signal.raise_signal(signal.SIGINT)
            await asyncio.Event().wait()
        return [] if "silent" in name else [record(name)]


def states(out: Path) -> dict[str, str]:
    return {r.sample: r.state for r in read_results(out / "results.jsonl").records}


async def test_results_are_written_as_they_are_done_and_not_more_than_allowed_run_at_once(
    tmp_path: Path,
) -> None:
    suite = Suite()
    ran = await run_samples(samples(*"abcdefgh"), suite, tmp_path, Running(concurrency=3))
    assert (ran.done, ran.skipped, ran.missing, ran.stopped) == (8, 0, 0, "")
    assert suite.most == 3
    assert states(tmp_path) == dict.fromkeys("abcdefgh", "valid")


async def test_a_fault_is_a_missing_record_with_its_reason_and_costs_the_others_nothing(
    tmp_path: Path,
) -> None:
    every = samples("a", "raises", "b", "silent", "c", "hangs", "d")
    ran = await run_samples(every, Suite(), tmp_path, Running(seconds=0.01))
    assert (ran.done, ran.missing) == (7, 3)
    found = {r.sample: r for r in read_results(tmp_path / "results.jsonl").records}
    assert found["raises"].why == "ValueError: no such thing as raises"
    assert found["silent"].why == "it gave no record"
    assert found["hangs"].why == "not done within 0.01 s"
    assert all(found[name].state == "missing" for name in ("raises", "silent", "hangs"))
    assert all(found[name].success == 1 for name in "abcd")


async def test_a_dead_server_stops_the_eval_and_what_was_not_begun_counts_as_failed(
    tmp_path: Path,
) -> None:
    every = samples("a", *(f"raises {n}" for n in range(3)), "b", "c")
    suite = Suite()
    ran = await run_samples(every, suite, tmp_path)
    assert suite.ran == ["a", "raises 0", "raises 1", "raises 2"]
    assert ran.stopped.startswith("3 samples in a row gave no result; the last: ValueError")
    assert ran.missing == 5
    row = summarise(read_results(tmp_path / "results.jsonl")).rows[0]
    assert (row.samples, row.passed, row.missing) == (6, 1, 5)


async def test_resume_runs_what_has_no_result_and_the_new_one_stands_in(tmp_path: Path) -> None:
    every = samples("a", *(f"raises {n}" for n in range(3)), "b")
    await run_samples(every, Suite(), tmp_path)

    async def mended(name: str) -> Sequence[Record]:
        return [record(name)]

    ran = await run_samples(every, mended, tmp_path, Running(resume=True))
    assert (ran.done, ran.skipped, ran.missing) == (4, 1, 0)
    assert set(states(tmp_path).values()) == {"valid"}
    assert len(states(tmp_path)) == len(read_results(tmp_path / "results.jsonl").records) == 5


async def test_a_half_written_last_line_is_dropped_by_name_on_resume(tmp_path: Path) -> None:
    await run_samples(samples("a", "b"), Suite(), tmp_path)
    results = tmp_path / "results.jsonl"
    whole = results.read_bytes()
    results.write_bytes(whole[:-30])
    ran = await run_samples(samples("a", "b"), Suite(), tmp_path, Running(resume=True))
    assert ran.dropped.startswith("line 2 of ")
    assert "half-written" in ran.dropped
    assert (ran.done, ran.skipped) == (1, 1)
    assert results.read_bytes() == whole


async def test_a_last_line_that_lacks_only_its_break_is_kept(tmp_path: Path) -> None:
    await run_samples(samples("a"), Suite(), tmp_path)
    results = tmp_path / "results.jsonl"
    results.write_bytes(results.read_bytes()[:-1])
    ran = await run_samples(samples("a", "b"), Suite(), tmp_path, Running(resume=True))
    assert (ran.dropped, ran.done, ran.skipped) == ("", 1, 1)
    assert len(read_results(results).records) == 2


def test_ctrl_c_leaves_what_is_done(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(run_samples(samples("a", "stops", "b"), Suite(), tmp_path))
    assert states(tmp_path) == {"a": "valid", "stops": "missing", "b": "missing"}


async def test_a_reason_to_stop_is_heard_before_each_sample(tmp_path: Path) -> None:
    suite = Suite()
    running = Running(stop=lambda: "enough" if len(suite.ran) == 2 else "")
    ran = await run_samples(samples(*"abcd"), suite, tmp_path, running)
    assert (ran.stopped, ran.missing, suite.ran) == ("enough", 2, ["a", "b"])


async def test_results_are_never_mixed_with_those_of_another_command(tmp_path: Path) -> None:
    await run_samples(samples("a"), Suite(), tmp_path)
    with pytest.raises(EvalError, match="go on with --resume"):
        await run_samples(samples("a"), Suite(), tmp_path)
    with pytest.raises(EvalError, match="plans other samples than this command, for example 'a'"):
        await run_samples(samples("b"), Suite(), tmp_path, Running(resume=True))
    with pytest.raises(EvalError, match="two samples are"):
        await run_samples(samples("c", "c"), Suite(), tmp_path / "other")
    planned = (tmp_path / PLANNED).read_text().splitlines()
    assert [json.loads(line)["sample"] for line in planned] == ["a"]
