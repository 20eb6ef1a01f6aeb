"""Two requests compared: the first byte that differs, the event behind it, the share that was reusable."""

from collections.abc import Iterator
from dataclasses import dataclass

from .prefix import common_prefix
from .requests import Rebuilt

_SEARCHED = 16
"""Items at the end whose pieces are looked at for where the history ends: codecs may reorder in a turn."""


@dataclass(frozen=True, slots=True)
class Part:
    """What a byte of a request belongs to."""

    kind: str
    """`head` (settings, tools, system prompt), `tail`, or a word for the event: `reply`, `result`..."""
    seq: int
    """Position of the event behind it; for a tail that of the request itself."""
    start: int
    """Its first byte."""
    end: int
    """The byte after its last one."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two requests share."""

    prefix: int
    """First bytes that are equal; the byte at this offset is the first that differs."""
    sizes: tuple[int, int]
    """Bytes of either."""
    parts: tuple[Part, Part]
    """What that byte belongs to, in either."""

    @property
    def equal(self) -> bool:
        """True for the same bytes."""
        return self.sizes == (self.prefix, self.prefix)

    @property
    def share(self) -> float:
        """The part of the second request that the first one makes reusable, 0 to 1."""
        return self.prefix / self.sizes[1] if self.sizes[1] else 0.0


def compare_requests(first: Rebuilt, second: Rebuilt) -> Comparison:
    """Compare two requests of any threads."""
    prefix = common_prefix(first.body, second.body)
    sizes = (len(first.body), len(second.body))
    return Comparison(prefix, sizes, (part_at(first, prefix), part_at(second, prefix)))


def part_at(request: Rebuilt, offset: int) -> Part:
    """What the byte at `offset` belongs to; what stands between two parts belongs to the later one."""
    for part in parts_of(request):
        if offset < part.end:
            return part
    return _tail(request, offset)


def parts_of(request: Rebuilt) -> Iterator[Part]:
    """The parts of a request in the order of its bytes, the tail left out."""
    yield Part("head", request.sent.config, 0, len(request.head))
    found: list[Part] = []
    at = len(request.head) - 1
    for item, made in zip(request.items, request.pieces, strict=True):
        for piece in made:
            # The last byte may be another one: a codec opens the object to put a mark into it.
            words = piece.data[:-1]
            start = request.body.find(words, at)
            start = request.body.find(words) if start < 0 else start
            end = start + len(words)
            at = max(at, end)
            found.append(Part(_KINDS[type(item.event).__name__], item.seq, start, end))
    yield from sorted(found, key=lambda part: part.start)


def end_of_history(request: Rebuilt) -> int:
    """The byte after the history: all before it must be the beginning of the next request (G7)."""
    end = len(request.head)
    for made in request.pieces[-_SEARCHED:]:
        for piece in made:
            words = piece.data[:-1]
            end = max(end, request.body.rfind(words) + len(words))
    return end


def _tail(request: Rebuilt, offset: int) -> Part:
    return Part("tail", request.entry.seq, min(offset, len(request.body)), len(request.body))


_KINDS = {
    "MessageAdded": "message",
    "ReplyReceived": "reply",
    "ToolReturned": "result",
    "ContextCompacted": "compaction",
}
