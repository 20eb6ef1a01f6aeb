"""Cassettes: replies by the exact bytes of their requests, so that an eval can be run again without a model.

One file a request, named by the SHA-256 of its bytes. What an adapter found out about its endpoint is kept
with it, because it decides the bytes that follow. A reply in which a secret is found is never kept.
"""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from agents import CodecChanged, Delta, Model, Reply, codec_for
from memory import (
    Codec,
    JsonObject,
    ReplyReceived,
    decode_event,
    dumps,
    encode_event,
    loads,
    redact,
)

from .errors import CassetteMiss, EvalError

FORMAT = 1
_REPLY = "reply_received"
Sink = Callable[[Delta], None]
"""Hears a reply while it streams."""


class CassetteModel:
    """A model whose replies come from a folder; with `record`, what is not there is asked for and kept."""

    def __init__(self, inner: Model, folder: Path, *, record: bool = False) -> None:
        self._inner, self._folder, self._record = inner, folder, record
        self._codec: Codec | None = None
        self._settings: JsonObject | None = None
        self.unkept = 0
        """Replies that were not kept, for a secret in them."""
        if not record and not folder.is_dir():
            raise EvalError(f"no cassettes at {str(folder)!r}; record them with --record")

    @property
    def name(self) -> str:
        """The inner model's name."""
        return self._inner.name

    @property
    def window(self) -> int | None:
        """The inner model's window."""
        return self._inner.window

    @property
    def codec(self) -> Codec:
        """The inner model's, or as it was when the last replayed request was answered."""
        return self._codec or self._inner.codec

    @property
    def settings(self) -> JsonObject:
        """As for `codec`."""
        return self._inner.settings if self._settings is None else self._settings

    async def send(self, body: bytes, sink: Sink | None = None) -> Reply:
        """The recorded reply. Raises `CassetteMiss`, and `CodecChanged` where it was raised then."""
        path = self._path(body)
        try:
            data: JsonObject = loads(path.read_bytes())
        except FileNotFoundError:
            if not self._record:
                raise CassetteMiss(
                    f"no reply is recorded for this request ({path.stem[:12]}, {len(body)} bytes): it "
                    "differs from what was recorded; record again with --record"
                ) from None
            return await self._ask(body, path, sink)
        except ValueError as error:
            raise EvalError(f"the cassette {str(path)!r} is damaged: delete it") from error
        if self._record and data.get("reply") is None:
            return await self._ask(body, path, sink)  # the endpoint has to be found out about again
        return self._play(data, path)

    async def close(self) -> None:
        """Close the inner model."""
        await self._inner.close()

    def _path(self, body: bytes) -> Path:
        name = sha256(body).hexdigest()
        return self._folder / name[:2] / f"{name}.json"

    async def _ask(self, body: bytes, path: Path, sink: Sink | None) -> Reply:
        try:
            reply = await self._inner.send(body, sink)
        except CodecChanged as change:
            self._keep(path, {"reply": None, "notices": change.notices})
            raise
        event = ReplyReceived(reply.content, reply.finish, reply.usage, reply.model, reply.raw, 0)
        stored = encode_event(event)
        data = {"version": stored[1], "reply": loads(stored[2]), "notices": reply.notices}
        self._keep(path, data)
        return reply

    def _keep(self, path: Path, data: JsonObject) -> None:
        codec = self._inner.codec
        head: JsonObject = {
            "format": FORMAT,
            "model": self.name,
            "codec": [codec.name, codec.version, dict(codec.options)],
            "settings": self._inner.settings,
        }
        written = dumps(head | data)
        if redact(written.decode()) != written.decode():
            self.unkept += 1
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_bytes(written)
        new.replace(path)

    def _play(self, data: JsonObject, path: Path) -> Reply:
        damaged = EvalError(
            f"the cassette {str(path)!r} cannot be used: delete it, record it again"
        )
        if data.get("format") != FORMAT:
            raise damaged
        before = (dict(self.codec.options), self.settings)
        if not self._record:
            self._codec, self._settings = codec_for(*data["codec"]), data["settings"]
        notices: tuple[tuple[str, Any], ...] = tuple((n[0], n[1]) for n in data["notices"])
        if data["reply"] is None:
            if before == (dict(self.codec.options), self.settings):
                raise damaged  # the same request would be made without end
            raise CodecChanged(notices)
        event = decode_event(_REPLY, data["version"], dumps(data["reply"]))
        if not isinstance(event, ReplyReceived):
            raise damaged
        return Reply(event.content, event.finish, event.usage, event.model, event.raw, notices)
