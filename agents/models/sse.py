"""Server-sent events, parsed as the bytes arrive."""

MAX_EVENT = 32 * 2**20
"""Bytes of one unfinished line; a server that sends more is not speaking the protocol."""


class SseParser:
    """Takes bytes in any cut, gives the data of the events that they complete.

    Comments and all fields but `data` are skipped, `data` lines of one event are joined by line feeds.
    """

    def __init__(self) -> None:
        self._line: list[bytes] = []
        """The unfinished line in pieces: joined once, so that a long one costs no more for its cuts."""
        self._held = 0
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """The events completed by `chunk`. Raises `ValueError` for a line without end."""
        first, *rest = chunk.split(b"\n")
        self._hold(first)
        if not rest:
            return []
        lines = [b"".join(self._line), *rest[:-1]]
        self._line, self._held = [], 0
        self._hold(rest[-1])
        events: list[bytes] = []
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[5:].strip())
            elif self._data and not line.strip():
                events.append(self._take())
        return events

    def close(self) -> list[bytes]:
        """The last event of a stream that ended without its blank line."""
        events = self.feed(b"\n") if self._held else []
        return events + ([self._take()] if self._data else [])

    def _hold(self, piece: bytes) -> None:
        self._held += len(piece)
        if self._held > MAX_EVENT:
            raise ValueError(f"a line of a stream is longer than {MAX_EVENT} bytes")
        if piece:
            self._line.append(piece)

    def _take(self) -> bytes:
        data, self._data = self._data, []
        return data[0] if len(data) == 1 else b"\n".join(data)
