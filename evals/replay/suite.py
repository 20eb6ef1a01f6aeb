"""The replay suite: from a path of recorded runs to a results file."""

import asyncio
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from agents import Model

from ..errors import EvalError
from ..models import open_model
from ..options import ModelOptions
from ..planning import close_results
from ..results import Key, append_results
from ..running import Ran
from .answering import ask_probes
from .measure import CUTS, measure, measured_keys
from .readers import Recorded, read_recorded
from .trajectory import Trajectory
from .treating import Treatments, treatments_named


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay did."""

    recorded: Recorded
    records: int
    told: tuple[str, ...]
    """Lines for the user: counts of each format, and each rejection with its reason."""
    ran: Ran | None = None
    """What came of asking a model, `None` when there was none."""


def run_replay(
    recorded: Path,
    out: Path,
    *,
    policies: Sequence[str] = (),
    cuts: Sequence[float] = (),
    limit: int = 0,
    options: ModelOptions | None = None,
    summariser: Model | None = None,
) -> Replayed:
    """Measure all (or the named) policies over recorded runs, into `out/results.jsonl`.

    `limit` is the number of runs of each format, 0 for all. With a model in `options` each probe is then
    asked of it. Our summaries are written by `summariser`, else by that model, else by code.
    Raises `EvalError` when `out` already holds results and nothing says to resume, when a
    cut is not between 0 and 1, when no run can be used, and as `ask_probes` does.
    """
    options = options or ModelOptions()
    model = open_model(options)
    summariser = summariser or (model.sample() if model else None)
    chosen = treatments_named(policies, summariser)
    for cut in cuts:
        if not 0 < cut < 1:
            raise EvalError(f"a cut is a share of the run between 0 and 1, not {cut!r}")
    target = out / "results.jsonl"
    if target.exists() and not options.resume:
        raise EvalError(
            f"{str(target)!r} exists: go on with --resume, choose another --out, or move it away"
        )
    found = read_recorded(recorded)
    runs = _limited(found.trajectories, limit)
    if not runs:
        raise EvalError(
            f"no usable run at {str(recorded)!r}; rejected: {found.reasons() or 'nothing'}"
        )
    had, dropped = close_results(target)
    seen, number = asyncio.run(_measured(runs, chosen, cuts or CUTS, target, had))
    if not seen:
        raise EvalError(
            f"the {len(runs)} runs at {str(recorded)!r} give no probe: they are too short, or hold no "
            "tool calls"
        )
    told = [*([dropped] if dropped else []), *_told(found, len(runs), number)]
    told += _told_of_summaries(chosen.names, summariser)
    ran = None
    if model is not None:
        options = replace(options, resume=True)  # the other readings are there already
        ran = ask_probes(runs, chosen, cuts or CUTS, out, options, model)
    return Replayed(found, number, tuple(told), ran)


async def _measured(
    runs: Sequence[Trajectory],
    chosen: Treatments,
    cuts: Sequence[float],
    target: Path,
    had: Container[Key],
) -> tuple[int, int]:
    """Measure into the results, cut by cut, so that a break keeps what was measured; returns how many
    records there are, and how many are new."""
    seen = number = 0
    for run, cut in product(runs, cuts):
        owed = measured_keys(run, cut, chosen.names)
        seen += len(owed)
        if all(key in had for key in owed):
            continue  # nor is a model asked again for its summaries
        records = [record async for record in measure([run], chosen, (cut,))]
        number += append_results(target, (r for r in records if r.key not in had))
    return seen, number


def _told_of_summaries(policies: Sequence[str], summariser: Model | None) -> list[str]:
    if summariser or not any(name.startswith("summary[") for name in policies):
        return []
    return [
        "no model writes summaries: a record made by code stands in, which is the same for every prompt"
    ]


def _limited(trajectories: Sequence[Trajectory], limit: int) -> list[Trajectory]:
    kept: list[Trajectory] = []
    counts: dict[str, int] = {}
    for run in trajectories:
        counts[run.format] = counts.get(run.format, 0) + 1
        if not limit or counts[run.format] <= limit:
            kept.append(run)
    return kept


def _told(found: Recorded, used: int, number: int) -> list[str]:
    counts = ", ".join(f"{n} {name}" for name, n in found.counts().items())
    lines = [f"read: {counts}; used: {used}; records: {number}"]
    lines += [f"rejected: {error}" for error in found.rejected]
    return lines
