"""A task of 60 steps with each mechanism switched off in turn: which arms finish, and why the others do not.

    python benchmarks/sixty_steps.py

Offload, compaction, recitation, delegation and looking back, in a window of 200,000 tokens, through the
real coordinator and loop. The model is a script that is blind: a pure function of each request. It acts on
the last 8,000 characters of a request in the first table, on all of it in the second: what fails in the
first alone fails by that assumption about attention. `tests/support/sixty_steps.py` describes the task.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.sixty_steps import ATTENTION, arms, run_arm

COLUMNS = (
    f"{'':20}{'finished':>9}{'seals':>6}{'turns':>6}{'M tokens':>9}{'MB not':>8}{'compac-':>8}{'goal':>7}"
    f"\n{'':20}{'':9}{'':6}{'':6}{'sent':>9}{'cached':>8}{'tions':>8}{'near':>7}  why not"
)


def main() -> None:
    """Print both tables."""
    for attention in (ATTENTION, None):
        reads = f"the last {attention:,} characters of" if attention else "all of"
        print(f"\nThe policy heeds {reads} a request\n{COLUMNS}")
        for arm in arms(attention):
            ended = run_arm(arm)
            print(
                f"{arm.name:20}{'yes' if ended.finished else 'no':>9}{ended.steps:6}{ended.turns:6}"
                f"{ended.tokens / 1e6:9.2f}{ended.uncached / 1e6:8.2f}{ended.compactions:8}"
                f"{ended.heeded:7.0%}  {ended.why}",
                flush=True,
            )


if __name__ == "__main__":
    main()
