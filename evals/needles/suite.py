"""The needle suite: all families and languages, by a reader and by searchers, in every arm."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from ..errors import EvalError, FamilyUnknown
from ..results import Record, append_results
from .running import ARMS, run_needle
from .scripted import Script, reader, searcher
from .tasks import FAMILIES, needle_task
from .wording import LANGUAGES

POLICIES: dict[str, Script] = {
    "reader": reader,
    "searcher-2": searcher(2),
    "searcher-7": searcher(7),
}
"""The scripted models."""


def run_needles(out: Path, *, families: Sequence[str] = (), seeds: int = 2) -> int:
    """Run the suite into `out/results.jsonl`; returns the number of records.

    Raises `FamilyUnknown`, or `EvalError` when `out` already holds results.
    """
    target = out / "results.jsonl"
    for family in families:
        if family not in FAMILIES:
            raise FamilyUnknown(
                f"no needle family is called {family!r}; there are: {', '.join(FAMILIES)}"
            )
    if target.exists():
        raise EvalError(f"{str(target)!r} exists: choose another --out, or move it away")
    return asyncio.run(_run_all(target, families or FAMILIES, seeds))


async def _run_all(target: Path, families: Sequence[str], seeds: int) -> int:
    number = 0
    async for record in needle_records(families, seeds):
        number += append_results(target, [record])
    return number


async def needle_records(families: Sequence[str], seeds: int) -> AsyncIterator[Record]:
    """One record a task, scripted model and arm."""
    for family in families:
        for language in LANGUAGES:
            for seed in range(seeds):
                task = needle_task(family, language, seed)
                for model, script in POLICIES.items():
                    for arm in ARMS:
                        yield await run_needle(task, model, script, arm)
