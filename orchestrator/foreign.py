"""LangGraph runnables as subagents: anything with `ainvoke` that takes and returns messages."""

from dataclasses import dataclass, field
from typing import Any

from agents import AgentDefinitionError, Limits, Meter, Outcome, Run, outcome_from
from memory import MessageAdded, ReplyReceived, Text, ThreadEnded, ThreadStarted, Usage

from .briefing import briefed
from .tasks import TaskSpec


@dataclass(frozen=True, slots=True)
class RunnableSubagent:
    """A LangGraph graph or LangChain runnable that can be delegated to.

    It gets `{"messages": [("user", task)]}` and nothing of the parent; the last message of what it
    returns is its answer.
    """

    runnable: Any
    name: str
    description: str
    limits: Limits = field(default_factory=Limits)
    repeatable: bool = False
    """True when doing a task twice does no harm; else one that a crash cut off ends as unknown."""

    async def work(self, run: Run, spec: TaskSpec, meter: Meter) -> Outcome:
        """Invoke it with the task on a fresh state; its own steps stay its own."""
        log, brief = run.log, await briefed(run, spec)
        if log.has(spec.thread):
            known = await self._recorded(run, spec)
            if known is not None:
                return known
        else:
            log.append(spec.thread, ThreadStarted(self.name, spec.parent, spec.task))
            log.append(spec.thread, MessageAdded((Text(brief),)))
        await log.commit()
        state = await self.runnable.ainvoke({"messages": [("user", brief)]}, {"callbacks": []})
        text = _answer(state)
        log.append(spec.thread, ReplyReceived((Text(text),), "stop", Usage(), self.name, {}))
        status = "done" if text.strip() else "failed"
        reason = "" if text.strip() else "it returned no message with text"
        return await _end(
            run, Outcome(spec.thread, self.name, spec.task, status, reason, text=text)
        )

    async def _recorded(self, run: Run, spec: TaskSpec) -> Outcome | None:
        """What the log says of a thread that an earlier process began; `None` to do it again."""
        for entry in await run.log.read(spec.thread):
            if isinstance(entry.event, ThreadEnded):
                return outcome_from(entry.event, spec.thread, self.name, spec.task)
        if self.repeatable:
            return None
        reason = "the program stopped while it worked; whether it took effect is unknown"
        return await _end(run, Outcome(spec.thread, self.name, spec.task, "failed", reason))


async def _end(run: Run, outcome: Outcome) -> Outcome:
    run.log.append(outcome.thread, outcome.event())
    await run.log.commit()
    return outcome


def as_subagent(
    value: Any, *, name: str | None = None, description: str = "", repeatable: bool = False
) -> RunnableSubagent:
    """Wrap a runnable. Raises `AgentDefinitionError` for what cannot be invoked or has no name."""
    if not hasattr(value, "ainvoke"):
        raise AgentDefinitionError(
            f"{value!r} cannot be a subagent; give an Agent, a Coordinator or a LangGraph runnable"
        )
    called = name or getattr(value, "name", None)
    if not called:
        raise AgentDefinitionError(
            "a runnable needs a name to be a subagent: as_subagent(it, name=...)"
        )
    words = description or f"The graph {called}."
    return RunnableSubagent(value, str(called), words, repeatable=repeatable)


def _answer(state: Any) -> str:
    messages = state.get("messages") if isinstance(state, dict) else None
    return message_text(messages[-1] if messages else state)


def message_text(message: Any) -> str:
    """The text of a LangChain message, a message's dict or pair, or anything else as `str`."""
    if isinstance(message, tuple | list) and len(message) == 2:
        message = {"content": message[1]}
    content = (
        message.get("content")
        if isinstance(message, dict)
        else getattr(message, "content", message)
    )
    if not isinstance(content, list):
        return str(content or "")
    parts = [part.get("text", "") if isinstance(part, dict) else str(part) for part in content]
    return "".join(parts)
