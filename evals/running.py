"""Running samples: several at once, each written down as it is done, and gone on with after a break.

What is to be run is written first, to `planned.jsonl`: the records that stand for samples without a
result. So whatever ends an eval - Ctrl-C, a dead server, `kill -9` - what was measured is kept, what was
not is counted as missing, and `resume` runs just that.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from .errors import EvalError
from .planning import close_results, write_plan
from .results import NO_RESULT, Key, Record, append_results

T = TypeVar("T")
IN_A_ROW = 3
"""Samples without a result, one after another, after which no further one is begun: the server is gone."""


@dataclass(frozen=True, slots=True)
class Sample(Generic[T]):
    """One sample to run."""

    task: T
    """What `run_one` gets."""
    blanks: tuple[Record, ...]
    """What stands for it while it has no result: one record for each that it gives, with its sample,
    policy, model and reading; the state is made `missing`."""


@dataclass(frozen=True, slots=True)
class Running:
    """How samples are run."""

    concurrency: int = 1
    """Samples at the same time."""
    resume: bool = False
    """Go on with the results that are there: only what has none is run."""
    seconds: float | None = None
    """Wall time of one sample, `None` for no limit; one that takes longer is missing."""
    stop: Callable[[], str] = lambda: ""
    """Asked before each sample; a reason ends the eval there."""
    tell: Callable[[str], None] = lambda line: None
    """Hears one line for each sample that is done."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of it."""

    done: int
    """Samples run now, those without a result among them."""
    skipped: int
    """Samples that had their results already."""
    missing: int
    """Records without a result: of samples that failed, and of those that were not begun."""
    stopped: str = ""
    """Why no further sample was begun, `""` when all were."""
    dropped: str = ""
    """What a broken eval had left half-written and was dropped, `""` for nothing."""


async def run_samples(
    samples: Iterable[Sample[T]],
    run_one: Callable[[T], Awaitable[Sequence[Record]]],
    out: Path,
    running: Running | None = None,
) -> Ran:
    """Run all samples into `out/results.jsonl`.

    A sample that raises, or gives no record for one of its blanks, is recorded as missing with the reason.
    Raises `EvalError` when `out` holds results and `resume` is off, or results of other samples.
    """
    running = running or Running()
    results = out / "results.jsonl"
    if results.exists() and not running.resume:
        raise EvalError(
            f"{str(results)!r} exists: go on with --resume, choose another --out, or move it away"
        )
    every = list(samples)
    write_plan(out, [_missing(blank) for sample in every for blank in sample.blanks])
    had, dropped = close_results(results)
    left = [sample for sample in every if any(blank.key not in had for blank in sample.blanks)]
    work = _Work(results, run_one, running, iter(left), len(left), had)
    async with asyncio.TaskGroup() as group:
        for _ in range(min(running.concurrency, len(left))):
            group.create_task(work.drain())
    missing = work.missing + sum(len(sample.blanks) for sample in work.rest)
    return Ran(work.done, len(every) - len(left), missing, work.stopped, dropped)


@dataclass(slots=True)
class _Work(Generic[T]):
    """What the tasks that run samples share."""

    results: Path
    run_one: Callable[[T], Awaitable[Sequence[Record]]]
    running: Running
    rest: Iterator[Sample[T]]
    total: int
    had: set[Key]
    """What has its result already, though another record of its sample has none."""
    done: int = 0
    missing: int = 0
    in_a_row: int = 0
    stopped: str = ""

    async def drain(self) -> None:
        """Run one sample after another until none is left or something says stop."""
        while not self.stopped:
            self.stopped = self.running.stop()
            sample = None if self.stopped else next(self.rest, None)
            if sample is None:
                return
            self._keep(await self._records(sample))

    async def _records(self, sample: Sample[T]) -> list[Record]:
        """A sample's records; for each that it does not give, its blank with the reason."""
        why, found = "it gave no record", list[Record]()
        try:
            async with asyncio.timeout(self.running.seconds):
                found = list(await self.run_one(sample.task))
        except TimeoutError as error:
            why = f"not done within {self.running.seconds:g} s" if self.running.seconds else ""
            why = why or f"TimeoutError: {error}"
        except Exception as error:  # noqa: BLE001 - the boundary: a sample's fault is its record
            why = f"{type(error).__name__}: {error}"
        given = {record.key for record in found}
        lacking = [blank for blank in sample.blanks if blank.key not in given]
        every = found + [_missing(blank, NO_RESULT, why) for blank in lacking]
        return [record for record in every if record.key not in self.had]

    def _keep(self, records: list[Record]) -> None:
        append_results(self.results, records)
        self.done += 1
        lost = [record for record in records if record.state == "missing"]
        self.missing += len(lost)
        gone = bool(lost) and all(record.failure == NO_RESULT for record in lost)
        self.in_a_row = self.in_a_row + 1 if gone else 0
        if self.in_a_row >= IN_A_ROW:
            self.stopped = (
                f"{self.in_a_row} samples in a row gave no result; the last: {lost[-1].why}"
            )
        for record in records:
            self.running.tell(
                f"{self.done}/{self.total} {record.sample} {record.policy}: {_told(record)}"
            )


def _missing(blank: Record, failure: str = NO_RESULT, why: str = "not run") -> Record:
    return blank.model_copy(
        update={"passed": False, "state": "missing", "failure": failure, "why": why}
    )


def _told(record: Record) -> str:
    if record.success:
        return "passed"
    return ", ".join(part for part in (record.state, record.failure, record.why) if part)
