"""Errors of the agents package.

AgentError
  AgentDefinitionError   an agent, a tool or a model name is not usable as written
  ModelUnavailable       a model gave no answer after all retries and fallbacks
  LimitReached           a limit of the run or agent was reached, or the agent was cancelled
  CodecChanged           the request must be made again by the model's new codec (never leaves the loop)

ToolError is a root of its own: its message is written for the model. A bug never becomes a prompt by
accident, because only ToolError's words are passed on whole.
"""

from typing import Any


class AgentError(Exception):
    """Root of the errors that concern whoever runs the agents."""


class AgentDefinitionError(AgentError):
    """An agent, a tool or a model name is not usable as written; raised at construction."""


class ModelUnavailable(AgentError):
    """A model gave no answer after all retries and fallbacks."""


class LimitReached(AgentError):
    """A limit was reached; `limit` names it, the message says how much was allowed and used.

    `cancelled` is one of the names: whoever stops an agent allows it no further call.
    """

    def __init__(self, limit: str, message: str) -> None:
        super().__init__(message)
        self.limit = limit


class CodecChanged(AgentError):
    """An adapter found out that its endpoint wants other bytes; the loop configures its thread again.

    `notices` holds what was found out, as (topic, data), for the log.
    """

    def __init__(self, notices: tuple[tuple[str, dict[str, Any]], ...]) -> None:
        super().__init__("the endpoint wants another form of request")
        self.notices = notices


class ToolError(Exception):
    """Raise it in a tool to tell the model what went wrong and what to do next, in these words."""
