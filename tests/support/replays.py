"""Recorded runs to replay, and the command that has a model answer their probes."""

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from evals.results import Record, read_results
from orchestrator.cli.app import app

_CALL = {
    "id": "c",
    "type": "function",
    "function": {"name": "bash", "arguments": '{"command": "make all"}'},
}


def recorded_runs(folder: Path) -> Path:
    """Two runs of 12 calls of which the third shows an error; every command is the same."""
    folder = folder / "recorded"
    folder.mkdir()
    for number in range(2):
        turns: list[dict[str, Any]] = [{"role": "user", "content": "Fix it"}]
        for step in range(12):
            shown = f"ValueError: bad number {number}" if step == 2 else f"line {step} " * 20
            call = {**_CALL, "id": f"c{step}"}
            turns.append({"role": "assistant", "content": "", "tool_calls": [call]})
            turns.append({"role": "tool", "tool_call_id": f"c{step}", "content": shown})
        (folder / f"{number}.json").write_text(json.dumps(turns))
    return folder


def replay(recorded: Path, out: Path, url: str, *more: object) -> tuple[int, str]:
    """Exit code and output of a replay whose probes the model at `url` answers, one after another."""
    wanted = ("--cut", "0.9", "--policy", "latest-10", "--concurrency", "1")
    model = ("--model", "openai:m", "--base-url", url)
    arguments = ("eval", "replay", recorded, "--out", out, *wanted, *model, *more)
    result = CliRunner().invoke(app, list(map(str, arguments)))
    return result.exit_code, result.output


def answered(out: Path) -> list[Record]:
    """The records of what was asked of the model, missing ones among them."""
    return [r for r in read_results(out / "results.jsonl").records if r.reading == "answered"]
