"""Charts as inline SVG: colours come from the page's variables, so that they follow light and dark."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True)
class Rate:
    """One row of a chart of rates."""

    label: str
    rate: float
    """From 0 to 1."""
    low: float | None
    """Border of the interval, `None` for none known."""
    high: float | None
    note: str
    """What stands behind the rate: n, invalid, bound."""
    control: bool = False
    """Drawn paler: a control, not a contender."""


@dataclass(frozen=True, slots=True)
class Point:
    """One mark in a chart of two measures, both from 0 to 1."""

    label: str
    across: float
    up: float
    control: bool = False


def rate_rows(rows: Sequence[Rate]) -> str:
    """Rates as bars with their intervals, one HTML row each; the row folds on a narrow screen."""
    return '<div class="rates">' + "".join(_rate_row(row) for row in rows) + "</div>"


def _rate_row(row: Rate) -> str:
    return (
        f'<div class="rate"><span class="label">{escape(row.label)}</span>{rate_bar(row)}'
        f'<span class="value">{row.rate:.1%}</span><span class="note">{escape(row.note)}</span></div>'
    )


def rate_bar(row: Rate) -> str:
    """One rate as a bar with its interval, as wide as the place it is put in."""
    borders = ""
    if row.low is not None and row.high is not None:
        low, high = row.low * 100, row.high * 100
        borders = (
            f'<path class="whisker" d="M{low:.2f} 6H{high:.2f}M{low:.2f} 3V9M{high:.2f} 3V9" '
            'vector-effect="non-scaling-stroke"/>'
        )
    kind = "bar control" if row.control else "bar"
    return (
        '<svg viewBox="0 0 100 12" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(row.label)} {row.rate:.1%}">'
        f'<rect class="track" width="100" height="12"/>'
        f'<rect class="{kind}" width="{row.rate * 100:.2f}" height="12"/>{borders}</svg>'
    )


_LEFT, _TOP, _WIDTH, _HEIGHT = 64, 12, 560, 300


def scatter(points: Sequence[Point], across: str, up: str) -> str:
    """Marks with numbers, explained in a list below; both axes run from 0 to 100 %."""
    grid = "".join(_grid_line(step / 4) for step in range(5))
    marks = "".join(_mark(number, point) for number, point in enumerate(points, start=1))
    legend = "".join(
        f"<li>{escape(p.label)} <span>{p.across:.0%} / {p.up:.0%}</span></li>" for p in points
    )
    width, height = _LEFT + _WIDTH + 26, _TOP + _HEIGHT + 44
    return (
        f'<div class="scroll"><svg class="scatter" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(up)} against {escape(across)}">{grid}{marks}'
        f'<text class="axis" x="{_LEFT + _WIDTH / 2}" y="{height - 6}" text-anchor="middle">'
        f"{escape(across)}</text>"
        f'<text class="axis" transform="translate(12 {_TOP + _HEIGHT / 2}) rotate(-90)" '
        f'text-anchor="middle">{escape(up)}</text></svg></div>'
        f'<ol class="legend">{legend}</ol>'
    )


def _grid_line(share: float) -> str:
    x, y = _LEFT + share * _WIDTH, _TOP + (1 - share) * _HEIGHT
    return (
        f'<path class="grid" d="M{x:.1f} {_TOP}V{_TOP + _HEIGHT}M{_LEFT} {y:.1f}H{_LEFT + _WIDTH}"/>'
        f'<text class="tick" x="{x:.1f}" y="{_TOP + _HEIGHT + 16}" text-anchor="middle">{share:.0%}</text>'
        f'<text class="tick" x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{share:.0%}</text>'
    )


def _mark(number: int, point: Point) -> str:
    x, y = _LEFT + point.across * _WIDTH, _TOP + (1 - point.up) * _HEIGHT
    kind = "mark control" if point.control else "mark"
    return (
        f'<g class="{kind}"><title>{escape(point.label)}</title><circle cx="{x:.1f}" cy="{y:.1f}" r="8"/>'
        f'<text x="{x:.1f}" y="{y + 3.5:.1f}" text-anchor="middle">{number}</text></g>'
    )
