"""SIGTERM drains a real process: no new turn, everything that happened in the log, the rest on resume."""

import asyncio
import signal
import sys
import textwrap

from support.chat_server import ChatServer, Say

from memory import ReplyReceived, RunEnded, ThreadEnded, ToolReturned, read_entries
from orchestrator import verify_run

TEAM = """
from pathlib import Path

from agents import Agent, WireModel, tool
from orchestrator import Coordinator


@tool
async def look(n: int) -> str:
    \"\"\"Look at something.\"\"\"
    return f"fact {{n}}"


child = Agent("helper", "Help.", tools=[look])
team = Coordinator(Agent("lead", "Lead."), [child], model=WireModel("m", {url!r}), runs=Path({runs!r}))
"""


async def undrift(*arguments):
    pipe = asyncio.subprocess.PIPE
    command = ("-m", "undrift", *arguments)
    return await asyncio.create_subprocess_exec(sys.executable, *command, stdout=pipe, stderr=pipe)


def ended(runs):
    """The threads of the only run that have their end in the log."""
    return [
        entry.thread
        for log in runs.glob("*/events.db")
        for entry in read_entries(log)
        if isinstance(entry.event, ThreadEnded)
    ]


async def test_sigterm_makes_no_new_turn_flushes_the_log_and_a_resume_does_the_rest(tmp_path):
    held = asyncio.Event()

    def script(body):
        task = next(m["content"] for m in body["messages"] if m["role"] == "user")
        done = sum(m["role"] == "tool" for m in body["messages"])
        if task == "go":
            tasks = [{"agent": "helper", "task": name} for name in ("quick", "slow")]
            return Say("all done") if done else Say(calls=[("delegate", {"tasks": tasks})])
        if not done:
            return Say(calls=[("look", {"n": 1})])
        slow = task == "slow" and not held.is_set()
        return Say(f"{task} is done", delay=60 if slow else 0)

    async with ChatServer(script) as server:
        runs, file = tmp_path / "runs", tmp_path / "team.py"
        file.write_text(textwrap.dedent(TEAM).format(url=server.url, runs=str(runs)))
        process = await undrift("run", f"{file}:team", "go", "--quiet")
        # The lead's, two of each child: of the last one's second there is no reply.
        while len(server.requests) < 5 or not ended(runs):
            await asyncio.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        _, said = await process.communicate()
        assert process.returncode == 130, said.decode()
        assert len(server.requests) == 5
        (folder,) = runs.iterdir()
        assert verify_run(folder).problems == ()
        entries = read_entries(folder / "events.db")
        kinds = [type(e.event) for e in entries]
        assert kinds.count(ReplyReceived) == 4
        assert kinds.count(ToolReturned) == 2
        assert ended(runs) == ["main.1-1"]
        assert RunEnded not in kinds

        held.set()
        process = await undrift("resume", folder.name, "--out", str(runs), "--trust", "--quiet")
        said, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()
        assert "all done" in said.decode()
        assert len(server.requests) == 7  # the call that was under way, and the lead's last one
