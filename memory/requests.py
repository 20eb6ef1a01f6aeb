"""Requests made again from the log alone, byte for byte (G1)."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from .codec import Codec, Item, Piece
from .context import Context, build_context
from .encoding import dumps
from .errors import ContextError
from .events import ConfigSet, Entry, ReplyReceived, RequestSent, SummaryAsked

CodecFor = Callable[[str, int, dict[str, str]], Codec]


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A request made again, and what it was made of."""

    entry: Entry
    """Its `RequestSent`."""
    sent: RequestSent | SummaryAsked
    codec: Codec
    head: bytes
    items: tuple[Item, ...]
    """What the model saw, in order."""
    pieces: tuple[tuple[Piece, ...], ...]
    """The bytes of each item."""
    body: bytes
    """The whole request."""

    @property
    def exact(self) -> bool:
        """True when the bytes are those that were sent, by their hash."""
        return hashlib.sha256(self.body).hexdigest() == self.sent.sha256

    def check(self) -> "Rebuilt":
        """This request. Raises `ContextError` when its bytes are not those that were sent."""
        if not self.exact:
            raise ContextError(
                f"request {self.entry.seq} cannot be rebuilt: its bytes differ from what was sent; the "
                "log was changed, or this version makes other bytes than the one that wrote it"
            )
        return self


def requests_of(entries: Sequence[Entry]) -> list[Entry]:
    """The `RequestSent` entries of one thread, in order: turn N is the N-th of them."""
    return [entry for entry in entries if isinstance(entry.event, RequestSent)]


def turn_of(entries: Sequence[Entry], turn: int) -> Entry:
    """The request of turn `turn`, from 1, of one thread. Raises `ContextError`, saying how many there are."""
    requests = requests_of(entries)
    if not 1 <= turn <= len(requests):
        raise ContextError(f"there is no turn {turn}: this thread has {len(requests)}, from 1 on")
    return requests[turn - 1]


def rebuild_request(entries: Sequence[Entry], seq: int, codec_for: CodecFor) -> bytes:
    """The exact bytes of the request recorded at position `seq` of one thread's `entries`.

    Raises `ContextError` when there is no such request, or when the bytes do not match the recorded
    hash (the log was changed, or a codec changed its bytes without a new version).
    """
    return remake_request(entries, seq, codec_for).check().body


def remake_request(entries: Sequence[Entry], seq: int, codec_for: CodecFor) -> Rebuilt:
    """The request at position `seq` with what it was made of, whether or not its hash fits.

    Raises `ContextError` when there is no such request.
    """
    entry = next((e for e in entries if e.seq == seq), None)
    if entry is None or not isinstance(entry.event, RequestSent | SummaryAsked):
        raise ContextError(f"event {seq} of this thread is not a request")
    sent = entry.event
    context = build_context(e for e in entries if e.seq <= sent.last_event)
    return _Maker(entries, codec_for).make(entry, sent, context)


def remake_requests(
    entries: Sequence[Entry], codec_for: CodecFor, *, summaries: bool = False
) -> Iterator[Rebuilt]:
    """Every request of one thread in order, each event turned into bytes once; `summaries` includes those
    for summaries, which stand beside the turns.

    Raises `ContextError` as `remake_request` does.
    """
    maker, context = _Maker(entries, codec_for), Context()
    wanted = RequestSent | SummaryAsked if summaries else RequestSent
    for entry in entries:
        if isinstance(entry.event, wanted):
            yield maker.make(entry, entry.event, context)
        context.add(entry)


def answers(entry: Entry, request: int) -> bool:
    """True for the reply to the request at position `request`."""
    return isinstance(entry.event, ReplyReceived) and entry.event.request == request


def answered_request(entries: Sequence[Entry], codec: Codec) -> bytes:
    """The last request of a thread that got a reply, if the thread's newest configuration made it.

    `b""` when there is none.
    """
    config = next((e for e in reversed(entries) if isinstance(e.event, ConfigSet)), None)
    answered = {e.event.request for e in entries if isinstance(e.event, ReplyReceived)}
    for entry in reversed(entries):
        if isinstance(entry.event, RequestSent) and entry.seq in answered:
            if config is None or entry.event.config != config.seq:
                return b""
            return remake_request(entries, entry.seq, _always(codec)).body
    return b""


def _always(codec: Codec) -> CodecFor:
    def codec_for(_name: str, _version: int, _options: dict[str, str]) -> Codec:
        return codec

    return codec_for


class _Maker:
    """Makes requests of one thread; what an item or a configuration became is made once."""

    def __init__(self, entries: Sequence[Entry], codec_for: CodecFor) -> None:
        self._configs = {e.seq: e.event for e in entries if isinstance(e.event, ConfigSet)}
        self._codec_for = codec_for
        self._heads: dict[bytes, tuple[Codec, bytes]] = {}
        # The item is kept beside its pieces: its identity must not be used again.
        self._made: dict[tuple[bytes, int], tuple[Item, tuple[Piece, ...]]] = {}

    def make(self, entry: Entry, sent: RequestSent | SummaryAsked, context: Context) -> Rebuilt:
        if isinstance(sent, RequestSent):
            context.close_open_calls()
        codec, head, key = self._head(entry.seq, sent)
        items = tuple(context.answered)
        pieces = tuple(self._pieces(key, codec, item) for item in items)
        body = codec.body(head, [piece for made in pieces for piece in made], sent.tail)
        return Rebuilt(entry, sent, codec, head, items, pieces, body)

    def _head(self, seq: int, sent: RequestSent | SummaryAsked) -> tuple[Codec, bytes, bytes]:
        """Codec, head, and what tells them from those of other requests."""
        instead = sent.instead if isinstance(sent, SummaryAsked) else {}
        key = dumps([sent.config, instead])
        if key not in self._heads:
            config = self._configs.get(sent.config)
            if config is None:
                raise ContextError(
                    f"request {seq} names event {sent.config}, which is no configuration"
                )
            config = replace(config, **instead)
            options = dict(config.codec_options)
            codec = self._codec_for(config.codec, config.codec_version, options)
            self._heads[key] = codec, codec.head(config)
        return *self._heads[key], key

    def _pieces(self, head: bytes, codec: Codec, item: Item) -> tuple[Piece, ...]:
        key = (head, id(item))
        if key not in self._made:
            self._made[key] = item, codec.pieces(item)
        return self._made[key][1]
