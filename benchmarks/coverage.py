"""How many of a dossier's values a report states, and which outdated ones it repeats.

Reports write one value in many ways ("$142M", "USD 142 million"), so both sides are brought to one
spelling before they are compared. Citation markers and places ("[14]", "lines 14-20") are taken out
first: a page number must not count as a value.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

Checkpoint = Mapping[str, Any]
"""`{"id": ..., "values": [str, ...], "stale": [str, ...]}`; other keys are ignored."""

_PLACES = re.compile(r"\[\d+(?:,\s*\d+)*\]|\b(?:lines?|pages?)\s+\d+(?:\s*[-–]\s*\d+)?", re.I)
_SPELLINGS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"[*_`|\\]+"), " "),
    (re.compile(r"[\u2010-\u2015\u2212]"), "-"),
    (re.compile(r"[°º˚]"), ""),
    (re.compile(r"\$|\b(?:USD|US dollars?|dollars?)(?![a-z])", re.I), " "),
    (re.compile(r"(?<=\d)[,'\u2019\u00a0\u202f](?=\d{3}(?!\d))"), ""),
    (re.compile(r"(?<=\d)\s*(?:millions?|mn|m)\b", re.I), "M"),
    (re.compile(r"(?<=\d)\s*(?:billions?|bn)\b", re.I), "B"),
    (re.compile(r"(?<=\d)\s*(?:percent|per cent|%)", re.I), "%"),
    (re.compile(r"(?<=[^\W\d])-(?=[^\W\d])"), " "),
    (re.compile(r"\s+"), " "),
)


def normalise(text: str) -> str:
    """One spelling for numbers, units, currency and dashes; white space becomes single spaces."""
    for pattern, spelling in _SPELLINGS:
        text = pattern.sub(spelling, text)
    return text.strip()


def states(report: str, value: str) -> bool:
    """True when the normalised `report` states `value`: whole, not as a part of another number."""
    value = normalise(value)
    words = r"\s?".join(re.escape(part) for part in re.findall(r"[\d.,]+|[^\d\s]+", value))
    # "4.7.2" stands in "v4.7.2", but "14" neither in "214", "1.14", "14.2", "14%" nor in "14M".
    before = r"(?<![\dA-UW-Za-uw-z])(?<!\d[.,])"
    after = r"(?![\d%MBK]|[.,]\d)" if value[-1].isdigit() else r"(?!\w)"
    return re.search(before + words + after, report, re.I) is not None


def coverage(
    report_text: str, checkpoints: Sequence[Checkpoint]
) -> tuple[float, list[str], list[str]]:
    """Score a report against checkpoints: (share, missing, stale_found).

    `share` is the part of all values that the report states, 0 to 1; `missing` lists the others and
    `stale_found` the outdated values it states, each as "checkpoint: value". Raises `ValueError` when
    the checkpoints hold no value.
    """
    report = normalise(_PLACES.sub(" ", report_text))
    values = [(point["id"], value) for point in checkpoints for value in point["values"]]
    stale = [(point["id"], value) for point in checkpoints for value in point.get("stale", ())]
    if not values:
        raise ValueError("the checkpoints hold no value to look for")
    missing = [f"{name}: {value}" for name, value in values if not states(report, value)]
    found = [f"{name}: {value}" for name, value in stale if states(report, value)]
    return 1 - len(missing) / len(values), missing, found
