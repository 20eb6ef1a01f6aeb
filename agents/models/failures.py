"""Why a request got no answer: one internal kind of failure, mapped onto langchain-core's errors last.

The mapping waits until an error leaves the adapter, because importing langchain-core takes longer than
most requests that are refused.
"""

import re
import time
from collections.abc import Mapping
from typing import Any, Literal, cast

import orjson

from memory import JsonObject

Kind = Literal[
    "authentication",
    "permission",
    "invalid",
    "not_found",
    "rate_limit",
    "server",
    "connection",
    "timeout",
    "overflow",
]

_RETRYABLE = frozenset[Kind]({"rate_limit", "server", "connection", "timeout"})
_BY_STATUS: dict[int, Kind] = {
    401: "authentication",
    403: "permission",
    404: "not_found",
    408: "timeout",
    409: "server",
    425: "server",
    429: "rate_limit",
}
_ERRORS: dict[Kind, tuple[str, str]] = {
    "authentication": ("ModelAuthenticationError", "check the API key"),
    "permission": ("ModelPermissionDeniedError", "check the key's rights and its quota"),
    "invalid": ("ModelInvalidRequestError", "the server does not take this request as it is"),
    "not_found": ("ModelNotFoundError", "check the model's name and the base URL"),
    "rate_limit": ("ModelRateLimitError", "wait, or lower the number of parallel agents"),
    "server": ("ModelAPIError", "the server is at fault; try again later"),
    "connection": ("ModelConnectionError", "check the base URL and that the server is running"),
    "timeout": ("ModelTimeoutError", "raise the model's timeout, or try again later"),
    "overflow": ("ContextOverflowError", "lower the window that the model is declared with"),
}
_OVERFLOW_CODES = (
    "context_length_exceeded",
    "exceed_context_size_error",
    "string_above_max_length",
)
_OVERFLOW = re.compile(
    r"(maximum|available|model'?s) context|context (length|window|size|limit)|prompt is too long"
    r"|(input|prompt|request)( \S+)? (is )?too (long|large)|too many (input )?tokens"
    r"|exceeds? the (maximum|max|limit)[^.]{0,40} tokens|reduce the length of",
    re.IGNORECASE,
)


class Failure(Exception):
    """No answer: of what kind, in whose words, and when the server says to come back."""

    def __init__(
        self,
        kind: Kind,
        message: str,
        *,
        status: int = 0,
        retry_after: float | None = None,
        retryable: bool | None = None,
        tries: int = 100,
    ) -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.message = message
        self.status = status
        """HTTP status, 0 when there was no answer at all."""
        self.retry_after = retry_after
        """Seconds, `None` when the server did not say."""
        self.retryable = kind in _RETRYABLE if retryable is None else retryable
        self.tries = tries
        """Attempts that this kind of failure is worth, the policy's own number aside."""

    def as_error(self, model: str, secret: str) -> Exception:
        """The langchain-core error that says the same, without the API key."""
        from langchain_core import exceptions

        name, hint = _ERRORS[self.kind]
        status = f"HTTP {self.status}: " if self.status else ""
        words = f"model {model!r}: {status}{self.message}; {hint}"
        return getattr(exceptions, name)(words.replace(secret, "[key]") if secret else words)


def refusal(status: int, headers: Mapping[str, str], body: bytes) -> Failure:
    """The failure that an HTTP answer stands for."""
    code, message = _error_words(body)
    return Failure(
        _kind(status, code, message),
        message or "no explanation was given",
        status=status,
        retry_after=retry_after(headers),
    )


def refusal_in_reply(error: Any) -> Failure:
    """The failure that an `error` object in a stream or in a reply of status 200 stands for."""
    code, message = _words_of(error)
    number = cast(JsonObject, error).get("code") if isinstance(error, dict) else None
    status = number if isinstance(number, int) and 400 <= number < 600 else 500
    return Failure(_kind(status, code, message), message or "error without words", status=status)


def is_overflow(message: str) -> bool:
    """True for the words in which servers say that a request does not fit the window."""
    return _OVERFLOW.search(message) is not None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a `Retry-After` header asks for, as a number or as an HTTP date."""
    value = headers.get("Retry-After", "").strip()
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def _kind(status: int, code: str, message: str) -> Kind:
    if "rate_limit" in code:
        return "rate_limit"
    if code == "insufficient_quota":
        return "permission"
    overflow = code in _OVERFLOW_CODES or is_overflow(message)
    if overflow and status not in (401, 403, 404, 429):
        return "overflow"
    return _BY_STATUS.get(status, "server" if status >= 500 else "invalid")


def _error_words(body: bytes) -> tuple[str, str]:
    try:
        data: Any = orjson.loads(body)
    except ValueError:
        return "", body[:500].decode("utf-8", "replace").strip()
    if isinstance(data, list) and data:
        data = cast(list[Any], data)[0]
    if not isinstance(data, dict):
        return "", str(data)[:500]
    fields = cast(JsonObject, data)
    return _words_of(fields.get("error") or fields)


def _words_of(error: Any) -> tuple[str, str]:
    """Code and message of the forms in use: a string, or an object with `code`, `type`, `message`."""
    if not isinstance(error, dict):
        return "", str(error)[:500]
    fields = cast(JsonObject, error)
    words = fields.get("message") or fields.get("detail") or orjson.dumps(fields).decode()
    code = fields.get("code") if isinstance(fields.get("code"), str) else fields.get("type")
    return str(code or ""), str(words)[:500]
