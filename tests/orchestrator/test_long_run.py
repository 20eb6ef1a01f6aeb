"""A run of 200 turns over the wire: every request rebuilt (G1), every prefix stable (G7)."""

import asyncio
import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest
from support.chat_openai import chat_openai
from support.chat_server import ChatServer, Received
from support.long_run import TURNS, answer, team

from agents import LangChainModel, WireModel
from memory import (
    RequestSent,
    common_prefix,
    end_of_history,
    loads,
    read_entries,
    remake_requests,
    requests_of,
)
from orchestrator import assert_prefix_stable, verify_run
from orchestrator.log_reading import recorded_codec

pytestmark = pytest.mark.slow


@dataclass
class Ran:
    adapter: str
    folder: Path
    received: list[Received]


@pytest.fixture(scope="module", params=["wire", "ChatOpenAI"])
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return asyncio.run(run(request.param, tmp_path_factory.mktemp("runs")))


async def run(adapter: str, runs: Path) -> Ran:
    async with ChatServer(answer) as server:
        if adapter == "wire":
            model = WireModel("m", server.url, window=1_000_000)
            result = await team(model, runs).run("the long task")
            await model.close()
        else:
            async with chat_openai(server.url) as chat:
                langchain = LangChainModel(chat, window=1_000_000)
                result = await team(langchain, runs).run("the long task")
        assert (result.status, result.text) == ("done", "all done"), result
        assert result.folder
        return Ran(adapter, result.folder, server.requests)


def remade(folder: Path) -> dict[str, list[Any]]:
    entries = read_entries(folder / "events.db")
    return {
        thread: list(remake_requests([e for e in entries if e.thread == thread], recorded_codec))
        for thread in dict.fromkeys(e.thread for e in requests_of(entries))
    }


def test_case_74_every_request_of_200_turns_is_rebuilt_from_disk(ran: Ran) -> None:
    threads = remade(ran.folder)
    assert len(threads["main"]) == TURNS
    assert len(threads) == 7
    rebuilt = sorted(request.check().body for own in threads.values() for request in own)
    assert len(rebuilt) == len(ran.received) == TURNS + 6 * 4
    if ran.adapter == "wire":
        assert rebuilt == sorted(received.raw for received in ran.received)
        return

    def same(body: dict[str, Any]) -> bytes:
        """What LangChain passes on of a request: messages and tools."""
        messages = [
            {key: value for key, value in message.items() if value is not None}
            for message in body["messages"]
        ]
        return orjson.dumps([messages, body.get("tools")], option=orjson.OPT_SORT_KEYS)

    assert sorted(same(loads(body)) for body in rebuilt) == sorted(
        same(received.body) for received in ran.received
    )


def test_case_49_every_request_is_a_prefix_of_the_next_up_to_its_tail(ran: Ran) -> None:
    """The plan changes in every turn: it lives in the tail and uncaches nothing."""
    assert_prefix_stable(ran.folder)
    for own in remade(ran.folder).values():
        for before, request in itertools.pairwise(own):
            end = end_of_history(before)
            assert request.body.startswith(before.body[:end])
            assert before.body[end:].count(b'"role"') <= 1, (
                "behind the history stands the tail alone"
            )
    tails = [r.sent.tail for r in remade(ran.folder)["main"]]
    assert sum(a != b for a, b in itertools.pairwise(tails)) > TURNS * 0.9


def test_the_reused_bytes_that_a_run_reports_are_the_measured_ones(ran: Ran) -> None:
    reported = loads((ran.folder / "usage.json").read_bytes())["requests"]
    for thread, own in remade(ran.folder).items():
        shared = [0] + [common_prefix(a.body, b.body) for a, b in itertools.pairwise(own)]
        assert reported[thread]["reused_bytes"] == shared
        sizes = [len(request.body) for request in own]
        assert reported[thread]["unreused_bytes"] == [
            size - same for size, same in zip(sizes, shared, strict=True)
        ]
    main = reported["main"]
    reused, new = sum(main["reused_bytes"]), sum(main["unreused_bytes"])
    assert reused / (reused + new) > 0.9


def test_the_whole_run_verifies_and_holds_large_bodies(ran: Ran) -> None:
    found = verify_run(ran.folder)
    assert found.problems == ()
    assert found.log.requests == TURNS + 24
    assert found.artifacts >= 1
    sizes = [
        e.event.size
        for e in requests_of(read_entries(ran.folder / "events.db"))
        if isinstance(e.event, RequestSent)
    ]
    assert max(sizes) < 600_000
