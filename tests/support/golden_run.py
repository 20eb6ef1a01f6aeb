"""The golden run: one finished run per released version is kept and must stay readable and replayable.

    python tests/support/golden_run.py

writes `tests/runs/VERSION/` anew for the version in `pyproject.toml`: done once, at a release; the folders
of earlier versions are never written again. `team` and `TASK` are what such a run was made with.
"""

import asyncio
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    # In place of this folder, whose modules have names of other packages.
    sys.path[0] = str(PROJECT)

from agents import Agent, Conclusion, Reply, ScriptedModel, ToolError, call, tool  # noqa: E402 - after the path
from memory import Reasoning, Text, ToolCall, Usage  # noqa: E402
from orchestrator import Coordinator  # noqa: E402

RUNS = PROJECT / "tests" / "runs"
TASK = "Find out what the ferry costs. Never write to /etc."
KEPT = ("run.json", "events.db", "usage.json", "transcripts")
"""What is kept of a run folder."""


@tool(repeatable=True)
def fare(trip: str) -> dict[str, object]:
    """Look up a fare."""
    if trip == "moon":
        raise ToolError("There is no such trip. Ask for 'day' or 'night'.")
    return {"trip": trip, "euro": 12 if trip == "day" else 15, "note": "naïve café 日本語 \u2028"}


def team(runs: Path | None) -> Coordinator:
    """A coordinator with a plan, a failing call, reasoning, and two subagents at once."""
    tasks = [{"agent": "helper", "task": f"Find the {trip} fare."} for trip in ("day", "night")]
    lead = ScriptedModel(
        [
            call("rewrite_todo", goal="Tell the fare", steps=[{"text": "ask"}, {"text": "answer"}]),
            [Text("Let me see."), call("fare", trip="moon"), ToolCall("x", "fare", '{"trip": ')],
            Reply(
                (Reasoning("Two helpers are quicker."), call("delegate", tasks=tasks)),
                "tool_calls",
                Usage(900, 40, 700),
                "scripted-1",
                {"role": "assistant"},
            ),
            call("update_todo", changes=[{"step": 1, "state": "done"}]),
            "The ferry costs 12 euro by day and 15 by night.",
        ]
    )
    helper = ScriptedModel(_helper)
    return Coordinator(
        Agent("lead", "You lead.", lead, [fare]),
        [Agent("helper", "You help.", helper, [fare], output_type=Conclusion)],
        runs=runs,
    )


def _helper(body: dict[str, list[dict[str, str]]]) -> ToolCall:
    task = next(m["content"] for m in body["messages"] if m["role"] == "user")
    trip = "day" if "day" in task else "night"
    if not any(m["role"] == "tool" for m in body["messages"]):
        return call("fare", trip=trip)
    return call("conclude", answer=f"The {trip} fare is {12 if trip == 'day' else 15} euro.")


def main() -> None:
    """Write the golden run of this version."""
    version = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["version"]
    with tempfile.TemporaryDirectory() as folder:
        result = asyncio.run(team(Path(folder)).run(TASK, run_id="golden"))
        assert result.folder is not None
        target = RUNS / version
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for name in KEPT:
            source = result.folder / name
            copy = shutil.copytree if source.is_dir() else shutil.copyfile
            copy(source, target / name)
    print(f"wrote {target}")


if __name__ == "__main__":
    main()
