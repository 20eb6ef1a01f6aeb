"""Events of what a person did to a run from outside: a fork of it, a secret taken out of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunForked:
    """Everything before is a copy of another run's events, up to the end of one turn."""

    run_id: str
    """The new run's id."""
    origin: str
    """Id of the run that was copied."""
    thread: str
    """The thread whose turn was chosen."""
    turn: int
    """The last turn of that thread that was copied; 0 for none."""


@dataclass(frozen=True, slots=True)
class SecretPurged:
    """A secret was removed everywhere in the run; the one exception to "events are never changed"."""

    events: int
    """Events that held it."""
    files: int
    """Files of the run folder that held it."""
    requests: tuple[int, ...] = ()
    """Positions of the requests that held it: what is rebuilt of them is not what was sent."""
