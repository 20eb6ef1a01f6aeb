"""The archive: tools that take time of a clock of the sample's own, refuse, and say little.

How long a call took stands in no result. Only the status knows it, which measures by the run's clock.
"""

from dataclasses import dataclass

from agents import Tool, ToolError, tool

from .tasks import Answering, DriftTask

USUAL_SECONDS, SLOW_SECONDS, INSTANT_SECONDS = 0.5, 5.0, 0.001
"""What a call takes as a rule; one that is far too slow; one that cannot have done anything."""
REFUSED = "The archive refuses."
USUAL = Answering(USUAL_SECONDS)
WHOLE, SUMMARY = "whole", "summary"


@dataclass(slots=True)
class Clock:
    """A clock that only the archive moves."""

    now: float = 0.0
    """Seconds."""

    def read(self) -> float:
        """The time, seconds."""
        return self.now


def archive_tools(task: DriftTask, clock: Clock) -> list[Tool]:
    """The archive's tools, as the task says how it answers."""
    answering = dict(task.archive)
    refused: dict[str, int] = {}

    def ask(customer: str) -> None:
        """Take the time of a call, and refuse those that are to be refused."""
        how = answering.get(customer, USUAL)
        clock.now += how.seconds
        if refused.get(customer, 0) < how.refusals:
            refused[customer] = refused.get(customer, 0) + 1
            raise ToolError(REFUSED)

    async def fetch_file(customer: str, part: str = WHOLE) -> str:
        """Fetch a customer's file from the archive: part "whole", or "summary", which is far quicker."""
        ask(customer)
        return f"Fetched: {part}."

    async def fetch_copy(customer: str) -> str:
        """Have a copy of a customer's file made by hand: dear, and it always works."""
        return "A copy is made."

    async def save_file(customer: str) -> str:
        """Save a customer's file in the archive."""
        ask(customer)
        return ""

    async def check_saved(customer: str) -> str:
        """Have somebody look whether a customer's file was saved. It costs them time."""
        return "It is saved now."

    return [
        tool(each, repeatable=True) for each in (fetch_file, fetch_copy, save_file, check_saved)
    ]
