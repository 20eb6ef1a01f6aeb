"""The replay suite: from a path of recorded runs to a results file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import EvalError
from ..results import append_results
from .measure import CUTS, measure
from .policies import policies_named
from .readers import Recorded, read_recorded
from .trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay did."""

    recorded: Recorded
    records: int
    told: tuple[str, ...]
    """Lines for the user: counts of each format, and each rejection with its reason."""


def run_replay(
    recorded: Path,
    out: Path,
    *,
    policies: Sequence[str] = (),
    cuts: Sequence[float] = (),
    limit: int = 0,
) -> Replayed:
    """Measure all (or the named) policies over recorded runs, into `out/results.jsonl`.

    `limit` is the number of runs of each format, 0 for all. Raises `EvalError` when `out` already
    holds results, when a cut is not between 0 and 1, or when no run can be used.
    """
    chosen = policies_named(policies)
    for cut in cuts:
        if not 0 < cut < 1:
            raise EvalError(f"a cut is a share of the run between 0 and 1, not {cut!r}")
    target = out / "results.jsonl"
    if target.exists():
        raise EvalError(f"{str(target)!r} exists: choose another --out, or move it away")
    found = read_recorded(recorded)
    runs = _limited(found.trajectories, limit)
    if not runs:
        raise EvalError(
            f"no usable run at {str(recorded)!r}; rejected: {found.reasons() or 'nothing'}"
        )
    number = append_results(target, measure(runs, chosen, cuts or CUTS))
    if not number:
        raise EvalError(
            f"the {len(runs)} runs at {str(recorded)!r} give no probe: they are too short, or hold no "
            "tool calls"
        )
    return Replayed(found, number, tuple(_told(found, len(runs), number)))


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
