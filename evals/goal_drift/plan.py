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
}
"""By family: the scripted policies whose weakness it is about."""
NEEDS_HISTORY = frozenset(FAMILIES) - {"clarification-twin", "swallowed"}
"""Families whose right answer cannot be had from the head alone: `head-only` must fail there."""
UNRECITED, UNPINNED = "recite=off", "unpinned"


@dataclass(frozen=True, slots=True)
class Control:
    """A policy under an arm that must fail a family; if it passes, the family measures nothing."""

    family: str
    model: str
    without: str
    """What the arm takes away: `head-only`, `recite=off`, `unpinned`."""


def controls() -> frozenset[Control]:
    """All controls, each of which must fail in every run."""
    found = {Control(f, m, HEAD_ONLY) for f in NEEDS_HISTORY for m in POLICIES_OF[f]}
    for family in ("constraint", *_GOALS):
        found.add(Control(family, "tempted", UNPINNED))
        found |= {Control(family, model, UNRECITED) for model in ("recency", "limited")}
    found |= {Control(family, "checklist", UNRECITED) for family in (*_PLANS, "todo-forbidden")}
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
    return list({(arm.name, arm.load): arm for arm in made}.values())


def is_control(record: Record) -> bool:
    """True for the record of a control."""
    policy, *words = record.policy.split(" ")
    taken = [HEAD_ONLY] if policy == HEAD_ONLY else [w for w in words if w in (UNRECITED, UNPINNED)]
    return record.scripted and any(
        Control(record.family, record.model, each) in CONTROLS for each in taken
    )
