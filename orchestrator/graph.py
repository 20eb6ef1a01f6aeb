"""The coordinator's graph: `recite -> think -> tools | delegate -> recite ... -> finish`.

Its state is ids and counters only; what happened is in the event log, and the objects at work are found
by the run's id. A subagent is one LangGraph node, reached by one `Send` a task.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.errors import NodeCancelledError
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, Send, interrupt

from .approvals import Decisions, described
from .errors import DecisionRefused
from .hosting import MARK, Hosting
from .tasks import TaskSpec
from .work import DELEGATED, Work

if TYPE_CHECKING:
    from .coordinator import Coordinator


class CoordinatorState(TypedDict, total=False):
    """What the graph carries between its nodes."""

    messages: list[AnyMessage]
    """In: the host's messages, the last one is the task. Out: the answer alone."""
    task: str
    """The task, for callers without messages."""
    run_id: str
    thread: str
    turn: int
    """Model calls so far."""
    log_seq: int
    """Newest event that this state knows of."""
    again: bool
    """True to go on with the run of `run_id` from the log, wherever this state stands."""
    status: str
    """Final status, once there is one."""
    answer: str
    """The visible answer, once there is one."""
    output: dict[str, Any]
    """The checked output of an agent with an output type."""


class SubagentState(TypedDict):
    """What one `Send` carries: the task alone, never the coordinator's messages."""

    run_id: str
    thread: str
    spec: TaskSpec


# A saver's state that another process made: the graph starts again where the log stops.
AGAIN: Command[Any] = Command(goto="open", update={"again": True})


class CoordinatorGraph:
    """The nodes, as methods; `build` wires them.

    Nodes name their successor in a `Command`: conditional edges double the cost of a superstep.
    """

    def __init__(self, coordinator: "Coordinator") -> None:
        self._coordinator = coordinator
        self._hosting = Hosting(coordinator)

    def build(self, checkpointer: Any = None) -> CompiledStateGraph[Any, Any, Any, Any]:
        """The compiled graph; a checkpointer serves embedding, the log is what a run goes on from."""
        graph = StateGraph(CoordinatorState)
        after = ("recite", "subagent", "pause", "finish", "open")
        graph.add_node("open", self.open, destinations=after)
        graph.add_node("recite", self.recite, destinations=("think", "open"))
        graph.add_node("think", self._kept(self.think), destinations=("tools", "finish", "open"))
        graph.add_node("tools", self._kept(self.tools), destinations=after)
        graph.add_node("subagent", self._kept(self.subagent))
        graph.add_node("gather", self.gather, destinations=after)
        graph.add_node("pause", self.pause, destinations=after)
        graph.add_node("finish", self.finish, destinations=("open", END))
        graph.add_edge(START, "open")
        graph.add_edge("subagent", "gather")
        return graph.compile(checkpointer=checkpointer, name=self._coordinator.name)

    async def open(self, state: CoordinatorState, config: RunnableConfig) -> Command[Any]:
        """Find or make the run, and take up what a crash left open."""
        return await self._take_up(await self._hosting.open(state, config))

    async def _take_up(self, work: Work) -> Command[Any]:
        work.reply = work.session.pending
        await work.settle(work.agent.take_up(work.session, elsewhere=DELEGATED))
        return _next(work)

    async def recite(self, state: CoordinatorState) -> Command[Any]:
        """Make the tail of the next request."""
        work = self._work(state)
        if work is None:
            return AGAIN
        work.session.tail = work.recitation
        return Command(goto="think")

    async def think(self, state: CoordinatorState) -> Command[Any]:
        """One model call; then act on it, or end when it could not be made."""
        work = self._work(state)
        if work is None:
            return AGAIN
        await work.ask()
        return Command(goto="tools" if work.outcome is None else "finish")

    async def tools(self, state: CoordinatorState) -> Command[Any]:
        """Run the calls that are not delegations, or take the reply as the answer."""
        work = self._work(state)
        if work is None:
            return AGAIN
        if work.reply is not None:
            await work.settle(work.agent.act(work.session, work.reply, elsewhere=DELEGATED))
        return _next(work)

    async def subagent(self, state: SubagentState) -> CoordinatorState:
        """Work on one task; whatever happens is a result, never a raise into the parent."""
        work = self._work(state)
        if work is not None:
            await work.send_out(state["spec"])
        return {}

    async def gather(self, state: CoordinatorState) -> Command[Any]:
        """Hand the children's outcomes to the coordinator together, in the order of its tasks."""
        work = self._work(state)
        if work is None:
            return AGAIN
        await work.gather()
        return await self.tools(state) if work.outcome is None else _next(work)

    async def pause(self, state: CoordinatorState, config: RunnableConfig) -> Command[Any]:
        """Interrupt the host until a person decided, with the run closed meanwhile; then go on from the
        log. LangGraph runs this node from its beginning for each answer."""
        work = self._work(state)
        waiting: dict[str, Any] = {}
        if work is not None and work.outcome is not None:
            waiting = {
                "run": work.session.run.id,
                "waiting": described(work.outcome.pending),
                "decide": "resume with an object: a call's name, then approve, reject, or an object "
                "with decision edit and arguments",
            }
            await self._coordinator.close_work(work)
        while True:
            decisions: Decisions = interrupt(waiting)
            try:
                return await self._take_up(
                    await self._hosting.open({**state, "again": True}, config, decisions)
                )
            except DecisionRefused as error:
                waiting = {"error": str(error)}

    async def finish(self, state: CoordinatorState) -> Command[Any]:
        """Record the end and hand the answer out."""
        work = self._work(state)
        if work is None:
            return AGAIN
        outcome, position = await work.finish(), _position(work)
        await self._coordinator.close_work(work)
        mark = {MARK: {"run": work.session.run.id, "log_seq": position.get("log_seq")}}
        name, text = _plain(work.agent.name), outcome.text or outcome.reason
        answer: dict[str, Any] = {
            "messages": [AIMessage(text, name=name, response_metadata=mark)],
            "status": outcome.status,
            "answer": outcome.text,
            "output": outcome.output,
            "task": "",
        }
        return Command(goto=END, update={**answer, **position})

    def _kept(self, node: Callable[[Any], Awaitable[Any]]) -> Any:
        """The node, closing a host's run when it is cancelled or fails, so that another call can go on."""

        async def guarded(state: Any) -> Any:
            try:
                return await node(state)
            except BaseException:
                work = self._work(state)
                if work is not None and work.live is not None:
                    await asyncio.shield(self._coordinator.drop_work(work))
                raise

        return guarded

    def _work(self, state: CoordinatorState | SubagentState) -> Work | None:
        """The work of a state, `None` when another process did it: the log knows how far it was."""
        return self._coordinator.works.get(state.get("run_id", ""))


async def walk(graph: Any, key: str, turns: int) -> None:
    """Walk a compiled graph for the work of that key, with room for `turns` model calls.

    Raises `CancelledError` also for a cancellation that came from inside a node.
    """
    # Three supersteps a turn; the agent's own limit of turns is the one that counts.
    config = {"recursion_limit": 10 + 8 * (turns + 1)}
    try:
        await graph.ainvoke({"run_id": key}, config)
    except NodeCancelledError as error:
        raise asyncio.CancelledError from error


def _next(work: Work) -> Command[Any]:
    """Where to go after acting, derived from the log and the outcome."""
    if work.outcome is not None:
        hosted = work.live is not None and work.outcome.status == "paused"
        return Command(goto="pause" if hosted else "finish", update=_position(work))
    base = {"run_id": work.key, "thread": work.session.thread.name}
    sends = [
        Send("subagent", {**base, "spec": spec}) for _, specs in work.delegations for spec in specs
    ]
    return Command(goto=sends or "recite", update=_position(work))


def _position(work: Work) -> CoordinatorState:
    return {
        "run_id": work.key,
        "thread": work.session.thread.name,
        "turn": work.session.turns,
        "log_seq": work.session.thread.context.last_event,
        "again": False,
    }


def _plain(name: str) -> str:
    """A name as message formats accept it."""
    return "".join(char if char.isalnum() or char in "_-" else "_" for char in name)[:64] or "agent"
