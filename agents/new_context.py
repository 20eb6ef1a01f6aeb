"""The tool by which an agent begins a new window itself."""

from typing import TYPE_CHECKING

from .tools import Tool, tool

if TYPE_CHECKING:
    from .session import Session


def new_context_tool(session: "Session") -> Tool:
    """The tool `new_context` of one session."""

    async def new_context(keep: str) -> str:
        """Begin a new window: older messages are hidden, your plan, notes and the user's words stay.

        `keep` says in a few words what matters most; put what must last into the plan or a note first.
        """
        session.wish = keep
        return "Your next message begins a new window."

    return tool(new_context, repeatable=True, exempt=True)
