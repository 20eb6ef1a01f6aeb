"""Reads a server's answer to a chat-completions request, streamed or whole."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from .chat_reply import ChatReply
from .failures import Failure, refusal_in_reply
from .sse import SseParser

if TYPE_CHECKING:
    from aiohttp import ClientResponse

MAX_REPLY = 64 * 2**20
"""Bytes of one reply; more is no answer of a model."""
_MAX_LEFT = 2**16

T = TypeVar("T")


async def read_stream(response: "ClientResponse", answer: ChatReply) -> None:
    """Feed the stream into `answer`. Raises `Failure` when it ends before the reply does."""
    parser, done, size = SseParser(), False, 0
    while chunk := await response.content.readany():
        size += len(chunk)
        if size > MAX_REPLY:
            raise _too_long()
        for event in _events(parser, chunk):
            done = done or _take(event, answer)
        if done:
            # What follows is the end of the body at most; reading it keeps the connection.
            await _drain(response)
            return
    for event in parser.close():
        done = done or _take(event, answer)
    if not done and not answer.finish:
        raise Failure("connection", "the stream broke off before the reply's end")


def _events(parser: SseParser, chunk: bytes) -> list[bytes]:
    return understood(lambda: parser.feed(chunk))


async def _drain(response: "ClientResponse") -> None:
    try:
        async with asyncio.timeout(1):
            await read_words(response)
    except TimeoutError:
        response.close()


def _take(event: bytes, answer: ChatReply) -> bool:
    """Take in one event; True when it is the stream's last."""
    if event == b"[DONE]":
        return True
    chunk: Any = understood(lambda: orjson.loads(event))
    if isinstance(chunk, dict) and "error" in chunk and chunk["error"]:
        raise refusal_in_reply(chunk["error"])
    understood(lambda: answer.add(chunk))
    return False


async def read_words(response: "ClientResponse") -> bytes:
    """The beginning of an answer that explains a refusal."""
    parts: list[bytes] = []
    size = 0
    while size < _MAX_LEFT and (chunk := await response.content.readany()):
        parts.append(chunk)
        size += len(chunk)
    return b"".join(parts)


async def _read_all(response: "ClientResponse") -> bytes:
    parts: list[bytes] = []
    size = 0
    while chunk := await response.content.readany():
        parts.append(chunk)
        size += len(chunk)
        if size > MAX_REPLY:
            raise _too_long()
    return b"".join(parts)


async def read_whole(response: "ClientResponse", answer: ChatReply) -> None:
    """Read a whole answer into `answer`. Raises `Failure` when it is none."""
    data = await _read_all(response)
    parsed: Any = understood(lambda: orjson.loads(data))
    if isinstance(parsed, dict) and "choices" not in parsed and "error" in parsed:
        raise refusal_in_reply(parsed["error"])
    understood(lambda: answer.whole(parsed))


def understood(read: Callable[[], T]) -> T:
    """The result of reading something of the server's; what is not of the protocol is its failure."""
    try:
        return read()
    except (TypeError, AttributeError, ValueError, LookupError) as error:
        words = f"the reply is no chat completion: {type(error).__name__}: {error}"
        raise Failure("server", words) from error


def _too_long() -> Failure:
    return Failure("server", f"the reply is longer than {MAX_REPLY} bytes", retryable=False)
