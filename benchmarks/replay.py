"""What our compaction leaves of recorded runs, each taken again through the real loop and cut at 75 %.

    python benchmarks/replay.py [--cut 0.75] [--runs coding|service|all] [--limit N] [--policy NAME ...]

A recording plays the model and the tools of a real `Agent`; at the cut the trigger is put just below the size
of the next request, and what the model would see is read from that request's bytes. For each policy:
tokens kept, probes present, probes present or reachable within two calls of `history_search` and
`history_read` by a searcher that knows only the words of the question, and the tokens that such a search
costs. `no compaction` counts probes of runs in which the gate took nothing (too little to gain, or the target
out of reach); they count as failures. Beside ours stand `micro-3` (placeholders for all but the newest
three results) and `random=X`, which drops whole turns at random until no more is left than X leaves.

Three groups: all runs; those with room for 30 % (system prompt and task, which nothing hides, are at most a
tenth of the tokens); and of these the two halves by a hash of the task: the strategies were tuned on one and
never on the other.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from evals.replay.measure import measure
from evals.replay.ours import EQUAL, STRATEGIES
from evals.replay.readers import read_recorded
from evals.replay.trajectory import Trajectory, cut_at
from evals.replay.treating import treatments_named
from evals.results import Record

NAMES = (*STRATEGIES, *EQUAL, "micro-3", "tail-25", "random=auto", "random=auto@30")
SERVICE = ("tau-bench", "tau2-bench")
ROOMY = 0.1


def data() -> Path:
    """Where the recorded runs are."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("UNDRIFT_TEST_DATA", beside)) / "trajectories"


def held_out(run: Trajectory) -> bool:
    """True for the half of the tasks that no strategy was tuned on."""
    return sha256(run.task.encode()).digest()[0] % 2 == 1


def roomy(run: Trajectory, cut: float) -> bool:
    """True when what nothing hides is at most a tenth of the tokens at the cut."""
    messages = cut_at(run, cut)
    head = sum(message.tokens for message in messages[: run.head])
    return head <= ROOMY * sum(message.tokens for message in messages)


@dataclass
class Figures:
    """One policy over some runs."""

    probes: int = 0
    lost: int = 0
    present: int = 0
    reachable: int = 0
    kept: float = 0.0
    total: float = 0.0
    extra: float = 0.0


def figures(records: Iterable[Record], sizes: dict[str, int]) -> dict[str, Figures]:
    """By policy; tokens are counted once for each run."""
    found: dict[str, Figures] = {}
    seen: set[tuple[str, str]] = set()
    for record in records:
        row = found.setdefault(record.policy, Figures())
        if record.reading == "reachable":
            row.reachable += record.success == 1
            row.extra += record.figures["extra_tokens"]
            continue
        row.probes += 1
        row.lost += record.state != "valid"
        row.present += record.success == 1
        run = record.sample.partition("@")[0]
        if (run, record.policy) not in seen:
            seen.add((run, record.policy))
            row.kept += record.figures["share_kept"] * sizes[run]
            row.total += sizes[run]
    return found


def show(title: str, found: dict[str, Figures], runs: int) -> None:
    """Print one group."""
    print(f"\n{title}: {runs} runs")
    head = ("tokens kept", "present", "or reachable", "extra tokens", "no compaction", "probes")
    print(f"{'':16}" + "".join(f"{word:>15}" for word in head))
    for name, row in found.items():
        n = max(1, row.probes)
        kept, present, reached = row.kept / max(1, row.total), row.present / n, row.reachable / n
        print(
            f"{name:16}{kept:>15.1%}{present:>15.1%}{reached:>15.1%}{row.extra / n:>15,.0f}"
            f"{row.lost:>15}{row.probes:>15}"
        )


async def main(options: argparse.Namespace) -> int:
    """Measure, and print a table for each group."""
    if not data().exists():
        print(f"no recorded runs at {data()}: set UNDRIFT_TEST_DATA", file=sys.stderr)
        return 2
    recorded = read_recorded(data())
    runs = [r for r in recorded.trajectories if wanted(r, options.runs)]
    runs = runs[: options.limit] if options.limit else runs
    chosen = treatments_named(options.policy or NAMES)
    records: dict[str, list[Record]] = {}
    for run in runs:
        found = [record async for record in measure([run], chosen, (options.cut,))]
        if found:
            records[f"{run.format}/{run.id}"] = found
    runs = [run for run in runs if f"{run.format}/{run.id}" in records]
    sizes = {f"{r.format}/{r.id}": sum(m.tokens for m in cut_at(r, options.cut)) for r in runs}
    print(f"cut at {options.cut:.0%}; {len(recorded.rejected)} files or runs were rejected by name")
    room = [run for run in runs if roomy(run, options.cut)]
    groups = {
        f"{options.runs} runs": runs,
        "with room for 30 %": room,
        "with room, tuned on": [run for run in room if not held_out(run)],
        "with room, held out": [run for run in room if held_out(run)],
    }
    for title, group in groups.items():
        lines = [line for run in group for line in records[f"{run.format}/{run.id}"]]
        show(title, figures(lines, sizes), len(group))
    return 0


def wanted(run: Trajectory, kind: str) -> bool:
    """True for a run of the kind asked for."""
    return kind == "all" or (run.format in SERVICE) == (kind == "service")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--cut", type=float, default=0.75)
    parser.add_argument("--runs", choices=("coding", "service", "all"), default="coding")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--policy", action="append")
    sys.exit(asyncio.run(main(parser.parse_args())))
