"""A suite whose stored answers are judged in the same command: its second pass, broken off, gone on with."""

from pathlib import Path

import pytest
from support.chat_server import serve_in_process
from support.replays import answered, recorded_runs, replay
from typer.testing import CliRunner

from agents.models import endpoint
from evals.options import AnswerOptions
from evals.rescoring import rescore
from evals.results import Record, append_results, read_results
from orchestrator.cli.app import app

NOWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(endpoint.asyncio, "sleep", _at_once)
    return recorded_runs(tmp_path)


async def _at_once(seconds: float) -> None:
    """No waiting between attempts."""


def by(url: str) -> tuple[str, ...]:
    return ("--judge", "openai:j", "--judge-url", url)


def judged(out: Path) -> list[Record]:
    found = read_results(out / "rescored" / "results.jsonl").records
    return [record for record in found if record.reading == "judged"]


def what(records: list[Record]) -> set[tuple[str, str, bool, str, str]]:
    return {(r.sample, r.policy, r.passed, r.failure, r.why) for r in records}


def test_answers_are_judged_as_by_a_second_command(recorded: Path, tmp_path: Path) -> None:
    out, tapes = tmp_path / "out", tmp_path / "tapes"
    with (
        serve_in_process("support.probe_script:reader") as url,
        serve_in_process("support.judge_script:judge") as judge,
    ):
        code, told = replay(recorded, out, url, *by(judge), "--cassettes", tapes, "--record")
        assert code == 0, told
        again = ["eval", "rescore", str(out), "--out", str(tmp_path / "later" / "rescored")]
        assert CliRunner().invoke(app, [*again, *by(judge)]).exit_code == 0
    assert "answers scored again by code, 0 otherwise than before" in told
    assert len(judged(out)) == len(answered(out)) > 0
    assert {(r.model, r.judge) for r in judged(out)} == {("openai:m", "openai:j")}
    assert what(judged(out)) == what(judged(tmp_path / "later"))
    assert all(r.reading != "judged" for r in read_results(out / "results.jsonl").records)
    tape = ("--cassettes", tapes)
    code, told = replay(recorded, tmp_path / "tape", NOWHERE, *by(NOWHERE), *tape)
    assert code == 0, told
    assert what(judged(tmp_path / "tape")) == what(judged(out))


def test_a_judge_that_dies_midway_costs_no_answer_and_resume_asks_the_rest(
    recorded: Path, tmp_path: Path
) -> None:
    out, asked = tmp_path / "out", tmp_path / "asked.jsonl"
    with (
        serve_in_process("support.probe_script:reader") as url,
        serve_in_process("support.judge_script:dying") as judge,
    ):
        code, told = replay(recorded, out, url, *by(judge))
    assert code == 3, told
    assert "stopped: 3 samples in a row gave no result" in told
    assert all(record.state == "valid" for record in answered(out))
    before = judged(out)
    assert len(before) == len(answered(out))
    assert sum(record.state == "valid" for record in before) == 2
    assert {r.failure for r in before if r.state == "missing"} == {"no result"}
    with (
        serve_in_process("support.probe_script:reader", record=asked) as url,
        serve_in_process("support.judge_script:judge") as judge,
    ):
        code, told = replay(recorded, out, url, *by(judge), "--resume")
    assert code == 0, told
    assert len(asked.read_text().splitlines()) == 1, "no answer is asked for again"
    assert {r.key for r in judged(out)} == {r.key for r in before}
    assert all(record.state == "valid" for record in judged(out))


def test_a_judge_waits_for_a_suite_that_stopped(recorded: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with (
        serve_in_process("support.probe_script:dying") as url,
        serve_in_process("support.judge_script:judge") as judge,
    ):
        code, told = replay(recorded, out, url, *by(judge))
    assert code == 3, told
    assert "the judge was not asked: the suite stopped before its end" in told
    assert not (out / "rescored").exists()
    with (
        serve_in_process("support.probe_script:reader") as url,
        serve_in_process("support.judge_script:judge") as judge,
    ):
        code, told = replay(recorded, out, url, *by(judge), "--resume")
    assert code == 0, told
    assert len(judged(out)) == len(answered(out))


def test_what_had_no_answer_is_judged_once_it_has_one(tmp_path: Path) -> None:
    base = Record(
        suite="replay",
        sample="s0",
        cluster="c",
        family="f",
        policy="p",
        passed=False,
        scripted=False,
    )
    asked = base.model_copy(
        update={"reading": "answered", "model": "m", "question": "Which?", "expected": ("7",)}
    )
    other = asked.model_copy(update={"sample": "s1", "state": "missing", "failure": "no result"})
    first = asked.model_copy(update={"answer": "7", "passed": True})
    results = tmp_path / "results.jsonl"
    append_results(results, [first, other])
    with serve_in_process("support.judge_script:judge") as url:
        options = AnswerOptions(judge="openai:j", judge_url=url, resume=True).judging
        _, _, ran = rescore(tmp_path, tmp_path / "rescored", options)
        assert (ran.done, ran.missing) == (2, 1) if ran else False
        assert {r.failure for r in judged(tmp_path)} == {"", "no answer to judge"}
        late = {"answer": "8", "state": "valid", "figures": {"seconds": 1.0}}
        append_results(results, [other.model_copy(update=late)])
        _, _, ran = rescore(tmp_path, tmp_path / "rescored", options)
        assert (ran.done, ran.skipped, ran.missing) == (1, 1, 0) if ran else False
    assert {r.sample: r.passed for r in judged(tmp_path)} == {"s0": True, "s1": False}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (by(NOWHERE), "has nothing to judge: scripted answers are scored by code alone"),
        (("--judge-url", NOWHERE), "--judge-url is of use only with a judge"),
        (("--model", "openai:m", "--base-url", NOWHERE, *by(NOWHERE)), "model 'openai:j' gave no"),
        (("--model", "openai:m", *by(NOWHERE), "--record"), "--record needs --cassettes"),
    ],
)
@pytest.mark.parametrize("suite", ["replay", "needle-recovery"])
def test_a_judge_that_cannot_judge_is_told_before_anything_is_run(
    recorded: Path, tmp_path: Path, suite: str, more: tuple[str, ...], words: str
) -> None:
    named = [str(recorded)] if suite == "replay" else []
    out = tmp_path / "out"
    result = CliRunner().invoke(app, ["eval", suite, *named, "--out", str(out), *more])
    assert result.exit_code == 2, result.output
    assert words in result.output.replace("\n", " ")
    assert not out.exists()


def test_answers_of_needle_recovery_are_judged_too(tmp_path: Path) -> None:
    small = ("--language", "en", "--seeds", "1", "--trigger", "0.2", "--compactions", "1")
    out = tmp_path / "out"
    with serve_in_process("support.judge_script:judge") as url:  # as a model it calls no tool
        model = ("--model", "openai:m", "--base-url", url, *by(url))
        arguments = ("eval", "needle-recovery", "--family", "absent", *small, *model)
        result = CliRunner().invoke(app, [*arguments, "--out", str(out)])
    assert result.exit_code == 0, result.output
    records = read_results(out / "results.jsonl").records
    assert len(judged(out)) == len(records) > 0
    assert {(r.failure, r.why) for r in judged(out)} == {("judged wrong", "they do not")}
