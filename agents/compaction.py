"""What an agent's compaction is like: when, how, and how much stays verbatim."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from memory import ContextError, Cut, Strategy, Summarising, strategy_named, trigger_tokens

from .errors import AgentDefinitionError

if TYPE_CHECKING:
    from .models import Model

PROMPTS = ("general", "research", "coding", "operations")
MOST_RESERVE = 4096
"""Tokens set aside for an answer whose length no setting limits; of a small window an eighth."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """When and how the older part of an agent's context is hidden. Nothing is ever deleted.

    Raises `AgentDefinitionError` for shares that are no shares, and for names that there are not.
    """

    strategy: "str | Strategy" = "auto"
    """A name, names joined by `+`, or a strategy of your own. `auto` climbs from removing noise to a new
    window, as far as the target needs; `none` never compacts."""
    trigger: float | None = None
    """Share of the window from which it begins; `None` for the smaller of 80 % and what answer and headroom
    leave."""
    target: float = 0.6
    """Share of the trigger that the context has afterwards, at most."""
    tail: float = 0.2
    """Share of the trigger at the end of the history that stays verbatim."""
    cut: Cut = "step"
    """Where that tail may begin: at a `message`, at a `step` (a reply with its results), or at a `turn` of
    the user."""
    window: int | None = None
    """Tokens to take the window for, `None` for the model's own."""
    prompt: Literal["general", "research", "coding", "operations"] = "general"
    """Which of the prompts the summariser gets."""
    instructions: str = ""
    """Replaces that prompt whole, as it is."""
    summariser: "Model | Literal['model', 'code']" = "model"
    """What writes summaries: the agent's own model, whose cache then serves the request; another model; or
    no model."""
    pause: bool = False
    """True pauses the run after each compaction that was not asked for, so that a person can add words."""
    new_context: bool = False
    """True gives the agent the tool `new_context`, by which it begins a new window itself."""

    def __post_init__(self) -> None:
        for name in ("trigger", "target", "tail"):
            value = getattr(self, name)
            if value is not None and not 0 < value < 1:
                raise AgentDefinitionError(f"{name} is a share between 0 and 1, not {value!r}")
        if isinstance(self.strategy, str):
            try:
                strategy_named(self.strategy, Summarising())
            except ContextError as error:
                raise AgentDefinitionError(str(error)) from error
        if self.prompt not in PROMPTS:
            raise AgentDefinitionError(
                f"no prompt {self.prompt!r}; there are: {', '.join(PROMPTS)}"
            )


def reserve_of(model: "Model", window: int) -> int:
    """Tokens that the answer of a model may take."""
    given = model.settings.get("max_tokens") or model.settings.get("max_completion_tokens")
    return int(given) if given else min(MOST_RESERVE, window // 8)


def trigger_of(model: "Model", window: int, settings: Compaction | None) -> int:
    """Tokens from which a context is compacted. Raises `AgentDefinitionError` when the answer leaves none."""
    try:
        share = settings.trigger if settings else None
        return trigger_tokens(window, reserve_of(model, window), share)
    except ContextError as error:
        raise AgentDefinitionError(f"model {model.name!r}: {error}") from error
