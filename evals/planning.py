"""The plan of an eval: which records it owes, so that those it never gave are counted as missing."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from .errors import EvalError, ResultsDamaged
from .results import PLANNED, Key, Record, read_results


def write_plan(out: Path, blanks: Sequence[Record]) -> None:
    """Write down what is to be run, whole or not at all; more of the same suite may be added later.

    Raises `EvalError` when two samples have one name, or when what is planned in `out` is not part of it.
    """
    seen: set[Key] = set()
    for blank in blanks:
        if blank.key in seen:
            raise EvalError(
                f"two samples are {blank.key!r}: a fault of the suite, please report it"
            )
        seen.add(blank.key)
    lines = [blank.model_dump_json() for blank in blanks]
    target = out / PLANNED
    known = set(lines)
    for line in _lines(target):
        if line not in known:
            raise EvalError(
                f"{str(target)!r} plans other samples than this command, for example {_name(line)}: "
                "resume with the options that it was begun with, or choose another --out"
            )
    out.mkdir(parents=True, exist_ok=True)
    new = target.with_suffix(".new")
    new.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    new.replace(target)


def close_results(results: Path) -> tuple[set[Key], str]:
    """What results there are, missing ones left out, and what was dropped: a half-written last line."""
    dropped = _drop_half_line(results)
    try:
        records = read_results(results, planned=False).records
    except ResultsDamaged:
        if results.exists() and results.stat().st_size:
            raise
        return set(), dropped
    return {record.key for record in records if record.state != "missing"}, dropped


def _drop_half_line(results: Path) -> str:
    """Cut off what follows the last line break, unless it is a whole record; says what it was."""
    try:
        raw = results.read_bytes()
    except FileNotFoundError:
        return ""
    tail = raw.rpartition(b"\n")[2]
    if not tail:
        return ""
    try:
        Record.model_validate_json(tail)
    except ValidationError:
        kept = raw.count(b"\n")
        with results.open("r+b") as file:
            file.truncate(len(raw) - len(tail))
        words = tail[:80].decode(errors="replace")
        return f"line {kept + 1} of {str(results)!r} was half-written and is dropped: {words!r}"
    return ""


def _lines(target: Path) -> list[str]:
    try:
        return target.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []


def _name(line: str) -> str:
    try:
        record = Record.model_validate_json(line)
    except ValidationError:
        return repr(line[:80])
    return f"{record.sample!r} under {record.policy!r}"
