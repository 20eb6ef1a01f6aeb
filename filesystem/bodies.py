"""What can be stored, turned into blocks of bytes, and the conditions of a change."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator

from .errors import BadArgument, QuotaExceeded, WriteConflict
from .text import encode

Body = str | bytes | Iterable[str | bytes] | AsyncIterable[str | bytes]
"""What can be stored: text, bytes, or chunks of either that arrive one by one."""

BLOCK = 1 << 20
"""Bytes that a stream holds in memory at a time."""

ABSENT = "absent"
"""As `if_hash`: write only if there is no file yet."""


async def blocks(body: Body) -> AsyncIterator[bytes]:
    """Yield the bytes of `body`; chunks are joined to about 1 MiB. Plain iterators run in a thread."""
    if isinstance(body, str | bytes):
        yield encode(body) if isinstance(body, str) else body
    elif isinstance(body, AsyncIterable):
        held = bytearray()
        async for chunk in body:
            held += encode(chunk) if isinstance(chunk, str) else chunk
            if len(held) >= BLOCK:
                yield bytes(held)
                held.clear()
        yield bytes(held)
    else:
        chunks = iter(body)
        while block := await asyncio.to_thread(_fill, chunks):
            yield block


def _fill(chunks: Iterator[str | bytes]) -> bytes:
    held = bytearray()
    for chunk in chunks:
        held += encode(chunk) if isinstance(chunk, str) else chunk
        if len(held) >= BLOCK:
            break
    return bytes(held)


def check_size(path: str, size: int, limit: int | None) -> None:
    """Raise `QuotaExceeded` when a body that is still arriving is over a whole store's bytes."""
    if limit is not None and size > limit:
        raise QuotaExceeded(
            path, f"the body is over the quota of {limit:,} bytes", "Store less, or in parts."
        )


def check_hash(path: str, if_hash: str | None, actual: Callable[[], str | None]) -> None:
    """Raise `WriteConflict` unless `actual()`, the hash there is, is what `if_hash` asks for."""
    if if_hash is None:
        return
    found = actual()
    if found != (None if if_hash == ABSENT else if_hash):
        raise WriteConflict(path, if_hash, found, "Read the file again and decide anew.")


def check_range(path: str, offset: int, limit: int | None) -> None:
    """Raise `BadArgument` for a negative offset or limit."""
    if offset < 0 or (limit is not None and limit < 0):
        raise BadArgument(path, "offset and limit are counts of bytes, 0 or more")
