"""The progress display: what it knows, as plain lines and as a tree."""

import io

import pytest
from rich.console import Console

from agents import (
    AgentEnded,
    AgentStarted,
    Progress,
    StageStarted,
    TokenStreamed,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from memory import Usage
from orchestrator.cli.board import Board
from orchestrator.cli.live import tree_of
from orchestrator.cli.watching import PlainLines, watching

EVENTS: list[Progress] = [
    StageStarted("plan"),
    TurnStarted("main", 1),
    TurnEnded("main", Usage(100, 20)),
    AgentStarted("main.1-1", "researcher", "Find [red]the\x1b[2J price"),
    TurnStarted("main.1-1", 1),
    TokenStreamed("main.1-1", "hm"),
    TurnEnded("main.1-1", Usage(1000, 34)),
    ToolStarted("main.1-1", "search", "{}"),
    ToolEnded("main.1-1", "search", True, 0.1),
    AgentStarted("main.1-2", "researcher", '{"question": "in JSON"}'),
    AgentEnded("main.1-1", "failed", "no\x07 luck"),
]


def board_after(events: list[Progress]) -> Board:
    board = Board()
    for event in events:
        board.take(event)
    return board


def test_the_board_follows_the_events() -> None:
    board = board_after(EVENTS)
    assert board.stage == "plan"
    assert list(board.rows) == ["main", "main.1-1", "main.1-2"]
    assert board.parent("main.1-1") == "main"
    assert board.parent("main") == ""
    assert board.rows["main.1-1"].facts == "1 turn, 1,034 tokens"
    assert board.rows["main.1-1"].status == "failed"
    assert board.rows["main.1-2"].task == ""


@pytest.mark.parametrize(
    ("count", "doing"), [(2, "thinking"), (5, "thinking"), (6, "writing"), (8, "search"), (9, "")]
)
def test_the_board_says_what_an_agent_does(count: int, doing: str) -> None:
    assert list(board_after(EVENTS[:count]).rows.values())[-1].doing == doing


def test_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with watching("title", quiet=False) as emit:
        assert isinstance(emit, PlainLines)
        for event in EVENTS:
            emit(event)
    assert capsys.readouterr().err.splitlines() == [
        "-- plan",
        "[main.1-1] researcher started: Find [red]the price",
        "[main.1-1] search failed",
        "[main.1-2] researcher started",
        "[main.1-1] failed, 1 turn, 1,034 tokens: no luck",
    ]


def test_quiet_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with watching("title", quiet=True) as emit:
        for event in EVENTS:
            emit(event)
    assert capsys.readouterr().err == ""


def drawn(board: Board) -> str:
    screen = io.StringIO()
    console = Console(file=screen, width=100, force_terminal=True, color_system=None)
    console.print(tree_of(board, "the question"))
    return screen.getvalue()


def test_the_tree_nests_subagents_and_reads_no_markup() -> None:
    lines = drawn(board_after(EVENTS)).splitlines()
    assert lines[0].strip() == "the question"
    assert "main working 1 turn, 120 tokens" in lines[2]
    assert lines[3].startswith("    ")
    assert "main.1-1 failed 1 turn, 1,034 tokens  no luck" in lines[3]
    assert "[red]the price" in drawn(board_after(EVENTS[:9]))
    assert "\x1b" not in drawn(board_after(EVENTS))


def test_a_tree_of_many_agents_keeps_those_at_work() -> None:
    started: list[Progress] = [AgentStarted(f"q{n}", "researcher", "task") for n in range(60)]
    ended: list[Progress] = [AgentEnded(f"q{n}", "done", "") for n in range(40)]
    shown = drawn(board_after([*started, *ended]))
    assert shown.count("q") - shown.count("question") == 30
    assert all(f"q{n} working" in shown for n in range(40, 60))
