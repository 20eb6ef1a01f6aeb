"""A session of 400 turns in a window of 64,000 tokens: CPU per turn, compactions, and the cached prefix.

Usage: python benchmarks/long_session.py [TURNS]
"""

import asyncio
import itertools
import statistics
import sys
import time
from typing import Any

from agents import Agent, Limits, Meter, Run, ScriptedModel, call, open_session
from memory import ContextCompacted, MemoryEventLog, RequestSent, SummaryAsked

WINDOW = 64_000


def script(turns: int, stamps: list[float]) -> Any:
    """A model that calls one tool `turns` times; summaries get a short answer."""
    count = 0

    def play(body: dict[str, Any]) -> Any:
        nonlocal count
        if "Older messages of this" in str(body["messages"][-1]["content"]):
            return '{"decisions": ["go on with the next page"]}'
        count += 1
        stamps.append(time.process_time())
        return call("read_page", number=count) if count <= turns else "done"

    return play


async def read_page(number: int) -> str:
    """Read a page of a report."""
    rows = "\n".join(
        f"row {number}-{row}: sensor s{row} at {number * row % 97} C" for row in range(60)
    )
    return f"page {number}\n{rows}"


async def main(turns: int) -> None:
    """Run the session and print the figures."""
    stamps: list[float] = []
    model = ScriptedModel(script(turns, stamps), window=WINDOW)
    agent = Agent("reader", "Read all pages.", tools=[read_page], limits=Limits(turns=turns + 1))
    run = Run("bench", MemoryEventLog(), Meter(Limits()))
    session = await open_session(run, agent, "Read the pages.", thread="main", models=[model])
    outcome = await agent.run(session)
    entries = await run.log.read("main")
    fresh, size, broken, sent, missed = True, 0, 0, 0, 0
    for entry in entries:
        event = entry.event
        fresh |= isinstance(event, ContextCompacted)
        if isinstance(event, RequestSent):
            tail = len(event.tail.encode()) + 400
            broken += not fresh and event.prefix < size - tail
            fresh, size = False, event.size
            sent, missed = sent + event.size, missed + event.size - event.prefix
    cpu = [1000 * (b - a) for a, b in itertools.pairwise(stamps)]
    quarters = [cpu[i * len(cpu) // 4 : (i + 1) * len(cpu) // 4] for i in range(4)]
    print(f"status {outcome.status}, {len(stamps) - 1} turns, window {WINDOW:,}")
    print(
        "CPU per turn, median of each quarter, ms:",
        *(f"{statistics.median(q):.2f}" for q in quarters),
    )
    print(f"compactions {sum(isinstance(e.event, ContextCompacted) for e in entries)}", end=", ")
    print(f"summary calls {sum(isinstance(e.event, SummaryAsked) for e in entries)}")
    print(f"prefix broken outside a compaction: {broken}")
    print(f"bytes sent {sent:,}, not served from the prefix {missed:,} ({missed / sent:.1%})")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 400))
