"""Redaction: secrets taken out of text on its way out of a run; the log itself keeps what it has.

A secret is a value under a key that is named like one (`api_key`, `Authorization`, `clientSecret`), a
bearer token, a string in the form of a known kind of key, or the value of an environment variable that
is named like a key. Hashes, UUIDs and base64 are none of these and stay as they are.
"""

import functools
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from .redaction_keys import HINTS, hints, key_around, names_secret, places, value_after

REDACTED = "[redacted]"
"""What stands in place of a secret."""
SHORTEST = 8
"""Characters; a shorter value of an environment variable is too likely to be an ordinary word."""

SHORTEST_SHAPE = 16
"""Characters; every form of a known key is longer."""

FOLDERS = ("PWD", "OLDPWD")
"""Variables in which every shell keeps the folder it is in: no passwords, whatever they are called."""

_BEGINNING = re.compile(r"[A-Za-z0-9_+/=.-]")
"""Before a key's first letter: then it is inside a run of base64 or another word, and no key."""
_SHAPES = {
    "sk-": r"[A-Za-z0-9_-]{16,}",
    "sk_live_": r"[A-Za-z0-9]{16,}",
    "sk_test_": r"[A-Za-z0-9]{16,}",
    "rk_live_": r"[A-Za-z0-9]{16,}",
    "whsec_": r"[A-Za-z0-9+/=]{16,}",
    "ghp_": r"[A-Za-z0-9]{30,}",
    "gho_": r"[A-Za-z0-9]{30,}",
    "ghu_": r"[A-Za-z0-9]{30,}",
    "ghs_": r"[A-Za-z0-9]{30,}",
    "ghr_": r"[A-Za-z0-9]{30,}",
    "github_pat_": r"[A-Za-z0-9_]{22,}",
    "glpat-": r"[A-Za-z0-9_-]{20,}",
    "xox": r"[abeoprs]-[A-Za-z0-9-]{10,}",
    "AKIA": r"[A-Z0-9]{16}(?![A-Za-z0-9])",
    "ASIA": r"[A-Z0-9]{16}(?![A-Za-z0-9])",
    "AIza": r"[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])",
    "ya29.": r"[A-Za-z0-9_-]{20,}",
    "hf_": r"[A-Za-z0-9]{30,}",
    "npm_": r"[A-Za-z0-9]{30,}",
    "gsk_": r"[A-Za-z0-9]{30,}",
    "xai-": r"[A-Za-z0-9]{30,}",
    "pypi-": r"[A-Za-z0-9_-]{50,}",
    "SG.": r"[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    "eyJ": r"[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
}
"""How keys of known services begin, and what follows; JSON web tokens are the last."""
_REST = {start: re.compile(rest) for start, rest in _SHAPES.items()}
_STARTS = ("://", "-----BEGIN", *_REST)
_WORDS = (*HINTS, "bearer", "basic")
_COUNTED = tuple(
    f"{what}_" for what in ("input", "output", "cached", "prompt", "completion", "assumed")
)
"""What stands before `tokens` in names of numbers, which are in every report of a provider."""
_COUNTERS = ("token_counter", "token_ratio")
"""Names in every thread's log that hold no secret either."""
_BLOCK = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)",
    re.DOTALL,
)
# A token has a digit or is long; "bearer certificates" is prose.
_BEARER = re.compile(
    r"\b(bearer|basic)(\s{1,8})(?=[A-Za-z._~+/=-]*[0-9]|[A-Za-z0-9._~+/=-]{20})[A-Za-z0-9._~+/=-]{8,}",
    re.IGNORECASE,
)
_USERINFO = re.compile(r"://([^\s/:@\"'\\]{0,200}):[^\s/@\"'\\]{1,500}@")

Redact = Callable[[str], str]


def redact(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """`text` with every secret replaced by `[redacted]`; doing it twice changes nothing more."""
    text = redact_known(text, environment)
    if not _suspicious(text):
        return text
    text = _shapes(_under_keys(text))
    lower = text.lower()
    if "bearer" in lower or "basic" in lower:
        text = _BEARER.sub(rf"\1\2{REDACTED}", text)
    return _USERINFO.sub(rf"://\1:{REDACTED}@", text)


def may_hold_secrets(text: str, environment: Mapping[str, str] = os.environ) -> bool:
    """False when `redact` certainly changes nothing in `text`, nor in any part of it; quick to tell."""
    return _suspicious(text) or redact_known(text, environment) is not text


def _suspicious(text: str) -> bool:
    """True when a word stands in `text` without which nothing but a known secret is taken out."""
    for start in _STARTS:  # not `any`: its generator costs more than the search in a short text
        if start in text:
            return True
    lower = text.lower()
    found = [word for word in _WORDS if word in lower]
    return bool(found) and (found != ["token"] or not _counts_tokens(lower))


def _counts_tokens(lower: str) -> bool:
    """True when every `token` in a text is part of the name of a number."""
    return all(
        lower.startswith(_COUNTERS, at)
        or (lower.startswith("tokens", at) and lower.endswith(_COUNTED, 0, at))
        for at in places(lower, "token")
    )


def redact_known(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """`text` without the values of the environment's keys; nothing else is judged, so content stays."""
    own = environment is os.environ
    known = _known(_own_secrets() if own else tuple(known_secrets(environment)))
    return known.sub(REDACTED, text) if known else text


def redact_value(value: Any, environment: Mapping[str, str] = os.environ) -> Any:
    """A JSON value with its secrets replaced, at any depth; keys stay, unless they are secrets."""
    if isinstance(value, str):
        return redact(value, environment)
    if isinstance(value, dict):
        fields = cast(dict[Any, Any], value)
        return {
            _redact_key(str(key), environment): _hidden(part)
            if names_secret(str(key))
            else redact_value(part, environment)
            for key, part in fields.items()
        }
    if isinstance(value, list | tuple):
        return [redact_value(part, environment) for part in cast(list[Any], value)]
    return value


def _redact_key(key: str, environment: Mapping[str, str]) -> str:
    """A field's name: a short word is no key of a service, so it is only looked up."""
    plain = len(key) < SHORTEST_SHAPE and key.isidentifier()
    return redact_known(key, environment) if plain else redact(key, environment)


@dataclass(slots=True)
class _Seen:
    """This process's environment as it was last read, and the secrets in it."""

    data: dict[Any, Any]
    secrets: tuple[str, ...]


_seen = _Seen({}, ())


def _own_secrets() -> tuple[str, ...]:
    """`known_secrets` of this process, read again only when the environment has changed: decoding all of
    it costs more than looking for secrets in a short text."""
    data: dict[Any, Any] | None = getattr(os.environ, "_data", None)
    if data is None:
        return tuple(known_secrets())
    if data != _seen.data:
        _seen.data, _seen.secrets = dict(data), tuple(known_secrets())
    return _seen.secrets


def known_secrets(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Values of the environment's variables that are named like keys, each once, the longest first."""
    found = {
        value
        for name, value in environment.items()
        if len(value) >= SHORTEST and names_secret(name) and name not in FOLDERS
    }
    return sorted(found, key=lambda value: (-len(value), value))


@functools.lru_cache(maxsize=8)
def _known(values: tuple[str, ...]) -> re.Pattern[str] | None:
    """Finds these values, also as JSON writes them and as URLs do."""
    forms = dict.fromkeys(form for value in values for form in written_forms(value))
    return re.compile("|".join(map(re.escape, forms))) if forms else None


def written_forms(secret: str) -> Iterable[str]:
    """A secret as it stands, in JSON, in JSON inside JSON, and in a URL; the longest first."""
    import json
    from urllib.parse import quote, quote_plus

    forms = {secret}
    for ascii_only in (True, False):
        once = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        forms |= {once, json.dumps(once, ensure_ascii=ascii_only)[1:-1]}
    encodable = secret.encode("utf-8", "replace").decode()
    forms |= {quote(encodable, safe=""), quote(encodable), quote_plus(encodable)}
    return sorted(forms, key=lambda form: (-len(form), form))


def _shapes(text: str) -> str:
    """Replace what has the form of a key, wherever it stands."""
    found = [(m.start(), m.end()) for m in _BLOCK.finditer(text)]
    for start, rest in _REST.items():
        for at in places(text, start):
            if at and _BEGINNING.match(text, at - 1):
                continue
            if match := rest.match(text, at + len(start)):
                found.append((at, match.end()))
    parts: list[str] = []
    done = 0
    for first, last in sorted(found):
        if first >= done:
            parts += (text[done:first], REDACTED)
            done = last
    return "".join((*parts, text[done:])) if parts else text


def _under_keys(text: str) -> str:
    """Replace what stands after a key that is named like a secret: JSON at any depth, `a=b`, headers."""
    parts: list[str] = []
    done = 0
    for start, stop in hints(text):
        key = key_around(text, start, stop, done) if start >= done else None
        if key is None:
            continue
        end, quote = value_after(text, key)
        if end == key.value or REDACTED in text[key.value : key.value + len(REDACTED) + 8]:
            continue
        parts += (text[done : key.value], f"{quote}{REDACTED}{quote}")
        done = end
    return "".join((*parts, text[done:])) if parts else text


def _hidden(value: Any) -> Any:
    """Every scalar of a value under a secret's key; `None`, true, false and "" tell nothing and stay."""
    if isinstance(value, dict):
        return {key: _hidden(part) for key, part in cast(dict[Any, Any], value).items()}
    if isinstance(value, list | tuple):
        return [_hidden(part) for part in cast(list[Any], value)]
    return value if value is None or value == "" or isinstance(value, bool) else REDACTED
