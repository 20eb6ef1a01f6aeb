"""Models: adapters between request bytes and whole replies, and the codecs that make the bytes."""

from .anthropic_codec import AnthropicCodec
from .base import Delta, Model, Reply, Sink
from .chat_codec import ChatCodec
from .codecs import codec_for
from .scripted import ScriptedModel, call

__all__ = [
    "AnthropicCodec",
    "ChatCodec",
    "Delta",
    "Model",
    "Reply",
    "ScriptedModel",
    "Sink",
    "call",
    "codec_for",
]
