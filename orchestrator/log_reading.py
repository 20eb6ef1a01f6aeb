"""Reading a run of the past: its threads, one turn of them, and whether everything in it is whole."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agents import AgentDefinitionError, codec_for
from filesystem import ArtifactStore, RunFolder
from memory import (
    Codec,
    ContextError,
    Entry,
    LogCheck,
    Rebuilt,
    read_entries,
    remake_request,
    requests_of,
    turn_of,
    verify_log,
)

from .errors import TurnNotFound

MAIN = "main"
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class RunCheck:
    """What a check of a run folder found."""

    log: LogCheck
    artifacts: int
    """Stored bodies whose content has the hash of their name."""
    problems: tuple[str, ...]
    """All that is wrong, the log's problems included, one line each; none for a whole run."""


def recorded_codec(name: str, version: int, options: dict[str, str]) -> Codec:
    """The codec that a log names. Raises `ContextError` when this version does not have it."""
    try:
        return codec_for(name, version, options)
    except AgentDefinitionError as error:
        raise ContextError(str(error)) from error


def verify_run(path: Path) -> RunCheck:
    """Read everything in a run folder back: log, requests, artifacts. Faults are in the result.

    Raises `NotARunFolder`, and `LogError` for a log of which nothing can be read.
    """
    folder = RunFolder.open(path)
    log = verify_log(folder.events_db, recorded_codec)
    good, wrong = _check_artifacts(ArtifactStore(folder.artifacts))
    return RunCheck(log, good, (*log.problems, *wrong))


def _check_artifacts(store: ArtifactStore) -> tuple[int, list[str]]:
    good, wrong = 0, list[str]()
    for name in store.names():
        digest = hashlib.sha256()
        with store.open(f"/artifacts/{name}") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
        if digest.hexdigest() == name:
            good += 1
        else:
            wrong.append(f"the stored body {name[:16]} does not have the hash of its name")
    return good, wrong


def thread_entries(entries: Sequence[Entry], thread: str | None) -> list[Entry]:
    """The events of one thread that asked a model; `None` is the run's main thread, or its only one.

    Raises `TurnNotFound`.
    """
    asked = list(dict.fromkeys(entry.thread for entry in requests_of(entries)))
    if thread is None and (MAIN in asked or len(asked) == 1):
        thread = MAIN if MAIN in asked else asked[0]
    if thread not in asked:
        names = ", ".join(asked) or "none asked a model"
        what = "several threads" if thread is None else f"no thread {thread!r} with a request"
        raise TurnNotFound(f"the run has {what}; name one with --thread: {names}")
    return [entry for entry in entries if entry.thread == thread]


def read_turn(path: Path, turn: int, thread: str | None = None) -> tuple[list[Entry], Rebuilt]:
    """A thread's events, and the request of its turn `turn` (from 1), from disk alone.

    Raises `TurnNotFound`, `NotARunFolder`, `LogError`, and `ContextError` for a request that cannot be
    made with this version.
    """
    entries = thread_entries(read_entries(RunFolder.open(path).events_db), thread)
    if not 1 <= turn <= len(requests_of(entries)):
        raise TurnNotFound(
            f"thread {entries[0].thread!r} has no turn {turn}: it has turns 1 to "
            f"{len(requests_of(entries))}"
        )
    return entries, remake_request(entries, turn_of(entries, turn).seq, recorded_codec)
