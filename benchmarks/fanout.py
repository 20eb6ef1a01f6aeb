"""CPU and memory of K subagents at once, beside a bare aiohttp loop and deepagents.

    python benchmarks/fanout.py [--k 1 10 100 1000] [--repeat 3] [--deepagents PYTHON] [--check]

Each subagent makes three tool calls with 2 KB results; each reply takes 100 ms, from a server on loopback in
a process of its own. Every measurement is a fresh process; the arms take turns. deepagents runs in an
environment of its own, made once by

    python -m venv /tmp/deepagents && /tmp/deepagents/bin/pip install deepagents langchain-openai

and named by `--deepagents /tmp/deepagents/bin/python`; without it that arm is left out. With `--check` the
exit code is 1 when a run does not complete or a ratio is missed: at most a fifth of deepagents' CPU at
K = 100 and 1000, at most half of its peak memory at K = 1000.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.chat_server import serve_in_process

HERE = Path(__file__).parent
TIMEOUT = 600
"""Seconds of one measurement."""


def measured(python: str, arm: str, count: int, url: str) -> dict:
    """One measurement in a fresh process."""
    command = [python, str(HERE / "fanout_arms.py"), arm, str(count), url]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=True)
        return json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        return {"ok": False, "text": f"not finished in {TIMEOUT} s"}
    except subprocess.CalledProcessError as error:
        return {"ok": False, "text": error.stderr.strip()[-300:]}


def table(count: int, results: dict[str, list[dict]]) -> dict[str, dict[str, float]]:
    """Print one number of subagents; medians by arm."""
    print(f"\nK = {count}, median of {len(next(iter(results.values())))}, a subagent")
    print(f"  {'':12}{'CPU ms':>9}{'x bare':>8}{'peak MB':>9}{'grown MB':>10}{'wall s':>8}")
    medians: dict[str, dict[str, float]] = {}
    for arm, lines in results.items():
        good = [line for line in lines if line["ok"]]
        if len(good) < len(lines):
            print(f"  {arm:12}{len(lines) - len(good)} of {len(lines)} failed: {lines[-1]}")
        if not good:
            continue
        names = ("cpu_ms", "peak_mb", "grow_mb", "wall_s")
        medians[arm] = {name: statistics.median(line[name] for line in good) for name in names}
        own = medians[arm]
        ratio = own["cpu_ms"] / medians["bare"]["cpu_ms"] if "bare" in medians else 0
        print(
            f"  {arm:12}{own['cpu_ms']:9.2f}{ratio:8.1f}{own['peak_mb']:9.0f}{own['grow_mb']:10.0f}"
            f"{own['wall_s']:8.1f}"
        )
    return medians


def missed(count: int, medians: dict[str, dict[str, float]]) -> list[str]:
    """Which bounds are missed at this K."""
    if "deepagents" not in medians or "undrift" not in medians:
        return []
    own, other = medians["undrift"], medians["deepagents"]
    cpu, peak = own["cpu_ms"] / other["cpu_ms"], own["peak_mb"] / other["peak_mb"]
    print(f"  undrift / deepagents: CPU {cpu:.3f}, peak memory {peak:.2f}")
    faults = [f"K={count}: CPU {cpu:.3f} of deepagents'"] if count >= 100 and cpu > 0.2 else []
    return faults + (
        [f"K={count}: peak {peak:.2f} of deepagents'"] if count >= 1000 and peak > 0.5 else []
    )


def main() -> None:
    """Measure every K and arm in turn."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--k", type=int, nargs="+", default=[1, 10, 100, 1000])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--deepagents", help="python of an environment with deepagents")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    arms = {"bare": sys.executable, "undrift": sys.executable}
    if options.deepagents:
        arms["deepagents"] = options.deepagents
    else:
        print("deepagents is left out: name its environment with --deepagents (see --help)")
    faults: list[str] = []
    with serve_in_process("support.fanout_script:fanout") as url:
        for count in options.k:
            results: dict[str, list[dict]] = {arm: [] for arm in arms}
            for _ in range(options.repeat):
                for arm, python in arms.items():
                    results[arm].append(measured(python, arm, count, url))
            medians = table(count, results)
            faults += missed(count, medians)
            faults += [
                f"K={count}: {arm}" for arm in results if not all(r["ok"] for r in results[arm])
            ]
    if faults:
        print("\nmissed:", "; ".join(faults))
        sys.exit(1 if options.check else 0)


if __name__ == "__main__":
    main()
