"""Sample by sample, what failed first, down to the exact request where the run was kept.

The page is an exit: secrets are taken out of what it shows, and all of it is escaped.
"""

import json
import shlex
from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path

from agents import codec_for
from memory import MemoryError_, loads, read_entries, rebuild_request, redact, requests_of

from ..results import Record

MOST_SAMPLES = 300
"""Samples listed one by one; the results file holds all."""
MOST_REQUESTS = 40
"""Of them with the whole request in the page."""
LONGEST_REQUEST = 60_000
"""Characters of a request in the page; the run folder holds all of it."""


def failed_samples(records: Sequence[Record], folder: Path | None) -> str:
    """The section of failures. `folder` is where the results lie, and the runs that were kept."""
    return f"<section><h2>Failures</h2>{_listed(records, folder)}</section>"


def other_samples(records: Sequence[Record], folder: Path | None) -> str:
    """The section of samples that passed and of controls, those whose run was kept; `""` when none was.

    One sample of each policy and family comes first, then the second of each.
    """
    cells: Counter[tuple[str, str, str]] = Counter()
    kept: list[tuple[int, Record]] = []
    for record in records:
        if record.run:
            cell = (record.policy, record.model, record.family)
            cells[cell] += 1
            kept.append((cells[cell], record))
    if not kept:
        return ""
    spread = [record for _, record in sorted(kept, key=lambda each: each[0])]
    return f"<section><h2>Passed, and controls</h2>{_listed(spread, folder)}</section>"


def _listed(records: Sequence[Record], folder: Path | None) -> str:
    items: list[str] = []
    left = MOST_REQUESTS
    for record in records[:MOST_SAMPLES]:
        request = _request(record, folder) if left else ""
        left -= bool(request)
        items.append(_sample(record, request))
    more = f" The first {MOST_SAMPLES} are shown." if len(records) > MOST_SAMPLES else ""
    body = "".join(items)
    return f"<p>{len(records)} records.{more}</p>{body}"


def _sample(record: Record, request: str) -> str:
    told = (
        ("reading", record.reading),
        ("model", record.model),
        ("result", f"{record.state}, {'passed' if record.passed else 'failed'}"),
        ("trigger or cut", f"{record.trigger * 100:g} %"),
        ("failure", record.failure),
        ("why", record.why),
        ("asked", record.question),
        ("looked for", record.evidence or " | ".join(record.expected)),
        ("answered", record.answer or ""),
        ("judge", record.judge),
        ("run", f"{record.run}, request at event {record.request}" if record.run else ""),
    )
    return (
        f"<details><summary>{escape(record.policy)}: {escape(record.sample)}</summary><dl>"
        + "".join(
            f"<dt>{name}</dt><dd>{escape(redact(value))}</dd>" for name, value in told if value
        )
        + f"</dl>{request}</details>"
    )


def _request(record: Record, folder: Path | None) -> str:
    """The judged request as indented JSON, made again from the log; `""` when the run was not kept."""
    if folder is None or not record.run or not record.request:
        return ""
    run = (folder / record.run).resolve()
    if not run.is_relative_to(folder.resolve()):
        return ""  # results are data, and name no files elsewhere
    try:
        entries = read_entries(run / "events.db")
        thread = next((e.thread for e in entries if e.seq == record.request), "")
        own = [entry for entry in entries if entry.thread == thread]
        turn = sum(e.seq <= record.request for e in requests_of(own))
        body = rebuild_request(own, record.request, codec_for)
    except MemoryError_ as error:
        return f"<p>The request cannot be made again: {escape(str(error))}</p>"
    text = redact(json.dumps(loads(body), indent=1, ensure_ascii=False))
    command = f"undrift show {shlex.quote(record.run)} --thread {shlex.quote(thread)} --turn {turn} --request"
    cut = (
        f"\n({len(text) - LONGEST_REQUEST} more characters)" if len(text) > LONGEST_REQUEST else ""
    )
    return (
        f"<details><summary>the exact request, {len(body):,} bytes</summary>"
        f"<p>Byte for byte: <code>{escape(command)}</code></p>"
        f"<pre>{escape(text[:LONGEST_REQUEST] + cut)}</pre></details>"
    )
