"""A scripted chat-completions server on loopback.

In a test:

    async with ChatServer([Say("hello"), Status(429, headers={"Retry-After": "0"}), Say("again")]) as server:
        model = WireModel("m", server.url)

A script is a list of steps, one a request, the last one repeated; or a function of the parsed body that
returns a step. Steps: `Say`, `Status`, `Drop`, or a string for `Say(text)`. Whether the answer is streamed
follows the request. `server.requests` holds what came: exact bytes, parsed body, headers.

In a process of its own, for tests that kill the client:

    with serve_in_process("support.my_scripts:script", record=path) as url: ...

where `script` is a list or a function importable from `tests/`; each body is appended to `record` as a line.
"""

import asyncio
import contextlib
import importlib
import itertools
import json
import multiprocessing
import multiprocessing.connection
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web


@dataclass
class Say:
    """A reply."""

    text: str = ""
    calls: Sequence[tuple[str, Any]] = ()
    """(name, arguments): a dict is written as JSON, a string goes out as it is (malformed, say)."""
    reasoning: str = ""
    finish: str = ""
    """`""`: `tool_calls` or `stop`, whichever fits."""
    usage: dict[str, Any] = field(
        default_factory=lambda: {
            "prompt_tokens": 100,
            "completion_tokens": 10,
            "prompt_tokens_details": {"cached_tokens": 40},
        }
    )
    delay: float = 0.0
    """Seconds before the first byte."""
    cut: int | None = None
    """Drops the connection after so many chunks of a stream (bytes of a whole answer: half)."""
    model: str = "scripted-model"
    chunks: Sequence[dict[str, Any] | str] | None = None
    """Sends these chunks in place of the ones made from the fields; strings go out as raw data."""
    done: bool = True
    """Whether a stream ends with `[DONE]`."""


@dataclass
class Status:
    """An HTTP error, or any other answer with a body of its own."""

    status: int
    message: str = "scripted error"
    headers: dict[str, str] = field(default_factory=dict)
    code: str | None = None
    body: str | None = None
    """Sent as it is in place of the usual error object."""
    delay: float = 0.0


@dataclass
class Drop:
    """Closes the connection without an answer."""

    delay: float = 0.0


Step = Say | Status | Drop | str
Script = Sequence[Step] | Callable[[dict[str, Any]], Step]


@dataclass
class Received:
    """One request as it came."""

    raw: bytes
    body: dict[str, Any]
    headers: dict[str, str]


# Every server has an address of its own, even on a port that was in use before: what models find out
# about an endpoint is remembered by address.
_numbers = itertools.count(1)


class ChatServer:
    """See the module's docstring."""

    def __init__(self, script: Script, *, record: Path | None = None) -> None:
        self.script = script
        self.requests: list[Received] = []
        self.props: dict[str, Any] | None = None
        """What `GET /props` answers, as llama.cpp does; `None` for 404."""
        self.server_name = "scripted"
        self.under_way = 0
        self.most_under_way = 0
        self._record = record
        self._path = f"/s{next(_numbers)}"
        self._runner: web.AppRunner | None = None
        self.url = ""
        """Base address, to be given to a model."""

    async def __aenter__(self) -> "ChatServer":
        app = web.Application(client_max_size=2**28)
        app.router.add_post(f"{self._path}/v1/chat/completions", self._handle)
        app.router.add_get(f"{self._path}/props", self._props)
        self._runner = web.AppRunner(
            app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}{self._path}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _props(self, _: web.Request) -> web.Response:
        return web.json_response(self.props) if self.props else web.Response(status=404)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        body = json.loads(raw)
        number = len(self.requests)
        self.requests.append(Received(raw, body, dict(request.headers)))
        if self._record:
            with self._record.open("ab") as file:
                file.write(raw + b"\n")
        script = self.script
        step = script(body) if callable(script) else script[min(number, len(script) - 1)]
        step = Say(step) if isinstance(step, str) else step
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await asyncio.sleep(step.delay)
            return await self._answer(request, body, step)
        finally:
            self.under_way -= 1

    async def _answer(self, request: web.Request, body: Any, step: Step) -> web.StreamResponse:
        assert not isinstance(step, str)
        if isinstance(step, Drop):
            return _drop(request)
        if isinstance(step, Status):
            error = {"message": step.message, "type": "scripted", "code": step.code}
            text = json.dumps({"error": error}) if step.body is None else step.body
            return web.Response(
                status=step.status,
                headers=step.headers,
                text=text,
                content_type="application/json",
            )
        if body.get("stream"):
            return await self._stream(request, body, step)
        data = json.dumps(_whole(step)).encode()
        if step.cut is not None:
            response = web.StreamResponse(headers={"Content-Length": str(len(data))})
            await response.prepare(request)
            await response.write(data[: len(data) // 2])
            return _drop(request, response)
        headers = {"Server": self.server_name}
        return web.Response(body=data, content_type="application/json", headers=headers)

    async def _stream(self, request: web.Request, body: Any, step: Say) -> web.StreamResponse:
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Server": self.server_name}
        )
        await response.prepare(request)
        asked = bool((body.get("stream_options") or {}).get("include_usage"))
        sent = 0
        async for chunk in _chunks(step, asked):
            if step.cut is not None and sent >= step.cut:
                return _drop(request, response)
            await response.write(f"data: {chunk}\n\n".encode())
            sent += 1
        await response.write_eof()
        return response


def _drop(request: web.Request, response: web.StreamResponse | None = None) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return response or web.Response()


def _calls(step: Say) -> list[dict[str, Any]]:
    return [
        {
            "index": number,
            "id": f"call_{number}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": given if isinstance(given, str) else json.dumps(given),
            },
        }
        for number, (name, given) in enumerate(step.calls)
    ]


def _finish(step: Say) -> str:
    return step.finish or ("tool_calls" if step.calls else "stop")


def _whole(step: Say) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": step.text or None}
    if step.reasoning:
        message["reasoning_content"] = step.reasoning
    if step.calls:
        message["tool_calls"] = _calls(step)
    choice = {"index": 0, "message": message, "finish_reason": _finish(step)}
    return {"id": "r1", "model": step.model, "choices": [choice], "usage": step.usage}


async def _chunks(step: Say, usage: bool) -> AsyncIterator[str]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return json.dumps({"id": "r1", "model": step.model, "choices": [choice]})

    if step.chunks is not None:
        for given in step.chunks:
            yield given if isinstance(given, str) else json.dumps(given)
    else:
        yield chunk({"role": "assistant", "content": ""})
        for start in range(0, len(step.reasoning), 8):
            yield chunk({"reasoning_content": step.reasoning[start : start + 8]})
        for start in range(0, len(step.text), 8):
            yield chunk({"content": step.text[start : start + 8]})
        for call in _calls(step):
            whole = call["function"]["arguments"]
            yield chunk({"tool_calls": [call | {"function": call["function"] | {"arguments": ""}}]})
            for start in range(0, len(whole), 8):
                part = {"index": call["index"], "function": {"arguments": whole[start : start + 8]}}
                yield chunk({"tool_calls": [part]})
        yield chunk({}, _finish(step))
    if usage:
        yield json.dumps({"id": "r1", "model": step.model, "choices": [], "usage": step.usage})
    if step.done:
        yield "[DONE]"


@contextlib.contextmanager
def serve_in_process(script: str, *, record: Path | None = None) -> Iterator[str]:
    """The base address of a server in another process; `script` is `module:name`, found in `tests/`."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=_serve, args=(script, record, there, sys.path), daemon=True)
    process.start()
    there.close()
    try:
        yield here.recv()
    finally:
        here.close()
        process.terminate()
        process.join()


def _serve(
    script: str,
    record: Path | None,
    pipe: "multiprocessing.connection.Connection",
    path: list[str],
) -> None:
    sys.path[:] = path
    module, _, name = script.partition(":")
    found = getattr(importlib.import_module(module), name)

    async def serve() -> None:
        async with ChatServer(found, record=record) as server:
            pipe.send(server.url)
            # Blocks a thread until the parent closes its end, or dies.
            with contextlib.suppress(EOFError):
                await asyncio.to_thread(pipe.recv)

    asyncio.run(serve())
