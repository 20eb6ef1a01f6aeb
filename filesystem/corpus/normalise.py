"""From text to the terms that are indexed, in any script.

SQLite's own tokenizers lose Chinese, Japanese, Thai and Arabic, so words are normalised here and the
index is given plain terms: case folded, accents removed, stemmed; scripts written without spaces (and
Korean, for its particles) become pairs of characters; numbers lose their thousands separators.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain

from .languages import asking_words, guess_language, sample_of, stemmer_for

# Scripts whose words are not separated, by code point: Thai, Lao, Tibetan, Myanmar, Khmer, kana,
# Han, Hangul, half-width kana, Han beyond the first plane.
_UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
"""Runs of characters from scripts written without spaces, and Hangul."""

_ARABIC_AND_THE = ("وال", "فال")
_MAX_STEM = 30  # longer "words" are keys, hashes and base64
_MAX_TERM = 64  # characters of a term kept
_CACHE = 200_000  # spellings remembered per language; a 20 MB corpus has about 100,000
_CLITICS = frozenset({"s", "t", "re", "ve", "ll", "d", "m"})
_MARKED_SCRIPTS = re.compile("[\u00c0-\u024f\u0370-\u03ff\u1e00-\u1fff]")
_LETTERS = str.maketrans(
    {
        **dict.fromkeys("أإآٱ", "ا"),
        "ى": "ي",
        "ی": "ي",
        "ک": "ك",
        "ـ": None,
        "ё": "е",
        "đ": "d",
        "ł": "l",
        "ø": "o",
        "ı": "i",
        "æ": "ae",
        "œ": "oe",
        "ð": "d",
        "þ": "th",
        "\u00ad": None,
        "\u200b": None,
        "\u200c": None,
        "\u200d": None,
        "\u2060": None,
        "\ufeff": None,
    }
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LETTERS_DIGITS = re.compile(r"(?<=[^\W\d_]{2})(?=\d{2})|(?<=\d{2})(?=[^\W\d_]{2})")
_JOINTS = re.compile(r"[-\u2010\u2011'’_]")
_VERSION = re.compile(r"[vV](\d+(?:\.\d+)+)")  # "v4.7.2" is also found as "4.7.2"
_LETTERS_ONLY = re.compile(r"[^\W\d_]+")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


def terms(text: str) -> list[str]:
    """List the normalised terms of a text, in order, as the index holds them.

    Never raises; text without letters and digits gives an empty list. The language of words in Latin
    letters is guessed from the text itself.
    """
    return terms_in(text, language_of(text))


def language_of(text: str) -> str:
    """Guess the language whose stemmer serves the words in Latin letters."""
    spellings = Counter(_LETTERS_ONLY.findall(sample_of(text)))
    folded: Counter[str] = Counter()
    for spelling, count in spellings.items():
        folded[fold(spelling)] += count
    return guess_language(folded)


def terms_in(text: str, language: str) -> list[str]:
    """List the normalised terms of a text, its Latin words stemmed as ``language``."""
    spellings = _Spellings.of(language)
    return list(chain.from_iterable(map(spellings.__getitem__, _word_pattern().findall(text))))


def query_terms(text: str, languages: Iterable[str]) -> list[str]:
    """List a query's distinct terms under every language of the corpus, in order of appearance.

    Words that only ask ("what", "the", "is") are left out unless nothing else remains; one in capitals
    inside a mixed-case query is kept, it is a name ("IT", "US").
    """
    spoken = sorted(set(languages) or {"english"})
    words = _word_pattern().findall(text)
    idle = asking_words(spoken)
    shouted = text.isupper()
    telling = [word for word in words if fold(word) not in idle or (_is_name(word) and not shouted)]
    found: dict[str, None] = {}
    for word in telling or words:
        for language in spoken:
            found.update(dict.fromkeys(_Spellings.of(language)[word]))
    return list(found)


def _is_name(word: str) -> bool:
    return len(word) > 1 and word.isupper()


def fold(text: str) -> str:
    """Fold case, width and accents: what is equal to a reader becomes equal in bytes.

    Marks that only colour a letter go (Latin, Greek, Arabic, Hebrew, stress in Cyrillic); those that
    are letters of their own stay (й, Thai vowels, Devanagari signs, the voicing of kana).
    """
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text).casefold()
    text = _MARKED_SCRIPTS.sub(_base_letter, text).translate(_LETTERS)
    return _loose_marks().sub("", text)


def _base_letter(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFD", match.group())[0]


@lru_cache(maxsize=1)
def _loose_marks() -> re.Pattern[str]:
    """Combining accents, Hebrew points, Arabic vowel signs."""
    return re.compile(
        "[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed]"
    )


@lru_cache(maxsize=1)
def _word_pattern() -> re.Pattern[str]:
    r"""Words with their inner joints; ``\w`` alone would cut words at combining marks."""
    marks = [
        chr(point)
        for point in (*range(0x300, 0x1E00), *range(0x20D0, 0x20F1), *range(0xA660, 0xABEF))
        if unicodedata.category(chr(point)).startswith("M")
    ]
    letter = f"[\\w\u00ad\u200c\u200d\u2060{''.join(marks)}]"
    joint = "[-\u2010\u2011'’]|(?<=\\d)[.,](?=\\d)"
    return re.compile(f"{letter}+(?:(?:{joint}){letter}+)*")


class _Spellings(dict[str, tuple[str, ...]]):
    """The terms of every spelling met so far, for one language; filled on first sight."""

    _all: dict[str, "_Spellings"] = {}  # noqa: RUF012 - the cache is shared on purpose

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language

    @classmethod
    def of(cls, language: str) -> "_Spellings":
        return cls._all.setdefault(language, cls(language))

    def __missing__(self, spelling: str) -> tuple[str, ...]:
        if len(self) >= _CACHE:
            self.clear()
        found = tuple(_split(spelling, self._language))
        self[spelling] = found
        return found


def _split(spelling: str, language: str) -> list[str]:
    """Take one spelling apart: its parts, and for compounds of 2 to 4 parts the joined form."""
    parts = [part for part in _JOINTS.split(spelling) if part]
    if len(parts) > 1 and parts[-1].lower() in _CLITICS:
        parts.pop()
    pieces = [
        piece
        for part in parts
        for camel in _CAMEL.split(part)
        for piece in (_LETTERS_DIGITS.split(camel) if not _is_number(camel) else [camel])
    ]
    found = [term for piece in pieces for term in _terms_of_piece(piece, language)]
    if len(pieces) == 1 and (version := _VERSION.fullmatch(pieces[0])):
        found.append(version[1])
    if 1 < len(pieces) <= 4 and not UNSPACED_RUN.search(spelling):
        found.append(fold("".join(pieces))[:_MAX_TERM])
    return found


def _is_number(piece: str) -> bool:
    return piece[0].isdigit() and ("." in piece or "," in piece)


def _terms_of_piece(piece: str, language: str) -> list[str]:
    if _THOUSANDS.fullmatch(piece):
        piece = piece.replace(",", "")
    word = fold(piece).replace(",", ".")
    if not word:
        return []
    if word.isascii() or not UNSPACED_RUN.search(word):
        return [_stem(word, language)]
    found: list[str] = []
    end = 0
    for run in UNSPACED_RUN.finditer(word):
        if run.start() > end:
            found.append(_stem(word[end : run.start()], language))
        found += _pairs(run.group())
        end = run.end()
    if end < len(word):
        found.append(_stem(word[end:], language))
    return found


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    return [run[at : at + 2] for at in range(len(run) - 1)]


@lru_cache(maxsize=_CACHE)
def _stem(word: str, language: str) -> str:
    if len(word) < 3 or len(word) > _MAX_STEM or not word.isalpha():
        return word[:_MAX_TERM]
    if word.startswith(_ARABIC_AND_THE) and len(word) > 5:
        word = word[1:]  # the stemmer drops the article, not a conjunction before it
    if word.endswith("ه"):
        word = word[:-1] + "ة"  # often written for the other; the stemmer knows the second
    return stemmer_for(word, language)(word) or word
