"""The agent and its turn loop: `run -> turn -> ask, act`, plain async Python, one screen each."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel

from filesystem import MergeRule
from memory import Recitation, ToolCall

from .acting import CONCLUDE, run_calls, settle_interrupted
from .approving import allowed, paused
from .asking import ask_models
from .compaction import Compaction
from .ending import answered, conclude, conclude_tool, end, outcome_of, stopped
from .errors import AgentDefinitionError, LimitReached, ModelUnavailable
from .faults import Check
from .limits import Limits
from .models import Model, Reply
from .offloading import fit_newest
from .outcome import Outcome
from .session import Session
from .tools import AnyTool, Tool, as_tool

Files = Literal["auto", "none", "read", "all"]
"""The file tools of an agent: `read_file` and `grep` where a result of its tools may be stored in place of
being shown; none; these two; or all, with a writable `/files`."""
See = Literal["none", "text", "fork"]
"""What a child sees of its parent: what it is handed and nothing else; its visible text besides; or its
exact prefix, which the provider's cache holds."""


@dataclass(frozen=True)
class Agent:
    """What an agent is: words, tools, a model and limits. It holds no state of any run.

    Raises `AgentDefinitionError` for an output type that is no pydantic model, and for file tools or a
    sight of its parent that there are not.
    """

    name: str
    """Shown to the coordinator and in the log."""
    instructions: str
    """The system prompt."""
    model: "Model | str | Sequence[Model | str] | None" = None
    """A model, its name, or a fallback chain in order; `None` takes the coordinator's."""
    tools: Sequence[AnyTool] = ()
    """Functions or `Tool`s; they run in parallel when the model asks for several."""
    description: str = ""
    """What it is for, shown to a coordinator that may delegate to it."""
    output_type: type[BaseModel] | None = None
    """Enforced: the agent ends by the tool `conclude`, whose arguments are checked against it."""
    sees: See = "none"
    """What it sees of its parent when it is delegated to; a delegation may say otherwise."""
    check: Check | None = None
    """Looks at the output (or the answer's text) before it is accepted: what it finds wrong goes back to
    the model once; what is still wrong then is told to the parent, and the outcome is `partial`."""
    limits: Limits = field(default_factory=Limits)
    todo: bool = False
    """True gives it `rewrite_todo` and `update_todo`: it keeps a plan, which every request restates."""
    lookback: bool = False
    """True gives it `note` and the `history_...` tools over its own thread."""
    files: Files = "auto"
    """Its file tools; they stay the same for a whole run."""
    merge: MergeRule = MergeRule.MERGE
    """What becomes of its `/files` when it ends: merged into its parent's, or kept beside them."""
    compaction: Compaction | None = field(default_factory=Compaction)
    """When and how older parts of its context are hidden; `None` for never."""
    rules: Sequence[str | Path] = ()
    """Texts, and files such as `AGENTS.md`, that stay in its context word for word. Files are read when a
    thread starts; the log keeps what they said."""
    recitation: Recitation = field(default_factory=Recitation)
    """What the end of its requests restates; nothing while there is no plan and nothing unusual."""

    def __post_init__(self) -> None:
        shape = self.output_type
        if shape is not None and not (isinstance(shape, type) and issubclass(shape, BaseModel)):  # pyright: ignore[reportUnnecessaryIsInstance] - a user's value
            raise AgentDefinitionError(
                f"agent {self.name!r}: output_type is a class of pydantic's BaseModel, not {shape!r}"
            )
        for name, words in (("files", get_args(Files)), ("sees", get_args(See))):
            if getattr(self, name) not in words:
                raise AgentDefinitionError(
                    f"agent {self.name!r}: {name} is one of {', '.join(words)}, not {getattr(self, name)!r}"
                )

    def toolbox(self) -> dict[str, Tool]:
        """The tools by name, `conclude` last. Raises `AgentDefinitionError` for a name used twice."""
        tools = [as_tool(value) for value in self.tools]
        if self.output_type is not None:
            tools.append(conclude_tool(self.output_type))
        named = {tool.name: tool for tool in tools}
        if len(named) < len(tools):
            names = sorted(tool.name for tool in tools)
            raise AgentDefinitionError(f"agent {self.name!r} has two tools of one name: {names}")
        return named

    async def run(self, session: Session) -> Outcome:
        """Work until there is an outcome. Failures of models and limits are outcomes, not raises."""
        try:
            outcome = await self.take_up(session)
            while outcome is None:
                outcome = await self.turn(session)
            return outcome
        except LimitReached as error:
            return stopped(session, error)
        except ModelUnavailable as error:
            return outcome_of(session, "failed", str(error))

    async def take_up(
        self, session: Session, *, elsewhere: frozenset[str] = frozenset()
    ) -> Outcome | None:
        """Act on a reply that reached the log before a crash; `None` when there is nothing to take up."""
        reply, session.pending = session.pending, None
        if session.ended is not None or reply is None:
            return session.ended
        settle_interrupted(session)
        if session.thread.context.open_calls or not reply.calls:
            return await self.act(session, reply, elsewhere=elsewhere)
        return None

    async def turn(self, session: Session) -> Outcome | None:
        """One model call and the tool calls it asked for; an outcome when that ended the work."""
        reply = await self.ask(session)
        return await self.act(session, reply)

    async def ask(self, session: Session) -> Reply:
        """Send the context to the model and record its whole reply, durable before any tool starts.

        Raises `LimitReached`, or `ModelUnavailable` when every model of the chain failed.
        """
        if session.turns >= self.limits.turns:
            raise LimitReached("turns", f"the limit of {self.limits.turns} turns is reached")
        session.approvals.clear()
        await fit_newest(session)
        return await ask_models(session)

    async def act(
        self, session: Session, reply: Reply, *, elsewhere: frozenset[str] = frozenset()
    ) -> Outcome | None:
        """Run the open calls of a reply, or take it as the answer.

        Calls of the tools named in `elsewhere` are left open for the caller (a coordinator's graph runs
        them); then those that wait for a person end the acting with a `paused` outcome. The output is
        taken only once no call but it is open.
        """
        context = session.thread.context
        if not reply.calls:
            return await answered(session, reply)
        here = [c for c in context.open_calls if not self.concludes(c) and c.name not in elsewhere]
        await run_calls(session, allowed(session, here))
        if any(c.name in elsewhere for c in context.open_calls):
            return None
        if any(not self.concludes(c) for c in context.open_calls):
            await session.thread.commit()
            return paused(session)
        for call in context.open_calls:
            outcome = await conclude(session, call)
            if outcome is not None:
                return end(session, outcome)
            await session.thread.commit()
        return None

    def concludes(self, call: ToolCall) -> bool:
        """True for the call that ends this agent's work."""
        return self.output_type is not None and call.name == CONCLUDE
