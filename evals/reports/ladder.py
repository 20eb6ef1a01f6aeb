"""The recovery ladder: what was there at once, what took one look back, two, more, and what was lost."""

from collections.abc import Sequence
from html import escape

from ..results import Record

_STEPS = ((0, "at once"), (1, "1 call"), (2, "2 calls"), (4, "3 or 4"))
_MORE, _LOST = "5 or more", "not recovered"


def recovery_ladder(records: Sequence[Record], title: str) -> str:
    """A table of shares by the number of calls that a recovery took; `""` when nothing looked back.

    Only readings that count calls are in it. Invalid and missing samples are not recovered.
    """
    groups: dict[str, list[Record]] = {}
    for record in records:
        if "extra_calls" in record.figures or record.state == "missing":
            name = f"{record.policy} ({record.model})" if record.model else record.policy
            groups.setdefault(f"{name}, {record.reading}", []).append(record)
    counted = {
        name: own
        for name, own in groups.items()
        if any("extra_calls" in record.figures for record in own)
    }
    if not any(r.figures.get("extra_calls") for own in counted.values() for r in own):
        return ""
    names = [name for _, name in _STEPS] + [_MORE, _LOST]
    head = "".join(f"<th>{name}</th>" for name in names)
    body = "".join(
        f"<tr><th>{escape(name)}</th>"
        + "".join(_cell(_share(own, step), len(own)) for step in names)
        + "</tr>"
        for name, own in counted.items()
    )
    return (
        f"<section><h2>Recovery ladder: {title.lower()}</h2>"
        "<p>Share of all samples by the calls that an answer took.</p>"
        f'<div class="scroll"><table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody>'
        "</table></div></section>"
    )


def _share(records: Sequence[Record], step: str) -> float:
    return sum(_step(record) == step for record in records) / len(records)


def _step(record: Record) -> str:
    if not record.success:
        return _LOST
    calls = record.figures.get("extra_calls", 0.0)
    return next((name for most, name in _STEPS if calls <= most), _MORE)


def _cell(share: float, samples: int) -> str:
    return f'<td style="--share:{share:.3f}" title="of {samples}">{share:.0%}</td>'
