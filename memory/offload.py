"""Offload: what is too large to stay in a context, and the words that stand for it.

A body is stored before anything of it is shortened; the words name it and the call that reads on.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from filesystem import ArtifactRef, ArtifactStore, Ends, preview

from .blocks import Block, Image, Stored, Text
from .counting import IMAGE_TOKENS
from .encoding import dumps
from .history import cut_to_tokens
from .tokens import Counter

RESULT_TOKENS = 20_000
"""Tokens of one result at most, whatever the window. Deep Agents uses the same; its peers are lower."""
WINDOW_SHARE = 0.10
TRIGGER_SHARE = 0.25
BATCH = 2
"""Results of one turn together, in limits of one result."""
MESSAGE_SHARE = 0.15
"""Of the window, for one message of a user, which is kept verbatim that far."""
MESSAGE_HEAD = 0.10
"""Of the window, for the beginning of a message that is longer: the ask itself."""
MESSAGE_END = 2_000
"""Characters that are shown of its end."""
NO_TOOL = "you have no tool that reads it"
_LEAST_CHARS = 4
"""No token estimate is over this many tokens a character; what is shorter need not be counted."""
_MOST_CHARS = 128
"""No token is longer than this many characters."""


@dataclass(frozen=True, slots=True)
class OffloadLimits:
    """What may stay in a context, in tokens."""

    result: int
    """One tool result."""
    batch: int
    """The results of one turn together."""
    message: int
    """One message of the user."""
    head: int
    """Of a message that is longer, what is kept of its beginning."""

    @classmethod
    def of(cls, window: int, trigger: int) -> "OffloadLimits":
        """The limits for a window and the compaction's trigger, both in tokens."""
        result = min(RESULT_TOKENS, int(window * WINDOW_SHARE), int(trigger * TRIGGER_SHARE))
        return cls(result, BATCH * result, int(window * MESSAGE_SHARE), int(window * MESSAGE_HEAD))


@dataclass(frozen=True, slots=True)
class Keeper:
    """Stores what is too large and makes the words that stand for it."""

    store: ArtifactStore
    counter: Counter
    read_call: str
    """The call that reads on, with `{path}` and `{start_char}`; or `NO_TOOL`."""
    limit: int
    """Tokens that the words may have at most: half of it is used."""

    async def result(self, content: Sequence[Block], origin: str) -> tuple[Block, ...]:
        """Store the whole of a tool's result, whatever its blocks, and return what stands for it.

        Images stay beside the words as long as they are a small part. Raises `StorageFailed`.
        """
        images = [block for block in content if isinstance(block, Image)]
        if IMAGE_TOKENS * len(images) > self.limit // 2:
            images = []
        told = [block for block in content if block not in images]
        body = words_of(told)
        ref = await self.store.put(body, origin=origin)
        return (Stored(self.shown(ref, body), ref), *images)

    async def stream(self, ref: ArtifactRef) -> tuple[Block, ...]:
        """What stands for a body that was stored in a stream."""
        return (Stored(self.shown(ref, await self.store.ends(ref)), ref),)

    async def message(self, content: Sequence[Block], head: int, origin: str) -> tuple[Block, ...]:
        """Store a user's long message; its beginning, `head` tokens, and its end stay as they are."""
        others = tuple(block for block in content if isinstance(block, Image))
        body = words_of(block for block in content if block not in others)
        ref = await self.store.put(body, kind="text/plain", origin=origin)
        end = cut_to_tokens(body, 0, head, self.counter)
        at_line = body.rfind("\n", 0, end) + 1
        end = at_line if at_line > 0.8 * end else end
        tail = body[max(end, len(body) - MESSAGE_END) :]
        call = self.read_call.replace("{path}", ref.path).replace("{start_char}", str(end))
        left = f"{len(body) - end - len(tail):,} of {len(body):,} characters"
        notice = (
            f"[... this message is long: {left} are left out here; all of it is in {ref.path}; read on: "
            f"{call} ...]"
        )
        return (Stored(f"{body[:end]}\n{notice}\n{tail}", ref), *others)

    def shown(self, ref: ArtifactRef, body: str | Ends) -> str:
        """A preview of at most half the limit; scripts with many tokens a character show less."""
        text = preview(ref, body, read_call=self.read_call)
        if isinstance(body, Ends):
            head, tail = body.head, body.tail or body.head
        else:
            head, tail = (
                part.encode("utf-8", "surrogatepass") for part in (body[:9000], body[-9000:])
            )
        size = 8_000
        while self.counter.count(text) > self.limit // 2 and size > 16:
            text = preview(ref, Ends(head[:size], tail[-size:]), read_call=self.read_call)
            size //= 2
        return text


def is_over(content: Iterable[Block], limit: int, counter: Counter) -> bool:
    """Whether some blocks of any kind are more than `limit` tokens; huge and tiny ones are not counted."""
    room = limit
    texts: list[str] = []
    for block in content:
        if isinstance(block, Image):
            room -= IMAGE_TOKENS
        else:
            texts.append(words_of((block,)))
    size = sum(map(len, texts))
    if room < 0 or size > _MOST_CHARS * room:
        return True
    return size * _LEAST_CHARS > room and sum(map(counter.count, texts)) > room


def tokens_of(content: Iterable[Block], counter: Counter) -> int:
    """Tokens of some blocks, of any kind."""
    return sum(
        IMAGE_TOKENS if isinstance(block, Image) else counter.count(words_of((block,)))
        for block in content
    )


def words_of(blocks: Iterable[Block]) -> str:
    """Blocks as one text: texts literally, one below the other, everything else as its JSON."""
    parts = (block.text if isinstance(block, Text) else _json(block) for block in blocks)
    return "\n".join(parts)


def refs_in(content: Iterable[Block]) -> list[ArtifactRef]:
    """The bodies that stand behind the words of some blocks."""
    return [block.ref for block in content if isinstance(block, Stored) and block.ref is not None]


def cut_hard(content: Sequence[Block], limit: int, counter: Counter, why: str) -> tuple[Text]:
    """The beginning of a result that could not be stored, and a notice that says so."""
    body = words_of(content)
    end = cut_to_tokens(body, 0, limit // 2, counter)
    notice = (
        f"[This result has {len(body):,} characters, too many to be shown, and storing it failed: {why} "
        f"What follows is its beginning, {end:,} characters; the rest is lost. Ask for less at a time.]"
    )
    return (Text(f"{notice}\n{body[:end]}"),)


def _json(block: Block) -> str:
    data = getattr(block, "data", None)
    whole = data if isinstance(data, dict) else replace(block)
    return dumps(whole).decode("utf-8", "replace")
