"""Showing progress on standard error: a live tree on a terminal, plain lines elsewhere, or nothing."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager

from agents import AgentEnded, AgentStarted, Emit, Progress, StageStarted, ToolEnded, ignore

from .board import Board
from .screen import one_line, say


@contextmanager
def watching(title: str, *, quiet: bool) -> Generator[Emit]:
    """The `Emit` that shows a run's progress while the block runs."""
    if quiet:
        yield ignore
    elif sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        from .live import live_tree

        with live_tree(title) as emit:
            yield emit
    else:
        yield PlainLines()


class PlainLines:
    """An `Emit` that writes a line when a stage or an agent begins or ends, or a tool fails."""

    def __init__(self) -> None:
        self._board = Board()

    def __call__(self, event: Progress) -> None:
        """Show one event."""
        self._board.take(event)
        match event:
            case StageStarted():
                say(f"-- {one_line(self._board.stage)}")
            case AgentStarted():
                task = one_line(self._board.rows[event.thread].task)
                say(f"[{event.thread}] {event.agent} started" + (f": {task}" if task else ""))
            case ToolEnded(is_error=True):
                say(f"[{event.thread}] {event.tool} failed")
            case AgentEnded():
                row = self._board.rows[event.thread]
                reason = f": {one_line(row.reason, 160)}" if row.reason else ""
                say(f"[{event.thread}] {row.status}, {row.facts}{reason}")
            case _:
                pass
