"""Goal success of finished runs: what contradicts success is found in the log, and nothing is made up."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import serve_in_process
from typer.testing import CliRunner

from agents import Agent, ScriptedModel, call, tool
from evals.goals.rules import Done, check_rule
from evals.goals.scoring import GoalScore
from evals.goals.suite import digest_of, read_goal
from evals.judging import read_verdict
from evals.results import read_results
from memory import ContextCompacted, Replacement, SqliteEventLog, ToolCall, ToolReturned, plain_text
from orchestrator import Coordinator
from orchestrator.cli.app import app

TASK = "Pay the three suppliers. Never call close_account. Do not edit config/prod.yaml."
STEPS = ["pay Ann", "pay Bob"]


def pay(name: str) -> str:
    """Pay a supplier."""
    return f"paid {name}"


def close_account(name: str) -> str:
    """Close an account."""
    return "closed"


def edit(path: str) -> str:
    """Edit a file."""
    return "edited"


def plan(**states: str) -> Any:
    steps = [{"text": text, "state": states.get(text[4:], "pending")} for text in STEPS]
    return call("rewrite_todo", goal="Pay", constraints=[], steps=steps)


async def run(tmp_path: Path, *script: Any, task: str = TASK) -> Path:
    tools = [tool(pay), tool(close_account), tool(edit)]
    agent = Agent("payer", "Pay.", tools=tools, todo=True)
    model = ScriptedModel([*script])
    await Coordinator(agent, model=model, runs=tmp_path).run(task, run_id="run")
    return tmp_path / "run"


async def score(tmp_path: Path, *script: Any, task: str = TASK) -> GoalScore:
    return read_goal(await run(tmp_path, *script, task=task))


def kinds(found: GoalScore) -> list[str]:
    return [finding.kind for finding in found.findings]


GOOD = (
    plan(),
    [call("pay", name="Ann"), call("pay", name="Bob")],
    plan(Ann="done", Bob="done"),
    "All are paid.",
)


async def test_a_run_that_did_what_it_was_asked_passes(tmp_path: Path) -> None:
    found = await score(tmp_path, *GOOD)
    assert found.passed, found.findings
    assert [(step.text, step.state) for step in found.steps] == [(s, "done") for s in STEPS]
    assert [each.call.name for each in found.calls] == ["pay", "pay"]
    verdicts = {rule.text: rule.verdict for rule in found.constraints}
    assert verdicts["Never call close_account."] == "held"
    assert verdicts["Do not edit config/prod.yaml."] == "held"


async def test_what_contradicts_success_is_named(tmp_path: Path) -> None:
    broken = call("close_account", name="Ann")
    found = await score(tmp_path / "a", GOOD[0], [*GOOD[1], broken], *GOOD[2:])
    assert kinds(found) == ["violated constraint"]
    assert "close_account" in found.findings[0].detail
    touched = call("edit", path="config/prod.yaml")
    assert kinds(await score(tmp_path / "b", GOOD[0], [*GOOD[1], touched], *GOOD[2:])) == [
        "violated constraint"
    ]
    early = await score(tmp_path / "c", plan(), plan(Ann="done", Bob="done"), "All are paid.")
    assert kinds(early) == ["false completion"] * 2
    open_step = await score(tmp_path / "d", *GOOD[:2], plan(Ann="done"), "All are paid.")
    assert kinds(open_step) == ["unfinished step"]
    assert "'pay Bob' is pending" in open_step.findings[0].detail
    fewer = call(
        "rewrite_todo", goal="Pay", constraints=[], steps=[{"text": "pay Ann", "state": "done"}]
    )
    dropped = await score(tmp_path / "e", *GOOD[:2], fewer, "All are paid.")
    assert kinds(dropped) == ["dropped subgoal"]


async def test_a_run_that_did_not_end_well_does_not_pass(tmp_path: Path) -> None:
    found = await score(tmp_path, *GOOD[:2])
    assert kinds(found)[0] == "not done"
    assert "failed" in found.findings[0].detail


async def test_an_effect_repeated_after_a_compaction_hid_it_is_found(tmp_path: Path) -> None:
    folder = await run(tmp_path, *GOOD)
    log = SqliteEventLog(folder / "events.db")
    (paid,) = [
        entry.seq
        for entry in await log.read("main")
        if isinstance(entry.event, ToolReturned) and plain_text(entry.event.content) == "paid Ann"
    ]
    log.append("main", ContextCompacted("hand", (Replacement((paid,), ""),)))
    await log.commit()
    await log.close()
    tools = [tool(pay), tool(close_account), tool(edit)]
    model = ScriptedModel([call("pay", name="Ann"), "Paid again."])
    again = Coordinator(Agent("payer", "Pay.", tools=tools), model=model)
    await again.ask(folder, "Are all paid?")
    assert "repeated effect" in kinds(read_goal(folder))


def done(name: str, seq: int, /, **arguments: str) -> Done:
    return Done(seq, "main", ToolCall("c", name, json.dumps(arguments)))


@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        ("never call pay", "violated"),
        ("never call close_account", "held"),
        ("never call pay without asking", "unchecked"),
        ("call pay at most 2 times", "held"),
        ("call pay at most once", "violated"),
        ("call pay at most once per merchant", "unchecked"),
        ("không được gọi pay", "violated"),
        ("不要调用 pay ", "violated"),
        ("pay は1回以内", "violated"),
        ("be polite", "unchecked"),
        ("do not change src/a.py", "violated"),
        ("do not change src/b.py", "held"),
    ],
)
def test_rules_are_checked_where_code_can_decide(rule: str, verdict: str) -> None:
    made = [
        done("pay", 5, name="Ann"),
        done("pay", 6, name="Bob"),
        done("write_file", 7, path="src/a.py"),
    ]
    assert check_rule(rule, 1, ["pay", "close_account"], made).verdict == verdict
    assert check_rule(rule, 9, ["pay", "close_account"], made).verdict != "violated"


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ('{"right": true, "reason": "it says so"}', True),
        ('Well:\n```json\n{"right": false, "reason": "no"}\n```', False),
        ('{"right": "yes"}', None),
        ("It is right.", None),
        ("{" * 5000, None),
    ],
)
def test_a_verdict_is_read_in_one_form_and_never_guessed(text: str, right: bool | None) -> None:
    assert read_verdict(text).right is right


async def test_the_command_scores_runs_and_asks_a_judge(tmp_path: Path) -> None:
    await run(tmp_path / "runs", *GOOD)
    with serve_in_process("support.judge_script:judge") as url:
        judge = ("--judge", "openai:j", "--judge-url", url)
        arguments = ("eval", "goal", "run", "--runs", tmp_path / "runs", "--out", tmp_path / "out")
        result = await asyncio.to_thread(CliRunner().invoke, app, [*map(str, arguments), *judge])
    assert result.exit_code == 0, result.output
    assert "nothing contradicts success" in result.output
    assert "constraint held: 'Never call close_account.'" in result.output
    records = {r.reading: r for r in read_results(tmp_path / "out" / "results.jsonl").records}
    assert records["passed"].passed
    assert (records["judged"].passed, records["judged"].judge) == (True, "openai:j")
    assert records["judged"].why == "the data say paid"
    none = CliRunner().invoke(app, ["eval", "goal", str(tmp_path / "nothing")])
    assert none.exit_code == 2, none.output


async def test_a_judge_is_shown_a_bounded_account(tmp_path: Path) -> None:
    many = [[call("pay", name=f"{n} " + "x" * 900) for n in range(120)]]
    digest = digest_of(await score(tmp_path, *many, "Paid. " * 2000))
    assert len(json.dumps(digest)) < 40_000
    assert any("more calls" in line for line in digest["calls"])
