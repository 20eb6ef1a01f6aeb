"""JSON bytes for the log and for requests: orjson, and an exact way round what orjson refuses.

orjson rejects lone surrogates and integers over 64 bits, both of which tools and models do produce.
The log must keep them exactly (`dumps`); a request must be valid UTF-8 for any server (`wire`).
"""

import json
import math
import re
from typing import Any

import orjson

# orjson reads integers of more than 64 bits as floats, which would not be what was written.
_LONG_TEXT = re.compile(r"[0-9]{19}")
_LONG_BYTES = re.compile(rb"[0-9]{19}")


def dumps(value: Any) -> bytes:
    """Compact JSON of dataclasses, dicts, lists and scalars; exact for any `str`."""
    try:
        return _fitted(orjson.dumps(value))
    except TypeError:
        plain = _plain(value)
        return json.dumps(plain, ensure_ascii=True, separators=(",", ":")).encode()


def loads(data: bytes | str) -> Any:
    """Read what `dumps` wrote. Raises `ValueError` for anything that is not JSON."""
    long = _LONG_BYTES.search(data) if isinstance(data, bytes) else _LONG_TEXT.search(data)
    if not long:
        try:
            return orjson.loads(data)
        except ValueError:
            pass  # the standard library reads lone surrogates too
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def wire(value: Any) -> bytes:
    """Compact JSON for a request: lone surrogates become U+FFFD, the same bytes every time."""
    try:
        return _fitted(orjson.dumps(value))
    except TypeError:
        text = json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _fitted(data: bytes) -> bytes:
    """A copy, because what orjson returns holds a kilobyte and more beyond its size: pieces are kept, and
    the events of a thousand agents wait for one commit."""
    return bytes(memoryview(data))


def _plain(value: Any) -> Any:
    """Dataclasses to dicts, tuples to lists, what is no number to null: as orjson writes them."""
    fields = getattr(type(value), "__dataclass_fields__", None)
    if fields is not None:
        return {name: _plain(getattr(value, name)) for name in fields}
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
