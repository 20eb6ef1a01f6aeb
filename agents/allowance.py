"""Allowance: what the limits leave, as lines of the status at the end of a request."""

from typing import TYPE_CHECKING

from memory import NEARLY_SPENT, Reading

from .limits import Hold

if TYPE_CHECKING:
    from .session import Session

DEFAULT_OUTPUT_TOKENS = 4096
"""The longest answer that is reckoned with where the model has no `max_tokens`."""


def longest_answer(session: "Session") -> int:
    """Tokens of the longest answer of the model in use."""
    given = session.model.settings
    words = given.get("max_tokens") or given.get("max_completion_tokens") or DEFAULT_OUTPUT_TOKENS
    return int(words)


def limit_readings(session: "Session") -> tuple[Reading, ...]:
    """The limits on cost and calls from 70 % on, and whether the coming turn is the last one."""
    readings = [
        Reading(
            "limits", f"{name}: {used:.4g} of {limit:.4g} used", "start nothing large; hand in soon"
        )
        for name, used, limit in session.meter.shares()
        if used >= NEARLY_SPENT * limit
    ]
    if _is_last(session):
        rule = "make no other call, hand in what you have now; what is missing is named as open"
        readings.append(Reading("last", "this is the last turn that the limits allow", rule))
    return tuple(readings)


def _is_last(session: "Session") -> bool:
    if session.turns + 1 >= session.agent.limits.turns:
        return True
    hold = Hold(session.thread.tokens, longest_answer(session), session.model.name)
    return session.meter.is_last(hold)
