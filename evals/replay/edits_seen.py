"""Commands and file edits of a recorded run, recognised by the calls' names and arguments."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memory import ToolCall

from .trajectory import Message, values_of

_SHELLS = frozenset({"bash", "shell", "execute_bash", "run", "terminal", "execute_command"})
_EDITORS = frozenset({"str_replace_editor", "str_replace_based_edit_tool", "edit", "edit_file"})
_CHANGING = frozenset({"str_replace", "insert", "edit", "undo_edit"})
_PATH = r"[\"']?([\w./~+-]*[\w]\.[A-Za-z]\w*)[\"']?"
_IN_PLACE = re.compile(rf"\bsed\s+(?:-\w+\s+)*-i\b.*?\s{_PATH}\s*(?:$|[;&|\n])", re.MULTILINE)
_WRITTEN = re.compile(rf"(?:^|[^0-9&>])>\s*{_PATH}|\btee\s+{_PATH}", re.MULTILINE)
_OPENED = re.compile(rf"^open\s+{_PATH}")
_MADE = re.compile(rf"^create\s+{_PATH}")
_LINES_EDITED = re.compile(r"^(?:edit|insert)\s+\S*\d")


@dataclass(frozen=True, slots=True)
class Command:
    """One shell command with what it printed."""

    text: str
    result: str
    """`""` when the run stopped before there was one."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One change to one file."""

    path: str
    created: bool


def commands_of(messages: Sequence[Message]) -> list[Command]:
    """The shell commands in order."""
    results = {r.call_id: m.text for m in messages for r in m.results}
    found: list[Command] = []
    for message in messages:
        for call in message.calls:
            text = _shell_text(call)
            if text:
                found.append(Command(text, results.get(call.id, "")))
    return found


def file_edits(messages: Sequence[Message], commands: Sequence[Command]) -> list[Edit]:
    """Edits in order: by an editor's call, or by a shell command that writes a file.

    A path counts as created when a `create` or the first redirection named it before any change.
    """
    found: list[Edit] = []
    opened = ""
    for message in messages:
        for call in message.calls:
            text = _shell_text(call)
            if not text:
                found.extend(_by_editor(call))
                continue
            opened = _first(_OPENED, text) or _first(_MADE, text) or opened
            if _LINES_EDITED.match(text) and opened:
                found.append(Edit(opened, created=False))
            found.extend(_by_shell(text))
    return _once_created(found)


def _once_created(edits: Sequence[Edit]) -> list[Edit]:
    known: set[str] = set()
    kept: list[Edit] = []
    for edit in edits:
        kept.append(Edit(edit.path, edit.created and edit.path not in known))
        known.add(edit.path)
    return kept


def _by_editor(call: ToolCall) -> list[Edit]:
    values: dict[str, Any] = values_of(call)
    path = values.get("path") or values.get("file_path") or values.get("filename")
    if not isinstance(path, str) or not path:
        return []
    command = str(values.get("command", "create" if call.name in ("write_file", "create") else ""))
    if command == "create":
        return [Edit(path, created=True)]
    if command in _CHANGING or (call.name in _EDITORS and "old_str" in values):
        return [Edit(path, created=False)]
    return []


def _by_shell(text: str) -> list[Edit]:
    found = [Edit(match.group(1), created=False) for match in _IN_PLACE.finditer(text)]
    for match in _WRITTEN.finditer(text):
        found.append(Edit(match.group(1) or match.group(2), created=True))
    if made := _first(_MADE, text):
        found.append(Edit(made, created=True))
    return found


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match.group(1) if match else ""


def _shell_text(call: ToolCall) -> str:
    if call.name not in _SHELLS and call.name != "run_ipython":
        return ""
    values = values_of(call)
    text = values.get("command") or values.get("code") or values.get("input") or ""
    return text.strip() if isinstance(text, str) else ""
