"""Models: adapters between request bytes and whole replies, and the codecs that make the bytes."""

from .anthropic_codec import AnthropicCodec
from .base import Delta, Model, Reply, Sink
from .chat_codec import ChatCodec
from .codecs import codec_for
from .endpoint import Retries
from .langchain import LangChainModel
from .names import resolve_model
from .pace import Rate
from .scripted import ScriptedModel, call
from .wire import WireModel, WireOptions

__all__ = [
    "AnthropicCodec",
    "ChatCodec",
    "Delta",
    "LangChainModel",
    "Model",
    "Rate",
    "Reply",
    "Retries",
    "ScriptedModel",
    "Sink",
    "WireModel",
    "WireOptions",
    "call",
    "codec_for",
    "resolve_model",
]
