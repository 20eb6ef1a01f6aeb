"""What the filesystem costs: a search beside Python's `re`, and a large body in a stream.

    python benchmarks/files.py

Prints ratios within one run; the machine's own speed cancels out. The files are made here from
a fixed seed: 3,000 files and 17 MB of words, with some accents, in 60 folders.
"""

import asyncio
import random
import re
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from filesystem import ArtifactStore, DiskStore, Query

FILES = 3_000
SIZE = 17_000_000
ROUNDS = 5


def make_files(folder: Path) -> None:
    """Write the files: lines of 4 to 14 words out of 4,000."""
    chance = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 10))) for _ in range(3_990)]
    words += ["Zürich", "café", "naïve", "Error42", "timeout", "façade", "Wert", "rate", "limit"]
    for n in range(FILES):
        lines: list[str] = []
        size = 0
        while size < SIZE / FILES:
            lines.append(" ".join(chance.choices(words, k=chance.randint(4, 14))))
            size += len(lines[-1].encode()) + 1
        path = folder / f"part {n % 60:02}" / f"file {n:04}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(lines) + "\n")


def seconds(work: Callable[[], object]) -> float:
    """Median processor time of `work` over the rounds, children included."""

    def used() -> float:
        usages = (
            resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        return sum(usage.ru_utime + usage.ru_stime for usage in usages)

    taken: list[float] = []
    for _ in range(ROUNDS):
        before = used()
        work()
        taken.append(used() - before)
    return statistics.median(taken)


def search(folder: Path) -> None:
    """Print grep's time over Python's `re` over the same bytes, read from disk and in memory."""
    store = DiskStore(folder)
    paths = sorted(folder.rglob("*.md"))
    bodies = [path.read_bytes() for path in paths]
    total = sum(len(body) for body in bodies)
    print(
        f"{len(bodies):,} files, {total / 1e6:.1f} MB; processor time, ratio to `re` over the bytes"
    )
    print(
        f"{'search':34} {'hits':>6} {'grep s':>8} {'re s':>8} {'ratio':>6} {'re+read':>8} {'ratio':>6}"
    )
    for name, query in (
        ("plain text, rare", Query("Error42 timeout", limit=10**6)),
        ("plain text, frequent", Query("timeout", limit=10**6)),
        ("plain text, accents", Query("Zürich", limit=10**6)),
        ("plain text, any case", Query("error42", ignore_case=True, limit=10**6)),
        ("expression, fixed beginning", Query(r"Error\d+", regex=True, limit=10**6)),
        ("expression, words", Query(r"\brate \w+ limit\b", regex=True, limit=10**6)),
        ("expression, any beginning", Query(r"\w+42 \w+t\b", regex=True, limit=10**6)),
    ):
        source = query.text if query.regex else re.escape(query.text)
        pattern = re.compile(source.encode(), re.IGNORECASE if query.ignore_case else 0)
        hits = len(asyncio.run(store.grep(query)).hits)
        ours = seconds(lambda query=query: asyncio.run(store.grep(query)))
        plain = seconds(lambda p=pattern: [m.start() for body in bodies for m in p.finditer(body)])
        read = seconds(
            lambda p=pattern: [m.start() for path in paths for m in p.finditer(path.read_bytes())]
        )
        print(
            f"{name:34} {hits:6,} {ours:8.3f} {plain:8.3f} {ours / plain:6.1f}"
            f" {read:8.3f} {ours / read:6.1f}"
        )


async def large_body(folder: Path) -> None:
    """Print processor time and growth of peak memory for a body of 100 MB that arrives in chunks."""
    chunk = b"0123456789 abcdefghijklmnopqrstuvwxyz 0123456789 abcdefghijklmn\n" * 1_024

    async def body() -> AsyncIterator[bytes]:
        for _ in range(1_525):
            yield chunk
        yield b"needle"

    store = ArtifactStore(folder)
    await store.put("warm", origin="")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    before = time.process_time()
    ref = await store.put(body(), origin="")
    used = time.process_time() - before
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) / 1_024
    if sys.platform == "darwin":
        grown /= 1_024
    print(
        f"stored {ref.size / 1e6:.0f} MB: {used:.2f} s of processor time, peak memory +{grown:.1f} MB"
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(large_body(Path(folder) / "artifacts"))
        files = Path(folder) / "files"
        files.mkdir()
        make_files(files)
        search(files)


if __name__ == "__main__":
    main()
