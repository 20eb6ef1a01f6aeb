"""The live tree of subagents on a terminal."""

from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.text import Text
from rich.tree import Tree

from agents import Emit

from .board import Board, Row
from .screen import one_line

_STYLES = {"working": "cyan", "done": "green", "partial": "yellow", "paused": "yellow"}
_SHOWN = 30
"""Rows at most: the display must fit a screen, finished agents give way first."""


@contextmanager
def live_tree(title: str) -> Generator[Emit]:
    """Show the tree while the block runs; its last state stays on the screen."""
    board, heading = Board(), one_line(title)
    console = Console(stderr=True, highlight=False)
    with Live(
        get_renderable=lambda: tree_of(board, heading), console=console, refresh_per_second=4
    ):
        yield board.take


def tree_of(board: Board, heading: str) -> Tree:
    """The board as a Rich tree. Texts are never read as markup."""
    tree = Tree(Text(heading, style="bold", no_wrap=True, overflow="ellipsis"))
    if board.stage:
        tree.add(Text(one_line(board.stage), style="dim"))
    branches: dict[str, Tree] = {}
    rows = list(board.rows.values())
    for row in rows if len(rows) <= _SHOWN else _most_telling(rows):
        above = branches.get(board.parent(row.thread), tree)
        branches[row.thread] = above.add(_label(row))
    return tree


def _label(row: Row) -> Text:
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append(f"{one_line(row.thread, 20)} ", style="bold")
    text.append(row.doing or row.status, style=_STYLES.get(row.status, "red"))
    text.append(f" {row.facts}", style="dim")
    text.append(f"  {one_line(row.reason or row.task)}")
    return text


def _most_telling(rows: list[Row]) -> list[Row]:
    ended = [row for row in rows if row.status != "working"]
    left_out = {row.thread for row in ended[: len(rows) - _SHOWN]}
    return [row for row in rows if row.thread not in left_out][-_SHOWN:]
