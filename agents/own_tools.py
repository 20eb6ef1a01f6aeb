"""The tools that the framework gives an agent beside its own, over the agent's thread."""

from typing import TYPE_CHECKING

from .errors import AgentDefinitionError
from .lookback_tools import lookback_tools
from .todo_tools import read_plan_tool, todo_tools
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
        own += todo_tools(thread)
    if session.run.plan is not None:
        own.append(read_plan_tool(session.run.plan))
    if agent.lookback:
        own += lookback_tools(thread)
    for tool in own:
        if tool.name in session.tools:
            raise AgentDefinitionError(
                f"agent {agent.name!r} has a tool {tool.name!r}, which is a name of the framework's own; "
                "rename it"
            )
    return {tool.name: tool for tool in own} | session.tools
