"""What the command prints of a goal-drift run: rates by family, drift against the full history, controls."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..arms import FULL, HEAD_ONLY
from ..errors import ControlPassed
from ..results import Record
from ..statistics import Pair, paired_difference, upper_bound_of_none, wilson
from .plan import is_control


def print_families(records: Sequence[Record], console: Console) -> None:
    """Failures by family, policy and arm, with a 95 % interval, or an upper bound where none failed."""
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record.family, record.model, record.policy), []).append(record)
    table = Table(
        title="failures by family", title_justify="left", box=None, pad_edge=False, highlight=False
    )
    for name in ("family", "answered by", "arm", "failed", "95 %", "as"):
        table.add_column(name, overflow="fold", no_wrap=name in ("failed", "95 %"))
    for (family, model, policy), found in sorted(groups.items()):
        failed = sum(not record.success for record in found)
        kinds = sorted({record.failure or record.state for record in found if not record.success})
        shown = f"{policy} (control)" if is_control(found[0]) else policy
        cells = (family, model, shown, f"{failed}/{len(found)}", _borders(failed, len(found)))
        table.add_row(*map(Text, (*cells, ", ".join(kinds))))
    console.print(table)


def print_drift(records: Sequence[Record], console: Console) -> None:
    """Each arm's drift: how much more often it fails than the full history, on the same samples."""
    full = {r.sample: r.success for r in records if r.policy.split(" ")[0] == FULL}
    arms = [
        a
        for a in dict.fromkeys(r.policy for r in records)
        if a.split(" ")[0] not in (FULL, HEAD_ONLY)
    ]
    table = Table(
        title="drift: failures more than with the full history, paired",
        title_justify="left",
        box=None,
        pad_edge=False,
    )
    for name in ("arm", "signed", "95 %", "clipped", "pairs", "p"):
        table.add_column(name, overflow="fold", no_wrap=name != "arm")
    for arm in arms:
        pairs = [
            Pair(r.cluster, full[r.sample], r.success)
            for r in records
            if r.policy == arm and r.sample in full
        ]
        if not pairs:
            continue
        found = paired_difference(pairs, f"drift {arm}")
        clipped = sum(max(0.0, p.first - p.second) for p in pairs) / len(pairs)
        between = found.interval
        borders = (
            f"{between.low:+.1%} to {between.high:+.1%}" if between.clusters > 1 else "one cluster"
        )
        p_value = "" if found.p_value is None else f"{found.p_value:.3g}"
        cells = (
            arm,
            f"{between.estimate:+.1%}",
            borders,
            f"{clipped:.1%}",
            str(len(pairs)),
            p_value,
        )
        table.add_row(*map(Text, cells))
    console.print(table)


def print_all(records: Sequence[Record], console: Console) -> None:
    """Families, drift and counts.

    Raises `ControlPassed` when a policy passed under an arm that takes away what it needs.
    """
    print_families(records, console)
    print_drift(records, console)
    console.print(counted(records), soft_wrap=True, highlight=False)
    if passed := [record for record in records if record.success and is_control(record)]:
        raise ControlPassed(
            f"{len(passed)} samples were passed by a negative control, for example {passed[0].sample!r} "
            f"under {passed[0].policy!r}: they test nothing, so no figure counts"
        )


def counted(records: Sequence[Record]) -> str:
    """How many samples, records, invalid records and controls there are."""
    controls = sum(map(is_control, records))
    bad = sum(record.state != "valid" for record in records)
    passed = sum(record.success > 0 and is_control(record) for record in records)
    return (
        f"{len({r.sample for r in records})} samples, {len(records)} records, {bad} invalid or missing; "
        f"controls: {controls - passed} of {controls} failed, as they must"
    )


def _borders(failed: int, samples: int) -> str:
    if not failed:
        return f"at most {upper_bound_of_none(samples):.1%}"
    interval = wilson(failed, samples)
    return f"{interval.low:.1%} to {interval.high:.1%}"
