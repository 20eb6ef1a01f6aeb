"""The HTML report: one file without scripts or outside addresses, for light and dark, narrow and wide."""

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from ..results import Results
from ..summary import ALL, Row, Summary
from .charts import Point, Rate, rate_bar, rate_rows, scatter
from .drilling import failed_samples, other_samples
from .ladder import recovery_ladder

_PLUMBING = (
    "Scripted: no language model took part. These figures say what the plumbing keeps, as a floor or a "
    "ceiling; they say nothing about how a model behaves and belong in no table beside a model's."
)


def is_control(policy: str) -> bool:
    """Whether a policy stands there to be compared with, not to be chosen."""
    return policy == "full" or policy.startswith(("head-only", "random="))


def render_page(results: Results, summary: Summary, title: str, folder: Path | None = None) -> str:
    """The whole page; all text from results is escaped. `folder` holds the runs that were kept."""
    scripted = [row for row in summary.rows if row.scripted]
    asked = [row for row in summary.rows if not row.scripted]
    parts = [f"<h1>{escape(title)}</h1>", _counts(results, summary)]
    if asked:
        parts += ["<h2>Models</h2>", *_sections(asked)]
    if scripted:
        parts += ["<h2>Plumbing</h2>", f'<p class="warn">{_PLUMBING}</p>', *_sections(scripted)]
    for scripted_ones in (False, True):
        own = [record for record in results.records if record.scripted == scripted_ones]
        parts.append(recovery_ladder(own, "Models" if not scripted_ones else "Plumbing"))
    failed = [r for r in results.records if r.success == 0 and not is_control(r.policy)]
    parts.append(failed_samples(failed, folder))
    gone = {id(record) for record in failed}
    parts.append(other_samples([r for r in results.records if id(r) not in gone], folder))
    style = Path(__file__).with_name("page.css").read_text()
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head>"
        f"<body><main>{''.join(parts)}</main></body></html>\n"
    )


def _counts(results: Results, summary: Summary) -> str:
    states = dict.fromkeys(("valid", "invalid", "missing"), 0)
    for record in results.records:
        states[record.state] += 1
    told = ", ".join(f"{number} {state}" for state, number in states.items())
    broken = f"; {summary.broken_lines} lines could not be read" if summary.broken_lines else ""
    return (
        f"<p>{summary.records} records: {told}{broken}. Invalid and missing ones count as failures. "
        "Intervals: 95 %, bootstrap over clusters.</p>"
    )


def _sections(rows: Sequence[Row]) -> list[str]:
    parts: list[str] = []
    for reading in dict.fromkeys(row.reading for row in rows):
        own = [row for row in rows if row.reading == reading]
        overall = [row for row in own if row.family == ALL and row.trigger is None]
        parts.append(f"<section><h3>{escape(reading.capitalize())}</h3>")
        parts.append(rate_rows([_rate(row) for row in overall]))
        points = [_point(row) for row in overall if "share_kept" in row.figures]
        if points:
            parts.append("<h4>Kept answers against kept tokens</h4>")
            parts.append(scatter(points, "tokens kept", f"answers {reading}"))
        parts += _tables(own)
        parts.append(_failures(overall))
        parts.append(_costs(overall))
        parts.append("</section>")
    return parts


def _name(row: Row) -> str:
    return f"{row.policy} ({row.model})" if row.model else row.policy


def _rate(row: Row) -> Rate:
    told = [
        _span(row, 1),
        f"{row.passed}/{row.samples}",
        f"{row.clusters} cluster{'s' * (row.clusters != 1)}",
    ]
    told += [f"{number} {state}" for state, number in _bad(row).items() if number]
    low, high = row.low, row.high
    if row.upper_bound is not None:
        low, high = 0.0, row.upper_bound
    if row.lower_bound is not None:
        low, high = row.lower_bound, 1.0
    return Rate(_name(row), row.rate, low, high, ", ".join(told), is_control(row.policy))


def _bad(row: Row) -> dict[str, int]:
    return {"invalid": row.invalid, "missing": row.missing}


def _span(row: Row, digits: int = 0) -> str:
    """The interval in words; a rate of 0 or 1 has a bound, as all draws of its bootstrap are alike."""
    if row.upper_bound is not None:
        return f"at most {row.upper_bound:.{digits}%}"
    if row.lower_bound is not None:
        return f"at least {row.lower_bound:.{digits}%}"
    if row.low is None or row.high is None:
        return "one cluster"
    return f"{row.low:.{digits}%} to {row.high:.{digits}%}"


def _point(row: Row) -> Point:
    return Point(_name(row), row.figures["share_kept"], row.rate, is_control(row.policy))


def _tables(rows: Sequence[Row]) -> list[str]:
    """Rates by policy (down) and family, trigger, or for each family by trigger (across)."""
    families = [row for row in rows if row.family != ALL and row.trigger is None]
    triggers = sorted(
        (row for row in rows if row.family == ALL and row.trigger is not None),
        key=lambda row: row.trigger or 0,
    )
    columns = list(dict.fromkeys(_share(row) for row in triggers))
    parts = [
        f"<h4>By family</h4>{_table(families, lambda row: row.family)}",
        f"<h4>By trigger or cut</h4>{_table(triggers, _share, columns)}",
    ]
    both = [row for row in rows if row.family != ALL and row.trigger is not None]
    if len(columns) > 1:
        parts.append("<h4>By family and trigger or cut</h4>")
        for family in dict.fromkeys(row.family for row in both):
            own = [row for row in both if row.family == family]
            table = _table(own, _share, columns)
            parts.append(
                f'<details class="fold"><summary>{escape(family)}</summary>{table}</details>'
            )
    return parts


def _share(row: Row) -> str:
    return f"{(row.trigger or 0) * 100:g} %"


def _table(
    rows: Sequence[Row], column_of: Callable[[Row], str], columns: Sequence[str] = ()
) -> str:
    """Rates by policy (down) and by what `column_of` says of a row (across)."""
    columns = columns or list(dict.fromkeys(column_of(row) for row in rows))
    cells = {(_name(row), column_of(row)): row for row in rows}
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(
        f"<tr><th>{escape(name)}</th>"
        + "".join(_cell(cells.get((name, column))) for column in columns)
        + "</tr>"
        for name in dict.fromkeys(_name(row) for row in rows)
    )
    return (
        f'<div class="scroll"><table class="rated"><thead><tr><th></th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cell(row: Row | None) -> str:
    if row is None:
        return "<td></td>"
    span = _span(row)
    return (
        f'<td title="{row.passed} of {row.samples}, {span}">{row.rate:.0%}{rate_bar(_rate(row))}'
        f"<small>{span}</small><small>n {row.samples}</small></td>"
    )


def _failures(rows: Sequence[Row]) -> str:
    """How often each kind of failure came up: a confident wrong answer is not an abstention."""
    names = list(dict.fromkeys(name for row in rows for name in row.failures))
    if not names:
        return ""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(
        f"<tr><th>{escape(_name(row))}</th>"
        + "".join(f"<td>{row.failures.get(name, 0)}</td>" for name in names)
        + "</tr>"
        for row in rows
    )
    return (
        '<h4>Kinds of failure, records</h4><div class="scroll"><table class="plain"><thead><tr>'
        f"<th></th>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _costs(rows: Sequence[Row]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row.figures))
    if not names:
        return ""
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in names)
    body = "".join(
        f"<tr><th>{escape(_name(row))}</th>"
        + "".join(
            f"<td>{row.figures[name]:,.2f}</td>" if name in row.figures else "<td></td>"
            for name in names
        )
        + "</tr>"
        for row in rows
    )
    return (
        '<h4>Cost, mean</h4><div class="scroll"><table class="plain"><thead><tr><th></th>'
        f"{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
