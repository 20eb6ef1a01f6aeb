"""Which names are those of secrets, and where in a text the value after such a name ends."""

import functools
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass

HINTS = (
    "key",
    "secret",
    "token",
    "passw",
    "passphrase",
    "passcode",
    "pwd",
    "auth",
    "cookie",
    "credential",
)
"""A part of every name that `names_secret` accepts."""
_HINT = re.compile("|".join(HINTS), re.IGNORECASE)

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ALONE = frozenset(
    {
        "secret",
        "secrets",
        "token",
        "password",
        "passwords",
        "passwd",
        "passphrase",
        "passcode",
        "pwd",
        "authorization",
        "auth",
        "cookie",
        "cookies",
        "credential",
        "credentials",
        "apikey",
        "accesskey",
        "secretkey",
        "privatekey",
        "authtoken",
        "accesstoken",
    }
)
"""Last words of names that are secrets whatever stands before them."""
_KEYS = frozenset(
    {
        "access",
        "account",
        "admin",
        "api",
        "app",
        "auth",
        "client",
        "encryption",
        "license",
        "master",
        "private",
        "secret",
        "service",
        "signing",
        "ssh",
        "storage",
        "subscription",
    }
)
"""Words before `key` that make it a secret; a primary, public or foreign key is none."""
_TOKENS = frozenset(["access", "api", "auth", "bearer", "id", "refresh", "session"])
"""Words before `tokens` that make them secrets; input tokens are counted, not kept secret."""
_WHOLE_LINE = frozenset({"authorization", "cookie", "cookies"})
"""Names whose unquoted value has spaces in it: `Authorization: Basic ...`, `Cookie: a=1; b=2`."""

_LONGEST_NAME = 64
_NAME = frozenset(string.ascii_letters + string.digits + "_.-")
_AFTER = re.compile(r"(\\*[\"'])?[ \t]*(?:=>|:=|={1,3}|:(?!:|//))[ \t]*")
_AFTER_OPTION = re.compile(r"(\\*[\"'])[ \t]*,[ \t]*(?=\\*[\"'])|[ \t]+")
_IN_PAIR = re.compile(r"([\"'])[ \t]*,[ \t]*(?=b?[\"'])")
_OPENING = re.compile(r"[bru]?(\\*[\"'])")
# Brackets and commas may belong to a value; at its end they are the text's own.
_PLAIN = re.compile(r"[^\s&\"'<>]+?(?=[,;.)\]}\\]*(?:[\s&\"'<>]|\\[nrt]|$))")
_LINE = re.compile(r"[^\r\n\"']*?(?=\\[rn]|[\r\n\"']|$)")
_LITERAL = re.compile(r"(?:true|false|null|none)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Key:
    """A secret's name in a text."""

    name: str
    value: int
    """Where its value begins."""
    quote: str
    """The quote around the name with its backslashes, `""` for none: JSON inside JSON has more."""


@functools.lru_cache(maxsize=4096)
def names_secret(name: str) -> bool:
    """True for a name whose value is a secret: `OPENAI_API_KEY`, `x-api-key`, `clientSecret`, `password`."""
    words = [word.lower() for word in _WORDS.findall(name)]
    while words and words[-1].isdigit():
        words.pop()
    if not words:
        return False
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in ("key", "keys"):
        return before in _KEYS
    if last == "tokens":
        return before in _TOKENS
    return last in _ALONE


def hints(text: str) -> list[tuple[int, int]]:
    """Beginnings and ends of what may be part of a secret's name, in order.

    Plain searches: one regular expression for all of it takes ten times as long.
    """
    lower = text.lower()
    if len(lower) != len(text):  # a few letters become two
        return [match.span() for match in _HINT.finditer(text)]
    return sorted((at, at + len(hint)) for hint in HINTS for at in places(lower, hint))


def places(text: str, words: str) -> Iterator[int]:
    """Every position of `words` in `text`."""
    at = text.find(words)
    while at >= 0:
        yield at
        at = text.find(words, at + len(words))


def key_around(text: str, start: int, end: int, after: int) -> Key | None:
    """The secret's name around a hint at `start:end`, if it is one and a value follows it."""
    first, last = start, end
    while first > max(after, start - _LONGEST_NAME) and text[first - 1] in _NAME:
        first -= 1
    while last < min(len(text), end + _LONGEST_NAME) and text[last] in _NAME:
        last += 1
    name = text[first:last]
    if not names_secret(name):
        return None
    if text[first - 1 : first] == "<" and text[last : last + 1] == ">":
        return Key(name, last + 1, "")
    follows = _AFTER.match(text, last)
    if follows is None and name.startswith("-"):
        follows = _AFTER_OPTION.match(text, last)
    if follows is None and text[max(0, first - 3) : first].rstrip("\"'").removesuffix("b").endswith(
        "("
    ):
        follows = _IN_PAIR.match(text, last)
    return Key(name, follows.end(), follows[1] or "") if follows else None


def value_after(text: str, key: Key) -> tuple[int, str]:
    """Where a key's value ends, and the quotes that its replacement needs.

    A value is a string, an object or list, or plain characters; one that tells nothing ends where it
    begins.
    """
    opening = _OPENING.match(text, key.value)
    if opening is not None:
        end, closed = _end_of_string(text, opening.end(), opening[1])
        empty = end - len(opening[1]) <= opening.end() and closed
        return (key.value if empty else end), opening[1]
    if text[key.value : key.value + 1] in ("{", "["):
        return _end_of_group(text, key.value, key.quote), key.quote
    if _LITERAL.match(text, key.value):
        return key.value, ""
    last_word = _WORDS.findall(key.name)[-1].lower()
    pattern = _LINE if not key.quote and last_word in _WHOLE_LINE else _PLAIN
    match = pattern.match(text, key.value)
    return (match.end() if match else key.value), key.quote


def _end_of_string(text: str, start: int, quote: str) -> tuple[int, bool]:
    """Past the closing quote, and true; a string that was cut ends with its line or what it stands in."""
    mark, level = quote[-1], len(quote) - 1
    for match in re.compile(rf"(\\*){mark}|\n").finditer(text, start):
        if match.group() == "\n":
            return match.start(), False
        found = _role(len(match[1]), level)
        if found != "inside":
            closed = found == "closes"
            return (match.end() if closed else match.start()), closed
    return len(text), False


def _role(count: int, level: int) -> str:
    """What a quote with `count` backslashes is to a string whose quotes have `level` of them.

    Each time JSON is put into JSON, n backslashes before a quote become 2n + 1.
    """
    while level:
        if count % 2 == 0:
            return "ends what is around"
        count, level = count // 2, level // 2
    return "closes" if count % 2 == 0 else "inside"


def _end_of_group(text: str, start: int, quote: str) -> int:
    """Past the bracket that closes the one at `start`; strings in it may hold brackets.

    Without such a bracket it is JSON that was cut, to its end, or a line of something else.
    """
    quotes = re.escape(quote) or r"[\"']"
    pattern = re.compile(rf"{quotes}|[\[\]{{}}]")
    depth, at = 0, start
    while (match := pattern.search(text, at)) is not None:
        found, at = match.group(), match.end()
        if found not in "[]{}":
            at, _ = _end_of_string(text, at, found)
            continue
        depth += 1 if found in "[{" else -1
        if depth == 0:
            return at
    line = text.find("\n", start)
    return len(text) if quote or line < 0 else line
