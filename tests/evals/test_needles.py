"""Needle tasks through the real coordinator: generators, scripted models, arms, strict scoring."""

import json
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agents import call
from evals.errors import EvalError, FamilyUnknown
from evals.needles.running import ARMS, Arm, reset_window, run_needle, score
from evals.needles.scripted import reader, searcher
from evals.needles.suite import run_needles
from evals.needles.tasks import FAMILIES, SYSTEM, needle_task, swapped
from evals.needles.values import KINDS
from evals.needles.wording import LANGUAGES, NOT_FOUND
from memory import ToolCall
from orchestrator.cli.app import app

FULL, RESET = ARMS
EVERY = [(family, language) for family in FAMILIES for language in LANGUAGES]


@pytest.mark.parametrize(("family", "language"), EVERY)
@pytest.mark.parametrize("seed", range(12))
def test_a_needle_stands_on_one_line_and_nowhere_else(
    family: str, language: str, seed: int
) -> None:
    task = needle_task(family, language, seed)
    assert needle_task(family, language, seed) == task
    around = SYSTEM + task.goal + task.question + task.name
    text = "\n".join(task.pages)
    if family == "absent":
        assert (task.expected, task.tracked) == (NOT_FOUND, "")
    else:
        assert text.count(task.expected) == 1
        assert task.expected not in around
    for value, _ in task.wrong:
        assert value in text
        assert value != task.expected
    assert task.question == unicodedata.normalize("NFC", task.question)


def test_seeds_differ_and_families_do_what_they_say() -> None:
    assert (
        needle_task("identifier", "en", 1).expected != needle_task("identifier", "en", 2).expected
    )
    texts = [needle_task("decomposed", "vi", n) for n in range(3)]
    for task in texts:
        line = next(x for p in task.pages for x in p.splitlines() if task.expected in x)
        assert line != unicodedata.normalize("NFC", line)
    old = needle_task("overwritten", "en", 3)
    text = "\n".join(old.pages)
    assert text.index(old.wrong[0][0]) < text.index(old.expected)
    assert {name for _, name in needle_task("look-alike", "zh", 1).wrong} == {"near miss"}
    assert len({needle_task("identifier", "en", n).expected for n in range(len(KINDS))}) == len(
        KINDS
    )


def test_unknown_names_are_told() -> None:
    with pytest.raises(FamilyUnknown, match="identifier, look-alike"):
        needle_task("x", "en", 0)
    with pytest.raises(FamilyUnknown, match="en, vi, zh, ja"):
        needle_task("identifier", "xx", 0)


def test_a_leak_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "uuid", lambda random: "depots")
    with pytest.raises(EvalError, match="leaks"):
        needle_task("identifier", "en", 0)


def answers(value: Any) -> list[ToolCall]:
    return [call("answer", value=value)]


def test_scoring_is_strict_and_names_the_failure() -> None:
    task = replace(
        needle_task("overwritten", "en", 0), expected="A-1", wrong=(("A-2", "stale value"),)
    )
    look = call("history_search", query="x")
    assert score(task, answers("A-1")) == ""
    assert score(task, answers("A-1.")) == "invented answer"
    assert score(task, answers("It is A-1")) == "invented answer"
    assert score(task, answers(1)) == "invented answer"
    assert score(task, [ToolCall("", "answer", "{")]) == "invented answer"
    assert score(task, answers("A-2")) == "stale value"
    assert score(task, answers(NOT_FOUND)) == "should have looked"
    assert score(task, [look, *answers(NOT_FOUND)]) == "looked and missed"
    assert score(task, [look]) == "no answer"
    assert score(task, [*answers("A-1"), *answers("A-2")]) == "stale value"


@pytest.mark.parametrize(("family", "language"), EVERY)
async def test_full_history_is_the_ceiling(family: str, language: str) -> None:
    record = await run_needle(needle_task(family, language, 0), "reader", reader, FULL)
    assert (record.state, record.passed, record.failure) == ("valid", True, "")
    assert record.figures == {"extra_calls": 0, "extra_tokens": 0}


@pytest.mark.parametrize("family", [f for f in FAMILIES if f != "absent"])
async def test_negative_control_a_reader_fails_once_the_needle_is_hidden(family: str) -> None:
    record = await run_needle(needle_task(family, "en", 0), "reader", reader, RESET)
    assert (record.state, record.passed, record.failure) == ("valid", False, "should have looked")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("family", ["identifier", "overwritten", "look-alike", "decomposed"])
async def test_a_searcher_recovers_what_was_hidden(family: str, language: str) -> None:
    record = await run_needle(needle_task(family, language, 0), "s", searcher(7), RESET)
    assert (record.state, record.passed, record.failure) == ("valid", True, "")
    assert record.figures["extra_calls"] >= 2
    assert record.figures["extra_tokens"] > 0


async def test_swap_and_delete() -> None:
    """Another needle, another answer; no needle, no answer. In every arm that can answer at all."""
    task = needle_task("identifier", "en", 1)
    for script, arm in ((reader, FULL), (searcher(7), RESET)):
        other = await run_needle(swapped(task, "XK-77-0042"), "m", script, arm)
        assert (other.state, other.passed, other.evidence) == ("valid", True, "XK-77-0042")
        none = await run_needle(swapped(task, None), "m", script, arm)
        assert (none.passed, none.evidence) == (True, NOT_FOUND)


async def test_dumper_and_guesser_fail() -> None:
    """Controls: one answers with everything it sees, one with a value of the right shape."""
    task = needle_task("identifier", "en", 0)

    def dumper(body: dict[str, Any]) -> Any:
        step = reader(body)
        if getattr(step, "name", "") == "answer":
            return call("answer", value=json.dumps(body["messages"])[:5_000])
        return step

    def guesser(body: dict[str, Any]) -> Any:
        step = reader(body)
        if getattr(step, "name", "") == "answer":
            return call("answer", value="00000000-0000-4000-8000-000000000000")
        return step

    for script in (dumper, guesser):
        record = await run_needle(task, "control", script, FULL)
        assert (record.passed, record.failure) == (False, "invented answer")


async def test_a_model_that_never_calls_a_tool_has_given_no_answer() -> None:
    record = await run_needle(needle_task("identifier", "en", 0), "mute", lambda body: "no", FULL)
    assert (record.state, record.failure) == ("invalid", "no answer")
    assert record.success == 0


async def test_an_arm_that_hides_nothing_or_leaves_the_needle_is_invalid() -> None:
    async def nothing(log_path: Path) -> None:
        assert log_path.exists()

    task = needle_task("identifier", "en", 0)
    record = await run_needle(task, "reader", reader, Arm("x", nothing))
    assert (record.state, record.success) == ("invalid", 0)
    assert "not hidden" in record.why
    leaking = replace(task, question=f"{task.question} Is it {task.expected}?")
    record = await run_needle(leaking, "reader", reader, Arm("y", reset_window))
    assert record.why == "the needle stands in the request after the question"


def test_the_command(tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["eval", "needle-recovery", "--out", str(out), "--family", "absent", "--seeds", "1"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "plumbing, not behaviour" in result.output
    assert (out / "report.html").exists()
    again = CliRunner().invoke(app, arguments)
    assert (again.exit_code, "exists: choose another --out" in again.output) == (2, True)
    with pytest.raises(FamilyUnknown, match="'nope'"):
        run_needles(tmp_path / "o", families=["nope"])
