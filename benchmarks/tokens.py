"""Token counts without a vocabulary beside the exact ones, per class of text, and how fast they are.

    python benchmarks/tokens.py

Exact means o200k, from the extra `tokens`. The texts are those of `tests/support/prose.py`, and, where the
data folder is, documents and recorded tool results of it. The weights of the estimate were fitted on other
texts than those of `prose.py`; parts of the data folder were among them.
"""

import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.prose import texts

from memory import EstimateCounter, VocabularyCounter, best_counter

LEAST = 20_000_000
"""Characters that are counted for the speed."""


def data_folder() -> Path:
    """Recorded runs and research sets."""
    named = os.environ.get("UNDRIFT_TEST_DATA")
    return Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"


def recorded() -> Iterator[tuple[str, str]]:
    """Class and text of the data folder, nothing where it is absent."""
    folder = data_folder()
    for name in ("hotpotqa-100", "clapnq-dev"):
        path = folder / "research" / name / "corpus.jsonl"
        if path.is_file():
            yield f"data: {name}", path.read_text()[:400_000]
    results: list[str] = []
    for path in sorted(folder.glob("trajectories/mini-swe-agent/**/*.traj.json"))[:4]:
        messages = json.loads(path.read_text())["messages"]
        results += [m["content"] for m in messages if m["role"] == "tool" and m["content"]]
    if results:
        yield "data: tool results", "\n".join(results)[:400_000]


def speed(count: Callable[[str], int], text: str) -> float:
    """Megabytes a second of CPU time, the best of three."""
    times: list[float] = []
    for _ in range(3):
        started = time.process_time()
        count(text)
        times.append(time.process_time() - started)
    return len(text.encode()) / 1e6 / min(times)


def main() -> None:
    """Print the table."""
    exact, estimate = VocabularyCounter(), EstimateCounter()
    print(f"Python {platform.python_version()} on {platform.machine()}")
    if not best_counter().exact:
        print(
            "The exact counter is absent: pip install 'undrift[tokens]'. Nothing to compare with."
        )
        return
    print(f"{'class':20} {'characters':>10} {'o200k':>8} {'estimate':>9} {'off':>7} {'chars/4':>8}")
    worst = 0.0
    for name, text in [*texts().items(), *recorded()]:
        counted, about = exact.count(text), estimate.count(text)
        off, naive = about / counted - 1, len(text) / 4 / counted - 1
        worst = max(worst, abs(off))
        print(f"{name:20} {len(text):>10,} {counted:>8,} {about:>9,} {off:>+7.1%} {naive:>+8.1%}")
    print(f"farthest off: {worst:.1%}")
    for name in ("English", "Japanese", "base64"):
        text = texts()[name]
        long = text * (LEAST // len(text))
        print(f"speed on {name}: estimate {speed(estimate.count, long):.0f} MB/s of CPU time")


if __name__ == "__main__":
    main()
