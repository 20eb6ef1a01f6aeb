"""The pace of an endpoint: requests and tokens a minute, by a clock of the test's own."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st
from support.chat_server import ChatServer, Say, Status

from agents import Rate, WireModel, WireOptions
from agents.models.endpoint import Gate
from agents.models.pace import Pace


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@given(st.lists(st.tuples(st.floats(0, 30), st.integers(1, 40)), max_size=40))
def test_no_minute_holds_more_than_the_limit(steps):
    clock = Clock()
    pace = Pace(100, clock)
    taken = []
    for gap, amount in steps:
        clock.now += gap
        while (wait := pace.wait(amount)) > 0:
            clock.now += wait
        pace.take(amount)
        taken.append((clock.now, amount))
    for when, _ in taken:
        # Just under a minute: both ends of a whole minute may hold an event.
        assert sum(a for t, a in taken if when <= t < when + 59.999) <= 100


def test_an_amount_beyond_the_limit_passes_alone_and_estimates_are_corrected():
    clock = Clock()
    pace = Pace(100, clock)
    assert pace.wait(500) == 0
    pace.take(500)
    assert pace.wait(1) == 60
    pace.take(-450)
    assert pace.wait(50) == 0


def test_the_smaller_rate_holds():
    both = Rate(concurrency=4, tokens=10) & Rate(concurrency=9, requests=5)
    assert both == Rate(4, 5, 10)


async def test_one_endpoint_has_one_gate_and_a_429_pauses_all_who_share_it():
    async with ChatServer(
        lambda body: Status(429, headers={"Retry-After": "0.2"}) if not seen else Say("ok")
    ) as server:
        seen = []
        first = WireModel("a", server.url, options=WireOptions(rate=Rate(concurrency=2)))
        second = WireModel("b", server.url)
        line = first._endpoint.line(first, False)
        assert line.gate is second._endpoint.line(second, False).gate
        body = b'{"model":"a","messages":[{"role":"user","content":"x"}]}'
        sending = asyncio.create_task(first.send(body))
        while not server.requests:
            await asyncio.sleep(0.005)
        seen.append(True)
        while line.gate._left(0) <= 0:
            await asyncio.sleep(0.005)
        await second.send(body)
        await sending
        assert len(server.requests) == 3
        await asyncio.gather(*(second.send(body) for _ in range(12)))
        assert server.most_under_way <= 2
        await first.close()
        await second.close()


async def test_the_gate_holds_back_requests_beyond_the_minute():
    gate = Gate(Rate(requests=2))
    async with gate.passing(1), gate.passing(1):
        pass
    waiting = asyncio.create_task(gate.passing(1).__aenter__())
    await asyncio.sleep(0.05)
    assert not waiting.done()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
