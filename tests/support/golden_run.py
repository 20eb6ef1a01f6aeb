"""The team whose finished run is kept for each released version; `tests/runs/make.py` writes it."""

from pathlib import Path

from agents import Agent, Conclusion, Reply, ScriptedModel, ToolError, call, tool
from memory import Reasoning, Text, ToolCall, Usage
from orchestrator import Coordinator

RUNS = Path(__file__).resolve().parents[1] / "runs"
TASK = "Find out what the ferry costs. Never write to /etc."


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
