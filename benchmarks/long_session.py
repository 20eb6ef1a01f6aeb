"""A session of 400 turns in a window of 64,000 tokens: CPU per turn, and what the cached prefix serves.

    python benchmarks/long_session.py [--turns 400] [--repeat 3] [--deepagents PYTHON] [--check]

Each turn reads a page of 2 KB, against a scripted server on loopback in a process of its own; each arm is a
fresh process. CPU is that of the arm's process alone, from one tool call to the next, and of each turn the
least of all rounds, since every round does the same work on a shared machine. A turn costs what its bytes
cost, and requests are longer once the window is full: whether the history costs anything beside is told by
turns of the first and of the second half whose requests are equally long, to 20 KB.

The prefix is measured on the requests as they came, tools first, then messages: what a request shares with
the longest match among the eight requests before it, those for summaries included. deepagents runs in an
environment of its own, made once by

    python -m venv /tmp/deepagents && /tmp/deepagents/bin/pip install deepagents langchain-openai

and named by `--deepagents /tmp/deepagents/bin/python`; without it that arm is left out. With `--check` the
exit code is 1 when turns of equal length cost 15 % more in the second half, when a prefix broke but at a
compaction, or when more bytes than deepagents' are not served from the prefix.
"""

import argparse
import collections
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.chat_server import serve_in_process

from memory import common_prefix

HERE = Path(__file__).parent
FLAT = 1.15
"""CPU of a turn at the end over one at the beginning."""


def measured(python: str, arm: str, turns: int, repeat: int) -> dict:
    """One arm, each round in a fresh process: the first round's line with the least CPU of each turn."""
    lines = [_round(python, arm, turns) for _ in range(repeat)]
    if not all(line["ok"] for line in lines):
        return next(line for line in lines if not line["ok"])
    rounds = [[1000 * (b - a) for a, b in itertools.pairwise(line["stamps"])] for line in lines]
    return lines[0] | {"cpu": [min(turn) for turn in zip(*rounds, strict=True)]}


def _round(python: str, arm: str, turns: int) -> dict:
    with tempfile.TemporaryDirectory() as name:
        record = Path(name) / "requests"
        with serve_in_process("support.page_script:pages", record=record) as url:
            command = [python, str(HERE / "long_session_arms.py"), arm, str(turns), url]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return {"ok": False, "why": done.stderr.strip()[-300:], "stamps": []}
        return json.loads(done.stdout.splitlines()[-1]) | shared(record)


def shared(record: Path) -> dict[str, Any]:
    """Bytes of each request, and how many of all no earlier request held as a prefix."""
    before: collections.deque[bytes] = collections.deque(maxlen=8)
    sizes, missed = list[int](), 0
    with record.open("rb") as lines:
        for line in lines:
            body = json.loads(line)
            whole = json.dumps([body.get("tools"), body["messages"]]).encode()
            sizes.append(len(whole))
            missed += len(whole) - max((common_prefix(old, whole) for old in before), default=0)
            before.append(whole)
    return {"sizes": sizes, "missed": missed}


def rise(cpu: list[float], sizes: list[int]) -> float:
    """CPU of turns in the second half over those in the first whose requests are as long."""
    bins: dict[int, tuple[list[float], list[float]]] = {}
    for turn, spent in enumerate(cpu):
        bins.setdefault(sizes[turn + 1] // 20_000, ([], []))[turn >= len(cpu) // 2].append(spent)
    pairs = [halves for halves in bins.values() if min(map(len, halves)) >= 3]
    return statistics.mean(statistics.median(b) / statistics.median(a) for a, b in pairs)


def told(arm: str, line: dict) -> list[str]:
    """Print an arm; returns the faults of its CPU."""
    if not line["ok"]:
        print(f"{arm:12} did not finish: {line.get('why')}")
        return [f"{arm} did not finish"]
    cpu, sizes = line["cpu"], line["sizes"]
    quarter = len(cpu) // 4
    parts = [slice(n * quarter, (n + 1) * quarter) for n in range(4)]
    print(f"{arm:12} by quarter: CPU ms a turn, median", end="")
    print(*(f" {statistics.median(cpu[part]):.2f}" for part in parts), end="; mean")
    print(*(f" {statistics.mean(cpu[part]):.2f}" for part in parts), end="; request KB")
    print(*(f" {statistics.mean(sizes[part]) / 1e3:.0f}" for part in parts))
    print(
        f"{'':12} {len(sizes)} requests, {sum(sizes) / 1e6:.1f} MB sent, {line['missed'] / 1e6:.2f} MB not "
        f"served from the prefix ({line['missed'] / sum(sizes):.1%})"
    )
    if "compactions" not in line:
        return []
    more = rise(cpu, sizes)
    print(
        f"{'':12} CPU of equally long requests, second half over first: {more:.2f}\n"
        f"{'':12} {line['compactions']} compactions, {line['summaries']} summary calls, prefix broken "
        f"outside a compaction {line['broken']} times"
    )
    return [f"equally long requests cost {more:.2f} times as much later"] if more > FLAT else []


def main() -> None:
    """Measure the arms in turn and print them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=400)
    parser.add_argument("--repeat", type=int, default=3, help="rounds of our own arm")
    parser.add_argument("--deepagents", help="python of an environment with deepagents")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    own = measured(sys.executable, "undrift", options.turns, options.repeat)
    faults = told("undrift", own)
    if own.get("broken"):
        faults.append(f"the prefix broke {own['broken']} times outside a compaction")
    if options.deepagents:
        other = measured(options.deepagents, "deepagents", options.turns, 1)
        told("deepagents", other)
        if other["ok"] and own["ok"]:
            ratio = own["missed"] / other["missed"]
            print(f"bytes not served from the prefix: {ratio:.2f} of deepagents'")
            faults += [f"{ratio:.2f} of deepagents' bytes"] if ratio > 1 else []
    else:
        print("deepagents is left out: name its environment with --deepagents (see --help)")
    if faults:
        print("missed:", "; ".join(faults))
        sys.exit(1 if options.check else 0)


if __name__ == "__main__":
    main()
