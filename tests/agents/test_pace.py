"""The pace of an endpoint: requests and tokens a minute, by a clock of the test's own."""

import asyncio
import contextlib

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models import GenericFakeChatModel
from support.chat_openai import chat_openai
from support.chat_server import ChatServer, Say, Status
from support.requests import request_body

from agents import LangChainModel, Rate, Retries, WireModel, WireOptions
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


async def test_langchain_models_pass_the_gate_of_their_address_and_key_too():
    refused = [True]

    def script(_: object) -> Say | Status:
        return Status(429, headers={"Retry-After": "0.2"}) if refused else Say("ok", delay=0.02)

    async with contextlib.AsyncExitStack() as stack:
        server = await stack.enter_async_context(ChatServer(script))
        chat = await stack.enter_async_context(chat_openai(server.url))
        other_chat = await stack.enter_async_context(chat_openai(server.url, model="other"))
        retries = Retries(base=0.001)
        first = LangChainModel(chat, retries=retries, rate=Rate(concurrency=2))
        second = LangChainModel(other_chat, retries=retries)
        wire = WireModel("m", server.url, api_key="none")
        gate = wire._endpoint.gate()
        assert first._endpoint.gate() is second._endpoint.gate() is gate
        sending = asyncio.create_task(first.send(request_body(first)))
        while gate._left(0) <= 0:
            await asyncio.sleep(0.005)
        refused.clear()
        await second.send(request_body(second))  # held back by what the first one was told
        assert (await sending).notices
        assert len(server.requests) == 3
        bodies = [(model, request_body(model)) for model in (first, second, wire) * 4]
        await asyncio.gather(*(model.send(body) for model, body in bodies))
        assert server.most_under_way == 2
        await wire.close()


async def test_langchain_models_keep_to_requests_and_tokens_a_minute():
    async with ChatServer(lambda _: Say("ok")) as server, chat_openai(server.url) as chat:
        model = LangChainModel(chat, rate=Rate(requests=2, tokens=500))
        gate = model._endpoint.gate()
        reply = await model.send(request_body(model))
        assert gate._tokens._sum == reply.usage.total == 110
        await model.send(request_body(model))
        waiting = asyncio.create_task(model.send(request_body(model)))
        await asyncio.sleep(0.05)
        assert gate._left(1) > 0
        assert len(server.requests) == 2
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        slow = LangChainModel(chat, rate=Rate(tokens=100))
        assert slow._endpoint.gate()._left(200) == 0  # a larger one passes alone
        await slow.send(request_body(slow))
        assert slow._endpoint.gate()._left(1) > 0


async def test_another_key_or_no_address_is_another_gate():
    url = "http://127.0.0.1:9/v1"
    async with chat_openai(url) as one, chat_openai(url, api_key="b") as two:
        alike = LangChainModel(one), LangChainModel(one), LangChainModel(two)
        assert alike[0]._endpoint is alike[1]._endpoint is not alike[2]._endpoint
    nameless = GenericFakeChatModel(messages=iter([]))
    assert LangChainModel(nameless)._endpoint is not LangChainModel(nameless)._endpoint
