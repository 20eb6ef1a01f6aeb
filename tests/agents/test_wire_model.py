"""`WireModel` against a scripted server on loopback: streams, oddities, failures, retries, the gate."""

import asyncio
import hashlib
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from langchain_core import exceptions
from support.chat_server import ChatServer, Drop, Say, Script, Status, Step, serve_in_process
from support.requests import ask, request_body

from agents import AgentDefinitionError, Delta, Retries, WireModel, WireOptions
from memory import Reasoning, Text, ToolCall, Usage

FAST = Retries(base=0.001)


def wire(server: ChatServer, **given: Any) -> WireModel:
    options = WireOptions(retries=given.pop("retries", FAST), timeout=given.pop("timeout", 30.0))
    return WireModel("m", server.url, **{"options": options} | given)


async def one(script: Script, **given: Any) -> Any:
    """The reply and the server after one request."""
    async with ChatServer(script) as server:
        model = wire(server, **given)
        try:
            return await ask(model), server
        finally:
            await model.close()


async def failure(script: Script, **given: Any) -> Exception:
    with pytest.raises(Exception) as caught:
        await one(script, **given)
    return caught.value


FULL = Say("It is 7.", calls=[("search", {"query": "a"}), ("search", "{bad")], reasoning="I count.")


@pytest.mark.parametrize("stream", [True, False])
async def test_a_whole_reply(stream: bool) -> None:
    reply, _ = await one([FULL], stream=stream)
    assert reply.content == (
        Reasoning("I count."),
        Text("It is 7."),
        ToolCall("call_0", "search", '{"query": "a"}'),
        ToolCall("call_1", "search", "{bad"),
    )
    assert reply.finish == "tool_calls"
    assert reply.usage == Usage(100, 10, 40)
    assert reply.model == "scripted-model"
    assert reply.raw["message"]["reasoning_content"] == "I count."
    assert reply.notices == ()


async def test_the_bytes_arrive_as_they_are() -> None:
    async with ChatServer(["ok"]) as server:
        model = wire(server, api_key="sk-secret", settings={"temperature": 0, "max_tokens": 50})
        body = request_body(model)
        await model.send(body)
        await model.close()
    [received] = server.requests
    assert hashlib.sha256(received.raw).digest() == hashlib.sha256(body).digest()
    assert received.headers["Authorization"] == "Bearer sk-secret"
    assert list(received.body) == [
        *("model", "stream", "stream_options", "temperature", "max_tokens", "tools", "messages")
    ]


async def test_a_big_request() -> None:
    """Above a megabyte aiohttp wants another form of body; a warning would fail this test."""
    async with ChatServer([Status(503), "ok"]) as server:
        model = wire(server)
        body = request_body(model, system="x" * 3_000_000)
        assert (await model.send(body)).text == "ok"
        await model.close()
    assert [received.raw for received in server.requests] == [body, body]


async def test_a_sink_hears_every_piece() -> None:
    heard: list[Delta] = []
    async with ChatServer([FULL]) as server:
        model = wire(server)
        reply = await model.send(request_body(model), heard.append)
        await model.close()

    def said(kind: str) -> str:
        return "".join(delta.text for delta in heard if delta.kind == kind)

    assert said("text") == reply.text
    assert said("reasoning") == "I count."
    assert said("tool_call") == '{"query": "a"}{bad'
    assert len(heard) > 4


def fragments(*calls: dict[str, Any]) -> list[dict[str, Any]]:
    deltas = [{"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]} for call in calls]
    return [*deltas, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]


def part(arguments: Any, name: str | None = None, **fields: Any) -> dict[str, Any]:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return {"function": function, **fields}


@pytest.mark.parametrize(
    ("chunks", "calls"),
    [
        pytest.param(
            fragments(
                part("", "f", index=0, id="a"),
                part("", "g", index=1, id="b"),
                part('{"x"', index=0),
                part("{}", index=1),
                part(":1}", index=0),
            ),
            [("a", "f", '{"x":1}'), ("b", "g", "{}")],
            id="interleaved",
        ),
        pytest.param(
            fragments(
                part('{"x"', "f", index=0, id="a"),
                part(":1}", "f", index=0, id="a"),
            ),
            [("a", "f", '{"x":1}')],
            id="id and name in every fragment",
        ),
        pytest.param(
            fragments(part("{}", "f", index=0, id="a"), part('{"y":2}', "g", index=0, id="b")),
            [("a", "f", "{}"), ("b", "g", '{"y":2}')],
            id="index 0 for every call",
        ),
        pytest.param(
            fragments(part("{}", "f", id="a"), part('{"y"', "g", id="b"), part(":2}")),
            [("a", "f", "{}"), ("b", "g", '{"y":2}')],
            id="no index",
        ),
        pytest.param(
            fragments(part("{}", "f", index=0, id="x"), part("[]", "g", index=1, id="x")),
            [("x", "f", "{}"), ("x_2", "g", "[]")],
            id="one id for all calls",
        ),
        pytest.param(
            fragments(part({"x": 1}, "f", index=0, id="a")),
            [("a", "f", '{"x":1}')],
            id="arguments as an object",
        ),
        pytest.param(
            fragments(part(None, "f", index=0, id="a")), [("a", "f", "")], id="no arguments"
        ),
    ],
)
async def test_calls_of_odd_servers(
    chunks: list[dict[str, Any]], calls: list[tuple[str, str, str]]
) -> None:
    reply, _ = await one([Say(chunks=chunks)])
    assert [(call.id, call.name, call.arguments) for call in reply.calls] == calls
    assert reply.finish == "tool_calls"


async def test_calls_without_ids_get_one_of_their_own_every_turn() -> None:
    chunks = fragments(part("{}", "f", index=0), part("{}", "f", index=1))
    async with ChatServer([Say(chunks=chunks)]) as server:
        model = wire(server)
        first, second = [await model.send(request_body(model, system=s)) for s in ("one", "two")]
        again = await model.send(request_body(model, system="one"))
        await model.close()
    ids = [call.id for call in (*first.calls, *second.calls)]
    assert len(set(ids)) == 4
    assert [call.id for call in again.calls] == ids[:2]


@pytest.mark.parametrize(
    ("say", "content", "finish"),
    [
        (Say("cut of", finish="length"), (Text("cut of"),), "length"),
        (Say("", finish="content_filter"), (), "content_filter"),
        (Say(""), (), "stop"),
        (Say("", reasoning="only thoughts"), (Reasoning("only thoughts"),), "stop"),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
async def test_ends_that_the_loop_deals_with(
    say: Say, content: Any, finish: str, stream: bool
) -> None:
    reply, server = await one([say], stream=stream)
    assert (reply.content, reply.finish) == (content, finish)
    assert len(server.requests) == 1


async def test_reasoning_under_its_other_name_and_deepseek_cache_counts() -> None:
    chunk = {"choices": [{"delta": {"reasoning": "hm"}}]}
    last = {"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]}
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 8}
    reply, _ = await one([Say(chunks=[chunk, last], usage=usage)])
    assert reply.content[0] == Reasoning("hm", {"field": "reasoning"})
    assert reply.usage == Usage(9, 2, 8)


async def test_counts_below_0_give_nothing_back() -> None:
    last = {"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]}
    reply, _ = await one([Say(chunks=[last], usage={"prompt_tokens": -5, "completion_tokens": 2})])
    assert reply.usage == Usage(0, 2, 0)


async def test_a_stream_without_done_or_without_finish() -> None:
    finish = {"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]}
    assert (await one([Say(chunks=[finish], done=False)]))[0].text == "x"
    bare = {"choices": [{"delta": {"content": "x"}}]}
    assert (await one([Say(chunks=[bare], done=True)]))[0].finish == "stop"


# What is tried again.


@pytest.mark.parametrize(
    ("step", "stream"),
    [
        (Status(500), True),
        (Status(502, body="<html>bad gateway</html>"), True),
        (Status(529, headers={"Retry-After": "0"}), False),
        (Status(408), True),
        (Status(429, headers={"Retry-After": "0.01"}), True),
        (Status(429), False),
        (Drop(), True),
        (Drop(), False),
        (Say("a broken stream", cut=2), True),
        (Say("a broken answer", cut=0), False),
        (Say(chunks=[{"choices": [{"delta": {"content": "x"}}]}], done=False), True),
        (Say(chunks=["{not json"]), True),
        (Say(chunks=[{"choices": "odd"}]), True),
        (Say(chunks=[{"error": {"message": "overloaded", "code": 503}}]), True),
        (Status(200, body="[]"), False),
        (Status(200, body='{"error": {"message": "oops"}}'), True),
    ],
)
async def test_passing_troubles_are_tried_again(step: Step, stream: bool) -> None:
    reply, server = await one([step, step, "at last"], stream=stream)
    assert reply.text == "at last"
    assert len({received.raw for received in server.requests}) == 1
    assert len(server.requests) == 3
    [(topic, data)] = reply.notices
    assert topic == "model_retry"
    assert len(data["failures"]) == 2


@pytest.mark.parametrize(
    ("step", "error"),
    [
        (Status(401, "no such key"), exceptions.ModelAuthenticationError),
        (Status(403), exceptions.ModelPermissionDeniedError),
        (Status(404, "no model 'm'"), exceptions.ModelNotFoundError),
        (Status(400, "bad field"), exceptions.ModelInvalidRequestError),
        (Status(429, code="insufficient_quota"), exceptions.ModelPermissionDeniedError),
        (Status(400, code="context_length_exceeded"), exceptions.ContextOverflowError),
        (
            Status(400, "This model's maximum context length is 8192 tokens."),
            exceptions.ContextOverflowError,
        ),
        (Status(413, "prompt is too long: 9 tokens > 8"), exceptions.ContextOverflowError),
        (
            Status(307, headers={"Location": "http://192.0.2.1/"}),
            exceptions.ModelInvalidRequestError,
        ),
    ],
)
async def test_lasting_troubles_are_not(step: Step, error: type[Exception]) -> None:
    async with ChatServer([step]) as server:
        model = wire(server)
        with pytest.raises(error) as caught:
            await ask(model)
        await model.close()
    assert len(server.requests) == 1
    assert "openai:m" in str(caught.value)


@pytest.mark.parametrize(
    ("step", "error"),
    [
        (Status(429, "slow down"), exceptions.ModelRateLimitError),
        (Status(500, "boom"), exceptions.ModelAPIError),
        (Drop(), exceptions.ModelConnectionError),
    ],
)
async def test_attempts_end(step: Step, error: type[Exception]) -> None:
    async with ChatServer([step]) as server:
        model = wire(server, retries=Retries(attempts=3, base=0.001))
        with pytest.raises(error):
            await ask(model)
        await model.close()
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    "after", ["3600", format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)]
)
async def test_a_wait_beyond_the_deadline_is_not_begun(after: str) -> None:
    error = await failure([Status(429, "later", {"Retry-After": after}), "never asked"])
    assert isinstance(error, exceptions.ModelRateLimitError)


async def test_a_date_that_has_passed_and_one_that_is_none_do_not_wait() -> None:
    past = "Wed, 21 Oct 2015 07:28:00 GMT"
    steps = [Status(429, headers={"Retry-After": after}) for after in (past, "soon")]
    assert (await one([*steps, "ok"]))[0].text == "ok"


async def test_a_silent_server_times_out() -> None:
    error = await failure([Say("late", delay=30)], timeout=0.05)
    assert isinstance(error, exceptions.ModelTimeoutError)


async def test_a_server_that_is_not_there() -> None:
    async with ChatServer(["x"]) as server:
        url = server.url
    model = WireModel("m", url, options=WireOptions(retries=FAST))
    with pytest.raises(
        exceptions.ModelConnectionError, match=r"does not answer.*check the base URL"
    ):
        await ask(model)
    await model.close()


async def test_an_address_that_is_none() -> None:
    with pytest.raises(AgentDefinitionError, match="'localhost:8080' is no web address"):
        WireModel("m", "localhost:8080")


async def test_settings_that_the_adapter_makes_are_refused() -> None:
    with pytest.raises(AgentDefinitionError, match="messages"):
        WireModel("m", "http://localhost", settings={"messages": []})


async def test_the_key_is_never_shown() -> None:
    error = await failure([Status(401, "Incorrect API key: sk-secret")], api_key="sk-secret")
    assert "sk-secret" not in str(error)
    assert "sk-secret" not in repr(error)
    assert "sk-secret" not in repr(WireModel("m", "http://localhost", api_key="sk-secret"))


@pytest.mark.parametrize("step", [Say("late", delay=30), Say("word " * 100_000)])
async def test_cancelling_closes_the_connection(step: Say) -> None:
    async with ChatServer([step]) as server:
        model = wire(server)
        heard = asyncio.Event()
        task = asyncio.create_task(model.send(request_body(model), lambda _: heard.set()))
        if step.delay:
            while not server.under_way:
                await asyncio.sleep(0.001)
        else:
            await heard.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while server.under_way:
            await asyncio.sleep(0.001)
        await model.close()


# The gate.


async def test_a_429_holds_back_everybody_at_the_endpoint() -> None:
    """While one waits, the others of the endpoint send nothing, whatever their own state."""
    seconds = 0.3
    times: list[float] = []

    def script(_: dict[str, Any]) -> Step:
        times.append(asyncio.get_running_loop().time())
        return Status(429, headers={"Retry-After": str(seconds)}) if len(times) == 1 else Say("ok")

    async with ChatServer(script) as server:
        first, second = wire(server), wire(server)
        held = asyncio.create_task(ask(first))
        while not times:
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.05)
        await asyncio.gather(held, *(ask(second) for _ in range(5)))
        await first.close()
        await second.close()
    assert len(times) == 7
    assert min(times[1:]) - times[0] >= seconds


async def test_no_more_than_sixteen_at_once() -> None:
    async with ChatServer(lambda _: Say("ok", delay=0.02)) as server:
        models = [wire(server) for _ in range(40)]
        await asyncio.gather(*map(ask, models))
        for model in models:
            await model.close()
    assert server.most_under_way == 16


async def test_one_model_closed_leaves_the_others_connected() -> None:
    async with ChatServer(["ok"]) as server:
        first, second = wire(server), wire(server)
        await asyncio.gather(ask(first), ask(second))
        await first.close()
        await first.close()
        assert (await ask(second)).text == "ok"
        await second.close()
        assert (await ask(second)).text == "ok"
        await second.close()
    await wire(server).close()


def test_a_model_outlives_its_event_loop() -> None:
    async def twice(model: WireModel) -> list[str]:
        return [(await ask(model)).text for _ in range(2)]

    with serve_in_process("support.scripts:greeting") as url:
        model = WireModel("m", url)

        async def session() -> list[str]:
            try:
                return await twice(model)
            finally:
                await model.close()

        assert asyncio.run(session()) == asyncio.run(session()) == ["hello", "hello"]
