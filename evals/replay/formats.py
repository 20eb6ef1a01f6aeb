"""The formats of recorded runs: how each is recognised, and how it becomes trajectories."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import TrajectoryError
from .chat import as_list, as_object, read_chat, read_text_commands
from .openhands import read_openhands
from .trajectory import Message, Trajectory

Rejected = TrajectoryError


@dataclass(frozen=True, slots=True)
class Format:
    """One format."""

    name: str
    knows: Callable[[Any], bool]
    """Whether a parsed document looks like it, judged by its keys alone."""
    runs: Callable[[Any, str], Iterator[tuple[str, Callable[[], Trajectory]]]]
    """The runs in a document: where each stands, and a function that reads it or raises."""


def _one(
    read: Callable[[dict[str, Any], str], Trajectory],
) -> Callable[[Any, str], Iterator[tuple[str, Callable[[], Trajectory]]]]:
    def runs(data: Any, where: str) -> Iterator[tuple[str, Callable[[], Trajectory]]]:
        yield where, lambda: read(as_object(data, where, "the file"), where)

    return runs


def _has(data: Any, *keys: str) -> bool:
    return isinstance(data, dict) and all(key in data for key in keys)


def _outcome(info: Any, *keys: str) -> dict[str, str]:
    return {key: str(info[key]) for key in keys if isinstance(info, dict) and info.get(key)}


def _mini(data: dict[str, Any], where: str) -> Trajectory:
    messages = as_list(data["messages"], where, "messages")
    outcome = _outcome(data.get("info"), "exit_status", "submission")
    chat = [m for m in messages if not (isinstance(m, dict) and m.get("role") == "exit")]
    return _trajectory(
        where, "mini-swe-agent", str(data.get("instance_id") or where), chat, outcome
    )


def _swe_agent(data: dict[str, Any], where: str) -> Trajectory:
    history = as_list(data["history"], where, "history")
    chat = [m for m in history if not (isinstance(m, dict) and m.get("is_demo"))]
    outcome = _outcome(data.get("info"), "exit_status", "submission")
    task = where.rpartition("/")[2].partition(".traj")[0]
    return _trajectory(where, "swe-agent", task, chat, outcome)


def _openhands(data: dict[str, Any], where: str) -> Trajectory:
    messages = read_openhands(as_list(data["history"], where, "history"), where)
    outcome = _outcome(data, "error", "git_patch")
    task = str(data.get("instance_id") or (data.get("issue") or {}).get("number") or where)
    return Trajectory(where, "openhands", task, messages, outcome)


def _tau(data: Any, where: str) -> Iterator[tuple[str, Callable[[], Trajectory]]]:
    for place, value in enumerate(data):
        spot = f"{where}[{place}]"

        def read(value: Any = value, spot: str = spot) -> Trajectory:
            run = as_object(value, spot, "the run")
            chat = as_list(run.get("traj"), spot, "traj")
            outcome = _outcome(run, "reward")
            return _trajectory(spot, "tau-bench", f"task {run.get('task_id')}", chat, outcome)

        yield spot, read


def _tau2(data: dict[str, Any], where: str) -> Iterator[tuple[str, Callable[[], Trajectory]]]:
    info: Any = data.get("info")
    policy = ((info or {}).get("environment_info") or {}).get("policy")
    tickets = {str(task.get("id")): task.get("ticket") for task in data.get("tasks") or []}
    for place, value in enumerate(as_list(data["simulations"], where, "simulations")):
        spot = f"{where}[{place}]"

        def read(value: Any = value, spot: str = spot) -> Trajectory:
            run = as_object(value, spot, "the simulation")
            task = str(run.get("task_id"))
            chat = _agents_side(as_list(run.get("messages"), spot, "messages"))
            if not any(message.get("role") == "user" for message in chat[:2]):
                chat.insert(0, {"role": "user", "content": tickets.get(task) or ""})
            if policy:
                chat.insert(0, {"role": "system", "content": policy})
            return _trajectory(spot, "tau2-bench", task, chat, _outcome(run, "termination_reason"))

        yield spot, read


def _agents_side(messages: list[Any]) -> list[dict[str, Any]]:
    """What the agent sees: the simulated user's own tool calls and their results are not among it."""
    seen: list[dict[str, Any]] = []
    for message in messages:
        if message.get("role") == "tool" and message.get("requestor") == "user":
            continue
        if message.get("role") == "user" and not message.get("content"):
            continue
        seen.append(message)
    return seen


def _chat(data: Any, where: str) -> Iterator[tuple[str, Callable[[], Trajectory]]]:
    value: Any = data if isinstance(data, list) else data["messages"]
    outcome = {} if isinstance(data, list) else _outcome(data, "exit_status", "submission")
    yield (
        where,
        lambda: _trajectory(where, "chat", where, as_list(value, where, "messages"), outcome),
    )


def _trajectory(
    where: str, name: str, task: str, chat: list[Any], outcome: dict[str, str]
) -> Trajectory:
    structured = any(isinstance(m, dict) and (m.get("tool_calls")) for m in chat)
    read = read_chat if structured or not _in_text(chat) else read_text_commands
    messages: tuple[Message, ...] = read(chat, where)
    return Trajectory(where, name, task, messages, outcome)


def _in_text(chat: list[Any]) -> bool:
    """Whether replies carry their commands as text."""
    return any(
        isinstance(m, dict)
        and m.get("role") == "assistant"
        and (m.get("action") or "```mswea_bash_command" in str(m.get("content")))
        for m in chat
    )


def _is_chat(data: Any) -> bool:
    messages: Any = data.get("messages") if isinstance(data, dict) else data
    return (
        isinstance(messages, list)
        and bool(messages)
        and isinstance(messages[0], dict)
        and messages[0].get("role") in ("system", "developer", "user", "assistant")
    )


def _is_tau(data: Any) -> bool:
    return isinstance(data, list) and bool(data) and _has(data[0], "traj")


def _is_openhands(data: Any) -> bool:
    history: Any = data.get("history") if isinstance(data, dict) else None
    if not isinstance(history, list) or not history or not isinstance(history[0], dict):
        return False
    return "action" in history[0] or "observation" in history[0]


FORMATS = (
    Format("tau2-bench", lambda data: _has(data, "simulations", "tasks"), _tau2),
    Format("tau-bench", _is_tau, _tau),
    Format("mini-swe-agent", lambda data: _has(data, "trajectory_format", "messages"), _one(_mini)),
    Format(
        "openhands",
        lambda data: _is_openhands(data) and "role" not in data["history"][0],
        _one(_openhands),
    ),
    Format("swe-agent", lambda data: _has(data, "history"), _one(_swe_agent)),
    Format("chat", _is_chat, _chat),
)
"""In the order in which they are tried."""


def format_of(data: Any, where: str) -> Format:
    """The format of a parsed document. Raises `TrajectoryError` named `unknown_format`."""
    for known in FORMATS:
        if known.knows(data):
            return known
    names = ", ".join(known.name for known in FORMATS)
    raise TrajectoryError("unknown_format", where, f"it is none of {names}, undrift")
