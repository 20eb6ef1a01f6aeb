"""A coordinator's graph inside a host: which run a host's thread is, and where its state stands in it.

The log is the truth. A host that goes on after a crash hands in the same invocation again, which adds
nothing; another invocation is a follow-up message. A host that went back in its own history hands in a
state older than the log: that forks the run, and what the log has is never changed.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agents import AgentDefinitionError, Emit, ignore
from memory import Entry, Noticed, RunStarted, ThreadEnded

from .approvals import Decisions, pending_calls
from .errors import QuestionRefused
from .foreign import message_text
from .runs import LiveRun
from .work import Work

if TYPE_CHECKING:
    from .coordinator import Coordinator

HOST = "host"
"""Topic of the notice that a host handed in a message; its data names the invocation."""
MARK = "undrift"
"""Key of the answer's metadata that says which run it came from, and how far the log was."""


class Hosting:
    """Finds and opens the run for a state of the coordinator's graph."""

    def __init__(self, coordinator: "Coordinator") -> None:
        self._coordinator = coordinator

    async def open(
        self,
        state: Mapping[str, Any],
        config: Mapping[str, Any],
        decisions: Decisions | None = None,
    ) -> Work:
        """The work of a state: at hand, gone on with from the log, or new.

        Raises `QuestionRefused` without a task or while calls of the run wait for a person,
        `DecisionRefused`, and what opening a run raises.
        """
        coordinator = self._coordinator
        at_hand = coordinator.works.get(state.get("run_id", ""))
        if at_hand is not None:
            return at_hand
        emit = _writer()
        if state.get("again"):
            live = await self._live(state["run_id"].partition("/")[0], emit)
            if live is None:
                raise AgentDefinitionError(
                    "this graph's state belongs to a run in the memory of another process; give the "
                    "Coordinator a folder (runs=...) and its runs can be gone on with"
                )
            if decisions and not pending_calls(await live.run.log.read()):
                decisions = None  # they were decided elsewhere, or by this answer before a crash
            return await self._begin(live, None, decisions)
        return await self._invoked(state, config, emit)

    async def _invoked(
        self, state: Mapping[str, Any], config: Mapping[str, Any], emit: Emit
    ) -> Work:
        """The work of a new invocation, or of one that a crash cut off."""
        coordinator, task = self._coordinator, _task(state)
        configurable = config.get("configurable") or {}
        thread = str(configurable.get("thread_id") or "")
        if not thread:
            return await self._begin(await coordinator.start(task, None, emit), None)
        namespace = str(configurable.get("checkpoint_ns") or "")
        invocation = namespace.rpartition("|")[0] or namespace
        known = _marks(state)
        base = f"host-{hashlib.sha256(thread.encode()).hexdigest()[:16]}"
        run_id = known[0] if known and known[0].startswith(base) else base
        live = await self._live(run_id, emit)
        if live is None:
            return await self._new(task, run_id, invocation, emit)
        entries = await live.run.log.read()
        given = _invocations(entries)
        if given and given[-1][0] == invocation:
            return await self._begin(live, None)
        cut = _rewound(entries, given, invocation, known)
        if cut is None:
            work = await self._begin(live, task)
            live.run.log.append("", Noticed(HOST, {"invocation": invocation}))
            return work
        await live.close()
        return await self._fork(run_id, cut, task, invocation, emit)

    async def _new(self, task: str, run_id: str, invocation: str, emit: Emit) -> Work:
        """A run for a host's thread that has none under this id."""
        coordinator = self._coordinator
        live = await coordinator.start(task, run_id, emit, {"invocation": invocation})
        if coordinator.runs is None:
            coordinator.kept[run_id] = live
        return await self._begin(live, None)

    async def _fork(
        self, run_id: str, cut: Sequence[Entry], task: str, invocation: str, emit: Emit
    ) -> Work:
        """A run of its own that shares the first events of `run_id`, for a host that went back."""
        coordinator, number = self._coordinator, 2
        base = "-".join(run_id.split("-")[:2])
        while self._exists(f"{base}-{number}"):
            number += 1
        if not cut:
            return await self._new(task, f"{base}-{number}", invocation, emit)
        first = cut[0].event
        assert isinstance(first, RunStarted)
        live = await coordinator.start(first.task, f"{base}-{number}", emit, {"forked": run_id})
        if coordinator.runs is None:
            coordinator.kept[live.run.id] = live
        for entry in cut[1:]:
            live.run.log.append(entry.thread, entry.event)
        live.run.opened_at = len(cut)
        work = await self._begin(live, task)
        live.run.log.append("", Noticed(HOST, {"invocation": invocation}))
        return work

    async def _begin(
        self, live: LiveRun, message: str | None, decisions: Decisions | None = None
    ) -> Work:
        try:
            return await self._coordinator.begin(live, message, decisions)
        except BaseException:
            await live.close()
            raise

    def _exists(self, run_id: str) -> bool:
        runs = self._coordinator.runs
        return run_id in self._coordinator.kept or (runs is not None and (runs / run_id).exists())

    async def _live(self, run_id: str, emit: Emit) -> LiveRun | None:
        """A run of an earlier call, on disk or in the coordinator's memory."""
        return await self._coordinator.open(run_id, emit) if self._exists(run_id) else None


def _task(state: Mapping[str, Any]) -> str:
    messages = state.get("messages") or []
    task = state.get("task") or (message_text(messages[-1]) if messages else "")
    if not task.strip():
        raise QuestionRefused("the graph got no task: give `task` or a last message with text")
    return task


def _marks(state: Mapping[str, Any]) -> tuple[str, int] | None:
    """The run that the host's state comes from, and the newest position of its log that it knows."""
    if state.get("run_id") and "log_seq" in state:
        return state["run_id"].partition("/")[0], int(state["log_seq"])
    for message in reversed(state.get("messages") or []):
        mark = (getattr(message, "response_metadata", None) or {}).get(MARK)
        if mark:
            return str(mark["run"]), int(mark["log_seq"])
    return None


def _invocations(entries: Sequence[Entry]) -> list[tuple[str, int]]:
    """The host's invocations that the log holds, each with the number of events before it."""
    found: list[tuple[str, int]] = []
    for number, entry in enumerate(entries):
        match entry.event:
            case RunStarted(options=data) | Noticed(topic="host", data=data):
                if data.get("invocation"):
                    found.append((str(data["invocation"]), number))
            case _:
                pass
    return found


def _rewound(
    entries: Sequence[Entry],
    given: Sequence[tuple[str, int]],
    invocation: str,
    known: tuple[str, int] | None,
) -> Sequence[Entry] | None:
    """What a host that went back still shares with the log; `None` when it did not go back."""
    before = dict(given).get(invocation)
    if before is not None:
        return entries[:before]
    if known is None:
        return None
    ends = [
        number
        for number, entry in enumerate(entries)
        if entry.thread and isinstance(entry.event, ThreadEnded) and "." not in entry.thread
    ]
    later = [number for number in ends if entries[number].seq > known[1]]
    if not later:
        return None
    shared = [number for number in ends if entries[number].seq <= known[1]]
    # The end of the thread, and the end of the run behind it.
    return entries[: shared[-1] + 2] if shared else []


def _writer() -> Emit:
    """Progress into the host graph's custom stream, when it has one."""
    try:
        from langgraph.config import get_stream_writer

        return get_stream_writer()
    except RuntimeError:
        return ignore
