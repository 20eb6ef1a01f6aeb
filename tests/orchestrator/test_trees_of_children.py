"""Property: any tree of scripted children ends, keeps all limits, and loses no conclusion.

A tree is drawn: each node raises, hangs, floods, says nothing, cancels itself, goes on without end, spawns
others or itself again; with limits that are drawn too, and somebody outside may cancel a part of it. Each
node spawns once, in its first turn, so that its place in the tree is its thread's name.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agents import Agent, Conclusion, Limits, Price, Reply, ScriptedModel, call, tool
from memory import (
    RequestSent,
    Text,
    ThreadEnded,
    ThreadStarted,
    ToolCall,
    ToolReturned,
    Usage,
    dumps,
    loads,
    plain_text,
)
from orchestrator import Coordinator

LEVELS = 4
"""Of agents that can delegate, the first one included."""
MOST_OUTPUT = 50
"""Tokens of one reply."""
ENDS_AS = {
    "good": "done",
    "tool_raises": "done",
    "tool_cancels": "done",
    "flood": "done",
    "spawn": "done",
    "raise": "failed",
    "nothing": "failed",
    "hang": "timed_out",
    "tool_hangs": "timed_out",
    "endless": "limit",
    "cancels": "cancelled",
}
"""The status of each kind of node where no limit of the tree and no cancellation comes in between."""
OUTSIDE = ("limit", "timed_out", "cancelled")
"""The statuses that those give instead."""


@dataclass(frozen=True)
class Node:
    kind: str
    children: tuple["Node", ...] = ()
    chained: bool = False
    """True when each of its tasks depends on the one before."""


STORM = Node("storm")
leaves = st.sampled_from([kind for kind in ENDS_AS if kind != "spawn"]).map(Node)


def trees(leaf: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    def spawning(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        several = st.lists(inner, min_size=1, max_size=4).map(tuple)
        return st.builds(Node, st.just("spawn"), several, st.booleans())

    small = leaf | spawning(leaf)
    return spawning(small | spawning(small))


@tool
async def look(n: int) -> str:
    """Look at something."""
    return f"fact {n}"


@tool
def raises() -> str:
    """Fail."""
    raise OSError("the disk is on fire")


@tool
async def cancels() -> str:
    """Raise a cancellation from inside."""
    raise asyncio.CancelledError


@tool
async def hangs() -> str:
    """Never return."""
    await asyncio.sleep(3600)
    return "late"


@dataclass
class Play:
    """The script of all agents of one tree, and what it saw."""

    root: Node
    stop: tuple[str, int] | None = None
    """A thread to cancel, and at which request."""
    requests: list[str] = field(default_factory=list[str])
    """The thread of each request, in order."""
    at_once: int = 0
    most: int = 0
    """Requests of subagents under way at once, at most."""
    acknowledged: int | None = None
    """Requests when the cancellation had returned."""
    team: Any = None
    limits: Limits = field(default_factory=Limits)
    meter: Any = None

    async def reply(self, body: dict[str, Any]) -> Any:
        thread = next(m["content"] for m in body["messages"] if m["role"] == "user").split()[0]
        self.requests.append(thread)
        if self.stop and len(self.requests) == self.stop[1]:
            self.stopping = asyncio.create_task(self._cancel(self.stop[0]))
        child = thread != "main"
        self.at_once += child
        self.most = max(self.most, self.at_once)
        try:
            await asyncio.sleep(0)
            return self.reported(await self._step(thread, body), body)
        finally:
            self.at_once -= child

    @staticmethod
    def reported(step: Text | ToolCall, body: dict[str, Any]) -> Reply:
        """A reply with a usage that a server could report: no more input than was estimated, and no more
        output than `max_tokens` allows."""
        finish = "stop" if isinstance(step, Text) else "tool_calls"
        return Reply((step,), finish, Usage(len(dumps(body)) // 5, MOST_OUTPUT), "scripted")

    async def _cancel(self, thread: str) -> None:
        await self.team.cancel("r1", "" if thread == "main" else thread)
        self.acknowledged = len(self.requests)

    async def _step(self, thread: str, body: dict[str, Any]) -> Text | ToolCall:
        node = self.node(thread)
        results = [m["content"] for m in body["messages"] if m["role"] == "tool"]
        tools = {offered["function"]["name"] for offered in body["tools"]}
        match node.kind:
            case "raise":
                raise RuntimeError("broken")
            case "cancels":
                raise asyncio.CancelledError
            case "hang":
                await asyncio.sleep(3600)
            case "nothing":
                return Text("")
            case "endless":
                return call("look", n=len(results))
            case "flood":
                return call("conclude", answer=f"answer of {thread} " + "and more of it " * 9_000)
            case "storm" | "spawn" if not results and "delegate" in tools:
                return call("delegate", tasks=self.tasks(thread, node))
            case _ if not results:
                return call({"good": "look"}.get(node.kind, node.kind[5:]), **self.given(node))
            case _:
                pass
        return call("conclude", answer=f"answer of {thread}")

    @staticmethod
    def given(node: Node) -> dict[str, int]:
        return {"n": 1} if node.kind in ("good", "storm", "spawn") else {}

    def node(self, thread: str) -> Node:
        node = self.root
        for part in thread.split(".")[1:]:
            if node.kind == "storm":
                return STORM
            node = node.children[int(part.partition("-")[2]) - 1]
        return node

    def tasks(self, thread: str, node: Node) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for number, child in enumerate(node.children or (STORM, STORM), 1):
            task: dict[str, Any] = {"agent": "agent", "task": f"{thread}.1-{number} is your place."}
            if "hang" in child.kind:
                task["limits"] = {"seconds": 0.05}
            if node.chained and number > 1:
                task["depends_on"] = [number - 1]
            found.append(task)
        return found


async def played(play: Play) -> tuple[Any, list[Any]]:
    """Run the tree to its end; its result, and the entries of its log."""
    model = ScriptedModel(play.reply, settings={"max_tokens": MOST_OUTPUT})
    tools = [look, raises, cancels, hangs]
    options: dict[str, Any] = {"tools": tools, "output_type": Conclusion}
    own = Limits(turns=5)
    team: Any = Agent("agent", "Work.", limits=own, **options)
    for _ in range(LEVELS):
        team = Coordinator(Agent("agent", "Work.", limits=own, **options), [team], model=model)
    team.limits = play.limits
    play.team = team
    live = await team.start("main is your place.", "r1", lambda _: None)
    play.meter = live.run.meter
    tasks = asyncio.all_tasks()
    async with asyncio.timeout(120):  # never reached: it only keeps a fault from hanging the tests
        result = await team.drive(live)
    if play.stop and hasattr(play, "stopping"):
        await play.stopping
    await asyncio.sleep(0)
    left = asyncio.all_tasks() - tasks
    assert not left, f"tasks left behind: {left}"
    assert not live.run.tree.tasks
    return result, await live.run.log.read()


def check(play: Play, result: Any, entries: list[Any]) -> dict[str, str]:
    """What holds for every tree; the status of each thread."""
    started = [e.thread for e in entries if isinstance(e.event, ThreadStarted)]
    ended = [e.thread for e in entries if isinstance(e.event, ThreadEnded)]
    assert sorted(started) == sorted(ended), "each thread that began has one end"
    assert len(set(ended)) == len(ended)
    ends = {e.thread: e.event for e in entries if isinstance(e.event, ThreadEnded)}
    assert ends["main"].status == result.status
    _limits_hold(play, entries)
    for entry in entries:
        if isinstance(entry.event, ToolReturned) and entry.event.name == "delegate":
            _nothing_is_lost(play, entry, ends)
    for thread, end in ends.items():  # what was handed in is kept, whatever became of its parent
        if end.status == "done":
            assert end.result["output"]["answer"].startswith(f"answer of {thread}")
        else:
            assert end.reason, f"{thread} says why it is {end.status}"
    return {thread: end.status for thread, end in ends.items()}


def _limits_hold(play: Play, entries: list[Any]) -> None:
    limits, meter = play.limits, play.meter
    assert meter.agents <= limits.agents
    assert limits.tokens is None or meter.usage.total <= limits.tokens
    assert limits.cost is None or meter.cost <= limits.cost
    assert limits.model_calls is None or meter.model_calls <= limits.model_calls
    assert limits.tool_calls is None or meter.tool_calls <= limits.tool_calls
    assert play.most <= limits.parallel_agents
    asked = {e.thread for e in entries if isinstance(e.event, RequestSent)}
    assert max(thread.count(".") for thread in asked | {"main"}) <= limits.depth
    assert len(asked - {"main"}) <= limits.agents
    if play.acknowledged is not None and play.stop:
        late = play.requests[play.acknowledged :]
        assert not [t for t in late if (t + ".").startswith(play.stop[0] + ".")]


def _nothing_is_lost(play: Play, entry: Any, ends: dict[str, Any]) -> None:
    """A parent reads one object a task, in order, with the status and the answer that the log has."""
    handed = loads(plain_text(entry.event.content))
    tasks = play.tasks(entry.thread, play.node(entry.thread))
    assert [child["thread"] for child in handed] == [task["task"].split()[0] for task in tasks]
    for child in handed:
        assert child["status"] == ends[child["thread"]].status
        if child["status"] == "done":
            assert child["conclusion"]["answer"].startswith(f"answer of {child['thread']}")
        else:
            assert child["reason"]


few = settings(max_examples=25, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
@few
@given(root=trees(leaves), parallel=st.integers(1, 6))
@example(root=Node("cancels"), parallel=1)
def test_each_child_of_any_tree_ends_as_its_kind_says(root: Node, parallel: int) -> None:
    """Without a limit in the way and with nobody who cancels, every status is known beforehand."""
    play = Play(root, limits=Limits(depth=LEVELS, agents=500, parallel_agents=parallel))
    statuses = check(play, *asyncio.run(played(play)))
    assert len(statuses) == _size(root)
    for thread, status in statuses.items():
        assert (thread, status) == (thread, ENDS_AS[play.node(thread).kind])


@pytest.mark.slow
@few
@given(
    root=trees(leaves | st.just(STORM)),
    limits=st.builds(
        Limits,
        depth=st.integers(0, LEVELS),
        agents=st.integers(0, 40),
        parallel_agents=st.integers(1, 6),
        tokens=st.none() | st.integers(1, 60_000),
        cost=st.none() | st.floats(0.0001, 0.06),
        prices=st.just({"*": Price(1.0, 2.0)}),
        model_calls=st.none() | st.integers(1, 40),
        tool_calls=st.none() | st.integers(0, 20),
        seconds=st.none() | st.floats(0.05, 0.5),
    ),
    stop=st.none()
    | st.tuples(
        st.sampled_from(["main", "main.1-1", "main.1-2", "main.1-1.1-1"]), st.integers(1, 30)
    ),
)
def test_any_tree_under_any_limits_ends_within_them_and_loses_nothing(
    root: Node, limits: Limits, stop: tuple[str, int] | None
) -> None:
    play = Play(root, stop, limits=limits)
    for thread, status in check(play, *asyncio.run(played(play))).items():
        own = ENDS_AS.get(play.node(thread).kind, "done")
        assert status == own or status in OUTSIDE, f"{thread} ended as {status}, not {own}"


async def test_a_child_that_runs_out_of_time_ends_all_below_it_with_what_they_had_found() -> None:
    """The one in the middle has a second, the one below it never comes back."""
    play = Play(Node("spawn", (Node("spawn", (Node("tool_hangs"),)),)), limits=Limits(depth=2))
    team = play.tasks

    def tasks(thread: str, node: Node) -> list[dict[str, Any]]:
        seconds = {"limits": {"seconds": 1}} if thread == "main" else {"limits": None}
        return [task | seconds for task in team(thread, node)]

    play.tasks = tasks
    statuses = check(play, *await played(play))
    assert statuses == {"main": "done", "main.1-1": "timed_out", "main.1-1.1-1": "cancelled"}


def _size(node: Node) -> int:
    return 1 + sum(_size(child) for child in node.children)
