"""The numbers of a window: when compaction begins and what a request may have at most."""

from ..errors import ContextError

TRIGGER_SHARE = 0.8
HEADROOM_SHARE, MOST_HEADROOM = 0.2, 65_536
NOT_EXACT = 1.15
"""What an estimate is multiplied by before it is compared with the window (G3)."""


def trigger_tokens(window: int, reserve: int, share: float | None = None) -> int:
    """Tokens of a request from which a context is compacted.

    `floor(min(window x 0.8, window - reserve - headroom))`, headroom being the smaller of 65,536 and 20 % of
    the window; with `share`, that share of the window, the reserve left free. `reserve` is what the answer
    may take. Raises `ContextError` when that leaves nothing, with the number to lower.
    """
    if share is None:
        headroom = min(MOST_HEADROOM, HEADROOM_SHARE * window)
        trigger = int(min(window * TRIGGER_SHARE, window - reserve - headroom))
    else:
        trigger = int(min(window * share, (window - reserve) / NOT_EXACT))
    if trigger <= 0:
        most = int(window * (1 - HEADROOM_SHARE)) // 2
        raise ContextError(
            f"an answer of up to {reserve:,} tokens leaves nothing of a window of {window:,}: lower "
            f"max_tokens to {most:,} or less, or declare a larger window"
        )
    return trigger


def fits(tokens: int, window: int, reserve: int, *, exact: bool) -> bool:
    """True when a request leaves room for the answer; an estimate is taken 15 % higher."""
    return tokens * (1 if exact else NOT_EXACT) <= window - reserve
