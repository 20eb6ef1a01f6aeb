"""Recorded runs of each format, and broken ones by name."""

import json
from pathlib import Path
from typing import Any

import pytest

from agents import Agent, ScriptedModel, call
from evals.errors import TrajectoryError
from evals.replay.readers import read_recorded
from evals.replay.trajectory import Message, cut_at, whole_turns
from orchestrator import Coordinator

CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "bash", "arguments": '{"command": "ls"}'},
}
SYSTEM = {"role": "system", "content": "You help."}
USER = {"role": "user", "content": [{"type": "text", "text": "Fix it"}]}
ASKS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
GIVES = {"role": "tool", "tool_call_id": "c1", "content": "a.py"}
ENDS = {"role": "assistant", "content": "done"}
GOOD = [SYSTEM, USER, ASKS, GIVES, ENDS]


def put(folder: Path, name: str, data: Any) -> Path:
    path = folder / name
    text = data if isinstance(data, str) else json.dumps(data)
    path.write_text(text)
    return path


def shape(messages: tuple[Message, ...]) -> list[tuple[str, str]]:
    return [(m.role, m.text) for m in messages]


EXPECTED = [
    ("system", "You help."),
    ("user", "Fix it"),
    ("assistant", "bash\ncommand\nls"),
    ("tool", "a.py"),
    ("assistant", "done"),
]


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.json", GOOD, ("chat", EXPECTED)),
        ("a.json", {"messages": GOOD}, ("chat", EXPECTED)),
        ("a.jsonl", json.dumps({"messages": GOOD}) + "\n", ("chat", EXPECTED)),
        (
            "a.json",
            {
                "trajectory_format": "mini-swe-agent-1.1",
                "info": {"exit_status": "Submitted"},
                "messages": [*GOOD, {"role": "exit", "content": "diff"}],
            },
            ("mini-swe-agent", EXPECTED),
        ),
        (
            "a.traj",
            {
                "history": [
                    {"role": "user", "content": "shown before", "is_demo": True},
                    *GOOD[:3],
                    {"role": "tool", "content": "a.py", "tool_call_ids": ["c1"]},
                    ENDS,
                ]
            },
            ("swe-agent", EXPECTED),
        ),
        ("a.json", [{"task_id": 1, "traj": GOOD, "reward": 0.0}], ("tau-bench", EXPECTED)),
        (
            "a.json",
            {
                "info": {"environment_info": {"policy": "You help."}},
                "tasks": [{"id": "t", "ticket": "Fix it"}],
                "simulations": [
                    {
                        "task_id": "t",
                        "messages": [
                            {
                                **ASKS,
                                "tool_calls": [
                                    {"id": "c1", "name": "bash", "arguments": {"command": "ls"}}
                                ],
                            },
                            {
                                "role": "tool",
                                "id": "c1",
                                "requestor": "assistant",
                                "content": "a.py",
                            },
                            {"role": "user", "content": None, "tool_calls": [{"id": "u1"}]},
                            {"role": "tool", "id": "u1", "requestor": "user", "content": "hidden"},
                            ENDS,
                        ],
                    }
                ],
            },
            ("tau2-bench", EXPECTED),
        ),
        (
            "a.jsonl",
            json.dumps(
                {
                    "instance_id": "i",
                    "history": [
                        {"action": "system", "args": {"content": "You help."}},
                        {"source": "user", "action": "message", "args": {"content": "Fix it"}},
                        {"observation": "recall", "content": "silent"},
                        {
                            "source": "agent",
                            "action": "run",
                            "args": {"command": "ls", "thought": ""},
                            "tool_call_metadata": {
                                "function_name": "bash",
                                "tool_call_id": "c1",
                                "model_response": {
                                    "choices": [{"message": {"tool_calls": [CALL]}}]
                                },
                            },
                        },
                        {"observation": "run", "content": "a.py"},
                        {"source": "agent", "action": "message", "args": {"content": "done"}},
                    ],
                }
            ),
            ("openhands", EXPECTED),
        ),
    ],
    ids=["list", "object", "lines", "mini", "swe", "tau", "tau2", "openhands"],
)
def test_each_format_becomes_the_same_messages(
    tmp_path: Path, name: str, data: Any, expected: tuple[str, list[tuple[str, str]]]
) -> None:
    recorded = read_recorded(put(tmp_path, name, data))
    assert recorded.rejected == ()
    (found,) = recorded.trajectories
    assert (found.format, shape(found.messages)) == expected
    assert found.head == 2
    assert found.messages[2].calls[0].id == found.messages[3].results[0].call_id


def test_commands_in_the_text_of_replies_are_calls(tmp_path: Path) -> None:
    fenced = "I look.\n```mswea_bash_command\nls\n```"
    chat = [
        SYSTEM,
        USER,
        {"role": "assistant", "content": fenced},
        {"role": "user", "content": "a.py"},
    ]
    (found,) = read_recorded(put(tmp_path, "a.json", chat)).trajectories
    assert [m.role for m in found.messages] == ["system", "user", "assistant", "tool"]
    assert found.messages[2].text.endswith("shell\ncommand\nls")


@pytest.mark.parametrize(
    ("name", "messages"),
    [
        ("no_reply", [SYSTEM, USER]),
        ("call_without_result", [USER, ASKS, ENDS]),
        ("result_without_call", [USER, GIVES, ENDS]),
        ("result_repeated", [USER, ASKS, GIVES, GIVES, ENDS]),
        ("unknown_role", [USER, {"role": "narrator", "content": "x"}, ENDS]),
        ("wrong_shape", [USER, "text", ENDS]),
        ("wrong_shape", [USER, {"role": "assistant", "tool_calls": "c1"}, ENDS]),
        ("wrong_shape", [USER, {"role": "assistant", "tool_calls": [3]}, ENDS]),
    ],
)
def test_broken_runs_are_rejected_by_name(tmp_path: Path, name: str, messages: Any) -> None:
    recorded = read_recorded(put(tmp_path, "a.json", {"messages": messages}))
    assert recorded.trajectories == ()
    assert recorded.reasons() == {name: 1}
    assert "a.json" in str(recorded.rejected[0])


def test_one_broken_run_does_not_cost_the_others(tmp_path: Path) -> None:
    runs = [{"task_id": 0, "traj": GOOD}, {"task_id": 1}, 7, {"task_id": 2, "traj": GOOD}]
    recorded = read_recorded(put(tmp_path, "a.json", runs))
    assert recorded.counts() == {"tau-bench": 2}
    assert recorded.reasons() == {"wrong_shape": 2}


def test_half_written_lines_are_told_from_wrong_ones(tmp_path: Path) -> None:
    line = json.dumps({"messages": GOOD})
    recorded = read_recorded(put(tmp_path, "a.jsonl", f"{line}\n{{]\n{line}\n{line[:30]}"))
    assert recorded.counts() == {"chat": 2}
    assert recorded.reasons() == {"not_json": 1, "half_written": 1}


def test_what_is_no_recording_is_named(tmp_path: Path) -> None:
    put(tmp_path, "a.json", {"x": 1})
    put(tmp_path, "b.json", "no json")
    put(tmp_path, "c.json", "[" * 100_000)
    put(tmp_path, "d.txt", "not looked at")
    assert read_recorded(tmp_path).reasons() == {"unknown_format": 1, "not_json": 2}
    with pytest.raises(TrajectoryError, match="no_such_path"):
        read_recorded(tmp_path / "absent")


def test_call_ids_that_a_recorder_uses_again_are_told_apart(tmp_path: Path) -> None:
    chat = [USER, ASKS, GIVES, ASKS, {**GIVES, "content": "b.py"}, ENDS]
    (found,) = read_recorded(put(tmp_path, "a.json", chat)).trajectories
    first, second = (m.calls[0].id for m in found.messages if m.calls)
    assert first != second
    assert [m.results[0].call_id for m in found.messages if m.results] == [first, second]


async def test_our_own_logs_are_read(tmp_path: Path) -> None:
    def look() -> str:
        """Look."""
        return "a.py"

    model = ScriptedModel([call("look"), "done"])
    coordinator = Coordinator(Agent("a", "You help.", tools=[look]), model=model, runs=tmp_path)
    await coordinator.run("Fix it")
    recorded = read_recorded(tmp_path)
    (found,) = recorded.trajectories
    assert (found.format, found.task) == ("undrift", "Fix it")
    assert shape(found.messages) == [
        ("system", "You help."),
        ("user", "Fix it"),
        ("assistant", "look"),
        ("tool", "a.py"),
        ("assistant", "done"),
    ]


def test_a_log_that_is_none_is_rejected(tmp_path: Path) -> None:
    put(tmp_path, "events.db", "no database")
    assert read_recorded(tmp_path).reasons() == {"log_unreadable": 1}


@pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 0.75, 0.9, 1.0])
def test_a_cut_splits_no_turn_and_never_keeps_the_end(test_data: Path, share: float) -> None:
    recorded = read_recorded(test_data / "trajectories" / "openhands")
    for found in recorded.trajectories:
        cut = cut_at(found, share)
        assert found.messages[: len(cut)] == cut
        assert len(cut) < len(found.messages)
        assert len(cut) <= share * len(found.messages)
        assert sum(len(m.calls) for m in cut) == sum(len(m.results) for m in cut)
        assert sum(last - first for first, last in whole_turns(cut)) == len(cut)


def test_all_shared_recordings(test_data: Path) -> None:
    recorded = read_recorded(test_data / "trajectories")
    assert recorded.counts() == {
        "mini-swe-agent": 8,
        "chat": 2,
        "openhands": 5,
        "swe-agent": 24,
        "tau-bench": 200,
        "tau2-bench": 80,
    }
    # Score tables, patches, and serialisations of other frameworks are no recordings we read.
    assert recorded.reasons() == {"unknown_format": 9}
