"""Evals: what survives forced compaction, measured.

The one idea: a sample has a name, every arm answers the same samples, and only pairs are compared. It
replays recorded runs, recovers hidden needles and measures goal drift. Start reading at `results.py`,
then `arms.py`, `replay/measure.py`, `needles/running.py` and `goal_drift/running.py`. Names are loaded
when first used, so that the command line can list the commands at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .comparing import FamilyDifference, ReadingComparison, compare
    from .errors import EvalError, FamilyUnknown, ResultsDamaged, StatisticsError, TrajectoryError
    from .results import BrokenLine, Record, Results, append_results, read_results
    from .statistics import (
        Difference,
        Interval,
        Pair,
        cluster_interval,
        holm,
        mcnemar,
        paired_difference,
        pass_all,
        pass_at,
        seed_of,
        upper_bound_of_none,
        wilson,
    )
    from .summary import Row, Summary, summarise

_HOMES = {
    "BrokenLine": "results",
    "Difference": "statistics",
    "EvalError": "errors",
    "FamilyDifference": "comparing",
    "FamilyUnknown": "errors",
    "Interval": "statistics",
    "Pair": "statistics",
    "ReadingComparison": "comparing",
    "Record": "results",
    "Results": "results",
    "ResultsDamaged": "errors",
    "Row": "summary",
    "StatisticsError": "errors",
    "Summary": "summary",
    "TrajectoryError": "errors",
    "append_results": "results",
    "cluster_interval": "statistics",
    "compare": "comparing",
    "holm": "statistics",
    "mcnemar": "statistics",
    "paired_difference": "statistics",
    "pass_all": "statistics",
    "pass_at": "statistics",
    "read_results": "results",
    "seed_of": "statistics",
    "summarise": "summary",
    "upper_bound_of_none": "statistics",
    "wilson": "statistics",
}

__all__ = [
    "BrokenLine",
    "Difference",
    "EvalError",
    "FamilyDifference",
    "FamilyUnknown",
    "Interval",
    "Pair",
    "ReadingComparison",
    "Record",
    "Results",
    "ResultsDamaged",
    "Row",
    "StatisticsError",
    "Summary",
    "TrajectoryError",
    "append_results",
    "cluster_interval",
    "compare",
    "holm",
    "mcnemar",
    "paired_difference",
    "pass_all",
    "pass_at",
    "read_results",
    "seed_of",
    "summarise",
    "upper_bound_of_none",
    "wilson",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{home}", __name__), name)
