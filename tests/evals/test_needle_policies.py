"""Several policies of one command share their controls, and are compared pair by pair."""

from pathlib import Path

from support.chat_server import serve_in_process
from typer.testing import CliRunner

from evals.results import read_results
from orchestrator.cli.app import app


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["eval", *map(str, arguments)])
    return result.exit_code, result.output


def test_two_policies_in_one_command_are_compared_by_pairs(tmp_path: Path) -> None:
    small = ("--language", "en", "--seeds", 1, "--trigger", 0.2, "--compactions", 1)
    policies = ("--policy", "auto", "--policy", "micro")
    out = tmp_path / "out"
    code, told = run("needle-recovery", "--family", "look-alike", *small, *policies, "--out", out)
    assert code == 0, told
    records = read_results(out / "results.jsonl").records
    assert {"auto", "micro", "full"} <= {record.policy for record in records}
    assert len({record.key for record in records}) == len(records)
    code, told = run("compare", f"{out}#auto", f"{out}#micro")
    assert code == 0, told
    assert "A - B" in told
    assert "clusters" in told or "one cluster" in told
    assert "cannot tell them apart" in told


def test_a_model_that_never_calls_a_tool_fails_and_does_not_hang(tmp_path: Path) -> None:
    small = ("--language", "en", "--seeds", 1, "--trigger", 0.2, "--compactions", 1)
    out = tmp_path / "out"
    with serve_in_process(
        "support.judge_script:judge"
    ) as url:  # it says that it is ready, and no more
        model = ("--model", "openai:m", "--base-url", url)
        code, told = run("needle-recovery", "--family", "absent", *small, *model, "--out", out)
    assert code == 0, told
    records = read_results(out / "results.jsonl").records
    assert {record.failure for record in records} == {"no answer"}
    assert not any(record.success for record in records)
    assert not any(record.state == "missing" for record in records), "it did answer"


def test_an_unknown_family_is_named_with_those_there_are(tmp_path: Path) -> None:
    for suite in ("needle-recovery", "goal-drift"):
        code, told = run(suite, "--family", "nosuch", "--out", tmp_path / suite)
        assert code == 2
        assert "'nosuch'" in told
        assert "there are:" in told
        assert not (tmp_path / suite / "results.jsonl").exists()
