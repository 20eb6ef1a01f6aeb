"""One arm of `fanout.py`, alone in its process: it prints one JSON line. Not to be started by hand.

    python benchmarks/fanout_arms.py ARM K URL

Each arm imports only what it measures, so that another library's arm runs in that library's environment.
"""

import asyncio
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

SYSTEM = "You are a careful assistant. Use the tools you are given, then answer."
RESULT = "".join(f"line {n:04d} of the tool's output, as long as lines are\n" for n in range(40))
CALLS = 4
"""Model calls of one subagent: three that ask for a tool, and the answer."""


def result(i: int) -> str:
    """2 KB, another text for each step."""
    return f"step {i}\n{RESULT}"[:2048]


class Bare:
    """The limit: loops over one aiohttp session that keep, check and count nothing."""

    def __init__(self, url: str) -> None:
        self.url = f"{url}/chat/completions"
        schema = {"type": "object", "properties": {"i": {"type": "integer"}}, "required": ["i"]}
        work = {"name": "work", "description": "Do one step of work.", "parameters": schema}
        tasks = {"type": "object", "properties": {"tasks": {"type": "array"}}}
        send = {"name": "delegate", "description": "Send tasks.", "parameters": tasks}
        self.worker = [{"type": "function", "function": work}]
        self.lead = [*self.worker, {"type": "function", "function": send}]

    async def run(self, prompt: str) -> str:
        import aiohttp

        connector = aiohttp.TCPConnector(limit=2000)
        async with aiohttp.ClientSession(connector=connector) as self.session:
            return await self.loop(prompt, self.lead)

    async def loop(self, prompt: str, tools: list) -> str:
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": prompt}]
        while True:
            body = {"model": "m", "messages": messages, "tools": tools}
            data = json.dumps(body, separators=(",", ":")).encode()
            headers = {"content-type": "application/json"}
            async with self.session.post(self.url, data=data, headers=headers) as response:
                message = json.loads(await response.read())["choices"][0]["message"]
            messages.append(message)
            if not message.get("tool_calls"):
                return message["content"]
            for call in message["tool_calls"]:
                given = json.loads(call["function"]["arguments"])
                if "tasks" in given:
                    loops = (self.loop(task["task"], self.worker) for task in given["tasks"])
                    content = json.dumps(await asyncio.gather(*loops))
                else:
                    content = result(given["i"])
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})


class Undrift:
    """A coordinator with one kind of subagent, its run on disk."""

    def __init__(self, url: str) -> None:
        from agents import Agent, Limits, Rate, WireModel, WireOptions, tool
        from orchestrator import Coordinator

        @tool
        async def work(i: int) -> str:
            """Do one step of work."""
            return result(i)

        options = WireOptions(rate=Rate(concurrency=1000))
        self.model = WireModel("m", url, stream=False, options=options)
        worker = Agent("worker", SYSTEM, tools=[work], description="Does one part.")
        limits = Limits(agents=1000, parallel_agents=1000)
        lead = Agent("lead", SYSTEM, tools=[work])
        runs = Path(tempfile.mkdtemp(prefix="fanout-"))
        self.coordinator = Coordinator(lead, [worker], model=self.model, limits=limits, runs=runs)

    async def run(self, prompt: str) -> str:
        result = await self.coordinator.run(prompt)
        await self.model.close()
        return result.text or result.reason


class Deepagents:
    """`create_deep_agent` as it comes, with one kind of subagent and nothing saved."""

    def __init__(self, url: str) -> None:
        from deepagents import create_deep_agent
        from langchain_core.tools import tool
        from langchain_openai import ChatOpenAI

        @tool
        async def work(i: int) -> str:
            """Do one step of work."""
            return result(i)

        model = ChatOpenAI(model="m", base_url=url, api_key="none", max_retries=0, timeout=600)
        worker = {
            "name": "worker",
            "description": "Does one part.",
            "system_prompt": SYSTEM,
            "tools": [work],
        }
        self.graph = create_deep_agent(
            model=model, tools=[work], system_prompt=SYSTEM, subagents=[worker]
        )

    async def run(self, prompt: str) -> str:
        given = {"messages": [{"role": "user", "content": prompt}]}
        state = await self.graph.ainvoke(given, {"recursion_limit": 10**6})
        return state["messages"][-1].content


ARMS = {"bare": Bare, "undrift": Undrift, "deepagents": Deepagents}


def cpu() -> float:
    """Seconds of this process, threads included."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def memory(field: str) -> float:
    """MB from /proc: `VmRSS` now, `VmHWM` at most."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    raise LookupError(field)


async def measured(arm: str, count: int, url: str) -> dict[str, object]:
    """Warm up with one subagent, then measure K."""
    await ARMS[arm](url).run("fan out 1")
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before, used, started = memory("VmRSS"), cpu(), time.monotonic()
    text = await ARMS[arm](url).run(f"fan out {count}")
    spent, seconds = cpu() - used, time.monotonic() - started
    line = {
        "ok": "done" in text,
        "wall_s": seconds,
        "cpu_ms": spent / count * 1e3,
        "peak_mb": memory("VmHWM"),
        "grow_mb": memory("VmHWM") - before,
    }
    return line if line["ok"] else {**line, "text": text[:300]}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measured(sys.argv[1], int(sys.argv[2]), sys.argv[3]))))
