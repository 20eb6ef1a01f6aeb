"""The HTML report: one file without scripts or outside addresses, for light and dark, narrow and wide."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from ..results import Results
from ..summary import ALL, Row, Summary
from .charts import Point, Rate, rate_rows, scatter
from .drilling import failed_samples
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
        parts.append(_table("By family", own, "family"))
        parts.append(_table("By trigger or cut", own, "trigger"))
        parts.append(_failures(overall))
        parts.append(_costs(overall))
        parts.append("</section>")
    return parts


def _name(row: Row) -> str:
    return f"{row.policy} ({row.model})" if row.model else row.policy


def _rate(row: Row) -> Rate:
    note = f"{row.passed}/{row.samples}, {row.clusters} clusters"
    if row.invalid or row.missing:
        note += f", {row.invalid} invalid, {row.missing} missing"
    if row.upper_bound is not None:
        note += f", at most {row.upper_bound:.1%}"
    return Rate(_name(row), row.rate, row.low, row.high, note, is_control(row.policy))


def _point(row: Row) -> Point:
    return Point(_name(row), row.figures["share_kept"], row.rate, is_control(row.policy))


def _table(title: str, rows: Sequence[Row], by: str) -> str:
    """Rates by policy (down) and family or trigger (across)."""
    chosen = [r for r in rows if (r.family != ALL if by == "family" else r.trigger is not None)]
    columns = list(dict.fromkeys(str(getattr(row, by)) for row in chosen))
    if not columns:
        return ""
    cells = {(_name(row), str(getattr(row, by))): row for row in chosen}
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(
        f"<tr><th>{escape(name)}</th>"
        + "".join(_cell(cells.get((name, column))) for column in columns)
        + "</tr>"
        for name in dict.fromkeys(_name(row) for row in chosen)
    )
    return (
        f'<h4>{title}</h4><div class="scroll"><table><thead><tr><th></th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cell(row: Row | None) -> str:
    if row is None:
        return "<td></td>"
    span = (
        f"{row.low:.0%} to {row.high:.0%}"
        if row.low is not None and row.high is not None
        else "one cluster"
    )
    if row.upper_bound is not None:
        span = f"at most {row.upper_bound:.0%}"
    return (
        f'<td style="--share:{row.rate:.3f}" title="{row.passed} of {row.samples}, {span}">'
        f"{row.rate:.0%}<small>{span}</small><small>n {row.samples}</small></td>"
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
