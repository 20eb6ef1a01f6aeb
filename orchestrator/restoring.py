"""The compactions of a run, and bringing back what one of them hid, in a fork."""

from collections.abc import Sequence
from pathlib import Path

from filesystem import RunFolder
from memory import ContextCompacted, Entry, RequestSent, read_entries

from .branching import fork_run
from .errors import TurnNotFound
from .log_reading import thread_entries


def compactions_of(entries: Sequence[Entry]) -> list[tuple[Entry, ContextCompacted]]:
    """The compactions of one thread, in order: compaction K is the K-th of them."""
    return [(e, e.event) for e in entries if isinstance(e.event, ContextCompacted)]


def compaction_text(number: int, event: ContextCompacted) -> str:
    """One compaction as lines: trigger, strategy, tokens, price, what was hidden."""
    hidden = event.hidden
    where = f"{len(hidden)} events, {hidden[0]} to {hidden[-1]}" if hidden else "nothing"
    kinds: dict[str, int] = {}
    for each in event.replacements:
        kinds[each.kind] = kinds.get(each.kind, 0) + 1
    ways = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    price = f"{event.usage.input_tokens:,} in, {event.usage.output_tokens:,} out"
    return (
        f"compaction {number}: {event.strategy} (trigger: {event.trigger or 'unknown'})\n"
        f"  tokens {event.before:,} -> {event.after:,}; summary call {price}\n"
        f"  hidden or shorter: {where} ({ways})"
    )


def restore_compaction(path: Path, number: int, thread: str | None = None) -> Path:
    """Make a fork of a run that ends before its compaction `number` of a thread, from 1.

    What that compaction hid is visible again there. Returns the new folder. Raises `TurnNotFound` when
    there is no such compaction, and what `fork_run` raises.
    """
    entries = read_entries(RunFolder.open(path).events_db)
    own = thread_entries(entries, thread)
    found = compactions_of(own)
    if not 1 <= number <= len(found):
        raise TurnNotFound(
            f"there is no compaction {number}: this thread has {len(found)}, from 1 on"
        )
    before = found[number - 1][0].seq
    turns = sum(isinstance(e.event, RequestSent) and e.seq < before for e in own)
    return fork_run(path, turns, own[0].thread)
