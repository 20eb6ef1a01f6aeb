"""Errors of the agents package.

AgentError
  AgentDefinitionError   an agent, a tool or a model name is not usable as written
  ModelUnavailable       a model gave no answer after all retries and fallbacks
  OutputInvalid          the model did not produce the declared output, repair turn included
  LimitReached           a limit of the run or agent was reached

ToolError is a root of its own: its message is written for the model. A bug never becomes a prompt by
accident, because only ToolError's words are passed on whole.
"""


class AgentError(Exception):
    """Root of the errors that concern whoever runs the agents."""


class AgentDefinitionError(AgentError):
    """An agent, a tool or a model name is not usable as written; raised at construction."""


class ModelUnavailable(AgentError):
    """A model gave no answer after all retries and fallbacks."""


class OutputInvalid(AgentError):
    """The model did not produce the declared output, even after its repair turn."""


class LimitReached(AgentError):
    """A limit was reached; `limit` names it, the message says how much was allowed and used."""

    def __init__(self, limit: str, message: str) -> None:
        super().__init__(message)
        self.limit = limit


class ToolError(Exception):
    """Raise it in a tool to tell the model what went wrong and what to do next, in these words."""
