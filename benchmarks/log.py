"""What the event log costs: bytes on disk per turn, and CPU per step with it and without.

    python benchmarks/log.py [--steps 500] [--repeat 5]

A step is one model call and one tool call with a 2 KB result, by a scripted model (no network). `content`
is what was said in the run: task, calls, results. The run folder is measured after its end, with log,
transcripts, spans and usage; the log also while the run goes on, as the bytes of its events, so that a
growth per turn that depends on the history would show. CPU: the same loop with a log in memory, which keeps
the events as they are, and with the log on disk; both in turn in one process, the median of the ratios.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from agents import Agent, Limits, Meter, Run, ScriptedModel, call, open_session, tool
from memory import MemoryEventLog, SqliteEventLog, encode_event, read_entries
from orchestrator import Coordinator

RESULT = "".join(
    f"line {number:04d} of the tool's output, as long as lines are\n" for number in range(40)
)[:2000]


@tool
async def work(i: int) -> str:
    """Do one step of work."""
    return f"step {i}\n{RESULT}"


def agent(steps: int) -> Agent:
    """An agent whose model calls `work` so many times."""
    script = [*(call("work", i=number) for number in range(steps)), "done"]
    model = ScriptedModel(script, window=10_000_000)
    model.requests = _Forgetful()
    return Agent("bench", "Work.", model, [work], limits=Limits(turns=steps + 2))


class _Forgetful(list[bytes]):
    """Counts requests and keeps none: a hundred MB of them would be the benchmark's own."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def append(self, _: bytes) -> None:
        self.count += 1

    def __len__(self) -> int:
        return self.count


def sizes(steps: int) -> None:
    """A whole run, and what its folder and its log hold."""
    with tempfile.TemporaryDirectory() as name:
        result = asyncio.run(Coordinator(agent(steps), runs=Path(name)).run("the task"))
        assert result.text == "done", result
        folder = result.folder
        files = {p.relative_to(folder): p.stat().st_size for p in folder.rglob("*") if p.is_file()}
        per_event = [len(encode_event(e.event)[2]) for e in read_entries(folder / "events.db")]
        whole = sum(files.values())
        print(f"{steps} steps, content {steps * (len(RESULT) + 20) / 1e6:.2f} MB")
        print(f"run folder {whole / 1e6:.2f} MB:")
        for path, size in sorted(files.items(), key=lambda item: -item[1])[:6]:
            print(f"  {path!s:28} {size / 1e6:8.3f} MB")
        quarter = len(per_event) // 4
        # Not the last quarter: from three quarters of its turns on an agent is told how many are left.
        early = sum(per_event[quarter : 2 * quarter]) / quarter
        late = sum(per_event[2 * quarter : 3 * quarter]) / quarter
        turns = steps + 1
        print(
            f"events {len(per_event) / turns:.1f} per turn; bytes an event, second quarter {early:.0f}, "
            f"third quarter {late:.0f}"
        )
        print(
            f"log beside content: {(sum(per_event) - steps * len(RESULT)) / turns:.0f} bytes per turn"
        )


async def loop(steps: int, path: Path | None) -> float:
    """CPU seconds per step of the agent's loop, with a log on disk or in memory."""
    log = SqliteEventLog(path) if path else MemoryEventLog()
    bench = agent(steps)
    run = Run("bench", log, Meter(Limits()))
    session = await open_session(run, bench, "the task", thread="main", models=[bench.model])
    started = time.process_time()
    outcome = await bench.run(session)
    spent = time.process_time() - started
    assert outcome.text == "done", outcome
    await log.close()
    return spent / steps


def cpu(steps: int, repeat: int) -> None:
    """Both logs in turn, so many times; the first round is not counted."""
    without, with_log = list[float](), list[float]()
    with tempfile.TemporaryDirectory() as name:
        for number in range(repeat + 1):
            memory = asyncio.run(loop(steps, None))
            disk = asyncio.run(loop(steps, Path(name) / f"{number}.db"))
            if number:
                without.append(memory * 1e3)
                with_log.append(disk * 1e3)
    ratios = [b / a for a, b in zip(without, with_log, strict=True)]
    print(
        f"CPU per step: {statistics.median(without):.2f} ms without the log on disk, "
        f"{statistics.median(with_log):.2f} ms with it, x {statistics.median(ratios):.2f} "
        f"({min(ratios):.2f} to {max(ratios):.2f})"
    )


def main() -> None:
    """Print sizes, then CPU."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    sizes(options.steps)
    cpu(options.steps, options.repeat)


if __name__ == "__main__":
    main()
