"""The roster: a coordinator's subagents by name, whatever they were given as."""

from collections.abc import Sequence
from typing import Any, cast

from agents import Agent, AgentDefinitionError

from .foreign import RunnableSubagent, as_subagent
from .models import Chain
from .subagents import AgentSubagent, Subagent, resolve_chain


def roster(values: Sequence[Any], lead: Agent, model: Chain | None) -> dict[str, Subagent]:
    """Agents, coordinators and runnables by name; `model` serves those that name none, else the lead's.

    Raises `AgentDefinitionError` for a name used twice, an agent without a model, or something that
    cannot be a subagent.
    """
    named: dict[str, Subagent] = {}
    for value in values:
        subagent = _subagent(value, lead, model)
        if subagent.name in named:
            raise AgentDefinitionError(f"two subagents are called {subagent.name!r}; rename one")
        named[subagent.name] = subagent
    return named


def required(chain: Any, name: str) -> Chain:
    """A chain of models that must be there. Raises `AgentDefinitionError`."""
    if chain is None:
        raise AgentDefinitionError(f"agent {name!r} has no model; give it one, or the coordinator")
    return cast(Chain, chain)


def _subagent(value: Any, lead: Agent, model: Chain | None) -> Subagent:
    from .coordinator import Coordinator

    above = lead.model or model
    if isinstance(value, Coordinator):
        value.model = value.model or model or lead.model
        return value
    if isinstance(value, Agent):
        chain = required(value.model or model or lead.model, value.name)
        return AgentSubagent(
            value, resolve_chain(chain), resolve_chain(above) if above is not None else ()
        )
    return value if isinstance(value, RunnableSubagent) else as_subagent(value)
