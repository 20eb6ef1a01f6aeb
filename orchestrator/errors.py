"""Errors of the orchestrator package.

OrchestratorError
  RunNotFound       no run, or more than one, goes by that name
  RunNotTrusted     the run folder was not made by this user here
  TurnNotFound      a run has no such thread or turn
  PurgeRefused      a secret too short to be taken out, or one that is still somewhere
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


class RunNotTrusted(OrchestratorError):
    """A run folder that this user did not make here; the message says what going on would do."""


class TurnNotFound(OrchestratorError):
    """A run has no such thread or turn; the message says which there are."""


class PurgeRefused(OrchestratorError):
    """A secret that is too short to be taken out, or that could not be taken out everywhere."""
