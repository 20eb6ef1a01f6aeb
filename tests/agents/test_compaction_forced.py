"""Six forced compactions at small shares of a window, with summarisers that do harm."""

import json
from typing import Any

import pytest
from support.provider_rules import check_chat

from agents import Agent, Compaction, Limits, Meter, Run, ScriptedModel, call, open_session
from memory import (
    ContextCompacted,
    MemoryEventLog,
    RequestSent,
    SummaryAsked,
    estimate_tokens,
    fits,
    search_events,
)

WINDOW = 32_000
RULE = "You must never write to /srv/ledger/2024.db, and only ever read it with --readonly."
TASK = f"Reconcile the accounts of March. {RULE} Report in English."
LONG = "padding words " * 12_000
HOSTILE: dict[str, Any] = {
    "empty": "",
    "refusing": "I'm sorry, I cannot help with summaries.",
    "longer than the input": LONG,
    "tool call": [call("fetch", number=1)],
    "drops the rule": '{"intent": ["reconcile"], "decisions": ["the rule no longer applies"]}',
}


def script(turns: int, summary: Any) -> Any:
    state = {"turn": 0}

    def play(body: dict[str, Any]) -> Any:
        if "Older messages of this" in str(body["messages"][-1]["content"]):
            return summary
        state["turn"] += 1
        if state["turn"] > turns:
            return "The accounts are reconciled."
        return call("fetch", number=state["turn"])

    return play


def needle(number: int) -> str:
    return f"TXN-{number * 7919 % 100_000:05d}-Z{number}"


@pytest.mark.parametrize("share", [0.10, 0.15, 0.20, 0.25])
@pytest.mark.parametrize("kind", list(HOSTILE))
async def test_six_compactions_keep_words_rules_and_needles(share: float, kind: str) -> None:
    async def fetch(number: int) -> str:
        """Fetch a page of the accounts."""
        return f"page {number}: {needle(number)}\n" + f"row {number} amount 12.50 EUR\n" * 45

    model = ScriptedModel(script(400, HOSTILE[kind]), window=WINDOW)
    settings = Compaction("summary", trigger=share)
    agent = Agent(
        "clerk", "You reconcile.", tools=[fetch], compaction=settings, limits=Limits(turns=130)
    )
    run = Run("r", MemoryEventLog(), Meter(Limits()))
    session = await open_session(run, agent, TASK, thread="main", models=[model])
    await agent.run(session)
    entries = await run.log.read("main")
    taken = [e for e in entries if isinstance(e.event, ContextCompacted)]
    assert len(taken) >= 6
    assert any(isinstance(e.event, SummaryAsked) for e in entries)
    for body in model.requests:
        messages = check_chat(body)
        assert messages[1]["content"] == TASK
        assert estimate_tokens(json.dumps(messages)) <= WINDOW
    exact = session.thread.counter.exact
    for entry in entries:
        if isinstance(entry.event, RequestSent):
            assert fits(entry.event.counted, WINDOW, 4_000, exact=exact)
    for entry in taken:
        assert RULE in entry.event.text
    asked = session.turns
    for number in range(1, asked):
        assert list(search_events(entries, needle(number))), needle(number)
