"""Several policies of one command share their controls, and are compared pair by pair."""

from pathlib import Path

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
