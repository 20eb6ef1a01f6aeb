"""The summary of an eval: a rate with its interval for each policy, family and trigger, and for both."""

import json
import math
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from pydantic import BaseModel

from .results import FORMAT, Record, Results
from .statistics import cluster_interval, upper_bound_of_none

ALL = "all"
"""Family of a row over all families."""


class Row(BaseModel):
    """One rate. Invalid and missing samples are in it, as failures."""

    reading: str
    policy: str
    model: str
    family: str
    """A family, or `all`."""
    trigger: float | None
    """Share of the window, or of the run; `None` over all. A row with family and trigger is of both."""
    scripted: bool
    samples: int
    clusters: int
    passed: int
    invalid: int
    missing: int
    rate: float
    low: float | None
    """Lower border of the 95 % interval, `None` when one cluster says nothing about the spread."""
    high: float | None
    upper_bound: float | None
    """Largest rate that clusters without one success leave possible; `None` unless the rate is 0."""
    lower_bound: float | None
    """Smallest rate that clusters without one failure leave possible; `None` unless the rate is 1."""
    figures: dict[str, float]
    """Means of the records' further numbers, over those that have them."""
    failures: dict[str, int]
    """How often each kind of failure came up."""


class Summary(BaseModel):
    """All rates of a results file."""

    format: int = FORMAT
    records: int
    broken_lines: int
    rows: list[Row]


def summarise(results: Results) -> Summary:
    """Rates over all, by family, by trigger, and by family and trigger."""
    groups: dict[tuple[str, str, str, bool, str, float | None], list[Record]] = {}
    for record in results.records:
        head = (record.reading, record.policy, record.model, record.scripted)
        for family, trigger in product((ALL, record.family), (None, record.trigger)):
            groups.setdefault((*head, family, trigger), []).append(record)
    rows = [_row(key, records) for key, records in groups.items()]
    return Summary(records=len(results.records), broken_lines=len(results.broken), rows=rows)


def _row(key: tuple[str, str, str, bool, str, float | None], records: Sequence[Record]) -> Row:
    reading, policy, model, scripted, family, trigger = key
    clusters: dict[str, list[float]] = {}
    for record in records:
        clusters.setdefault(record.cluster, []).append(record.success)
    interval = cluster_interval(clusters, "/".join(map(str, key)))
    failures: dict[str, int] = {}
    for record in records:
        if record.failure:
            failures[record.failure] = failures.get(record.failure, 0) + 1
    bound = upper_bound_of_none(interval.clusters)
    return Row(
        reading=reading,
        policy=policy,
        model=model,
        family=family,
        trigger=trigger,
        scripted=scripted,
        samples=interval.samples,
        clusters=interval.clusters,
        passed=round(sum(record.success for record in records)),
        invalid=sum(record.state == "invalid" for record in records),
        missing=sum(record.state == "missing" for record in records),
        rate=interval.estimate,
        low=interval.low if math.isfinite(interval.low) else None,
        high=interval.high if math.isfinite(interval.high) else None,
        upper_bound=bound if interval.estimate == 0 else None,
        lower_bound=1 - bound if interval.estimate == 1 else None,
        figures=_means(records),
        failures=failures,
    )


def _means(records: Sequence[Record]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for record in records:
        for name, value in record.figures.items():
            values.setdefault(name, []).append(value)
    return {name: math.fsum(part) / len(part) for name, part in values.items()}


def write_summary(path: Path, summary: Summary) -> None:
    """Write the summary as indented JSON."""
    path.write_text(json.dumps(summary.model_dump(), indent=1, ensure_ascii=False) + "\n")
