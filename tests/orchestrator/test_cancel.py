"""Stopping: one child, a subtree or the run; nothing calls afterwards, and what was found is kept."""

import asyncio
import contextlib
import os
import threading
import time
from collections import Counter

import pytest
from support.chat_server import ChatServer, Say

from agents import (
    Agent,
    Conclusion,
    Limits,
    Rate,
    ScriptedModel,
    WireModel,
    WireOptions,
    call,
    tool,
)
from memory import MessageAdded, ThreadEnded, loads, read_entries
from orchestrator import Coordinator, RunNotFound


@tool
async def look(n: int) -> str:
    """Look at something."""
    return f"fact {n}"


def delegate(*tasks, agent="helper", **more):
    return call("delegate", tasks=[{"agent": agent, "task": task, **more} for task in tasks])


def task_of(body):
    return next(m["content"] for m in body["messages"] if m["role"] == "user")


def results(model):
    messages = loads(model.requests[-1])["messages"]
    return loads([m["content"] for m in messages if m["role"] == "tool"][-1])


def ended(entry):
    return isinstance(entry.event, ThreadEnded)


def forever(reached):
    """A child's script: one look, then a model call that never ends."""

    async def script(body):
        if not any(m["role"] == "tool" for m in body["messages"]):
            return call("look", n=7)
        if "quick" in task_of(body):
            return call("conclude", answer="quick is done")
        reached.set()
        await asyncio.sleep(3600)

    return script


async def start(reached, **options):
    lead = ScriptedModel([delegate("slow", "quick"), "went on"])
    child = Agent(
        "helper", "Help.", ScriptedModel(forever(reached)), [look], output_type=Conclusion
    )
    coordinator = Coordinator(Agent("lead", "Lead.", lead), [child], **options)
    running = asyncio.create_task(coordinator.run("x", run_id="r1"))
    await reached.wait()
    await asyncio.sleep(0.05)
    return coordinator, lead, running


async def test_one_child_is_cancelled_and_its_parent_goes_on_with_what_it_had_found():
    coordinator, lead, running = await start(asyncio.Event())
    assert await coordinator.cancel("r1", "main.1-1") == 1
    result = await running
    assert (result.status, result.text) == ("done", "went on")
    slow, quick = results(lead)
    assert (slow["status"], slow["reason"]) == ("cancelled", "it was cancelled")
    assert "fact 7" in slow["found"]
    assert quick["conclusion"]["answer"] == "quick is done"


async def test_a_cancelled_run_ends_as_cancelled_with_the_conclusions_so_far(tmp_path):
    coordinator, lead, running = await start(asyncio.Event(), runs=tmp_path)
    await coordinator.cancel("r1")
    result = await running
    assert (result.status, result.exit_code) == ("cancelled", 130)
    assert "quick is done" in result.text
    ends = {
        e.thread: e.event.status
        for e in read_entries(tmp_path / "r1" / "events.db")
        if isinstance(e.event, ThreadEnded)
    }
    assert ends == {"main.1-2": "done", "main.1-1": "cancelled", "main": "cancelled"}
    again = await coordinator.resume("r1")
    assert (again.status, len(lead.requests)) == ("cancelled", 1)
    with pytest.raises(RunNotFound, match="nothing to cancel"):
        await coordinator.cancel("r1")


async def test_an_interrupted_run_records_no_end_so_that_a_resume_does_the_rest(tmp_path):
    _, _, running = await start(asyncio.Event(), runs=tmp_path)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    entries = read_entries(tmp_path / "r1" / "events.db")
    assert [e.thread for e in entries if isinstance(e.event, ThreadEnded)] == ["main.1-2"]


async def test_case_61_a_child_that_cancels_itself_is_data_and_its_history_stays_its_own():
    @tool
    async def gives_up() -> str:
        """Raise a cancellation from inside."""
        raise asyncio.CancelledError

    def script(body):
        if not any(m["role"] == "tool" for m in body["messages"]):
            return call("gives_up")
        said = next(m["content"] for m in body["messages"] if m["role"] == "tool")
        return call("conclude", answer=said)

    async def dies(_):
        raise asyncio.CancelledError

    lead = ScriptedModel([[delegate("tool"), delegate("model", agent="dying")], "went on"])
    children = [
        Agent("helper", "Help.", ScriptedModel(script), [gives_up], output_type=Conclusion),
        Agent("dying", "Die.", ScriptedModel(dies), output_type=Conclusion),
    ]
    result = await Coordinator(Agent("lead", "Lead.", lead), children).run("x")
    assert (result.status, result.text) == ("done", "went on")
    messages = loads(lead.requests[-1])["messages"]
    first, second = (loads(m["content"])[0] for m in messages if m["role"] == "tool")
    assert "was cancelled from inside" in first["conclusion"]["answer"]
    assert (second["status"], second["reason"]) == (
        "cancelled",
        "it was cancelled by something inside it",
    )
    assert [m["role"] for m in messages].count("user") == 1


async def test_a_tool_that_swallows_the_cancellation_gets_no_further_model_call():
    reached, swallowed = asyncio.Event(), []

    @tool
    async def stubborn() -> str:
        """Go on whatever happens."""
        reached.set()
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            swallowed.append(True)
        return "still here"

    child = ScriptedModel([call("stubborn"), call("conclude", answer="never")])
    lead = ScriptedModel([delegate("x"), "went on"])
    agent = Agent("helper", "Help.", child, [stubborn], output_type=Conclusion)
    coordinator = Coordinator(Agent("lead", "Lead.", lead), [agent])
    running = asyncio.create_task(coordinator.run("x", run_id="r1"))
    await reached.wait()
    await coordinator.cancel("r1", "main.1-1")
    assert (await running).text == "went on"
    assert swallowed
    assert len(child.requests) == 1
    assert results(lead)[0]["status"] == "cancelled"


async def test_a_hung_sync_tool_is_abandoned_counted_and_keeps_nobody_waiting():
    release = threading.Event()

    @tool(seconds=0.1)
    def hang() -> str:
        """Block a thread."""
        release.wait(60)
        return "late"

    model = ScriptedModel([[call("hang")] * 8, "done"])
    coordinator = Coordinator(Agent("lead", "Lead.", model, [hang]))
    seen = []
    started = time.monotonic()

    def watch(event):
        seen.append(event)

    result = await coordinator.run("x", emit=watch)
    assert result.text == "done"
    assert time.monotonic() - started < 30
    body = loads(model.requests[-1])
    stopped = [m for m in body["messages"] if "was stopped after 0.1 s" in str(m["content"])]
    assert len(stopped) == 8
    release.set()


def held():
    """What the process has open, by kind: sockets, and files by name."""
    kinds = Counter[str]()
    for fd in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            kinds[os.readlink(f"/proc/self/fd/{fd}").partition(":[")[0]] += 1
    return kinds


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts open files by /proc")
async def test_case_65_cancel_with_two_levels_alive_makes_no_call_after_the_acknowledgement(
    tmp_path,
):
    """Must show 4: 200 children two levels deep on a real server; no request, task or socket is left."""
    tools = [("delegate", {"tasks": [{"agent": "leaf", "task": f"leaf {n}"} for n in range(19)]})]
    middles = [{"agent": "middle", "task": f"middle {n}"} for n in range(10)]

    def script(body):
        task = task_of(body)
        if task.startswith("middle"):
            return Say(calls=tools)
        if task.startswith("leaf"):
            done = sum(m["role"] == "tool" for m in body["messages"])
            if done:
                return Say("too long to wait for", delay=60)
            return Say(calls=[("look", {"n": 1})])
        return Say(calls=[("delegate", {"tasks": middles})])

    before = held()
    tasks = len(asyncio.all_tasks())
    async with ChatServer(script) as server:
        options = WireOptions(rate=Rate(concurrency=400))
        model = WireModel("m", server.url, options=options)
        leaf = Agent("leaf", "Leaf.", model, [look])
        middle = Coordinator(Agent("middle", "Middle.", model), [leaf])
        limits = Limits(agents=400, parallel_agents=400)
        lead = Coordinator(Agent("lead", "Lead.", model), [middle], limits=limits, runs=tmp_path)
        running = asyncio.create_task(lead.run("go", run_id="r1"))
        while server.under_way < 190:
            await asyncio.sleep(0.02)
        stopped = await lead.cancel("r1")
        acknowledged = len(server.requests)
        assert stopped >= 200
        result = await running
        await asyncio.sleep(1)
        assert len(server.requests) == acknowledged
        assert server.under_way == 0
        assert result.status == "cancelled"
        await model.close()
    await asyncio.sleep(0.1)
    assert len(asyncio.all_tasks()) == tasks
    after = held()
    assert after["socket"] <= before["socket"]
    assert not any(str(tmp_path) in name for name in after)
    ends = [e.event.status for e in read_entries(tmp_path / "r1" / "events.db") if ended(e)]
    assert len(ends) == 201
    assert set(ends) == {"cancelled"}


async def test_follow_ups_of_a_cancelled_run_are_possible(tmp_path):
    coordinator, lead, running = await start(asyncio.Event(), runs=tmp_path)
    await coordinator.cancel("r1")
    await running
    lead.script = ["-", "second answer"]
    assert (await coordinator.ask("r1", "and now?")).text == "second answer"
    entries = read_entries(tmp_path / "r1" / "events.db")
    assert sum(isinstance(e.event, MessageAdded) for e in entries if not e.thread) == 1
