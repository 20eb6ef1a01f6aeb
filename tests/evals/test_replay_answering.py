"""Probes of recorded runs answered by a model behind a server: strictly scored, broken off, gone on with."""

from pathlib import Path

import pytest
from support.chat_server import serve_in_process
from support.replays import answered, recorded_runs, replay
from typer.testing import CliRunner

from agents.models import endpoint
from evals.answers import ROOM, score_answer
from evals.results import read_results
from orchestrator.cli.app import app


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    return recorded_runs(tmp_path)


def test_each_probe_is_asked_alone_and_of_the_whole_history_too(
    recorded: Path, tmp_path: Path
) -> None:
    record, out = tmp_path / "asked.jsonl", tmp_path / "out"
    with serve_in_process("support.probe_script:reader", record=record) as url:
        code, told = replay(recorded, out, url)
    assert code == 0, told
    found = {(r.family, r.policy): r for r in answered(out) if "/0.json@" in r.sample}
    whole, newest = found["first error", "full"], found["first error", "latest-10"]
    assert (whole.passed, whole.answer) == (True, "ValueError: bad number 0")
    assert (newest.passed, newest.failure, newest.scripted) == (False, "abstained", False)
    assert newest.figures["full_failed"] == 0
    assert found["last command", "full"].failure == "invented answer"
    assert found["last command", "latest-10"].figures["full_failed"] == 1
    for line in record.read_text().splitlines()[1:]:
        assert line.count("A question about what happened above") == 1
        assert "make love" not in line, "earlier answers are not visible"


def test_a_server_that_dies_midway_leaves_what_was_answered_and_resume_asks_the_rest(
    recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint.asyncio, "sleep", _at_once)
    out = tmp_path / "out"
    with serve_in_process("support.probe_script:dying") as url:
        code, told = replay(recorded, out, url)
    assert code == 3, told
    assert "stopped: 3 samples in a row gave no result" in told
    assert "--resume goes on with the rest" in told
    before = answered(out)
    kept = [r for r in before if r.state == "valid"]
    assert len(kept) == 3
    assert all(r.why for r in before if r.state == "missing")
    with serve_in_process("support.probe_script:reader") as url:
        code, told = replay(recorded, out, url, "--resume")
    assert code == 0, told
    after = answered(out)
    assert {r.key for r in after} == {r.key for r in before}
    assert all(r.state == "valid" for r in after)
    present = [r for r in read_results(out / "results.jsonl").records if r.reading == "present"]
    assert len({r.key for r in present}) == len(present), "other readings are not doubled"


async def _at_once(seconds: float) -> None:
    """No waiting between attempts."""


def test_a_reply_that_is_not_recorded_is_stale(recorded: Path, tmp_path: Path) -> None:
    tapes = tmp_path / "tapes"
    with serve_in_process("support.probe_script:reader") as url:
        code, told = replay(recorded, tmp_path / "first", url, "--cassettes", tapes, "--record")
    assert code == 0, told
    nowhere = "http://127.0.0.1:9/v1"
    code, told = replay(recorded, tmp_path / "again", nowhere, "--cassettes", tapes)
    assert code == 0, told
    same = [(r.key, r.passed, r.answer) for r in answered(tmp_path / "again")]
    assert same == [(r.key, r.passed, r.answer) for r in answered(tmp_path / "first")]
    first, *_ = sorted(tapes.rglob("*.json"))
    for path in tapes.rglob("*.json"):
        if path != first:
            path.unlink()
    code, told = replay(recorded, tmp_path / "stale", nowhere, "--cassettes", tapes)
    assert code == 3, told
    stale = [r for r in answered(tmp_path / "stale") if r.failure == "stale"]
    assert len(stale) >= len(same) - 1
    assert not any(r.success for r in stale)


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        ("src/a.py", ""),
        ("  It was src/a.py. ", ""),
        ("", "no answer"),
        ("  \n", "no answer"),
        ("not found", "abstained"),
        ("**Not found**.", "abstained"),
        ("src/b.py", "invented answer"),
        ("not found, perhaps src/b.py", "invented answer"),
        ("src/a.py" + "x" * (ROOM + 1), "too long"),
    ],
)
def test_answers_are_scored_strictly(answer: str, failure: str) -> None:
    assert score_answer(("src/a.py",), answer) == failure


def test_all_parts_have_to_be_in_an_answer() -> None:
    assert score_answer(("a1", "b2"), "b2 and\n a1") == ""
    assert score_answer(("a1", "b2"), "a1") == "invented answer"


def test_stored_answers_are_scored_again_by_code_and_by_a_judge(
    recorded: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with serve_in_process("support.probe_script:reader") as url:
        assert replay(recorded, out, url)[0] == 0
    first = answered(out)
    with serve_in_process("support.judge_script:judge") as url:
        judge = ("--judge", "openai:j", "--judge-url", url)
        result = CliRunner().invoke(app, ["eval", "rescore", str(out), *judge])
    assert result.exit_code == 0, result.output
    assert f"{len(first)} answers scored again by code, 0 otherwise than before" in result.output
    again = read_results(out / "rescored" / "results.jsonl").records
    assert {(r.key, r.passed) for r in again if r.reading == "answered"} == {
        (r.key, r.passed) for r in first
    }
    verdicts = {r.sample + r.policy: r for r in again if r.reading == "judged"}
    assert len(verdicts) == len(first)
    assert all(verdicts[r.sample + r.policy].passed == r.passed for r in first)
    assert {r.judge for r in verdicts.values()} == {"openai:j"}
    assert {r.model for r in verdicts.values()} == {"openai:m"}
    assert all(r.why == "they do not" for r in verdicts.values() if not r.passed)


def test_a_judge_without_verdicts_is_asked_to_the_end_and_passes_nothing(
    recorded: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with serve_in_process("support.probe_script:reader") as url:
        assert replay(recorded, out, url)[0] == 0
        judge = ("--judge", "openai:j", "--judge-url", url)  # it makes things up, in no form
        result = CliRunner().invoke(app, ["eval", "rescore", str(out), *judge])
    assert result.exit_code == 3, result.output
    assert "stopped" not in result.output
    again = read_results(out / "rescored" / "results.jsonl").records
    judged = [r for r in again if r.reading == "judged"]
    assert {(r.state, r.failure, r.passed) for r in judged} == {("missing", "no verdict", False)}
    assert all("holds no verdict" in r.why for r in judged)


def test_results_without_stored_answers_cannot_be_scored_again(
    recorded: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    offline = ("eval", "replay", recorded, "--out", out, "--policy", "latest-10")
    assert CliRunner().invoke(app, list(map(str, offline))).exit_code == 0
    result = CliRunner().invoke(app, ["eval", "rescore", str(out)])
    assert result.exit_code == 2
    assert "holds no stored answer" in result.output
