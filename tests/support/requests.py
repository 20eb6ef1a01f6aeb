"""Small requests made by a model's own codec, for tests of adapters."""

from typing import Any

from agents import Model, Reply
from memory import ConfigSet, Event, Item, JsonObject, MessageAdded, Text

SEARCH: JsonObject = {
    "name": "search",
    "description": "Search the documents.",
    "parameters": {
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
    },
}


def request_body(
    model: Model,
    *events: Event,
    tools: tuple[JsonObject, ...] = (SEARCH,),
    system: str = "Be brief.",
) -> bytes:
    """The bytes of a request that shows these events, or a greeting when there are none."""
    shown: tuple[Any, ...] = events or (MessageAdded((Text("hello"),)),)
    codec = model.codec
    config = ConfigSet(
        model.name, codec.name, codec.version, dict(codec.options), system, tools, model.settings
    )
    items = [Item(seq, event) for seq, event in enumerate(shown, start=2)]
    pieces = [piece for item in items for piece in codec.pieces(item)]
    return codec.body(codec.head(config), pieces, "")


async def ask(
    model: Model, *events: Event, notices: list[Any] | None = None, **options: Any
) -> Reply:
    """Send as the loop does: made again whenever the model's codec changed, five times at most."""
    from agents.errors import CodecChanged

    for _ in range(5):
        try:
            reply = await model.send(request_body(model, *events, **options))
        except CodecChanged as change:
            if notices is not None:
                notices += change.notices
            continue
        if notices is not None:
            notices += reply.notices
        return reply
    raise AssertionError("the codec changed five times for one request")
