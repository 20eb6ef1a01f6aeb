"""`undrift eval` as users call it."""

import json
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evals.results import read_results
from orchestrator.cli.app import app

CALL = {
    "id": "c",
    "type": "function",
    "function": {"name": "bash", "arguments": '{"command": "make all"}'},
}


def chat(error: str) -> list[dict[str, object]]:
    turns: list[dict[str, object]] = [{"role": "user", "content": "Fix it"}]
    for number in range(12):
        shown = error if number == 2 else f"line {number} " * 20
        turns.append(
            {"role": "assistant", "content": "", "tool_calls": [{**CALL, "id": f"c{number}"}]}
        )
        turns.append({"role": "tool", "tool_call_id": f"c{number}", "content": shown})
    return turns


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    folder = tmp_path / "recorded"
    folder.mkdir()
    for number in range(6):
        (folder / f"{number}.json").write_text(json.dumps(chat(f"ValueError: bad number {number}")))
    (folder / "broken.json").write_text(json.dumps([*chat("x")[:2], *chat("x")]))
    (folder / "half.jsonl").write_text(json.dumps({"messages": chat("KeyError: x")})[:50])
    return folder


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["eval", *map(str, arguments)])
    return result.exit_code, result.output


def test_replay_compare_and_report(recorded: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, told = run("replay", recorded, "--out", out, "--cut", "0.9")
    assert code == 0, told
    assert "read: 6 chat; used: 6" in told
    assert "broken.json: call_without_result" in told
    assert "half.jsonl:1: half_written" in told
    records = read_results(out / "results.jsonl").records
    assert {r.policy for r in records} >= {"full", "micro-3", "head-only", "random=tail-50"}
    assert json.loads((out / "summary.json").read_text())["records"] == len(records)
    assert (out / "report.html").read_text().startswith("<!doctype html>")
    code, told = run("compare", f"{out}#tail-50", f"{out}#head-only")
    assert code == 0
    assert "present" in told
    code, told = run("compare", f"{out}#full", f"{out / 'results.jsonl'}#full")
    assert "cannot tell them" in told
    with (out / "results.jsonl").open("a") as file:
        file.write('{"format": 1, "suite')
    code, told = run("report", out)
    assert code == 0
    assert f"line {len(records) + 1} is no record" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--policy", "micro-4"), "no policy is called 'micro-4'"),
        (("--cut", "1.5"), "between 0 and 1, not 1.5"),
        (("--cut", "nan"), "between 0 and 1"),
    ],
)
def test_bad_settings_are_told_and_nothing_is_written(
    recorded: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    code, told = run("replay", recorded, "--out", tmp_path / "out", *arguments)
    assert (code, message in told) == (2, True), told
    assert not (tmp_path / "out").exists()


def test_bad_input_is_told(recorded: Path, tmp_path: Path) -> None:
    assert "no_such_path" in run("replay", tmp_path / "absent")[1]
    code, told = run("replay", recorded / "broken.json", "--out", tmp_path / "o")
    assert (code, "{'call_without_result': 1}" in told) == (2, True)
    short = tmp_path / "short.json"
    short.write_text(
        json.dumps([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hi"}])
    )
    assert "too short" in run("replay", short, "--out", tmp_path / "o2")[1]
    assert "no results at" in run("compare", tmp_path / "a", tmp_path / "b")[1]
    (tmp_path / "o3").mkdir()
    (tmp_path / "o3" / "results.jsonl").write_text("{")
    code, told = run("replay", recorded, "--out", tmp_path / "o3")
    assert (code, "exists: go on with --resume, choose another --out" in told) == (2, True)
    assert "holds no readable record" in run("report", tmp_path / "o3")[1]


def test_the_command_is_a_plug_in_listed_with_the_others() -> None:
    assert "eval" in {point.name for point in entry_points(group="undrift.commands")}
    listed = CliRunner().invoke(app, ["--help"]).output
    assert "eval" in listed
    assert "research" in listed
    assert "No such command 'evil'" in CliRunner().invoke(app, ["evil"]).output


def test_listing_the_commands_loads_no_eval() -> None:
    """What `--help` and every other command would pay for."""
    code = (
        "import sys, evals.commands\n"
        "heavy = {m for m in sys.modules if m.startswith(('pydantic', 'langgraph', 'evals.', 'memory'))}\n"
        "print(sorted(heavy))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "['evals.commands', 'evals.options']"
