"""What isolation is worth on a folder: a parent that reads it all, beside one that sends readers out.

    python benchmarks/isolation.py [FOLDER] [--check]

The task is to say what each Markdown document of a folder is about, after reading it to its end (this
project's own `docs/` by default). A scripted model behind a server on loopback takes 200 ms a reply; it
does the same reading in every arm, and every arm must give the same report. So the figures say what
the plumbing costs and saves, and nothing about how a language model reads. The arms are:

    inline       one agent reads everything, page by page
    in sequence  a subagent a document, one at a time
    in parallel  a subagent a document, all at the same time

Tokens are counted by the framework, requests whole. With `--check` the exit code is 1 when reports differ,
when delegating does not leave the parent under half of the tokens, or when parallel is not faster.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.chat_server import serve_in_process

from agents import Agent, Limits, Rate, WireModel, WireOptions, tool
from memory import RequestSent, read_entries
from orchestrator import Coordinator

ROOT = Path(__file__).parent.parent
SYSTEM = "Read each document to its end, then say in one line what it is about."
PAGE = 40
"""Lines."""


@dataclass(frozen=True)
class Figures:
    """One arm."""

    report: str
    largest: int
    """Tokens of the parent's largest request: what its context grew to."""
    parent: int
    """Tokens of all its requests."""
    whole: int
    """Tokens of all requests of the tree."""
    calls: int
    seconds: float


async def measured(folder: Path, url: str, parallel: int | None) -> Figures:
    """Run one arm; `parallel` is how many readers work at once, `None` for no readers."""
    names = sorted(path.name for path in folder.glob("*.md"))

    @tool
    async def read(source: str, line: int) -> str:
        """Read a page of a document, from a line on."""
        lines = (folder / source).read_text(encoding="utf-8").splitlines()
        text = "\n".join(lines[line - 1 : line - 1 + PAGE])
        return f"{text}\n[goes on at line {line + PAGE}]" if len(lines) >= line + PAGE else text

    rate = WireOptions(rate=Rate(concurrency=64))
    model = WireModel("m", url, window=1_000_000, options=rate)
    reader = Agent("reader", SYSTEM, tools=[read], description="Reads one document.")
    lead = Agent("lead", SYSTEM, tools=[read] if parallel is None else [])
    limits = Limits(turns=1_000, parallel_agents=parallel or 1)
    with tempfile.TemporaryDirectory() as runs:
        readers = [] if parallel is None else [reader]
        coordinator = Coordinator(lead, readers, model=model, limits=limits, runs=Path(runs))
        started = time.monotonic()
        result = await coordinator.run(f"What are they about? Documents: {', '.join(names)}")
        seconds = time.monotonic() - started
        entries = read_entries(Path(runs) / result.run_id / "events.db")
    await model.close()
    sent = [(e.thread, e.event.counted) for e in entries if isinstance(e.event, RequestSent)]
    own = [tokens for thread, tokens in sent if thread == "main"]
    whole = sum(tokens for _, tokens in sent)
    return Figures(result.text, max(own), sum(own), whole, len(sent), seconds)


def main() -> None:
    """Measure the three arms and print one table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    arms = {"inline": None, "in sequence": 1, "in parallel": 64}
    with serve_in_process("support.isolation_script:isolation") as url:
        asyncio.run(measured(options.folder, url, 64))  # loads what is loaded once
        found = {
            arm: asyncio.run(measured(options.folder, url, parallel))
            for arm, parallel in arms.items()
        }
    inline, sequence, parallel = found.values()
    print(f"{len(inline.report.splitlines())} documents of {options.folder}\n")
    print(f"  {'':12}{'parent: largest':>16}{'in all':>10}{'tree':>10}{'calls':>7}{'wall s':>8}")
    for arm, own in found.items():
        print(
            f"  {arm:12}{own.largest:16,}{own.parent:10,}{own.whole:10,}{own.calls:7}{own.seconds:8.1f}"
        )
    print(
        f"\n  parent, delegated / inline: {parallel.parent / inline.parent:.3f}; "
        f"wall, parallel / sequence: {parallel.seconds / sequence.seconds:.2f}, "
        f"parallel / inline: {parallel.seconds / inline.seconds:.2f}"
    )
    faults = [
        fault
        for fault, wrong in (
            ("the reports differ", len({each.report for each in found.values()}) > 1),
            ("the parent is not under half", parallel.parent > inline.parent / 2),
            ("parallel is not faster", parallel.seconds >= sequence.seconds),
        )
        if wrong
    ]
    if faults:
        print("\nmissed:", "; ".join(faults))
        sys.exit(1 if options.check else 0)


if __name__ == "__main__":
    main()
