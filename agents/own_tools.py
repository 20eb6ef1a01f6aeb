"""The tools that the framework gives an agent beside its own, over the agent's thread."""

from typing import TYPE_CHECKING

from filesystem import ALL_TOOLS, Workspace

from .errors import AgentDefinitionError
from .file_tools import READING, file_tools
from .looking_back import lookback_tools
from .new_context import new_context_tool
from .offloading import limits_of
from .todo_tools import plan_tools, read_plan_tool
from .tools import Tool

if TYPE_CHECKING:
    from .session import Session


def with_own_tools(session: "Session") -> dict[str, Tool]:
    """The session's tools with those that its agent asked for, before them.

    Raises `AgentDefinitionError` when the agent has a tool of such a name already.
    """
    agent, thread = session.agent, session.thread
    own: list[Tool] = []
    if agent.todo:
        own += plan_tools(thread)
    if session.run.plan is not None:
        own.append(read_plan_tool(session.run.plan))
    if agent.lookback:
        own += lookback_tools(thread)
    own += _file_tools(session)
    if agent.compaction and agent.compaction.new_context:
        own.append(new_context_tool(session))
    for tool in own:
        if tool.name in session.tools:
            raise AgentDefinitionError(
                f"agent {agent.name!r} has a tool {tool.name!r}, which is a name of the framework's own; "
                "rename it"
            )
    return {tool.name: tool for tool in own} | session.tools


def _file_tools(session: "Session") -> list[Tool]:
    """The file tools that the agent asked for, or needs to read what is stored in place of results.

    One that only needs them keeps its own tools of such names.
    """
    wanted = session.agent.files
    if wanted == "auto":
        large = any(not t.exempt for t in session.tools.values() if t.name != "conclude")
        wanted = "read" if large and not set(READING) & set(session.tools) else "none"
    if wanted == "none":
        return []
    counter = session.thread.counter
    session.reads = True

    def workspace() -> Workspace:
        found = session.files.workspace
        found.tools = ALL_TOOLS & session.tools.keys()
        return found

    return list(
        file_tools(
            workspace,
            counter,
            lambda: limits_of(session).result,
            reading=wanted != "all",
        )
    )
