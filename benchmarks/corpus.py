"""What indexing a folder costs: CPU seconds, peak memory, index size; then what a second run costs.

    python benchmarks/corpus.py PATH [PATH ...]

Each run is a process of its own, so that its CPU time and peak memory are its own.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from filesystem import FolderCorpus

# Linux counts the peak in kilobytes, macOS in bytes.
PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


async def run(index: Path, roots: list[Path]) -> None:
    """Index once and print the figures as JSON."""
    corpus = await FolderCorpus.open(roots, index)
    report = corpus.report
    cpu = time.process_time()
    started = time.perf_counter()
    for query in ("how to change a setting", "error handling", "what is new in this version"):
        await corpus.search(query)
    await corpus.close()
    figures = {
        "cpu": cpu,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * PEAK_UNIT / 1e6,
        "search": (time.perf_counter() - started) / 3 * 1000,
        "counts": (report.files, report.indexed, report.unchanged, report.removed),
        "passages": report.passages,
        "skipped": [(each.source, each.reason) for each in report.skipped],
    }
    print(json.dumps(figures))


def in_new_process(index: Path, roots: list[str]) -> dict:
    command = [sys.executable, __file__, "--index", str(index), *roots]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def bytes_below(roots: list[str]) -> int:
    total = 0
    for root in roots:
        for folder, _, names in os.walk(root):
            total += sum(os.lstat(os.path.join(folder, name)).st_size for name in names)
    return total


def main(roots: list[str]) -> None:
    """Run twice and print both."""
    if not roots:
        sys.exit(__doc__)
    print(f"{bytes_below(roots) / 1e6:.1f} MB below {', '.join(roots)}")
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder, "index.db")
        for name in ("first run", "second run"):
            figures = in_new_process(index, roots)
            files, indexed, unchanged, removed = figures["counts"]
            print(
                f"{name}: {figures['cpu']:.1f} CPU s, peak {figures['peak']:.0f} MB, "
                f"{figures['search']:.0f} ms a search\n"
                f"  {files} files: {indexed} indexed, {unchanged} unchanged, {removed} removed, "
                f"{len(figures['skipped'])} skipped; {figures['passages']} passages"
            )
        print(f"index: {index.stat().st_size / 1e6:.1f} MB")
        for source, reason in figures["skipped"][:10]:
            print(f"  skipped {source}: {reason}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--index"]:
        asyncio.run(run(Path(sys.argv[2]), [Path(root) for root in sys.argv[3:]]))
    else:
        main(sys.argv[1:])
