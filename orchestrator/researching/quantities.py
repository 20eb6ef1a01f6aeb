"""Numbers as people write them, brought to keys that can be compared.

One written number can be read in several ways ("1.950" is 1.95 or 1,950; "10 m" is ten metres or ten
million), so a number has readings, and it occurs in a text when one of them does. Signs do not count:
a hyphen before a digit is a minus as often as a dash.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from typing import Literal

Kind = Literal["number", "year", "quarter", "date", "version"]

_WORD_SCALES = {
    "thousand": 3, "tsd": 3, "tausend": 3, "lakh": 5, "million": 6, "millions": 6, "millionen": 6,
    "mn": 6, "mio": 6, "mln": 6, "crore": 7, "billion": 9, "billions": 9, "bn": 9, "mrd": 9,
    "milliarden": 9, "milliard": 9, "milliards": 9, "trillion": 12, "trillions": 12, "trn": 12, "tn": 12,
}  # fmt: skip
_LETTER_SCALES = {"k": 3, "m": 6, "b": 9, "t": 12}
_SIGN_SCALES = {"万": 4, "萬": 4, "만": 4, "亿": 8, "億": 8, "억": 8}
_CLEAR_LETTERS = frozenset("kKMB")  # the others are metres, bits or tonnes as often
_CURRENCIES = {
    "$": "USD", "US$": "USD", "usd": "USD", "dollar": "USD", "dollars": "USD", "€": "EUR", "eur": "EUR",
    "euro": "EUR", "euros": "EUR", "£": "GBP", "gbp": "GBP", "¥": "JPY", "jpy": "JPY", "chf": "CHF",
    "cny": "CNY", "inr": "INR", "₹": "INR", "₩": "KRW", "krw": "KRW",
}  # fmt: skip
_MONEY = r"US\$|[$€£¥₹₩]|(?i:USD|EUR|GBP|JPY|CHF|CNY|INR|KRW)"
_PERCENT = r"%|٪|(?i:per ?cent\b|percentage\b|pct\b|prozent\b|pour ?cent\b|pp\b)"
_WORDED = "|".join(sorted(_WORD_SCALES, key=len, reverse=True))
_NUMBER = re.compile(
    rf"""
    (?P<date>(?<!\d)(?:(?P<y>\d{{4}})(?P<s>[-/.])(?P<m>\d{{1,2}})(?P=s)(?P<d>\d{{1,2}})
                     | (?P<a>\d{{1,2}})(?P<t>[-/.])(?P<b>\d{{1,2}})(?P=t)(?P<c>\d{{4}}))(?!\d))
    | (?P<quarter>\b(?:[QqHh][1-4]|[1-4][QqHh])(?=\b|\d{{2}}))
    | \b(?:FY|fy)\ ?'?(?P<fiscal>\d{{4}}|\d{{2}})\b
    | (?P<version>(?<![\d.])\d+(?:\.\d+){{2,}})
    | (?:(?P<money>{_MONEY})\ ?)?
      (?P<digits>(?<!\d)\d{{1,3}}(?:[ ]\d{{3}})+(?!\d)(?:[.,]\d+)?(?![.,]?\d) | \d+(?:[.,'’]\d+)*)
      (?:\ ?(?P<sign>[{"".join(_SIGN_SCALES)}])
        | [ -]?(?P<word>(?i:{_WORDED}))(?![^\W_])\.?
        | (?:(?P<letter>[kKmMbBtT])|\ (?P<apart>[KMBm]))(?![^\W_]|['’]))?
      (?:[ -]?(?P<percent>{_PERCENT}))?
      (?:\ ?(?P<after>{_MONEY}|(?i:dollars?|euros?)\b))?
    """,
    re.X,
)
_RANGE = re.compile(r"\s*(?:[-–—/~]|to|and|or|bis|und|à|et)\s*", re.I)
_LOOSE = re.compile(
    rf"{_PERCENT}|\b(?:{_WORDED}|thousands)\b|(?:{_MONEY})\ ?(?:k|m|bn)\b|\b[km](?:USD|EUR|GBP)\b|['’]000"
    rf"|[{''.join(_SIGN_SCALES)}]",
    re.I,
)
_SPOKEN = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15,
    "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20,
}  # fmt: skip
_SPOKEN_NUMBER = re.compile(rf"\b(?:{'|'.join(_SPOKEN)})\b", re.I)
_ORDINALS = ("first", "second", "third", "fourth")
_SPOKEN_PART = re.compile(rf"\b({'|'.join(_ORDINALS)})[ -](quarter|half)\b", re.I)
_MONTHS = (
    "january jan januar janvier|february feb februar février|march mar märz mars|april apr avril|may mai|"
    "june jun juni juin|july jul juli juillet|august aug août|september sep sept septembre|"
    "october oct oktober okt octobre|november nov novembre|december dec dezember dez décembre"
)
_MONTH_OF = {
    name: number for number, names in enumerate(_MONTHS.split("|"), 1) for name in names.split()
}
_MONTH_NAMES = "|".join(sorted(_MONTH_OF, key=len, reverse=True))
_MONTH = re.compile(
    rf"(?:\b\d{{1,2}}(?:st|nd|rd|th|\.)? )?\b(?P<month>{_MONTH_NAMES})\b\.?"
    r"(?: \d{1,2}(?:st|nd|rd|th)?\b(?![.,]?\d))?",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Number:
    """One number in a text."""

    written: str
    """As it stands in the text, digits and width made plain."""
    start: int
    """Offset in the plain text (see `plain`)."""
    end: int
    kind: Kind
    readings: tuple[frozenset[str], ...]
    """Ways to read it; each is a set of keys that belong together (a date has three)."""
    bare: frozenset[str] = frozenset()
    """The keys without percent and scale, empty when there is neither."""
    value: Decimal | None = None
    """The likeliest value with its scale, `None` for dates, quarters and versions."""
    step: Decimal = Decimal(1)
    """What one unit in the last written digit is worth."""
    scale: int = 0
    """Power of ten that a word or letter added."""
    unit: str = ""
    """A currency code, `%`, or `""`."""
    inside: bool = False
    """True for a short number inside a word, as in "B2B": part of a name."""


def plain(text: str) -> str:
    """The text with plain digits, spaces and width, single spaces between words."""
    text = unicodedata.normalize("NFKC", text)
    if not text.isascii():
        text = "".join(
            str(unicodedata.decimal(each)) if each.isdecimal() else each for each in text
        )
    return " ".join(text.replace("\u2212", "-").split())


def numbers(text: str) -> list[Number]:
    """The numbers written with digits, in order; offsets count in `plain(text)`."""
    text = plain(text)
    found = [_number(match) for match in _NUMBER.finditer(text)]
    for at, (first, second) in enumerate(pairwise(found)):
        if second.bare and _RANGE.fullmatch(text[first.end : second.start]):
            found[at] = replace(first, readings=(*first.readings, *_as(first, second)))
    return found


def months(text: str) -> list[tuple[str, int, int]]:
    """The months that a plain text names, each with its day: key ("m2"), start, end."""
    return [
        (f"m{_MONTH_OF[match['month'].lower()]}", *match.span())
        for match in _MONTH.finditer(text)
        if match["month"] != "may"  # the verb
    ]


class NumbersIn:
    """The numbers of some evidence, for asking whether others occur in it."""

    def __init__(self, text: str) -> None:
        text = plain(text)
        found = numbers(text)
        self._keys = {key for number in found for reading in number.readings for key in reading}
        self._keys |= {key for key, _, _ in months(text)} | _spoken(text)
        rest = text
        for number in reversed(found):
            rest = f"{rest[: number.start]} {rest[number.end :]}"
        self._loose = _LOOSE.search(rest) is not None

    def holds(self, number: Number) -> bool:
        """True when one reading occurs.

        Where a unit stands apart from the numbers, as in the head of a table, the number alone is enough.
        """
        if any(reading <= self._keys for reading in number.readings):
            return True
        return bool(self._loose and number.bare and number.bare <= self._keys)


def _number(match: re.Match[str]) -> Number:
    text = match.group()
    if match["date"]:
        return Number(text, *match.span(), "date", tuple(_dates(match)))
    if match["quarter"]:
        return Number(text, *match.span(), "quarter", (frozenset({_part_key(text)}),))
    if fiscal := match["fiscal"]:
        keys = [fiscal] if len(fiscal) == 4 else ["20" + fiscal, fiscal.lstrip("0") or "0"]
        return Number(text, *match.span(), "year", tuple(frozenset({key}) for key in keys))
    if match["version"]:
        return Number(text, *match.span(), "version", tuple(_versions(text)))
    return _plain_number(match)


def _plain_number(match: re.Match[str]) -> Number:
    digits, scale, letter = match["digits"], _scale(match), match["letter"] or match["apart"]
    money = match["money"] or match["after"] or ""
    unit = "%" if match["percent"] else _CURRENCIES.get(money) or _CURRENCIES.get(money.lower(), "")
    values = list(_values(digits))
    mark = "%" if unit == "%" else ""
    readings = [frozenset({_key(value, scale) + mark}) for value in values]
    bare = frozenset({_key(values[0], 0)})
    if letter and letter not in _CLEAR_LETTERS and not money:
        readings.append(bare)
    if " " in digits:
        readings.append(frozenset(_key(Decimal(part), 0) for part in re.findall(r"\d+", digits)))
    year = digits.isdigit() and len(digits) == 4 and "1900" <= digits <= "2100"
    before = match.string[match.start() - 1 : match.start()]
    return Number(
        written=match.group().strip(),
        start=match.start(),
        end=match.end(),
        kind="year" if year and not unit and not scale else "number",
        readings=tuple(readings),
        bare=bare if scale or mark else frozenset(),
        value=_scaled(values[0], scale),
        step=Decimal(1).scaleb(scale + min(0, _exponent(values[0]))),
        scale=scale,
        unit=unit,
        inside=before.isalpha() and before.isascii() and len(digits) < 3,
    )


def _as(first: Number, second: Number) -> Iterator[frozenset[str]]:
    """The 10 of "10-20 %" is a percentage too: the scale and percent of the other end."""
    mark = "%" if second.unit == "%" else ""
    if first.value is not None and not first.bare:
        yield frozenset({_key(first.value, second.scale) + mark})


def _scale(match: re.Match[str]) -> int:
    if match["sign"]:
        return _SIGN_SCALES[match["sign"]]
    if match["word"]:
        return _WORD_SCALES[match["word"].lower()]
    letter = match["letter"] or match["apart"]
    return _LETTER_SCALES[letter.lower()] if letter else 0


def _values(digits: str) -> Iterator[Decimal]:
    """The values that a row of digits and separators can have, likeliest first."""
    digits = re.sub(r"[ '’]", "", digits)
    groups = re.split(r"[.,]", digits)
    marks = re.sub(r"\d", "", digits)
    threes = all(len(group) == 3 for group in groups[1:]) and len(groups[0]) <= 3
    whole = Decimal("".join(groups))
    fraction = Decimal(f"{''.join(groups[:-1])}.{groups[-1]}")
    if not marks:
        yield whole
    elif marks in (",", ".") and not (threes and groups[0].strip("0")):
        yield fraction
    elif marks == ".":
        yield from (fraction, whole)
    elif len(set(marks)) == 1:
        yield whole
    else:
        yield fraction


def _key(value: Decimal, scale: int) -> str:
    text = format(_scaled(value, scale), "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.lstrip("0") or "0" if "." not in text else text


def _scaled(value: Decimal, scale: int) -> Decimal:
    """Exact for any length, which the arithmetic of `Decimal` is not."""
    sign, digits, exponent = value.as_tuple()
    return Decimal((sign, digits, int(exponent) + scale))


def _exponent(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def _dates(match: re.Match[str]) -> Iterator[frozenset[str]]:
    if match["y"]:
        orders = [(match["y"], match["m"], match["d"])]
    else:
        orders = [(match["c"], match["b"], match["a"]), (match["c"], match["a"], match["b"])]
    for year, month, day in orders:
        if 1 <= int(month) <= 12:
            yield frozenset({year, f"m{int(month)}", str(int(day))})
    yield frozenset({match.group()})


def _versions(text: str) -> Iterator[frozenset[str]]:
    yield frozenset({text})
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+", text):
        yield frozenset({text.replace(".", "").lstrip("0") or "0"})


def _part_key(text: str) -> str:
    """Quarter or half as "q4", "h1", whichever way round it is written."""
    return "".join(sorted(text.lower(), reverse=True))


def _spoken(text: str) -> set[str]:
    found = {str(_SPOKEN[word.lower()]) for word in _SPOKEN_NUMBER.findall(text)}
    parts = _SPOKEN_PART.findall(text)
    return found | {f"{part[0].lower()}{_ORDINALS.index(word.lower()) + 1}" for word, part in parts}
