"""From what the log says about a codec back to the codec."""

from typing import Any

from memory import Codec

from ..errors import AgentDefinitionError
from .anthropic_codec import AnthropicCodec
from .chat_codec import ChatCodec

_CODECS: dict[tuple[str, int], type[Any]] = {
    (cls.name, cls.version): cls for cls in (ChatCodec, AnthropicCodec)
}


def codec_for(name: str, version: int, options: dict[str, str]) -> Codec:
    """The codec that made a recorded request, for `memory.rebuild_request`.

    Raises `AgentDefinitionError` for a name or version that this version of Undrift does not have.
    """
    make = _CODECS.get((name, version))
    if make is None:
        known = ", ".join(f"{known} {number}" for known, number in _CODECS)
        raise AgentDefinitionError(
            f"codec {name!r} version {version} is not known here (known: {known}); "
            "the run was written by another version of Undrift, open it with that one"
        )
    return make(**options)
