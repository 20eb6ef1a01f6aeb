"""The axes of a suite that compacts, as options of a command: an ablation is one command.

Policies, recitations and prompts are crossed; each of the arms that come of it runs under every load.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, cast

from .arms import COMPACTIONS, PROMPTS, TRIGGERS, Arm
from .errors import FamilyUnknown
from .options import ArmOptions
from .summarisers import SUMMARISERS, summariser

MODES = ("replace", "append", "compaction", "off")
READINGS = "readings"
"""As `replace`, but readings of the status stand without what to do about them."""


def arms_under_test(options: ArmOptions) -> tuple[Arm, ...]:
    """The arms, without their loads. Raises `FamilyUnknown` for a value that an axis does not have."""
    writes = options.summariser
    if writes not in ("code", "model") and writes not in SUMMARISERS:
        known = ", ".join(("code", "model", *SUMMARISERS))
        raise FamilyUnknown(f"no summariser {writes!r}; there are: {known}")
    given: Any = summariser(writes) if writes in SUMMARISERS else writes
    base = Arm(window=options.window, pinned=options.pinned, summariser=given)
    crossed = product(
        options.policy or ["auto"], options.recite or ["replace"], options.prompt or ["general"]
    )
    return tuple(_arm(base, *each) for each in crossed)


def loads(arms: Sequence[Arm], options: ArmOptions, number: int) -> list[Arm]:
    """The arms under the loads of the sample of this number: those that were given, else all in turn."""
    turn = COMPACTIONS[2] if number % 20 == 7 else COMPACTIONS[number % 10 == 3]
    triggers = options.trigger or [TRIGGERS[number % len(TRIGGERS)]]
    return [
        replace(arm, trigger=trigger, compactions=times)
        for arm, trigger, times in product(arms, triggers, options.compactions or [turn])
    ]


def _arm(base: Arm, policy: str, recite: str, prompt: str) -> Arm:
    mode, colon, parts = recite.partition(":")
    advice = mode != READINGS
    if advice and mode not in MODES:
        known = ", ".join((*MODES, READINGS))
        raise FamilyUnknown(f"no recitation {mode!r}; there are: {known}")
    base = replace(base, mode=cast(Any, mode if advice else "replace"), advice=advice)
    arm = replace(base, policy=policy, prompt=_prompt(prompt))
    arm = replace(arm, parts=frozenset(parts.split(","))) if colon else arm
    arm.check()
    return arm


def _prompt(given: str) -> str:
    if given in PROMPTS:
        return given
    try:
        return Path(given).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FamilyUnknown(
            f"no prompt {given!r}: neither a file that can be read nor one of {', '.join(PROMPTS)}"
        ) from error
