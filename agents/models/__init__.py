"""Models: adapters between request bytes and whole replies, and the codecs that make the bytes."""

from .base import Delta, Model, Reply, Sink

__all__ = ["Delta", "Model", "Reply", "Sink"]
