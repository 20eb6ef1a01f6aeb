"""Measure policies over recorded runs: each probe asked on its own of what each policy left."""

from collections.abc import AsyncIterator, Iterable, Sequence

from agents import AgentError

from ..results import Key, Reading, Record
from .probes import Probe, flatten
from .rerun import WINDOW
from .searcher import Fetched
from .trajectory import Message, Trajectory
from .treating import CutRun, Left, Treatments, cut_run

READINGS: tuple[Reading, ...] = ("present", "reachable")
CUTS = (0.5, 0.75, 0.9)
"""Shares of a run's messages at which it is cut; never the end, whose diff repeats the answers."""


async def measure(
    trajectories: Sequence[Trajectory], treatments: Treatments, cuts: Sequence[float] = CUTS
) -> AsyncIterator[Record]:
    """Records of every probe under every policy, read as `present` and as `reachable`.

    A probe that full history lacks would be a fault of its extraction: its records are invalid. So are those
    of a policy of ours whose compaction was not taken.
    """
    for trajectory in trajectories:
        for cut in cuts:
            run = cut_run(trajectory, cut)
            if run.probes:
                for record in await _measure_cut(run, treatments):
                    yield record


async def _measure_cut(run: CutRun, treatments: Treatments) -> list[Record]:
    fetched: list[Fetched] = []
    try:
        fetched = await treatments.fetched(run)
    except AgentError as error:
        why = f"the run does not go through the loop: {error}"
        return [
            _lost(probe_record(run.trajectory, run.cut, probe, name), reading, why)
            for name in treatments.names
            for probe in run.probes
            for reading in READINGS
        ]
    whole = flatten("\n".join(message.text for message in run.messages))
    records: list[Record] = []
    for name, left in (await treatments.left(run)).items():
        records += _read(run, name, left, fetched, whole)
    return records


def measured_keys(trajectory: Trajectory, cut: float, names: Iterable[str]) -> set[Key]:
    """What the records of one cut run will be of, before anything is measured."""
    return {
        probe_record(trajectory, cut, probe, name).model_copy(update={"reading": reading}).key
        for probe in cut_run(trajectory, cut).probes
        for name in names
        for reading in READINGS
    }


def _lost(record: Record, reading: str, why: str) -> Record:
    return record.model_copy(
        update={"reading": reading, "state": "invalid", "failure": "not run", "why": why}
    )


def _read(
    run: CutRun, name: str, left: Left, fetched: Sequence[Fetched], whole: str
) -> list[Record]:
    """The records of all probes under one policy."""
    text = flatten("\n".join(message.text for message in left.messages))
    total = sum(message.tokens for message in run.messages)
    figures = left.figures | {
        "share_kept": share_of(left.messages, run.messages),
        "prefix_kept": _prefix(run.messages, left.messages) / total,
    }
    records: list[Record] = []
    for probe, found in zip(run.probes, fetched, strict=True):
        present = _holds(probe, text)
        asked = _holds(probe, whole)
        base = probe_record(run.trajectory, run.cut, probe, name).model_copy(
            update={
                "passed": present,
                "state": "valid" if asked and not left.why else "invalid",
                "why": left.why or ("" if asked else "the whole history lacks the answer"),
                "failure": "" if present else "not present",
                "figures": figures,
            }
        )
        records += [base, base.model_copy(update=_reached(present, found))]
    return records


def probe_record(trajectory: Trajectory, cut: float, probe: Probe, policy: str) -> Record:
    """The record of a probe under a policy, as it stands before it is read."""
    return Record(
        suite="replay",
        sample=f"{trajectory.format}/{trajectory.id}@{cut:g}/{probe.kind}/{probe.question}",
        cluster=f"{trajectory.format}/{trajectory.task}",
        family=probe.kind,
        policy=policy,
        reading="present",
        passed=False,
        trigger=cut,
        window=WINDOW * trajectory.tokens,
        evidence=" | ".join(probe.answers)[:200],
    )


def share_of(kept: Sequence[Message], messages: Sequence[Message]) -> float:
    """The share of the tokens that is kept."""
    return sum(message.tokens for message in kept) / sum(message.tokens for message in messages)


def _reached(present: bool, found: Fetched) -> dict[str, object]:
    reached = present or found.found
    cost = {"extra_calls": 0.0, "extra_tokens": 0.0}
    if not present:
        cost = {"extra_calls": float(found.calls), "extra_tokens": float(found.tokens)}
    return {
        "reading": "reachable",
        "passed": reached,
        "failure": "" if reached else "looked and missed",
        "figures": cost,
    }


def _holds(probe: Probe, flat: str) -> bool:
    return all(flatten(answer) in flat for answer in probe.answers)


def _prefix(messages: Sequence[Message], kept: Sequence[Message]) -> int:
    """Tokens of the unchanged beginning, which a provider's cache would still hold."""
    tokens = 0
    for before, after in zip(messages, kept, strict=False):
        if (before.role, before.text) != (after.role, after.text):
            break
        tokens += before.tokens
    return tokens
