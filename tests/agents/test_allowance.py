"""What an agent is told of its limits: from 70 % on, and before the last turn they allow."""

import pytest

from agents import Agent, Limits, Meter, Price, Run, ScriptedModel, call, open_session, tool
from memory import MemoryEventLog


@tool
def look(n: int) -> str:
    """Look."""
    return f"fact {n}"


async def tails(limits, turns=12, settings=None):
    """The text of every request of an agent that never stops by itself."""
    model = ScriptedModel(
        lambda body: call("look", n=len(body["messages"])), settings=settings or {"max_tokens": 100}
    )
    agent = Agent("a", "x", tools=[look], limits=Limits(turns=turns))
    run = Run("r", MemoryEventLog(), Meter(limits))
    session = await open_session(run, agent, "go", thread="main", models=[model])
    outcome = await agent.run(session)
    return [request.decode() for request in model.requests], outcome


LAST = "this is the last turn that the limits allow"


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        (Limits(model_calls=10), "model calls: 7 of 10 used"),
        (Limits(tool_calls=10), "tool calls: 7 of 10 used"),
        (Limits(tokens=6_000), "tokens: "),
        (Limits(cost=0.006, prices={"*": Price(1, 1)}), "cost: "),
    ],
)
async def test_limits_are_told_from_seventy_percent_on(limits, named):
    requests, _ = await tails(limits, turns=60)
    told = [number for number, text in enumerate(requests) if named in text]
    assert told
    assert told[0] >= 5


@pytest.mark.parametrize(
    "limits",
    [
        Limits(model_calls=5),
        Limits(tokens=4_000),
        Limits(cost=0.004, prices={"*": Price(1, 1)}),
        Limits(),
    ],
)
async def test_the_last_turn_is_announced_once_and_is_the_last(limits):
    requests, outcome = await tails(limits)
    assert outcome.status == "limit"
    assert [LAST in text for text in requests] == [*[False] * (len(requests) - 1), True]


async def test_a_cost_limit_without_a_price_is_refused_with_what_to_do():
    requests, outcome = await tails(Limits(cost=1.0))
    assert not requests
    assert "add it to Limits.prices" in outcome.reason
