"""Models: adapters between request bytes and whole replies, and the codecs that make the bytes."""

from .base import Delta, Model, Reply, Sink
from .scripted import ScriptedModel, ScriptExhausted, call

__all__ = ["Delta", "Model", "Reply", "ScriptExhausted", "ScriptedModel", "Sink", "call"]
