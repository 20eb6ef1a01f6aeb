"""Filing: what a child is handed as files, and what becomes of its own when it ends."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agents import Run, Session, handed_path
from filesystem import (
    DiskStore,
    FileError,
    FileStore,
    FolderMissing,
    MergeConflict,
    MergeReport,
    MergeRule,
    Version,
    View,
)
from memory import Noticed, Text

from .tasks import TaskSpec

if TYPE_CHECKING:
    from .subagents import Subagent

COPIED = "files_copied"
"""Topic of the notice that holds path and hash of the files that a child started with."""
MAX_NAMED = 30
"""Files, and conflicts, that are named to the parent; the others are counted."""


def readable(inputs: FileStore | Path | str) -> FileStore:
    """A store as agents may read it: read-only; a folder with its files as they are.

    Raises `FolderMissing`.
    """
    if not isinstance(inputs, Path | str):
        return View(inputs)
    folder = Path(inputs)
    if not folder.is_dir():
        raise FolderMissing(folder)
    return View(DiskStore(folder))


async def hand_over(run: Run, spec: TaskSpec) -> list[str]:
    """Copy what the task names into the child's `/inputs`; where it finds each, or why it does not."""
    lines: list[str] = []
    for path in spec.inputs:
        try:
            await run.files.hand_over(run.log, spec.parent, spec.thread, [path])
        except FileError as error:
            lines.append(f"{path}: could not be handed over: {error}")
        else:
            lines.append(handed_path(path))
    return lines


async def take_over(
    session: Session, specs: Sequence[TaskSpec], subagents: "Mapping[str, Subagent]"
) -> tuple[Text, ...]:
    """Take over the `/files` of children that ended, in the order of their tasks; what the parent reads
    about it, nothing when they left none. Doing it again changes nothing."""
    run, parent = session.run, session.thread.name
    told: list[str] = []
    for spec in specs:
        base = await _base(run, spec.thread) if spec.see == "fork" else {}
        if not base and not await run.files.has(spec.thread):
            continue
        agent = getattr(subagents.get(spec.agent), "agent", None)
        rule: MergeRule = getattr(agent, "merge", MergeRule.MERGE)
        try:
            report = await run.files.merge(spec.thread, parent, base=base, rule=rule)
        except FileError as error:
            told.append(f"Files of {spec.thread} could not be taken over: {error}")
        else:
            told += _told(report)
    return (Text("\n".join(told)),) if told else ()


async def _base(run: Run, thread: str) -> dict[str, str]:
    """The files that a child started with, as its log has them."""
    if not run.log.has(thread):
        return {}
    for entry in await run.log.read(thread):
        if isinstance(entry.event, Noticed) and entry.event.topic == COPIED:
            return dict(entry.event.data)
    return {}


def _told(report: MergeReport) -> list[str]:
    lines: list[str] = []
    if report.written:
        lines.append(f"Files of {report.child}, now among yours: {_named(report.written)}")
    if report.deleted:
        lines.append(f"Deleted by {report.child}: {_named(report.deleted)}")
    for conflict in report.conflicts[:MAX_NAMED]:
        lines.append(f"Conflict in /files/{conflict.path}: {_versions(conflict)}")
    if len(report.conflicts) > MAX_NAMED:
        lines.append(
            f"and {len(report.conflicts) - MAX_NAMED} more conflicts: see /files/conflicts"
        )
    return lines


def _versions(conflict: MergeConflict) -> str:
    return f"{_version(conflict.kept)}; {_version(conflict.other)}. Both are kept: decide."


def _version(version: Version) -> str:
    if version.sha256 is None:
        return f"{version.owner} deleted it"
    return f"the version of {version.owner} is /files/{version.path}"


def _named(paths: Sequence[str]) -> str:
    shown = ", ".join(f"/files/{path}" for path in paths[:MAX_NAMED])
    more = f" and {len(paths) - MAX_NAMED} more" if len(paths) > MAX_NAMED else ""
    return shown + more
