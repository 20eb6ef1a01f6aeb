"""One tool result of 100 MB: processor time, memory and the next request, beside deepagents.

    python benchmarks/large_result.py [--bytes N] [--repeat 3] [--deepagents PYTHON] [--check]

The arms take turns, each measurement in a fresh process after a small one to warm up, against a server on
loopback in a process of its own. `stream`: the tool yields the body in chunks, the run is on disk; then the
end of the body is read with `read_file` and found with `grep`, which is measured by itself. `whole`: the
tool returns the same body as one string. deepagents runs as it comes, in an environment of its own (see
`fanout.py`), named by `--deepagents PYTHON`. With `--check` the exit code is 1 when a bound is missed: 30 MB
of memory and 8 KB of request for `stream`, its processor time at most deepagents'.
"""

import argparse
import asyncio
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
NEEDLE = "the-last-words-are-4711"
SYSTEM = "You are a careful assistant. Use the tools you are given, then answer."
BLOCK = "".join(
    f"line {n:06d} of a large body, as long as lines of output are\n" for n in range(1_000)
)


def chunks(size: int) -> Iterator[str]:
    """A body of `size` bytes, the needle at its end."""
    left = size - len(NEEDLE)
    while left > 0:
        yield BLOCK[:left]
        left -= len(BLOCK)
    yield NEEDLE


class Undrift:
    """An agent with one tool, its run on disk."""

    def __init__(self, url: str, *, streamed: bool) -> None:
        from agents import Agent, WireModel, tool
        from orchestrator import Coordinator

        async def blob(size: int):
            """Read a large text of the given size."""
            for chunk in chunks(size):
                yield chunk

        def whole(size: int) -> str:
            """Read a large text of the given size."""
            return "".join(chunks(size))

        self.model = WireModel("m", url, stream=False)
        tools = [tool(blob if streamed else whole, name="blob")]
        agent = Agent("reader", SYSTEM, self.model, tools=tools)
        self.coordinator = Coordinator(agent, runs=Path(tempfile.mkdtemp(prefix="large-")))

    async def run(self, prompt: str) -> str:
        """Work on a task as a new run."""
        result = await self.coordinator.run(prompt)
        return result.text or result.reason


class Deepagents:
    """`create_deep_agent` as it comes, nothing saved."""

    def __init__(self, url: str) -> None:
        from deepagents import create_deep_agent
        from langchain_core.tools import tool
        from langchain_openai import ChatOpenAI

        @tool
        async def blob(size: int) -> str:
            """Read a large text of the given size."""
            return "".join(chunks(size))

        model = ChatOpenAI(model="m", base_url=url, api_key="none", max_retries=0, timeout=600)
        self.graph = create_deep_agent(model=model, tools=[blob], system_prompt=SYSTEM)

    async def run(self, prompt: str) -> str:
        """Work on a task."""
        given = {"messages": [{"role": "user", "content": prompt}]}
        return (await self.graph.ainvoke(given))["messages"][-1].content


def memory(field: str) -> float:
    """MB from /proc: `VmRSS` now, `VmHWM` at most."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    raise LookupError(field)


async def arm(name: str, size: int, url: str) -> dict[str, object]:
    """What one arm costs; run in a process of its own."""
    agent = Deepagents(url) if name == "deepagents" else Undrift(url, streamed=name == "stream")
    await agent.run("read 200000 bytes")
    measured: dict[str, object] = {}
    prompts = {"": f"read {size} bytes"}
    if name == "stream":
        await agent.run("read 200000 bytes and find the end")
        prompts["end_"] = f"read {size} bytes and find the end"
    for key, prompt in prompts.items():
        Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
        before, used, started = memory("VmRSS"), cpu(), time.monotonic()
        text = await agent.run(prompt)
        measured |= {
            f"{key}ok": text == "done",
            f"{key}cpu_s": cpu() - used,
            f"{key}wall_s": time.monotonic() - started,
            f"{key}grow_mb": memory("VmHWM") - before,
        }
        if text != "done":
            measured["text"] = text[:300]
    if isinstance(agent, Undrift):
        await agent.model.close()
    return measured


def cpu() -> float:
    """Seconds of this process, threads included."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def measure(name: str, python: str, size: int) -> dict[str, float]:
    """One measurement with a server of its own, which keeps the requests; raises when it fails."""
    from support.chat_server import serve_in_process

    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "requests"
        with serve_in_process("support.large_script:large", record=record) as url:
            command = [python, __file__, "--arm", name, "--bytes", str(size), "--url", url]
            done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode:
            raise RuntimeError(f"{name}: {done.stderr.strip()[-500:]}")
        bodies = [line for line in record.read_bytes().splitlines() if str(size).encode() in line]
    found = json.loads(done.stdout.splitlines()[-1])
    if not all(value for key, value in found.items() if key.endswith("ok")):
        raise RuntimeError(f"{name}: {found}")
    return found | {"request_bytes": len(bodies[1]) - len(bodies[0])}


def main() -> None:
    """Measure all arms in turn and print their medians."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--bytes", type=int, default=100_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--deepagents", help="python of an environment with deepagents")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--arm", help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.arm:
        print(json.dumps(asyncio.run(arm(options.arm, options.bytes, options.url))))
        return
    arms = {"stream": sys.executable, "whole": sys.executable}
    if options.deepagents:
        arms["deepagents"] = options.deepagents
    else:
        print("deepagents is left out: name its environment with --deepagents (see --help)")
    lines: dict[str, list[dict[str, float]]] = {name: [] for name in arms}
    for _ in range(options.repeat):
        for name, python in arms.items():
            lines[name].append(measure(name, python, options.bytes))
    keys = ("cpu_s", "wall_s", "grow_mb", "request_bytes")
    medians = {
        name: {key: statistics.median(line[key] for line in found) for key in keys}
        for name, found in lines.items()
    }
    print(f"a result of {options.bytes:,} bytes, median of {options.repeat}")
    print(f"{'':12}{'CPU s':>8}{'wall s':>8}{'grown MB':>10}{'next request, more bytes':>26}")
    for name, own in medians.items():
        print(
            f"{name:12}{own['cpu_s']:8.2f}{own['wall_s']:8.2f}{own['grow_mb']:10.1f}"
            f"{own['request_bytes']:26,.0f}"
        )
    end = statistics.median(line["end_cpu_s"] for line in lines["stream"])
    grown = statistics.median(line["end_grow_mb"] for line in lines["stream"])
    print(f"with its end read and found (`stream`): CPU {end:.2f} s, grown {grown:.1f} MB")
    bound = medians.get("deepagents", {"cpu_s": float("inf")})["cpu_s"]
    own = medians["stream"]
    good = own["grow_mb"] <= 30 and own["request_bytes"] <= 8_192 and own["cpu_s"] <= bound
    sys.exit(0 if good or not options.check else 1)


if __name__ == "__main__":
    main()
