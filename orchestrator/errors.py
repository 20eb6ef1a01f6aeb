"""Errors of the orchestrator package.

OrchestratorError
  RunNotFound       no run, or more than one, goes by that name
  QuestionRefused   the question is empty or longer than a question can be
"""


class OrchestratorError(Exception):
    """Root of this package's errors."""


class RunNotFound(OrchestratorError):
    """No run, or more than one, goes by that name."""


class QuestionRefused(OrchestratorError):
    """The question or task is empty or longer than the limit."""
