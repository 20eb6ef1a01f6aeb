"""Errors of the orchestrator package.

OrchestratorError
  RunNotFound       no run, or more than one, goes by that name
  QuestionRefused   the question is empty, too long, or cannot be taken now
  DecisionRefused   a decision about a waiting call cannot be used
"""


class OrchestratorError(Exception):
    """Root of this package's errors."""


class RunNotFound(OrchestratorError):
    """No run, or more than one, goes by that name."""


class QuestionRefused(OrchestratorError):
    """The question or task is empty, longer than the limit, or the run cannot take one now."""


class DecisionRefused(OrchestratorError):
    """A decision about a call that waits for a person cannot be used; nothing was decided."""
