"""The event by which something stands in for content that is too large to be shown."""

from dataclasses import dataclass

from .blocks import Block


@dataclass(frozen=True, slots=True)
class ContentOffloaded:
    """From its first request on, the model sees this in place of an event's content, which was too large.

    For what is too large only together with others, and for messages; what is too large by itself is
    stored before its event is appended.
    """

    target: int
    """Position of the event."""
    content: tuple[Block, ...]
    """What the model sees: a `Stored` block among it."""
