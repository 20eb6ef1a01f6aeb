"""Errors of the evals.

OrchestratorError
  EvalError         root of this package; the command line says its message and ends with code 2
    StatisticsError   figures asked for that the given numbers cannot yield
    ResultsDamaged    a results file of which no line can be read, or of a format this version does not know
    TrajectoryError   a recorded run that cannot be used
    ControlPassed     a negative control passed what it must fail: the samples test nothing
    FamilyUnknown     a family, policy or format of that name does not exist
    CassetteMiss      a request of which no reply was recorded; its sample is stale
"""

from orchestrator import OrchestratorError


class EvalError(OrchestratorError):
    """Root of all errors of this package; messages say what, where and what to do next."""


class StatisticsError(EvalError, ValueError):
    """Figures asked for that the given numbers cannot yield."""


class ResultsDamaged(EvalError):
    """A results file of which no line can be read, or of a format that this version does not know."""


class TrajectoryError(EvalError):
    """A recorded run that cannot be used; `name` says how it is broken, in one fixed word."""

    def __init__(self, name: str, where: str, message: str) -> None:
        super().__init__(f"{where}: {name}: {message}")
        self.name = name
        self.where = where


class ControlPassed(EvalError):
    """A negative control passed what it must fail: the samples test nothing."""


class FamilyUnknown(EvalError):
    """A family, policy or format of that name does not exist; the message lists those that do."""


class CassetteMiss(EvalError):
    """A request of which no reply was recorded; its sample is stale, never passed."""
