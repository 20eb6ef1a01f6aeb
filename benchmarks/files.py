"""What the filesystem costs: a search beside Python's `re`, and a large body in a stream.

    python benchmarks/files.py

Prints ratios within one run; the machine's own speed cancels out. The files are made here from
a fixed seed: 3,000 files and 17 MB of words, with some accents, in 60 folders.

The aim is a search under 4 times the processor time of `re` over the same bytes. Like is compared with
like: a `DiskStore` with `re` that reads the files too, a `MemoryStore` with `re` over bytes in memory.
The last column is the harder comparison that no program which opens files can win: the search on disk
beside `re` over bytes that are in memory already.
"""

import asyncio
import random
import re
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from filesystem import ArtifactStore, DiskStore, FileStore, MemoryStore, Query

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


def seconds(*works: Callable[[], object]) -> list[float]:
    """Median processor time of each of `works`, in turn over the rounds, children included."""

    def used() -> float:
        usages = (
            resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        return sum(usage.ru_utime + usage.ru_stime for usage in usages)

    taken: list[list[float]] = [[] for _ in works]
    for _ in range(ROUNDS):
        for work, times in zip(works, taken, strict=True):
            before = used()
            work()
            times.append(used() - before)
    return [statistics.median(times) for times in taken]


QUERIES = (
    ("plain text, rare", Query("Error42 timeout", limit=10**6)),
    ("plain text, frequent", Query("timeout", limit=10**6)),
    ("plain text, accents", Query("Zürich", limit=10**6)),
    ("plain text, any case", Query("error42", ignore_case=True, limit=10**6)),
    ("expression, fixed beginning", Query(r"Error\d+", regex=True, limit=10**6)),
    ("expression, words", Query(r"\brate \w+ limit\b", regex=True, limit=10**6)),
    ("expression, any beginning", Query(r"\w+42 \w+t\b", regex=True, limit=10**6)),
    ("expression, nothing fixed", Query(r"\b[a-z]{10} [A-Z]\w+$", regex=True, limit=10**6)),
)


def search(folder: Path) -> None:
    """Print grep's processor time over that of Python's `re` over the same bytes."""
    on_disk, in_memory = DiskStore(folder), MemoryStore()
    paths = sorted(folder.rglob("*.md"))
    bodies = [path.read_bytes() for path in paths]
    for path, body in zip(paths, bodies, strict=True):
        asyncio.run(in_memory.write(str(path.relative_to(folder)), body))
    print(f"{len(bodies):,} files, {sum(map(len, bodies)) / 1e6:.1f} MB; seconds of processor time")
    print(f"{'':29}{'':>6} | {'on disk, re reads too':^23} | {'in memory':^23} | disk over")
    columns = f"{'grep':>7} {'re':>7} {'ratio':>7}"
    print(f"{'search':29}{'hits':>6} | {columns} | {columns} | re in memory")
    for name, query in QUERIES:
        source = query.text if query.regex else re.escape(query.text)
        flags = re.MULTILINE | (re.IGNORECASE if query.ignore_case else 0)
        pattern = re.compile(source.encode(), flags)

        def grep(store: FileStore, query: Query = query) -> int:
            return len(asyncio.run(store.grep(query)).hits)

        def found(read: Callable[[], Iterable[bytes]], pattern: re.Pattern[bytes] = pattern) -> int:
            return sum(1 for body in read() for _ in pattern.finditer(body))

        disk, disk_re, memory, memory_re = seconds(
            lambda: grep(on_disk),
            lambda: found(lambda: (path.read_bytes() for path in paths)),
            lambda: grep(in_memory),
            lambda: found(lambda: bodies),
        )
        print(
            f"{name:29}{grep(on_disk):6,} | {disk:7.3f} {disk_re:7.3f} {disk / disk_re:7.1f} | "
            f"{memory:7.3f} {memory_re:7.3f} {memory / memory_re:7.1f} | {disk / memory_re:7.1f}"
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
