"""Compaction through the real loop: when it begins, what stays, how it ends."""

import json
from typing import Any

import pytest
from support.provider_rules import check_chat

from agents import Agent, Compaction, Limits, Meter, Run, ScriptedModel, Session, call, open_session
from memory import (
    ContextCompacted,
    MemoryEventLog,
    Text,
    build_context,
)

RULE = "Never touch billing.py, and ask me before you delete anything."
TASK = f"Find the slow query in the service. {RULE}"


def words(count: int, seed: str = "w") -> str:
    return " ".join(f"{seed}{number % 97}" for number in range(count))


def asks_summary(body: dict[str, Any]) -> bool:
    return "older messages" in str(body["messages"][-1]["content"]).lower()


def steps(count: int, size: int = 1500, summary: Any = '{"decisions": ["use the index"]}') -> Any:
    """A script: `count` calls of `look`, then an answer; summaries as given."""
    seen = {"turn": 0}

    def play(body: dict[str, Any]) -> Any:
        if asks_summary(body):
            return summary
        seen["turn"] += 1
        if seen["turn"] > count:
            return "done"
        return [
            Text(f"Step {seen['turn']} because of the index."),
            call("look", number=seen["turn"]),
        ]

    return play


def agent_of(size: int = 1500, **settings: Any) -> Agent:
    async def look(number: int) -> str:
        """Look at something."""
        return (
            f"NEEDLE-{number:04d}-Q in /var/log/app-{number}.log\n{words(size)}\n3 passed, 1 failed"
        )

    return Agent("worker", "You work.", tools=[look], limits=Limits(turns=500), **settings)


async def session_of(model: ScriptedModel, agent: Agent, task: str = TASK) -> Session:
    run = Run("r", MemoryEventLog(), Meter(Limits()))
    return await open_session(run, agent, task, thread="main", models=[model])


async def events(session: Session, kind: type[Any]) -> list[Any]:
    entries = await session.run.log.read("main")
    return [entry.event for entry in entries if isinstance(entry.event, kind)]


STRATEGIES = [
    "auto",
    "latest-n",
    "micro",
    "turns",
    "summary",
    "reset",
    "micro+turns",
    "retry+reset",
]


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_the_loop_compacts_and_every_request_is_valid_and_fits(strategy: str) -> None:
    model = ScriptedModel(steps(30), window=16_000)
    agent = agent_of(compaction=Compaction(strategy))
    session = await session_of(model, agent)
    outcome = await agent.run(session)
    assert outcome.status == "done", outcome.reason
    taken = await events(session, ContextCompacted)
    assert taken
    for body in model.requests:
        check_chat(body)
        assert TASK in json.loads(body)["messages"][1]["content"]
    assert all(event.after < event.before for event in taken)


async def test_a_resumed_thread_has_the_same_context() -> None:
    model = ScriptedModel(steps(30), window=16_000)
    agent = agent_of()
    session = await session_of(model, agent)
    await agent.run(session)
    entries = await session.run.log.read("main")
    again = build_context(entries)
    assert [item.event for item in again.items] == [i.event for i in session.thread.context.items]


@pytest.mark.parametrize(
    "summary",
    ["", "I'm sorry, I can't help with that.", words(9000), [call("look", number=1)], "All fine."],
    ids=["empty", "refusing", "longer", "tool call", "drops the rule"],
)
async def test_hostile_summarisers_cost_nothing_but_their_words(summary: Any) -> None:
    model = ScriptedModel(steps(40, summary=summary), window=16_000)
    agent = agent_of(compaction=Compaction("summary"))
    session = await session_of(model, agent)
    assert (await agent.run(session)).status == "done"
    taken = await events(session, ContextCompacted)
    assert taken
    for event in taken:
        assert RULE.split(",", maxsplit=1)[0] in event.text
        assert "NEEDLE" in json.dumps(event.record)
