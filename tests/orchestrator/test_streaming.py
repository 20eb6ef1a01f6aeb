"""Streaming: typed events of the whole tree, each with its position, and going on behind any of them."""

from agents import (
    Agent,
    AgentEnded,
    AgentStarted,
    Conclusion,
    LimitHit,
    Limits,
    ScriptedModel,
    TokenStreamed,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    call,
    tool,
)
from orchestrator import Coordinator, RunResult


@tool
def look(n: int) -> str:
    """Look."""
    return f"fact {n}"


def team(tmp_path, child=None):
    tasks = [{"agent": "helper", "task": task} for task in ("a", "b")]
    lead = ScriptedModel(
        lambda body: (
            "all done"
            if any(m["role"] == "tool" for m in body["messages"])
            else call("delegate", tasks=tasks)
        )
    )
    script = child or (
        lambda body: (
            call("conclude", answer="found")
            if any(m["role"] == "tool" for m in body["messages"])
            else call("look", n=1)
        )
    )
    helper = Agent(
        "helper",
        "Help.",
        ScriptedModel(script),
        [look],
        output_type=Conclusion,
        limits=Limits(turns=4),
    )
    return Coordinator(Agent("lead", "Lead.", lead), [helper], runs=tmp_path)


async def collect(events):
    return [event async for event in events]


async def test_every_kind_of_event_comes_with_its_place_in_the_log(tmp_path):
    events = await collect(team(tmp_path).stream("x"))
    assert isinstance(events[-1], RunResult)
    durable = [e for e in events[:-1] if not isinstance(e, TokenStreamed)]
    seqs = [event.seq for event in durable]
    assert seqs == sorted(seqs)
    assert min(seqs) > 0
    kinds = [type(event) for event in durable if event.thread == "main.1-1"]
    assert kinds == [
        AgentStarted,
        TurnStarted,
        TurnEnded,
        ToolStarted,
        ToolEnded,
        TurnStarted,
        TurnEnded,
        ToolStarted,
        ToolEnded,
        AgentEnded,
    ]
    (end,) = [e for e in durable if isinstance(e, AgentEnded) and e.thread == "main.1-1"]
    assert end.result["output"]["answer"] == "found"
    assert any(isinstance(e, TokenStreamed) and e.text == "all done" for e in events)


async def test_a_reader_goes_on_behind_the_last_event_it_saw(tmp_path):
    whole = await collect(team(tmp_path).stream("x", run_id="r1"))
    durable = [e for e in whole[:-1] if not isinstance(e, TokenStreamed)]
    again = await collect(team(tmp_path).follow("r1"))
    assert again[:-1] == durable
    cut = durable[9].seq
    rest = await collect(team(tmp_path).follow("r1", after=cut))
    assert rest[:-1] == [event for event in durable if event.seq > cut]
    assert rest[-1].text == "all done"


async def test_a_closed_stream_interrupts_the_run_and_follow_ends_it(tmp_path):
    seen = []
    stream = team(tmp_path).stream("x", run_id="r1")
    async for event in stream:
        seen.append(event)
        if isinstance(event, ToolEnded):
            break
    await stream.aclose()
    rest = await collect(team(tmp_path).follow("r1", after=seen[-1].seq))
    assert rest[-1].status == "done"
    ends = [e.thread for e in (*seen, *rest) if isinstance(e, AgentEnded)]
    assert sorted(ends) == ["main", "main.1-1", "main.1-2"]


async def test_a_limit_is_an_event_of_its_own(tmp_path):
    events = await collect(
        team(tmp_path, lambda body: call("look", n=len(body["messages"]))).stream("x")
    )
    hits = [event for event in events if isinstance(event, LimitHit)]
    assert {hit.thread for hit in hits} == {"main.1-1", "main.1-2"}
    assert "4 turns" in hits[0].reason
