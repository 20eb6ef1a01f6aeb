"""What all models of one server share: connections, a gate for every subagent, retries.

An endpoint lives as long as a model that uses it; its connections belong to one event loop each.
"""

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

from .failures import Failure
from .findings import Findings
from .pace import CONCURRENCY, Pace, Rate

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from tenacity import RetryCallState

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Retries:
    """When a failed request is sent again."""

    attempts: int = 6
    """The first one included."""
    base: float = 0.5
    """Seconds before the second attempt, doubled for each further one, with jitter."""
    longest: float = 30.0
    """Seconds; a longer `Retry-After` is still honoured, if the deadline allows."""
    deadline: float = 300.0
    """Seconds from the first failure; no wait goes beyond it."""


class Gate:
    """Lets requests through as the endpoint's rate allows, and none while the server asks for a pause."""

    def __init__(self, rate: Rate | None = None) -> None:
        self.rate = rate = rate or Rate()
        """What it was made for."""
        clock = time.monotonic
        self._places = asyncio.Semaphore(rate.concurrency or CONCURRENCY)
        self._requests, self._tokens = Pace(rate.requests, clock), Pace(rate.tokens, clock)
        self._opens = 0.0

    def pause(self, seconds: float) -> None:
        """Hold back every request that has not left yet."""
        self._opens = max(self._opens, time.monotonic() + seconds)

    @contextlib.asynccontextmanager
    async def passing(self, tokens: int) -> AsyncGenerator[None]:
        """Wait until a request of about so many tokens may leave, and hold its place till it has ended."""
        while True:
            while (left := self._left(tokens)) > 0:  # noqa: ASYNC110 - waits for a time
                # Not all at the same instant, or the next refusal is certain.
                await asyncio.sleep(left * random.uniform(1.0, 1.2))
            await self._places.acquire()
            if self._left(tokens) <= 0:
                break
            self._places.release()
        self._requests.take(1)
        self._tokens.take(tokens)
        try:
            yield
        finally:
            self._places.release()

    def correct(self, tokens: int) -> None:
        """Count what a request took beyond its estimate."""
        self._tokens.take(tokens)

    def _left(self, tokens: int) -> float:
        """Seconds until the next request may leave."""
        pause = self._opens - time.monotonic()
        return max(pause, self._requests.wait(1), self._tokens.wait(tokens))


@dataclass(slots=True)
class Line:
    """An endpoint as one event loop uses it."""

    session: "ClientSession"
    gate: Gate
    users: WeakSet[Any] = field(default_factory=WeakSet[Any])
    """Models that have sent something and are not closed."""


class Endpoint:
    """One server under one key."""

    def __init__(self, key: str) -> None:
        self._key = key
        self.rate = Rate()
        """What all models here have agreed on; it holds from the first request on."""
        self._lines: WeakKeyDictionary[asyncio.AbstractEventLoop, Line] = WeakKeyDictionary()
        self._gates: WeakKeyDictionary[asyncio.AbstractEventLoop, Gate] = WeakKeyDictionary()
        self._findings: dict[str, Findings] = {}

    def findings(self, model: str) -> Findings:
        """What was found out about this model here, shared by all who use it."""
        return self._findings.setdefault(model, Findings())

    def gate(self) -> Gate:
        """The gate of the running loop, for whoever asks this server; another one once the rate changed."""
        loop = asyncio.get_running_loop()
        gate = self._gates.get(loop)
        if gate is None or gate.rate != self.rate:
            gate = self._gates[loop] = Gate(self.rate)
        return gate

    def line(self, user: object, proxies: bool) -> Line:
        """Connections and gate of the running loop, made at first use and kept until `release`."""
        loop = asyncio.get_running_loop()
        line = self._lines.get(loop)
        if line is None:
            line = self._lines[loop] = Line(_session(self._key, proxies), self.gate())
        line.users.add(user)
        return line

    async def release(self, user: object) -> None:
        """Close the running loop's connections when no other model uses them."""
        loop = asyncio.get_running_loop()
        line = self._lines.get(loop)
        if line is None:
            return
        line.users.discard(user)
        if not line.users:
            del self._lines[loop]
            await line.session.close()


_endpoints: WeakValueDictionary[tuple[str, str], Endpoint] = WeakValueDictionary()


def endpoint_for(base_url: str, key: str) -> Endpoint:
    """The endpoint of this address and key; the same one for everybody who asks."""
    endpoint = _endpoints.get((base_url, key))
    if endpoint is None:
        endpoint = _endpoints[(base_url, key)] = Endpoint(key)
    return endpoint


def _session(key: str, proxies: bool) -> "ClientSession":
    import aiohttp

    headers = {"Content-Type": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=headers,
        trust_env=proxies,
    )


async def retried(
    attempt: Callable[[], Awaitable[T]], gate: Gate, retries: Retries, log: list[str]
) -> T:
    """The result of `attempt`, repeated as `retries` says; it raises `Failure` when it has none.

    `log` gets the failures that were followed by another attempt. A 429 holds the gate for everybody.
    The first attempt goes without tenacity: its state machine costs as much as the sending.
    """
    try:
        return await attempt()
    except Failure as failure:
        if not failure.retryable:
            raise
        first: list[Failure] = [failure]

    async def again() -> T:
        if first:
            raise first.pop()
        return await attempt()

    return await _retrying(gate, retries, log)(again)


def _retrying(gate: Gate, retries: Retries, log: list[str]) -> Callable[..., Awaitable[Any]]:
    from tenacity import AsyncRetrying, retry_if_exception, wait_exponential, wait_random

    backoff = wait_exponential(retries.base, max=retries.longest) + wait_random(0, retries.base)

    def wait(state: "RetryCallState") -> float:
        asked = _failure(state).retry_after
        return backoff(state) if asked is None else asked

    def stop(state: "RetryCallState") -> bool:
        if state.attempt_number >= min(retries.attempts, _failure(state).tries):
            return True
        passed = state.seconds_since_start or 0.0
        return passed + state.upcoming_sleep > retries.deadline

    def before_sleep(state: "RetryCallState") -> None:
        failure = _failure(state)
        log.append(f"{failure.kind}: {failure.message}")
        if failure.kind == "rate_limit" or failure.retry_after:
            gate.pause(state.upcoming_sleep)

    return AsyncRetrying(
        retry=retry_if_exception(lambda error: isinstance(error, Failure) and error.retryable),
        wait=wait,
        stop=stop,
        before_sleep=before_sleep,
        reraise=True,
    )


def _failure(state: "RetryCallState") -> Failure:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, Failure)  # nothing else is retried
    return error
