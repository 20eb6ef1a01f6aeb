"""Kills runs with SIGKILL, resumes them, and compares every thread with an undisturbed run (G8).

    python benchmarks/crash.py [--kills 320] [--seed 1]

A run is a coordinator with five subagents in parallel, each with tools, a second delegation and an
answer; the scripted model answers each request by what the request holds, so that every run says the
same. Kills come before, inside and after each commit of the log (a subclass of the log, which this
program installs in its own processes, stops there), and at random instants; some strike the resumed run
again. The children are forked from one warm process. Then the disk faults: a full disk, a folder that
cannot be written, a damaged last page.

Exit code 1 when an event was lost or doubled, or a finished call was paid twice.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _crash_faults import disk_faults
from _crash_runs import MOMENTS, RUN, Account, drive, has_begun, in_child, team

from memory import (
    Entry,
    Noticed,
    ReplyReceived,
    RequestSent,
    ToolReturned,
    encode_event,
    read_entries,
)


def threads_of(path: Path) -> dict[str, list[bytes]]:
    """Each thread's events in a form that may be compared: no times, no positions, no recovery.

    Results of one turn are sorted, since tools end in any order; a request that was in flight when the
    process died has no reply and is left out.
    """
    entries = read_entries(path)
    answered = {e.event.request for e in entries if isinstance(e.event, ReplyReceived)}
    place = {e.seq: f"{e.thread}:{type(e.event).__name__}" for e in entries}
    threads: dict[str, list[bytes]] = {}
    batch: dict[str, list[bytes]] = {}
    for entry in entries:
        event = entry.event
        if isinstance(event, RequestSent) and entry.seq not in answered:
            continue
        if isinstance(event, Noticed) and event.topic == "resumed":
            continue
        line = threads.setdefault(entry.thread, [])
        if isinstance(event, ToolReturned):
            batch.setdefault(entry.thread, []).append(_plain(entry, place))
            continue
        line += sorted(batch.pop(entry.thread, []))
        line.append(_plain(entry, place))
    for thread, rest in batch.items():
        threads[thread] += sorted(rest)
    return threads


def _plain(entry: Entry, place: dict[int, str]) -> bytes:
    kind, _, body = encode_event(entry.event)
    data = json.loads(body)
    for name in ("last_event", "config", "request"):
        if isinstance(data.get(name), int):
            data[name] = place.get(data[name], "")
    if isinstance(entry.event, RequestSent):
        data.pop("last_event")
    data.pop("seconds", None)
    return f"{kind} {json.dumps(data, sort_keys=True)}".encode()


@dataclass
class Tally:
    """What all kills together came to."""

    kills: int = 0
    survived: int = 0
    """Aimed at, but the run ended before the kill came."""
    lost: int = 0
    doubled: int = 0
    differing: int = 0
    paid_twice: int = 0
    models_repeated: int = 0
    tools_repeated: int = 0
    failed_resumes: int = 0
    points: Counter[str] = field(default_factory=Counter[str])


def finished(folder: Path) -> set[str]:
    """The model and tool calls whose reply or result the log holds, as the account names them."""
    path = folder / RUN / "events.db"
    if not has_begun(path):
        return set()
    entries = read_entries(path)
    answered = {e.event.request for e in entries if isinstance(e.event, ReplyReceived)}
    calls = {
        f"model {e.event.sha256}"
        for e in entries
        if isinstance(e.event, RequestSent) and e.seq in answered
    }
    for entry in entries:
        if isinstance(entry.event, ToolReturned) and entry.event.name == "look":
            topic, _, page = entry.event.content[0].text.partition(":")[0].rpartition(" page ")
            calls.add(f"tool {topic}/{page}")
    return calls


def one_kill(
    tally: Tally, reference: dict[str, list[bytes]], plans: list[Any], pause: float
) -> None:
    """One run, struck once for each of `plans`, resumed to its end and compared."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        snapshots: list[tuple[set[str], Counter[str]]] = []
        for plan in plans:
            struck = strike(folder, plan, pause)
            tally.kills += struck
            tally.survived += not struck
            if struck:
                tally.points[plan[0]] += 1
                snapshots.append((finished(folder), Account.read(folder)))
        _, status = os.waitpid(in_child(lambda: drive(folder, 0, "", pause)), 0)
        if status != 0:
            tally.failed_resumes += 1
            return
        compare(tally, reference, threads_of(folder / RUN / "events.db"))
        counts = Account.read(folder)
        for done, before in snapshots:
            again = [name for name in done if counts[name] > before[name]]
            tally.paid_twice += len(again)
        tally.models_repeated += sum(n - 1 for k, n in counts.items() if k.startswith("model"))
        tally.tools_repeated += sum(n - 1 for k, n in counts.items() if k.startswith("tool"))


def strike(folder: Path, plan: Any, pause: float) -> bool:
    """Start or resume the run and kill it; False when it ended before."""
    kind, value = plan
    if kind == "random":
        pid = in_child(lambda: drive(folder, 0, "", pause))
        time.sleep(value)
        os.kill(pid, signal.SIGKILL)
    else:
        pid = in_child(lambda: drive(folder, value, kind, pause))
    _, status = os.waitpid(pid, 0)
    return os.WIFSIGNALED(status)


def compare(
    tally: Tally, reference: dict[str, list[bytes]], threads: dict[str, list[bytes]]
) -> None:
    """Count what is missing, what is there twice, and threads that differ in any other way."""
    for name in reference.keys() | threads.keys():
        wanted, got = reference.get(name, []), threads.get(name, [])
        if wanted != got:
            lost = (Counter(wanted) - Counter(got)).total()
            more = (Counter(got) - Counter(wanted)).total()
            tally.lost, tally.doubled = tally.lost + lost, tally.doubled + more
            tally.differing += 1
            if tally.differing <= 3:
                print(f"thread {name!r} differs:", file=sys.stderr)
                for line in (Counter(wanted) - Counter(got)).elements():
                    print(f"  - {line[:200]!r}", file=sys.stderr)
                for line in (Counter(got) - Counter(wanted)).elements():
                    print(f"  + {line[:200]!r}", file=sys.stderr)


def plans_of(kills: int, commits: int, seconds: float, dice: random.Random) -> list[list[Any]]:
    """Every commit at each of its three moments, then random instants; a quarter is struck twice."""
    plans = [[(moment, n)] for moment in MOMENTS for n in range(1, commits + 1)]
    if len(plans) > kills:
        plans = dice.sample(plans, kills // 2)
    while sum(map(len, plans)) < kills:
        plans.append([("random", dice.uniform(0, seconds))])
        if dice.random() < 0.25:
            plans[-1].append(("random", dice.uniform(0, seconds)))
    return plans


def main() -> int:
    """Kill, resume, compare; print one table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=320)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--pause", type=float, default=0.002, help="seconds of a model or tool call"
    )
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asyncio.run(team(folder, Account(folder), 0).run("answer everything", run_id="warm"))
        (folder / "once").mkdir()
        started = time.monotonic()
        assert os.waitpid(in_child(lambda: drive(folder / "once", 0, "", options.pause)), 0)[1] == 0
        seconds = time.monotonic() - started
        commits = int((folder / "once" / "commits").read_text())
        reference = threads_of(folder / "once" / RUN / "events.db")
        tally = Tally()
        dice = random.Random(options.seed)
        for plan in plans_of(options.kills, commits, seconds, dice):
            one_kill(tally, reference, plan, options.pause)
        while tally.kills < options.kills:  # in place of those that came too late
            one_kill(tally, reference, [("random", dice.uniform(0, seconds))], options.pause)
        events = sum(map(len, reference.values()))
        print(f"undisturbed: {len(reference)} threads, {events} events, {commits} commits")
        print(f"kills: {tally.kills} ({dict(tally.points)}); came too late: {tally.survived}")
        print(
            f"events lost: {tally.lost}; doubled: {tally.doubled}; threads differing: {tally.differing}"
        )
        print(
            f"finished calls made twice: {tally.paid_twice}; resumes that failed: {tally.failed_resumes}"
        )
        print(
            f"calls in flight made again: {tally.models_repeated} model calls, "
            f"{tally.tools_repeated} tool calls"
        )
        print(f"{time.monotonic() - began:.0f} s")
        for fault, said in disk_faults(folder).items():
            print(f"{fault}: {said}")
    bad = tally.lost + tally.doubled + tally.differing + tally.paid_twice + tally.failed_resumes
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
