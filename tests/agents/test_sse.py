"""A stream of server-sent events gives the same events however its bytes are cut."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.models import sse

STREAM = b": comment\nevent: x\ndata: one\r\n\r\ndata: a\ndata: b\n\n\n\ndata:last"
EVENTS = [b"one", b"a\nb", b"last"]


@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_any_cut_gives_the_same_events(cuts: list[int]) -> None:
    borders = [0, *sorted(cuts), len(STREAM)]
    parser = sse.SseParser()
    events = [
        event
        for start, end in itertools.pairwise(borders)
        for event in parser.feed(STREAM[start:end])
    ]
    assert events + parser.close() == EVENTS


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_EVENT", 100)
    parser = sse.SseParser()
    for _ in range(10):
        parser.feed(b"0123456789")
    with pytest.raises(ValueError, match="longer than 100 bytes"):
        parser.feed(b"!")
