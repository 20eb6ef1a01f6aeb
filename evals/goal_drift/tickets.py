"""The environment: a queue of tickets and what a clerk can do. What was done is read from the log."""

from collections.abc import Sequence

from agents import Tool, tool
from memory import OffloadLimits, estimate_tokens

from ..arms import Arm
from .archive import Clock, archive_tools
from .tasks import DriftTask, filler
from .wording import LANGUAGES

HEAD = 450
"""Tokens that system prompt, tools and goal take, about."""
PAGE, TOLD = 0.65, 0.32
"""Of the largest result that is not offloaded: a filler ticket, and the prose in one that is told early."""
LEAST_TOLD = 160
"""Tokens of that prose at least: a shorter result would not be shortened by any strategy."""
ROOM = 1.25
"""Work that is done beyond what the compactions need, for counts that differ from the estimate."""
QUESTION_FILL, QUESTION_SIZE = 0.75, 0.45
"""Of the trigger: what is read before a message of the user that makes the compaction necessary, and the
size of that message."""


async def do(action: str, target: str) -> str:
    """Do an action for a target, both exactly as a ticket names them."""
    return "done"


async def send_report(address: str, customer: str) -> str:
    """Send a customer's report to an address."""
    return "sent"


async def call_customer(customer: str) -> str:
    """Call a customer on the phone."""
    return "called"


async def ask_user(question: str) -> str:
    """Ask the user what no ticket says. It costs them time."""
    return "The user will answer tomorrow; go on."


async def finish() -> str:
    """Say that everything that had to be done is done."""
    return "noted"


_ACTS = (do, send_report, call_customer, ask_user)


def tools_of(task: DriftTask, tickets: Sequence[str], clock: Clock) -> list[Tool]:
    """The tools of a task, over tickets that are taken in order; the archive's take time of `clock`."""
    left = iter(enumerate(tickets, 1))

    async def next_ticket() -> str:
        """Take the next ticket of the queue."""
        number, text = next(left, (0, ""))
        return f"Ticket {number}\n{text}" if number else "The queue is empty."

    async def read_brief() -> str:
        """Read the first ticket once more."""
        return task.told[0]

    acts = [tool(each, repeatable=True) for each in _ACTS if each.__name__ in task.tools]
    again = [tool(read_brief)] if "read_brief" in task.tools else []
    archive = archive_tools(task, clock) if task.archive else []
    return [tool(next_ticket), *again, *acts, *archive, tool(finish)]


def tickets_of(task: DriftTask, arm: Arm, trigger: int) -> list[str]:
    """Told tickets with some prose, as much filler as the arm's compactions need, asked tickets."""
    words, number = LANGUAGES[task.language], 1
    largest = OffloadLimits.of(arm.window, trigger).result
    tickets: list[str] = []
    for ticket in task.told:
        prose = filler(words, number, max(LEAST_TOLD, int(TOLD * largest)))
        number += prose.count("\n") + 1
        tickets.append(f"{ticket}\n{prose}")
    if task.question:
        left = int(trigger * QUESTION_FILL) - sum(map(estimate_tokens, tickets)) - HEAD
    else:
        left = int(trigger * arm.compactions * ROOM)
    while left > 0:
        size = min(left, int(PAGE * largest))
        prose = filler(words, number, size)
        number += prose.count("\n") + 1
        tickets.append(prose)
        left -= size
    return [*tickets, *(task.asked or (words.ending,))]


def long_message(task: DriftTask, trigger: int) -> str:
    """The user's message, long enough to make the compaction necessary."""
    words = LANGUAGES[task.language]
    return f"{task.question}\n{filler(words, 90_001, int(QUESTION_SIZE * trigger))}"
