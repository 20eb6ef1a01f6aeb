"""The reusable prefix: how many first bytes of a request a provider can read from its cache.

It is what a request shares with the last one that was answered under the same configuration. The hash of
the shared bytes is kept, so that a request costs one comparison and the hashing of what is new.
"""

import hashlib

_CHUNK = 1 << 16


def common_prefix(first: bytes, second: bytes) -> int:
    """How many first bytes two requests share."""
    most = min(len(first), len(second))
    at = 0
    while at < most and first[at : at + _CHUNK] == second[at : at + _CHUNK]:
        at += _CHUNK
    low, high = min(at, most), min(at + _CHUNK, most)
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class Prefix:
    """Measures the requests of one thread, one after the other; one body is held, not two."""

    def __init__(self, answered: bytes = b"") -> None:
        """`answered` is the last request that got a reply, for a thread that goes on."""
        self._newest = answered
        self._instead: tuple[int, bytes] | None = None
        """What the last answered request has in place of the newest one's bytes, and from where on;
        `None` when the newest one is answered."""
        self._hash, self._hashed = hashlib.sha256(), 0  # of first bytes that both have

    def measure(self, body: bytes) -> tuple[str, int]:
        """SHA-256 of a request (hexadecimal), and how many of its first bytes are reusable."""
        answered = self._answered()
        shared = common_prefix(answered, body)
        if shared < self._hashed:
            self._hash, self._hashed = hashlib.sha256(), 0
        view = memoryview(body)
        self._hash.update(view[self._hashed : shared])
        self._hashed = shared
        whole = self._hash.copy()
        whole.update(view[shared:])
        self._newest, self._instead = body, (shared, answered[shared:])
        return whole.hexdigest(), shared

    def shared(self, body: bytes) -> int:
        """How many first bytes of a request beside the thread's turns are reusable."""
        return common_prefix(self._answered(), body)

    def answer(self) -> None:
        """The request that was measured last has its reply: the next one may reuse it."""
        self._instead = None

    def _answered(self) -> bytes:
        if self._instead is None:
            return self._newest
        shared, rest = self._instead
        return self._newest[:shared] + rest
