"""The terminal's table: one line a policy, and the words of a paired comparison."""

import math
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..comparing import ReadingComparison
from ..statistics import Difference, Verdict
from ..summary import ALL, Row, Summary


def print_summary(summary: Summary, console: Console) -> None:
    """Overall rates, one table a reading; scripted figures say that they are plumbing.

    `bad` counts invalid and missing samples, `kept` the share of tokens, `extra` the tokens to fetch.
    """
    overall = [row for row in summary.rows if row.family == ALL and row.trigger is None]
    for key in dict.fromkeys((row.reading, row.scripted) for row in overall):
        reading, scripted = key
        title = f"{reading} (scripted: plumbing, not behaviour)" if scripted else reading
        console.print(_table(title, [r for r in overall if (r.reading, r.scripted) == key]))
    if summary.broken_lines:
        console.print(f"{summary.broken_lines} lines of the results could not be read")


def _table(title: str, rows: Sequence[Row]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("policy", overflow="fold")
    for name in ("rate", "95 %", "passed", "bad", "kept", "extra"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        name = f"{row.policy} ({row.model})" if row.model else row.policy
        table.add_row(
            Text(name),
            f"{row.rate:.1%}",
            _borders(row),
            f"{row.passed}/{row.samples}",
            str(row.invalid + row.missing),
            _figure(row, "share_kept", ".0%"),
            _figure(row, "extra_tokens", ",.0f"),
        )
    return table


def _borders(row: Row) -> str:
    if row.upper_bound is not None:
        return f"at most {row.upper_bound:.1%}"
    if row.low is None or row.high is None:
        return "one cluster"
    return f"{row.low:.1%} to {row.high:.1%}"


def _figure(row: Row, name: str, form: str) -> str:
    return format(row.figures[name], form) if name in row.figures else ""


def print_comparison(comparisons: Sequence[ReadingComparison], console: Console) -> None:
    """The paired differences, overall and by family, each with what may be concluded."""
    for found in comparisons:
        console.print(
            Text(f"{found.reading}: {found.first_rate:.1%} against {found.second_rate:.1%}")
        )
        console.print(Text(f"  A - B {told(found.overall, found.overall.verdict)}"))
        if found.only_first or found.only_second:
            console.print(f"  without a pair: {found.only_first} in A, {found.only_second} in B")
        table = Table(box=None, pad_edge=False)
        for name in ("  family", "A - B, paired", "p (Holm)"):
            table.add_column(name, overflow="fold")
        for family in found.families:
            adjusted = "" if family.adjusted_p is None else f"{family.adjusted_p:.3g}"
            table.add_row(
                Text(f"  {family.family}"), told(family.difference, family.verdict), adjusted
            )
        console.print(table)


def told(difference: Difference, verdict: Verdict) -> str:
    """A difference with its interval and a verdict in words."""
    interval = difference.interval
    borders = "no interval, one cluster"
    if math.isfinite(interval.low):
        borders = f"{interval.low:+.1%} to {interval.high:+.1%}"
    words = {
        "first": "A is higher",
        "second": "B is higher",
        "cannot tell apart": "this sample cannot tell them apart",
    }[verdict]
    p_value = "" if difference.p_value is None else f", McNemar p {difference.p_value:.3g}"
    return (
        f"{interval.estimate:+.1%} ({borders}{p_value}; n {interval.samples}, "
        f"{interval.clusters} clusters): {words}"
    )
