"""`undrift resume` with decisions, in processes of their own."""

import json
import subprocess
import sys
from pathlib import Path

TEAM = '''
from undrift import Agent, Coordinator, ScriptedModel, call, tool


@tool(approval=True)
def pay(amount: int, to: str) -> str:
    """Pay an amount."""
    with open("paid", "a") as file:
        file.write(f"{to} {amount}\\n")
    return f"paid {amount}"


def helper(body):
    done = [m["content"] for m in body["messages"] if m["role"] == "tool"]
    task = body["messages"][1]["content"]
    return done[-1] if done else call("pay", amount=5, to=task + "\\u202e")


def lead(body):
    done = [m["content"] for m in body["messages"] if m["role"] == "tool"]
    tasks = [{"agent": "helper", "task": name} for name in ("Ann", "Bob", "Cid")]
    return done[-1] if done else call("delegate", tasks=tasks)


team = Coordinator(
    Agent("lead", "Lead.", ScriptedModel(lead)),
    [Agent("helper", "Help.", ScriptedModel(helper), [pay])],
)
'''


def undrift(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from orchestrator.cli import main; main()", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_decisions_about_three_parallel_subagents(tmp_path: Path) -> None:
    (tmp_path / "team.py").write_text(TEAM)
    first = undrift(tmp_path, "run", "team.py:team", "pay them", "--json")
    assert first.returncode == 3, first.stderr
    said = json.loads(first.stdout)
    assert [w["call"] for w in said["waiting"]] == [f"main.1-{n}/call" for n in (1, 2, 3)]
    assert not (tmp_path / "paid").exists()

    shown = undrift(tmp_path, "resume", "last", "--quiet")
    assert shown.returncode == 3
    assert r'waiting: main.1-1/call  pay {"amount":5,"to":"Ann\u202e"}' in shown.stderr
    assert "--approve CALL" in shown.stderr

    refused = undrift(tmp_path, "resume", "last", "--approve", "main.1-9/call")
    assert refused.returncode == 2
    assert "those that wait: main.1-1/call" in refused.stderr
    asked = undrift(tmp_path, "ask", "last", "are you done?")
    assert asked.returncode == 2
    assert "decide first" in asked.stderr

    done = undrift(
        tmp_path, "resume", "last", "--quiet", "--approve", "main.1-1/call",
        "--reject", "main.1-2/call", "--note", "Bob is paid already",
        "--edit", 'main.1-3/call={"amount": 1, "to": "Cid"}',
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    paid = sorted((tmp_path / "paid").read_text().splitlines())
    assert [line.strip("\u202e") for line in paid] == ["Ann\u202e 5", "Cid 1"]
    assert "Bob is paid already" in done.stdout


def test_decisions_that_contradict_each_other_are_bad_usage(tmp_path: Path) -> None:
    for words, says in [
        (["--approve", "a", "--reject", "a"], "more than once"),
        (["--edit", "a"], "CALL=JSON"),
        (["--note", "x"], "--reject CALL"),
    ]:
        answer = undrift(tmp_path, "resume", "last", *words)
        assert answer.returncode == 2
        assert says in answer.stderr
