"""Faults: what is wrong with what an agent hands back, found by code before it is accepted."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from .conclusion import Conclusion
from .handing import fits
from .judging import unusable

if TYPE_CHECKING:
    from .session import Session

Check = Callable[[Any], Awaitable[Sequence[str]]]
"""Gets an output, or an answer's text, and returns its faults in words for the author, none when it is
good. It may mark parts of the output, for example `Citation.verified`."""


@dataclass(frozen=True, slots=True)
class Faults:
    """What is wrong with one output."""

    fatal: str = ""
    """Why it cannot be taken at all."""
    marked: tuple[str, ...] = ()
    """What a check found: it can be taken, with a mark."""
    length: str = ""
    """By how much it is too long: it can be taken, cut."""

    def request(self, action: str) -> str:
        """Words that ask for a better one, `""` when nothing is wrong."""
        parts = [part for part in (self.fatal, *self.marked, self.length) if part]
        return " ".join([*parts, f"Correct this and {action} again, now."]) if parts else ""


async def faults_of(session: "Session", output: BaseModel | str) -> Faults:
    """What is wrong with an output. A child's answer must say something by itself and keep its cap."""
    fatal = length = ""
    if session.handing is not None:
        fatal = _says_nothing(output)
        length = _too_long(session, output, session.handing.cap)
    return Faults(fatal, () if fatal else await _checked(session, output), length)


async def _checked(session: "Session", output: BaseModel | str) -> tuple[str, ...]:
    check = session.agent.check
    if check is None:
        return ()
    try:
        return tuple(await check(output))
    except Exception as error:  # noqa: BLE001 - the boundary of a user's check: what it raises is told
        return (f"The check of the output failed: {type(error).__name__}: {error}.",)


def _says_nothing(output: BaseModel | str) -> str:
    if isinstance(output, str):
        return unusable(output)
    if isinstance(output, Conclusion) and not output.findings:
        return unusable(output.answer)
    return ""


def _too_long(session: "Session", output: BaseModel | str, cap: int) -> str:
    plain = output if isinstance(output, str) else output.model_dump(mode="json")
    if fits(plain, cap, session.thread.counter) or session.thread.tokens > session.window // 2:
        return ""  # good, or so long that asking again would not fit: then it is cut
    return (
        f"It is too long: at most {cap:,} tokens are read. Keep the answer and the best findings, and leave "
        "out the rest."
    )
