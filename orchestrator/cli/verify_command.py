"""`undrift verify`: are the quotes of a report still found in the documents?"""

import json as json_text
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from . import inputs
from .guard import DONE, FAILED, BadInput
from .options import AsJson, Docs, MoreDocs
from .screen import clean, put, say

if TYPE_CHECKING:
    from ..researching.reverify import Verification

LARGEST_REPORT = 16 * 1024 * 1024
"""Bytes of a report; one of ours has some kilobytes."""


def verify(
    report: Annotated[Path, typer.Argument(metavar="REPORT.md", help="A report of `research`.")],
    more: MoreDocs = None,
    *,
    docs: Docs = None,
    json: AsJson = False,
) -> None:
    """Check every quote of a report against the documents again."""
    paths = inputs.documents([*(docs or []), *(more or [])])
    text = _read(report)

    from .interrupts import run_async

    # The index of the run is used where there is one; else it is made for this time only.
    with TemporaryDirectory(prefix="undrift-") as temporary:
        is_run = (report.parent / "run.json").is_file()
        runs = report.absolute().parent.parent if is_run else Path(temporary)
        found = run_async(_verify(text, paths, runs))
    if json:
        put(json_text.dumps(_as_data(found)))
    else:
        for fault in found.faults:
            put(clean(f"{report}:{fault.line}: {fault.message}"))
        what = "verified" if found.ok else f"{len(found.faults)} faults"
        counts = f"{found.sentences} sentences, {found.citations} citations, {found.quotes} quotes"
        put(f"{what}: {counts}" if found.quotes else f"nothing to verify: {counts}")
    if found.quotes and len(found.faults) >= found.quotes:
        say("no quote was found: give the same --docs as for the report, sources are named by them")
    raise typer.Exit(DONE if found.ok else FAILED)


def _read(report: Path) -> str:
    if not report.is_file():
        raise BadInput(f"there is no report {str(report)!r}: give the report.md of a run")
    if (size := report.stat().st_size) > LARGEST_REPORT:
        raise BadInput(f"{str(report)!r} has {size:,} bytes and is no report of ours")
    try:
        return report.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{str(report)!r} is no UTF-8 text: {error}") from error


async def _verify(text: str, docs: Sequence[Path], runs: Path) -> "Verification":
    from ..researching import open_corpus
    from ..researching.reverify import verify_report

    corpus = await open_corpus(docs, runs)
    try:
        return await verify_report(text, corpus)
    finally:
        await corpus.close()


def _as_data(found: "Verification") -> dict[str, object]:
    return {
        "ok": found.ok,
        "sentences": found.sentences,
        "citations": found.citations,
        "quotes": found.quotes,
        "faults": [{"line": fault.line, "message": fault.message} for fault in found.faults],
    }
