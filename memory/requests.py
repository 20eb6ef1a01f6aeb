"""Requests made again from the log alone, byte for byte (G1)."""

import hashlib
from collections.abc import Callable, Sequence

from .codec import Codec, Piece
from .context import build_context
from .errors import ContextError
from .events import ConfigSet, Entry, RequestSent

CodecFor = Callable[[str, int, dict[str, str]], Codec]


def requests_of(entries: Sequence[Entry]) -> list[Entry]:
    """The `RequestSent` entries of one thread, in order: turn N is the N-th of them."""
    return [entry for entry in entries if isinstance(entry.event, RequestSent)]


def rebuild_request(entries: Sequence[Entry], seq: int, codec_for: CodecFor) -> bytes:
    """The exact bytes of the request recorded at position `seq` of one thread's `entries`.

    Raises `ContextError` when there is no such request, or when the bytes do not match the recorded
    hash (the log was changed, or a codec changed its bytes without a new version).
    """
    sent = next((e.event for e in entries if e.seq == seq), None)
    if not isinstance(sent, RequestSent):
        raise ContextError(f"event {seq} of this thread is not a request")
    config = next((e.event for e in entries if e.seq == sent.config), None)
    if not isinstance(config, ConfigSet):
        raise ContextError(f"request {seq} names event {sent.config}, which is no configuration")
    context = build_context(e for e in entries if e.seq <= sent.last_event)
    context.close_open_calls(sent.last_event)
    codec = codec_for(config.codec, config.codec_version, dict(config.codec_options))
    pieces: list[Piece] = []
    for item in context.items:
        pieces.extend(codec.pieces(item))
    body = codec.body(codec.head(config), pieces, sent.tail)
    if hashlib.sha256(body).hexdigest() != sent.sha256:
        raise ContextError(f"request {seq} cannot be rebuilt: its bytes differ from what was sent")
    return body
