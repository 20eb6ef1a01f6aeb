"""One arm of `long_session.py`, alone in its process: it prints one JSON line. Not to be started by hand.

    python benchmarks/long_session_arms.py ARM TURNS URL

Each arm imports only what it measures, so that another library's arm runs in that library's environment.
"""

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

WINDOW = 64_000
SYSTEM = "Read all pages: pages={}."
stamps: list[float] = []
"""CPU seconds of this process at each tool call."""


def page(number: int) -> str:
    """About 2 KB, another text for each page."""
    stamps.append(time.process_time())
    rows = "\n".join(
        f"row {number}-{row}: sensor s{row} at {number * row % 97} C" for row in range(60)
    )
    return f"page {number}\n{rows}"


async def undrift(turns: int, url: str) -> dict[str, object]:
    """An agent as it comes, with its log on disk."""
    from agents import Agent, Limits, Meter, Run, WireModel, open_session, tool
    from memory import ContextCompacted, RequestSent, SqliteEventLog, SummaryAsked

    @tool(repeatable=True)
    async def read_page(number: int) -> str:
        """Read a page of a report."""
        return page(number)

    folder = Path(tempfile.mkdtemp(prefix="long-session-"))
    log = SqliteEventLog(folder / "events.db")
    model = WireModel("m", url, window=WINDOW, stream=False)
    agent = Agent("reader", SYSTEM.format(turns), tools=[read_page], limits=Limits(turns=turns + 1))
    run = Run("bench", log, Meter(Limits()))
    session = await open_session(
        run, agent, "Go on until all are read.", thread="main", models=[model]
    )
    outcome = await agent.run(session)
    entries = await log.read("main")
    await log.close()
    await model.close()
    fresh, size, broken = True, 0, 0
    for entry in entries:
        event = entry.event
        fresh |= isinstance(event, ContextCompacted)
        if isinstance(event, RequestSent):
            # What stands behind the history: the tail and the end of the JSON.
            broken += not fresh and event.prefix < size - len(event.tail.encode()) - 400
            fresh, size = False, event.size
    return {
        "ok": outcome.text == "done",
        "why": outcome.reason,
        "compactions": sum(isinstance(e.event, ContextCompacted) for e in entries),
        "summaries": sum(isinstance(e.event, SummaryAsked) for e in entries),
        "broken": broken,
    }


async def deepagents(turns: int, url: str) -> dict[str, object]:
    """`create_deep_agent` as it comes, told of the same window: it then compacts at 85 % of it."""
    from deepagents import create_deep_agent
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI

    @tool
    async def read_page(number: int) -> str:
        """Read a page of a report."""
        return page(number)

    model = ChatOpenAI(
        model="m",
        base_url=url,
        api_key="none",
        max_retries=0,
        timeout=600,
        profile={"max_input_tokens": WINDOW},
    )
    graph = create_deep_agent(model=model, tools=[read_page], system_prompt=SYSTEM.format(turns))
    given = {"messages": [{"role": "user", "content": "Go on until all are read."}]}
    state = await graph.ainvoke(given, {"recursion_limit": 10**6})
    return {"ok": state["messages"][-1].content == "done"}


if __name__ == "__main__":
    arm = {"undrift": undrift, "deepagents": deepagents}[sys.argv[1]]
    line = asyncio.run(arm(int(sys.argv[2]), sys.argv[3]))
    print(json.dumps({**line, "stamps": stamps}))
