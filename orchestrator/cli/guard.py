"""The root boundary: exit codes, and how whatever is raised becomes one message.

OrchestratorError
  BadInput        what the user gave cannot be used as it is
Interrupted       the user stopped the work; a root of its own, it is no fault
"""

import errno
import functools
import os
import traceback
from collections.abc import Callable
from typing import ParamSpec

import typer

from ..errors import OrchestratorError
from .screen import say, visible

DONE, FAILED, BAD_INPUT, PARTIAL, INTERRUPTED = 0, 1, 2, 3, 130
EXIT_CODES = """\b
Exit codes:
  0    done
  1    failed, or a check that did not hold; the message says what and where
  2    bad input or usage: correct the command
  3    partial: something is missing, and the report or result says what
  130  interrupted (Ctrl-C, SIGTERM): `undrift resume RUN` goes on
UNDRIFT_DEBUG=1 in the environment adds the traceback to an error message."""

_NEXT = {
    errno.ENOSPC: "the disk is full: free some space",
    errno.EDQUOT: "your quota of disk space is used up: free some space",
    errno.EACCES: "check the rights of this file or folder",
    errno.EPERM: "check the rights of this file or folder",
    errno.EROFS: "the file system is read-only: choose another folder with --out",
    errno.EMFILE: "too many open files: raise the limit with `ulimit -n`",
}
_P = ParamSpec("_P")


class BadInput(OrchestratorError):
    """What the user gave cannot be used as it is; the message says what to give instead."""


class Interrupted(Exception):
    """The user stopped the work, and it has cleaned up; notes say how to go on."""


def guarded(command: Callable[_P, None]) -> Callable[_P, None]:
    """A command at the root boundary: what it raises is told on standard error and ends it."""

    @functools.wraps(command)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except (KeyboardInterrupt, Interrupted) as error:
            _tell("interrupted", error)
            raise typer.Exit(INTERRUPTED) from None
        except Exception as error:  # noqa: BLE001 - the root boundary: a message, never a traceback
            if os.environ.get("UNDRIFT_DEBUG") == "1":
                say(visible(traceback.format_exc()))
            message, code = explain(error)
            _tell(f"error: {message}", error)
            raise typer.Exit(code) from None

    return run


def explain(error: Exception) -> tuple[str, int]:
    """The message for an error, and the exit code: 2 when other input would help, else 1."""
    from agents import AgentDefinitionError, AgentError
    from filesystem import (
        FilesystemError,
        FolderMissing,
        NothingReadable,
        RunFolderError,
        StorageFailed,
    )
    from memory import MemoryError_

    bad = (OrchestratorError, AgentDefinitionError, RunFolderError, FolderMissing, NothingReadable)
    if isinstance(error, bad):
        return str(error), BAD_INPUT
    if isinstance(error, StorageFailed) or not isinstance(error, OSError):
        if isinstance(error, (AgentError, FilesystemError, MemoryError_)):
            return str(error), FAILED
        return (
            f"a fault in Undrift, not in your input: {type(error).__name__}: {error}; "
            "run again with UNDRIFT_DEBUG=1 for the traceback and report it"
        ), FAILED
    return _system_refused(error), FAILED


def _system_refused(error: OSError) -> str:
    where = f" {str(error.filename)!r}" if error.filename is not None else ""
    reason = error.strerror or str(error) or type(error).__name__
    hint = _NEXT.get(error.errno or 0, "")
    return f"the system refused{where}: {reason}" + (f"; {hint}" if hint else "")


def _tell(message: str, error: BaseException) -> None:
    for line in (message, *getattr(error, "__notes__", ())):
        say(line)
