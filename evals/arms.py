"""Arms: one named way to treat a history, and the agent that runs under it.

Two arms of one load answer the same samples: the load (window, trigger, compactions) belongs to the sample,
all else to the arm's name. Nothing here imitates the product: an arm becomes settings of a real agent.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from agents import Agent, Compaction, Model, trigger_of
from memory import (
    PARTS,
    CallRule,
    ContextError,
    Goal,
    Proposal,
    Recitation,
    Replacement,
    Summarising,
    View,
    strategy_named,
)

from .errors import FamilyUnknown

FULL, HEAD_ONLY = "full", "head-only"
"""The policies that are controls: nothing is ever hidden; all is hidden but system prompt and first words."""
TRIGGERS = (0.10, 0.15, 0.20, 0.25, 0.85)
COMPACTIONS = (1, 3, 6)
WINDOW = 32_000
"""Tokens of the window that generated samples declare."""
WHOLE_WINDOW = 4_000_000
"""Tokens of a scripted model's window in the arm `full`, which nothing fills."""
PROMPTS = ("general", "research", "coding", "operations")
Mode = Literal["replace", "append", "compaction", "off"]


@dataclass(frozen=True, slots=True)
class HeadOnly:
    """The control strategy: hides everything that may be hidden, with nothing in its place."""

    name: str = HEAD_ONLY

    async def propose(self, view: View, goal: Goal) -> Proposal | None:
        """All old groups hidden; the user's words, pinned text and the newest exchange stay."""
        seqs = sorted({seq for group in view.old(view.live) for seq in group.seqs})
        return Proposal(self.name, (Replacement(tuple(seqs), ""),)) if seqs else None


@dataclass(frozen=True, slots=True)
class Arm:
    """How the history of a sample is treated. Raises `FamilyUnknown` for shares and parts that are none."""

    policy: str = "auto"
    """A compaction strategy by the name that agents know it by, `full`, or `head-only`."""
    trigger: float = 0.2
    """Share of the window from which a context is compacted."""
    window: int = WINDOW
    """Tokens of the window that is declared."""
    compactions: int = 1
    """How many compactions the sample must force between what it tells and what it asks."""
    mode: Mode = "replace"
    """Of the recitation; `off` for none."""
    parts: frozenset[str] = frozenset(PARTS)
    """Of the recitation."""
    advice: bool = True
    """Of the recitation: False shows readings of the status without what to do about them."""
    pinned: bool = True
    """True hands the rules of a sample to the agent as pinned text; else only the history has them."""
    prompt: str = "general"
    """The summariser's prompt: its name, or words of your own in its place."""
    summariser: "Model | Literal['model', 'code']" = "code"
    """What writes summaries: a model of its own, the answering model, or code."""

    def __post_init__(self) -> None:
        if not 0 < self.trigger < 1 or self.window < 1_000 or self.compactions < 1:
            raise FamilyUnknown(
                f"no arm with trigger {self.trigger!r}, window {self.window!r} and {self.compactions!r} "
                "compactions: a share between 0 and 1, 1,000 tokens or more, 1 or more"
            )
        if unknown := sorted(self.parts - set(PARTS)):
            raise FamilyUnknown(f"no part {unknown[0]!r} in a tail; there are: {', '.join(PARTS)}")

    def check(self) -> None:
        """Raise `FamilyUnknown` for a policy that no agent knows."""
        if self.policy in (FULL, HEAD_ONLY):
            return
        try:
            strategy_named(self.policy, Summarising())
        except ContextError as error:
            raise FamilyUnknown(f"{error}, and {FULL}, {HEAD_ONLY}") from error

    @property
    def load(self) -> str:
        """What the sample's work depends on; part of the sample's name, so that arms of one load pair."""
        return f"{self.window}x{self.trigger:g}x{self.compactions}"

    @property
    def name(self) -> str:
        """The policy with all that differs from the defaults."""
        words = [self.policy]
        if self.mode != "replace":
            words.append(f"recite={self.mode}")
        if self.mode != "off" and not self.advice:
            words.append("recite=readings")
        if self.mode != "off" and self.parts != frozenset(PARTS):
            words.append(f"parts={','.join(p for p in PARTS if p in self.parts) or 'none'}")
        if not self.pinned:
            words.append("unpinned")
        if self.prompt != "general":
            words.append(f"prompt={_prompt_name(self.prompt)}")
        if self.summariser != "code":
            given = self.summariser
            words.append(f"by={given if isinstance(given, str) else given.name}")
        return " ".join(words)

    @property
    def model_window(self) -> int:
        """Tokens that a scripted model's window must have."""
        return WHOLE_WINDOW if self.policy == FULL else self.window

    @property
    def full(self) -> "Arm":
        """The control of the same load that hides nothing."""
        return replace(self, policy=FULL, prompt="general", summariser="code")

    @property
    def head_only(self) -> "Arm":
        """The control of the same load that keeps the head and nothing else: no pinning, no recitation."""
        return Arm(HEAD_ONLY, self.trigger, self.window, self.compactions, "off", pinned=False)

    @property
    def compaction(self) -> Compaction | None:
        """The settings of the agent's compaction; `None` for `full`."""
        if self.policy == FULL:
            return None
        known = self.prompt in PROMPTS
        return Compaction(
            strategy=HeadOnly() if self.policy == HEAD_ONLY else self.policy,
            trigger=self.trigger,
            window=self.window,
            prompt=cast(Any, self.prompt) if known else "general",
            instructions="" if known else self.prompt,
            summariser=self.summariser,
        )

    def recitation(self, rules: Sequence[CallRule] = ()) -> Recitation:
        """What the end of the agent's requests restates; `rules` are the calls to count."""
        return Recitation(self.mode, parts=self.parts, rules=tuple(rules), advice=self.advice)

    def tokens(self, model: Model) -> int:
        """Tokens from which a context is compacted: the work of a sample is sized by it."""
        return trigger_of(model, self.window, self.compaction or Compaction(trigger=self.trigger))


def under(
    arm: Arm, agent: Agent, pinned: Sequence[str] = (), rules: Sequence[CallRule] = ()
) -> Agent:
    """The agent under an arm, for a real `Coordinator`.

    `pinned` are texts that the sample's history tells too: an arm that pins hands them to the agent as
    its rules. `rules` are calls that the recitation counts.
    """
    return replace(
        agent,
        compaction=arm.compaction,
        recitation=arm.recitation(rules),
        rules=tuple(pinned) if arm.pinned else (),
    )


def _prompt_name(prompt: str) -> str:
    return prompt if prompt in PROMPTS else hashlib.sha256(prompt.encode()).hexdigest()[:8]
