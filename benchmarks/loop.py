"""CPU per step of a subagent and of a coordinator, as multiples of a hand-written aiohttp loop.

    python benchmarks/loop.py [--steps 50 500] [--repeat 5] [--stream]

A step is one model call and one tool call with a 2 KB result, against a scripted server on loopback in a
process of its own. The subagent and the coordinator use the wire adapter and the SQLite log. Every round
runs the three in turn in one process; the ratio is taken round by round and its median printed, since
the machine's speed drifts.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import aiohttp

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.chat_server import serve_in_process

from agents import Agent, Limits, Meter, Run, WireModel, open_session, tool
from memory import SqliteEventLog
from orchestrator import Coordinator

RESULT = "".join(
    f"line {number:04d} of the tool's output, as long as lines are\n" for number in range(40)
)[:2048]
SYSTEM = "You are a careful assistant. Use the tools you are given, then answer."
WORK = {
    "type": "function",
    "function": {
        "name": "work",
        "description": "Do one step of work.",
        "parameters": {
            "type": "object",
            "properties": {"i": {"type": "integer"}},
            "required": ["i"],
        },
    },
}


@tool
async def work(i: int) -> str:
    """Do one step of work."""
    return f"step {i}\n{RESULT}"[:2048]


async def by_hand(url: str, steps: int, session: aiohttp.ClientSession) -> None:
    """The limit: what a loop costs when nothing is kept, checked or counted."""
    messages = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": f"steps={steps}"},
    ]
    while True:
        body = {"model": "m", "messages": messages, "tools": [WORK]}
        data = json.dumps(body, separators=(",", ":")).encode()
        headers = {"content-type": "application/json"}
        async with session.post(f"{url}/chat/completions", data=data, headers=headers) as response:
            message = json.loads(await response.read())["choices"][0]["message"]
        messages.append(message)
        if not message.get("tool_calls"):
            return
        for call in message["tool_calls"]:
            step = json.loads(call["function"]["arguments"])["i"]
            content = f"step {step}\n{RESULT}"[:2048]
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})


async def as_subagent(model: WireModel, steps: int, folder: Path) -> None:
    """The agent loop as a subagent runs it, with its log on disk."""
    log = SqliteEventLog(folder / "events.db")
    agent = Agent("bench", SYSTEM, tools=[work], limits=Limits(turns=steps + 2))
    run = Run("bench", log, Meter(Limits()))
    session = await open_session(run, agent, f"steps={steps}", thread="main", models=[model])
    outcome = await agent.run(session)
    assert outcome.text == "done", outcome
    await log.close()


async def as_coordinator(model: WireModel, steps: int, folder: Path) -> None:
    """The same through the coordinator's LangGraph graph."""
    agent = Agent("bench", SYSTEM, tools=[work], limits=Limits(turns=steps + 2))
    result = await Coordinator(agent, model=model, runs=folder).run(f"steps={steps}")
    assert result.text == "done", result


async def measure(url: str, steps: int, repeat: int, stream: bool) -> dict[str, list[float]]:
    """CPU milliseconds per step of each way, one value a round; the first round is not counted."""
    times: dict[str, list[float]] = {"by hand": [], "subagent": [], "coordinator": []}
    # A window that 500 steps do not fill: nothing is compacted, so both sides do the same work.
    model = WireModel("m", url, stream=stream, window=4_000_000)
    async with aiohttp.ClientSession() as session:
        for number in range(repeat + 1):
            count = steps if number else 3
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                runs = {
                    "by hand": by_hand(url, count, session),
                    "subagent": as_subagent(model, count, folder),
                    "coordinator": as_coordinator(model, count, folder),
                }
                for way, running in runs.items():
                    started = time.process_time()
                    await running
                    if number:
                        times[way].append((time.process_time() - started) / count * 1e3)
    await model.close()
    return times


def main() -> None:
    """Print one table a number of steps."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--steps", type=int, nargs="+", default=[50, 500])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument(
        "--stream", action="store_true", help="our requests stream; the hand-written never do"
    )
    options = parser.parse_args()
    with serve_in_process("support.loop_script:loop") as url:
        for steps in options.steps:
            times = asyncio.run(measure(url, steps, options.repeat, options.stream))
            print(
                f"\n{steps} steps, median of {options.repeat}; CPU ms per step and ratio to the loop by hand"
            )
            for way, values in times.items():
                ratios = [
                    value / base for value, base in zip(values, times["by hand"], strict=True)
                ]
                print(
                    f"  {way:12} {statistics.median(values):7.2f} ms  x {statistics.median(ratios):5.2f}"
                )


if __name__ == "__main__":
    main()
