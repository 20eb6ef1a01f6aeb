"""Models that answer an eval: one for all samples, and for each sample a view of it that watches.

Whatever an agent's loop makes of a failed call, the sample's view knows that there was no answer, and why:
such a sample is missing, never a behaviour of the model.
"""

import time
from collections.abc import Iterable, Sequence

from agents import CodecChanged, Model, Reply, WireModel, resolve_model
from memory import (
    Codec,
    ConfigSet,
    Item,
    JsonObject,
    MessageAdded,
    MessageEvent,
    Text,
    Usage,
)

from .cassettes import CassetteModel, Sink
from .errors import CassetteMiss, EvalError
from .options import ModelOptions
from .results import NO_RESULT, STALE, Record

_CHANGES = 5
"""Times at most that an adapter finds out something about one request."""
_HELLO = "Call the tool `ready` once, with the word yes."
_READY: JsonObject = {
    "name": "ready",
    "description": "Say that you are ready.",
    "parameters": {
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
    },
}


class EvalModel:
    """A model that answers the samples of an eval."""

    def __init__(self, model: Model, *, most_tokens: int = 0) -> None:
        self.model, self._most = model, most_tokens
        self.usage = Usage()
        """What all samples have spent."""

    @property
    def name(self) -> str:
        """As the user gave it."""
        return self.model.name

    def stop(self) -> str:
        """Why no further sample may begin, `""` while one may."""
        if self._most and self.usage.total >= self._most:
            return f"{self.usage.total} tokens are spent, of {self._most} allowed"
        return ""

    def sample(self, window: int | None = None) -> "SampleModel":
        """The model as one sample uses it, with a window declared for it in tokens."""
        return SampleModel(self, window)

    async def settle(self) -> None:
        """Ask once before all samples, so that what is peculiar to the server is known to all of them.

        Raises `EvalError` when it does not answer.
        """
        try:
            await ask_once(self.sample(), "", [MessageAdded((Text(_HELLO),))], (_READY,))
        except CassetteMiss:
            return  # each sample will say that it is stale
        except EvalError:
            raise
        except Exception as error:  # the boundary: whatever a model raises, it does not answer
            raise EvalError(
                f"model {self.name!r} gave no answer: {error}; start its server, or correct the model's "
                "name and address"
            ) from error

    async def close(self) -> None:
        """Release its connections."""
        await self.model.close()


class SampleModel:
    """One sample's view: the model's protocol, with what was sent, what it cost, and what failed."""

    def __init__(self, shared: EvalModel, window: int | None) -> None:
        self._shared = shared
        self.name = shared.name
        self.window = window or shared.model.window
        self.requests: list[bytes] = []
        """The exact bytes of every request, in order."""
        self.usage = Usage()
        self.seconds = 0.0
        """Wall time of all requests."""
        self.why = ""
        """Why the newest request has no answer, `""` when it has one."""
        self.stale = False
        """True when a request was not in the cassette."""

    @property
    def codec(self) -> Codec:
        """The shared model's."""
        return self._shared.model.codec

    @property
    def settings(self) -> JsonObject:
        """The shared model's."""
        return self._shared.model.settings

    async def send(self, body: bytes, sink: Sink | None = None) -> Reply:
        """As the shared model does; see `Model.send`."""
        started = time.monotonic()
        try:
            reply = await self._shared.model.send(body, sink)
        except CodecChanged:
            raise
        except Exception as error:
            self.requests.append(body)
            self.stale |= isinstance(error, CassetteMiss)
            self.why = str(error) or type(error).__name__
            raise
        finally:
            self.seconds += time.monotonic() - started
        self.requests.append(body)
        self.why = ""
        self.usage += reply.usage
        self._shared.usage += reply.usage
        return reply

    async def close(self) -> None:
        """Nothing: the connections are everybody's."""

    def mark(self, records: Iterable[Record]) -> list[Record]:
        """A sample's records with its cost; missing or stale when a request had no answer in the end."""
        figures = {
            "model_calls": float(len(self.requests)),
            "input_tokens": float(self.usage.input_tokens),
            "output_tokens": float(self.usage.output_tokens),
            "seconds": round(self.seconds, 3),
        }
        update: JsonObject = {"scripted": False, "model": self.name}
        if self.stale or self.why:
            update |= {
                "passed": False,
                "state": "missing",
                "failure": STALE if self.stale else NO_RESULT,
                "why": self.why,
            }
        return [
            record.model_copy(update=update | {"figures": record.figures | figures})
            for record in records
        ]


def open_model(options: ModelOptions) -> EvalModel | None:
    """The model that the options name, `None` when they name none.

    Raises `EvalError` or `AgentDefinitionError` for options that cannot be used.
    """
    if not options.model:
        if options.base_url or options.cassettes or options.record:
            raise EvalError(
                "an address, --cassettes and --record are of use only with a model: name one"
            )
        return None
    if options.record and options.cassettes is None:
        raise EvalError("--record needs --cassettes DIR, the folder to keep the replies in")
    settings: JsonObject = {"max_tokens": options.max_tokens}
    replaying = options.cassettes is not None and not options.record
    if replaying and options.model.startswith("openai:"):  # nothing is asked, so no key is needed
        url = options.base_url or "http://localhost/v1"
        model: Model = WireModel(options.model.removeprefix("openai:"), url, settings=settings)
    else:
        model = resolve_model(options.model, base_url=options.base_url or None, settings=settings)
    if options.cassettes is not None:
        model = CassetteModel(model, options.cassettes, record=options.record)
    return EvalModel(model, most_tokens=options.max_total_tokens)


async def ask_once(
    model: Model, system: str, events: Sequence[MessageEvent], tools: tuple[JsonObject, ...] = ()
) -> Reply:
    """One request outside an agent's loop that shows these events. Raises what `model` raises."""
    for left in reversed(range(_CHANGES)):
        codec = model.codec
        config = ConfigSet(
            model.name,
            codec.name,
            codec.version,
            dict(codec.options),
            system,
            tools,
            model.settings,
        )
        pieces = [piece for n, e in enumerate(events, 2) for piece in codec.pieces(Item(n, e))]
        try:
            return await model.send(codec.body(codec.head(config), pieces, ""))
        except CodecChanged:
            if not left:
                raise
    raise AssertionError("unreachable")
