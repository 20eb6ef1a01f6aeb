"""`undrift show`: what happened in a run, and what its models saw, turn by turn."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .guard import FAILED, BadInput
from .options import Out, RunName
from .screen import one_line, put, put_bytes, say, visible

if TYPE_CHECKING:
    from memory import Entry, Part

Raw = Annotated[
    bool, typer.Option("--raw", help="Everything as it is, with the secrets that are hidden else.")
]


def show(
    run: RunName,
    *,
    thread: Annotated[
        str | None,
        typer.Option("--thread", metavar="T", help="Only this agent's thread; else the main one."),
    ] = None,
    turn: Annotated[
        int | None, typer.Option("--turn", metavar="N", help="Turn N of the thread, from 1.")
    ] = None,
    request: Annotated[
        bool, typer.Option("--request", help="The exact bytes of the turn's request.")
    ] = False,
    context: Annotated[
        int | None,
        typer.Option("--context", metavar="N", help="What the model saw at turn N, for reading."),
    ] = None,
    diff: Annotated[
        tuple[int, int] | None,
        typer.Option("--diff", metavar="N M", help="Where the requests of two turns part."),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read everything back and rebuild every request.")
    ] = False,
    artifacts: Annotated[
        bool, typer.Option("--artifacts", help="The bodies that were stored apart.")
    ] = False,
    file: Annotated[
        str | None,
        typer.Option(
            "--file", metavar="PATH", help="One file, such as /files/a.md or /artifacts/NAME."
        ),
    ] = None,
    compactions: Annotated[
        bool,
        typer.Option("--compactions", help="What was hidden from the model, and at what price."),
    ] = False,
    raw: Raw = False,
    out: Out = "runs",
) -> None:
    """Show what happened in a run, in order, or one turn of it."""
    from ..runs import find_run

    chosen = (
        turn is not None,
        context is not None,
        diff is not None,
        verify,
        artifacts,
        file is not None,
        compactions,
    )
    if chosen.count(True) > 1:
        raise BadInput(
            "give one of --turn, --context, --diff, --verify, --artifacts, --file and --compactions"
        )
    if request and turn is None:
        raise BadInput("--request needs a turn: --turn N --request")
    folder = find_run(Path(out), run)
    if compactions or artifacts or file is not None:
        _compactions(folder, thread) if compactions else _files(folder, file, thread, raw)
    elif verify:
        _verify(folder)
    elif diff is not None:
        _diff(folder, thread, diff)
    elif turn is not None and request:
        _request(folder, thread, turn, raw)
    elif turn is not None or context is not None:
        _turn(folder, thread, turn if turn is not None else context or 0, raw)
    else:
        _events(folder, thread, raw)


def _compactions(folder: Path, thread: str | None) -> None:
    from filesystem import RunFolder
    from memory import read_entries

    from ..log_reading import thread_entries
    from ..restoring import compaction_text, compactions_of

    found = compactions_of(thread_entries(read_entries(RunFolder.open(folder).events_db), thread))
    for number, (_, event) in enumerate(found, 1):
        put(visible(compaction_text(number, event)))
    if not found:
        put("nothing was compacted")


def _files(folder: Path, file: str | None, thread: str | None, raw: bool) -> None:
    from . import show_files

    if file is None:
        show_files.artifacts(folder)
    else:
        show_files.file(folder, file, thread, raw)


def _events(folder: Path, thread: str | None, raw: bool) -> None:
    """All events, as far as they can be read: a damaged log is shown, and its faults told."""
    from filesystem import RunFolder
    from memory import salvage_entries

    entries, faults = salvage_entries(RunFolder.open(folder).events_db)
    if thread is not None:
        known = list(dict.fromkeys(entry.thread for entry in entries if entry.thread))
        if thread not in known:
            names = ", ".join(known) or "none"
            raise BadInput(
                f"run {folder.name!r} has no thread {thread!r}; its threads are: {names}"
            )
        entries = [entry for entry in entries if entry.thread == thread]
    for text in _told(entries):
        _put(text, raw)
    for fault in faults:
        say(f"error: {fault}")
    if faults:
        raise typer.Exit(FAILED)


def _told(entries: Sequence["Entry"]) -> Iterator[str]:
    """The events as text, with a heading wherever another thread goes on."""
    from memory import transcript_text

    current: str | None = None
    for entry in entries:
        if entry.thread != current:
            current = entry.thread
            yield f"\n##### {current or 'the run'}"
        yield transcript_text([entry])


def _turn(folder: Path, thread: str | None, turn: int, raw: bool) -> None:
    from memory import turn_text

    from ..log_reading import read_turn

    entries, request = read_turn(folder, turn, thread)
    _put(turn_text(entries, request), raw)


def _request(folder: Path, thread: str | None, turn: int, raw: bool) -> None:
    """The bytes themselves; what is hidden in them is told beside them."""
    from memory import redact

    from ..log_reading import read_turn

    _, request = read_turn(folder, turn, thread)
    body = request.check().body
    if not raw and (hidden := redact(text := body.decode())) != text:
        say("secrets are hidden in what is shown; --raw shows the exact bytes")
        body = hidden.encode()
    put_bytes(body)


def _diff(folder: Path, thread: str | None, turns: tuple[int, int]) -> None:
    from memory import compare_requests

    from ..log_reading import read_turn

    _, first = read_turn(folder, turns[0], thread)
    _, second = read_turn(folder, turns[1], thread)
    found = compare_requests(first, second)
    put(f"turn {turns[0]}: {found.sizes[0]:,} bytes; turn {turns[1]}: {found.sizes[1]:,} bytes")
    if found.equal:
        put("the requests are equal, byte for byte")
        return
    put(f"first byte that differs: {found.prefix:,} (from 0)")
    for turn, part in zip(turns, found.parts, strict=True):
        put(f"  in turn {turn} it belongs to {_described(part)}")
    put(f"reusable prefix: {found.prefix:,} bytes, {found.share:.1%} of turn {turns[1]}")


def _described(part: "Part") -> str:
    if part.kind == "head":
        return f"the head (settings, tools, system prompt: event {part.seq})"
    if part.kind == "tail":
        return f"the tail, or the end of the request (event {part.seq})"
    return f"a {part.kind} (event {part.seq})"


def _verify(folder: Path) -> None:
    from ..log_reading import verify_run

    found = verify_run(folder)
    log = found.log
    put(
        f"{log.events:,} events in {log.threads} threads, {log.requests:,} requests rebuilt and equal, "
        f"{found.artifacts:,} stored bodies whole"
    )
    if log.purged:
        names = ", ".join(map(str, log.purged[:20])) + (", ..." if len(log.purged) > 20 else "")
        put(f"a secret was purged from {len(log.purged)} requests: {names}")
    for problem in found.problems:
        put(f"problem: {one_line(problem, 500)}")
    if found.problems:
        put(f"{len(found.problems)} problems")
        raise typer.Exit(FAILED)


def _put(text: str, raw: bool) -> None:
    from memory import redact

    put(visible(text if raw else redact(text)), raw=raw)
