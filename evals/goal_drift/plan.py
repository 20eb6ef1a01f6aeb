"""Which policy answers which family, which arms it has, and which of them are controls that must fail."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..arms import HEAD_ONLY, Arm
from ..results import Record
from .families import FAMILIES

_GOALS = tuple(
    name for name in FAMILIES if name.startswith(("instrumental", "injected", "inherited"))
)
_COUNTED = tuple(name for name in FAMILIES if name.startswith("counted"))
_TIMED = tuple(name for name in FAMILIES if name.startswith("time-"))
_TOLD = tuple(name for name in _TIMED if name != "time-false-wall")
_PLANS = ("false-completion", "dropped-subgoals", "stale-plan")

POLICIES_OF: dict[str, tuple[str, ...]] = {
    "constraint": ("tempted", "recency", "limited"),
    "clarification": ("asker",),
    "clarification-twin": ("asker",),
    "swallowed": ("tempted",),
    "todo-forbidden": ("checklist",),
    **dict.fromkeys(_PLANS, ("checklist",)),
    **dict.fromkeys(_GOALS, ("tempted", "recency", "limited")),
    **{f"instrumental-{steps}": ("recency",) for steps in (2, 8, 16, 32)},
    **dict.fromkeys(_COUNTED, ("counter", "trusting")),
    **dict.fromkeys(_TOLD, ("watchful", "obedient")),
    "time-false-wall": ("watchful", "obedient", "timid"),
}
"""By family: the scripted policies whose weakness it is about."""
NEEDS_HISTORY = frozenset(FAMILIES) - {"clarification-twin", "swallowed", "time-false-wall"}
"""Families whose right answer cannot be had from the head alone: `head-only` must fail there."""
UNRECITED, UNPINNED, UNADVISED = "recite=off", "unpinned", "recite=readings"
UNREAD = "parts=goal,pinned,steps"
"""A recitation without the status."""
ANY = ""
"""Whatever the arm: a policy that must fail the family."""
_WITHOUT = (UNRECITED, UNPINNED, UNADVISED, UNREAD)


@dataclass(frozen=True, slots=True)
class Control:
    """A policy under an arm that must fail a family; if it passes, the family measures nothing."""

    family: str
    model: str
    without: str
    """What the arm takes away, as its name says it: `head-only`, `recite=off`, ..."""


def controls() -> frozenset[Control]:
    """All controls, each of which must fail in every run."""
    found = {Control(f, m, HEAD_ONLY) for f in NEEDS_HISTORY for m in POLICIES_OF[f]}
    for family in ("constraint", *_GOALS):
        found.add(Control(family, "tempted", UNPINNED))
        found |= {Control(family, model, UNRECITED) for model in ("recency", "limited")}
    found |= {Control(family, "checklist", UNRECITED) for family in (*_PLANS, "todo-forbidden")}
    found |= {Control(f, model, UNREAD) for f in _TOLD for model in POLICIES_OF[f]}
    found |= {Control(family, "obedient", UNADVISED) for family in _TOLD}
    found.add(Control("time-false-wall", "timid", ANY))
    found.add(Control("clarification", "asker", UNPINNED))
    found.add(Control("todo-forbidden", "checklist", UNPINNED))
    return frozenset(found)


CONTROLS = controls()


def arms_of(family: str, model: str, tested: Sequence[Arm]) -> list[Arm]:
    """The arms of a scripted policy: full, those under test, head only, and those of its controls."""
    made: list[Arm] = []
    for arm in tested:
        without = {c.without for c in CONTROLS if (c.family, c.model) == (family, model)}
        made += [arm.full, arm]
        if HEAD_ONLY in without:
            made.append(arm.head_only)
        if UNRECITED in without:
            made.append(replace(arm, mode="off"))
        if UNPINNED in without:
            made.append(replace(arm, pinned=False))
        if family in _TIMED:
            made.append(replace(arm, advice=False))
            made.append(replace(arm, parts=frozenset(("goal", "pinned", "steps"))))
    return list({(arm.name, arm.load): arm for arm in made}.values())


def is_control(record: Record) -> bool:
    """True for the record of a control."""
    policy, *words = record.policy.split(" ")
    taken = [HEAD_ONLY] if policy == HEAD_ONLY else [w for w in words if w in _WITHOUT]
    return record.scripted and any(
        Control(record.family, record.model, each) in CONTROLS for each in (*taken, ANY)
    )
