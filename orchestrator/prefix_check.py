"""A check for users' tests: did any request of a run break the reusable prefix of the one before?"""

from pathlib import Path

from filesystem import RunFolder
from memory import (
    common_prefix,
    end_of_history,
    part_at,
    read_entries,
    remake_requests,
    requests_of,
)

from .log_reading import recorded_codec
from .result import RunResult


def assert_prefix_stable(run: RunResult | Path | str) -> None:
    """Raise `AssertionError` when a request of the run is not the beginning of the next, up to its tail.

    `run` is a result with a run folder, or the folder. Each thread is checked; a request after a
    compaction, or under another configuration (a fallback model), may differ. The error names thread,
    turns, the first byte that differs and the event behind it. Raises `ValueError` for a run that was
    kept in memory only, and what reading a run folder raises.
    """
    path = run.folder if isinstance(run, RunResult) else Path(run)
    if path is None:
        raise ValueError("this run was kept in memory: give the coordinator a folder, `runs=...`")
    entries = read_entries(RunFolder.open(path).events_db)
    for thread in dict.fromkeys(entry.thread for entry in requests_of(entries)):
        own = [entry for entry in entries if entry.thread == thread]
        before = None
        for turn, request in enumerate(remake_requests(own, recorded_codec), 1):
            same = before is not None and (before.sent.config, before.sent.revision) == (
                request.sent.config,
                request.sent.revision,
            )
            if before is not None and same:
                shared = common_prefix(before.body, request.body)
                if shared < end_of_history(before):
                    part = part_at(before, shared)
                    raise AssertionError(
                        f"thread {thread!r}: the request of turn {turn - 1} is not the beginning of that of "
                        f"turn {turn}: they differ at byte {shared} of {len(before.body)}, in the "
                        f"{part.kind} of event {part.seq}"
                    )
            before = request
