"""What policies leave of a cut run: comparisons as functions of messages, ours through the real loop."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents import AgentError, Model

from ..errors import FamilyUnknown
from .ours import EQUAL, LADDER, PROMPTS, STRATEGIES, Ours, ours_named
from .policies import POLICIES, Policy, drop_at_random
from .probes import Probe, extract_probes
from .rerun import Compacted, Rerun, compact_at, opened, rerun
from .searcher import Fetched, Searcher
from .trajectory import Message, Trajectory, cut_at

RANDOM = "random="
_CONTROLLED = ("auto", "auto@30")
"""Settings of ours beside which a random drop of equal size stands."""


@dataclass(frozen=True, slots=True)
class CutRun:
    """A recorded run up to a cut, with its probes."""

    trajectory: Trajectory
    cut: float
    """Share of the messages."""
    messages: tuple[Message, ...]
    probes: tuple[Probe, ...]


@dataclass(frozen=True, slots=True)
class Left:
    """What one policy left of a cut run."""

    messages: Sequence[Message]
    figures: dict[str, float] = field(default_factory=dict[str, float])
    """Further numbers: `summary_calls`, and `summary_seconds` where a model wrote them."""
    why: str = ""
    """Why this tests nothing, `""` when it does: no compaction was taken."""


def cut_run(trajectory: Trajectory, cut: float) -> CutRun:
    """The run up to the cut; without probes when nothing stands behind its head."""
    messages, head = cut_at(trajectory, cut), trajectory.head
    probes = extract_probes(messages, head) if len(messages) > head else []
    return CutRun(trajectory, cut, messages, tuple(probes))


class Treatments:
    """The policies of one replay, by name; what they leave is kept for the newest few cut runs."""

    def __init__(
        self,
        functions: Mapping[str, Policy],
        ours: Sequence[Ours] = (),
        summariser: Model | None = None,
    ) -> None:
        self._functions, self._summariser = dict(functions), summariser
        self._ours = {each.name: each for each in ours}
        self._made: dict[tuple[int, float], asyncio.Task[dict[str, Left]]] = {}
        self._reruns: dict[tuple[int, bool], asyncio.Task[Rerun]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all policies."""
        return (*self._functions, *self._ours)

    async def left(self, run: CutRun) -> dict[str, Left]:
        """What each policy leaves of a run. Never raises for what a compaction or the loop does."""
        key = (id(run.trajectory), run.cut)
        if key not in self._made:
            _newest(self._made)
            self._made[key] = asyncio.create_task(self._treat(run))
        return await self._made[key]

    async def fetched(self, run: CutRun) -> list[Fetched]:
        """What two calls of the real tools bring for each probe. Raises `AgentError` when the run does not go
        through the loop."""
        again = await self._rerun(run.trajectory, offload=False)
        searcher = Searcher((await opened(again, len(run.messages))).thread)
        return [await searcher.fetch(probe) for probe in run.probes]

    async def _treat(self, run: CutRun) -> dict[str, Left]:
        head = run.trajectory.head
        left = {name: Left(f(run.messages, head)) for name, f in self._functions.items()}
        for name, setting in self._ours.items():
            left[name] = await self._compacted(run, setting)
            control = f"{RANDOM}{name}"
            if control in left:
                allowed = sum(message.tokens for message in left[name].messages)
                same = drop_at_random(run.messages, head, allowed, name)
                left[control] = Left(same, why=left[name].why)
        return left

    async def _compacted(self, run: CutRun, setting: Ours) -> Left:
        try:
            again = await self._rerun(run.trajectory, offload=setting.offload)
            made = await compact_at(again, len(run.messages), setting, self._summariser)
        except AgentError as error:
            return Left(run.messages, why=f"the loop stopped: {error}")
        why = "" if setting.strategy == "none" else made.why
        return Left(made.messages or run.messages, self._figures(made), why)

    def _figures(self, made: Compacted) -> dict[str, float]:
        if self._summariser is None:
            return {}
        calls = {"summary_calls": float(made.summary_calls)}
        return calls | ({"summary_seconds": made.seconds} if made.summary_calls else {})

    async def _rerun(self, trajectory: Trajectory, *, offload: bool) -> Rerun:
        key = (id(trajectory), offload)
        if key not in self._reruns:
            _newest(self._reruns)
            longest = len(cut_at(trajectory, 1.0))
            self._reruns[key] = asyncio.create_task(rerun(trajectory, longest, offload=offload))
        return await self._reruns[key]


def _newest(made: dict[Any, Any], most: int = 16) -> None:
    while len(made) >= most:
        made.pop(next(iter(made)))


def treatments_named(names: Sequence[str], summariser: Model | None = None) -> Treatments:
    """Some policies, all for no names. Raises `FamilyUnknown` for a name that is none."""
    if not names:
        names = (*POLICIES, *STRATEGIES, *EQUAL, *(rung.name for rung in LADDER))
        names = (*names, *(f"{RANDOM}{name}" for name in _CONTROLLED))
    functions: dict[str, Policy] = {}
    ours: dict[str, Ours] = {}
    for name in names:
        setting = ours_named(name)
        controlled = ours_named(name.removeprefix(RANDOM)) if name.startswith(RANDOM) else None
        if name in POLICIES:
            functions[name] = POLICIES[name]
        elif setting:
            ours[name] = setting
        elif controlled:
            functions[name] = POLICIES["full"]
            ours[controlled.name] = controlled
        else:
            raise FamilyUnknown(
                f"no policy is called {name!r}; there are: {', '.join(POLICIES)}; of ours: "
                f"{', '.join(STRATEGIES)}, each also as STRATEGY@PERCENT and joined by +, "
                f"and summary[PROMPT] with one of the prompts {', '.join(PROMPTS)}"
            )
    return Treatments(functions, list(ours.values()), summariser)
