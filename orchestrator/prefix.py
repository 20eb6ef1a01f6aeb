"""Children that go on from their parent's exact prefix, which the provider's cache holds.

The child's thread begins with copies of what the parent saw: the same configuration, so the same system
and tool bytes, and the same messages up to the open call, so the same pieces. Tools that the child may
not use stay in the schema and are refused when called: taking them out would change the bytes.
"""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import BaseModel, ConfigDict

from agents import Agent, Meter, Model, Run, Session, Tool, ToolError, as_tool, open_session
from memory import (
    COPIED,
    ConfigSet,
    ContextCompacted,
    Event,
    Item,
    JsonObject,
    MessageAdded,
    Noticed,
    ReplyReceived,
    Text,
    ThreadStarted,
    Usage,
    build_context,
)

from .filing import COPIED as COPIED_FILES
from .tasks import TaskSpec


class _Anything(BaseModel):
    """Arguments that are not looked at."""

    model_config = ConfigDict(extra="allow")


async def open_fork(
    run: Run, agent: Agent, spec: TaskSpec, models: Sequence[Model], meter: Meter
) -> Session:
    """A session of `agent` on a thread that begins as its parent's did, up to the open call.

    Raises `ValueError` when the parent has sent no request yet.
    """
    seen = [entry for entry in await run.log.read(spec.parent) if entry.seq <= spec.seen]
    context = build_context(seen)
    config = context.config.event if context.config else None
    if not isinstance(config, ConfigSet):
        raise ValueError(f"thread {spec.parent!r} has sent no request that could be forked")
    if not run.log.has(spec.thread):
        context.close_open_calls()
        events: list[Event] = [ThreadStarted(agent.name, spec.parent, spec.task), config]
        events += [_copied(item) for item in context.items]
        events.append(MessageAdded((Text(_words(agent, spec)),)))
        if base := await run.files.copy(spec.parent, spec.thread):
            events.append(Noticed(COPIED_FILES, base))
        for event in events:  # without an `await` between: the log keeps all of them or none
            run.log.append(spec.thread, event)
    forked = replace(
        agent, instructions=config.system, output_type=None, tools=(), todo=False, lookback=False
    )
    if agent.files != "none":
        forked = replace(forked, files="all")
    session = await open_session(
        run, forked, spec.task, thread=spec.thread, models=models, parent=spec.parent, meter=meter
    )
    own = session.tools | {tool.name: tool for tool in map(as_tool, agent.tools)}
    session.tools = {
        name: _tool(own.get(name), schema) for schema in config.tools if (name := schema["name"])
    }
    session.reads = session.reads and "read_file" in session.tools
    return session


def _copied(item: Item) -> Event:
    """An event as the parent saw it, as one of the child's own; it cost the child nothing."""
    event = item.event
    if isinstance(event, ReplyReceived):
        return replace(event, usage=Usage(), raw={}, request=COPIED)
    if isinstance(event, ContextCompacted):
        return MessageAdded((Text(event.text),), "framework")
    return event


def _words(agent: Agent, spec: TaskSpec) -> str:
    parts = [
        f"(From here on you are {agent.name!r}, working for the agent above, on one task. Your next answer "
        "without a tool call goes back to it: give the result itself. Some tools may be refused.)",
        agent.instructions,
        f"Task: {spec.task}",
    ]
    return "\n\n".join(part for part in parts if part)


def _tool(own: Tool | None, schema: JsonObject) -> Tool:
    """The child's tool under the parent's schema, or one that refuses."""
    name, description, parameters = schema["name"], schema["description"], schema["parameters"]
    if own is not None:
        return replace(own, description=description, parameters=parameters)

    def refuse(**_: object) -> None:
        raise ToolError(f"You may not use {name!r} for this task. Go on without it.")

    async def refused() -> None:
        refuse()

    return Tool(name, description, parameters, _Anything, refused)
