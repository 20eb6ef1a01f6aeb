"""Faults of subagents that users of other frameworks met: each whole kind, against every kind of child.

The plain form of these cases is tested beside the part that it belongs to; here are the wider ones.
"""

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel

from agents import Agent, Conclusion, Limits, Price, Reply, ScriptedModel, call, tool
from memory import RequestSent, ThreadEnded, ThreadStarted, Usage, loads, read_entries
from orchestrator import Coordinator, as_subagent


@tool
async def look() -> str:
    """Look at something."""
    return "fact 7"


@tool
def burn() -> str:
    """Fail."""
    raise KeyError("no such thing")


class Answer(BaseModel):
    """Hand back a number."""

    number: int


def first(body: Any) -> str:
    return next(m["content"] for m in body["messages"] if m["role"] == "user")


def looked(body: Any) -> bool:
    return any(m["role"] == "tool" for m in body["messages"])


def delegate(**tasks: dict[str, Any]) -> Any:
    """One task an agent, by the agents' names."""
    return call(
        "delegate", tasks=[{"agent": name, "task": "go"} | more for name, more in tasks.items()]
    )


def handed(model: ScriptedModel) -> dict[str, Any]:
    """What the lead read of its children, by agent."""
    said = [m["content"] for m in loads(model.requests[-1])["messages"] if m["role"] == "tool"]
    return {child["agent"]: child for child in loads(said[-1])}


def concluding(answer: str) -> ScriptedModel:
    return ScriptedModel(
        lambda body: call("conclude", answer=answer) if looked(body) else call("look")
    )


class Graph:
    """What a LangGraph runnable looks like from outside."""

    def __init__(self, name: str, answer: Any) -> None:
        self.name, self.answer = name, answer

    async def ainvoke(self, *_: Any) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return await self.answer if asyncio.iscoroutine(self.answer) else self.answer


def kinds(step: Any, outside: Any) -> list[Any]:
    """Every kind of child with one fault: an agent, a coordinator, a runnable; and one that is well."""
    options: dict[str, Any] = {"tools": [look], "output_type": Conclusion}

    def faulty() -> ScriptedModel:
        return ScriptedModel(lambda body: step if looked(body) else call("look"))

    return [
        Agent("agent", "Work.", faulty(), **options),
        Coordinator(Agent("coordinator", "Work.", faulty(), **options)),
        as_subagent(Graph("graph", outside)),
        Agent("well", "Work.", concluding("all is well"), **options),
    ]


async def sent(children: list[Any], **limits: Any) -> tuple[Any, dict[str, Any]]:
    names = [child.name for child in children]
    lead = ScriptedModel([delegate(**dict.fromkeys(names, limits)), "went on"])
    result = await Coordinator(Agent("lead", "Lead.", lead), children).run("x")
    assert result.text == "went on"
    return result, handed(lead)


async def test_case_57_r1_a_raise_in_any_kind_of_child_leaves_the_others_their_results():
    result, told = await sent(kinds(RuntimeError("boom"), RuntimeError("boom")))
    assert result.status == "done"
    for name in ("agent", "coordinator", "graph"):
        assert (told[name]["status"], "RuntimeError: boom" in told[name]["reason"]) == (
            "failed",
            True,
        )
    assert "fact 7" in told["agent"]["found"]
    assert "fact 7" in told["coordinator"]["found"]
    assert told["well"]["conclusion"]["answer"] == "all is well"


async def test_case_58_a_child_of_any_kind_that_never_returns_costs_only_itself():
    async def never(_: Any) -> None:
        await asyncio.sleep(3600)

    _, told = await sent(kinds(never, asyncio.sleep(3600)), limits={"seconds": 1})
    assert {name: child["status"] for name, child in told.items()} == {
        "agent": "timed_out",
        "coordinator": "timed_out",
        "graph": "timed_out",
        "well": "done",
    }
    assert "fact 7" in told["agent"]["found"]
    assert "fact 7" in told["coordinator"]["found"]


@pytest.mark.parametrize("kind", ["agent", "coordinator"])
async def test_case_60_neither_a_child_nor_its_parent_ends_at_langgraphs_25_steps(kind: str):
    turns = 40
    script = [*[call("look")] * turns, call("conclude", answer="after forty")]
    model = ScriptedModel(script)
    agent = Agent("long", "Work.", model, [look], output_type=Conclusion)
    child = agent if kind == "agent" else Coordinator(agent)
    lead = ScriptedModel([*[call("look")] * turns, delegate(long={}), "ok"])
    result = await Coordinator(Agent("lead", "Lead.", lead, [look]), [child]).run("x")
    assert (result.status, len(model.requests), len(lead.requests)) == (
        "done",
        turns + 1,
        turns + 2,
    )
    assert handed(lead)["long"]["conclusion"]["answer"] == "after forty"


async def test_case_63_no_status_says_done_where_nothing_was_handed_back():
    for finish in ("length", "content_filter", "stop"):
        silent = Reply((), finish)
        model = ScriptedModel(lambda body, said=silent: said if looked(body) else call("look"))
        _, told = await sent([Agent("agent", "Work.", model, [look])])
        assert told["agent"]["status"] == "failed"
        assert "completed" not in told["agent"]["reason"]
        assert "fact 7" in told["agent"]["found"]


async def test_case_67_what_is_read_again_counts_not_only_what_is_written():
    """A child reads 1,000 tokens from the cache for each one it writes: 60 turns would be 60,000."""

    def reads(_: Any) -> Reply:
        return Reply((call("look"),), "tool_calls", Usage(1_001, 1, 1_000), "scripted")

    small = {"max_tokens": 20}
    model = ScriptedModel(reads, settings=small)
    child = Agent("reader", "Read.", model, [look], compaction=None)
    lead = ScriptedModel([delegate(reader={}), "the end"], settings=small)
    for limits, named in (
        (Limits(tokens=20_000), "20,000 tokens"),
        (Limits(cost=0.01, prices={"*": Price(1.0, 1.0, cached=0.5)}), "0.01 on the cost"),
    ):
        model.requests.clear()
        lead.requests.clear()
        result = await Coordinator(Agent("lead", "Lead.", lead), [child], limits=limits).run("x")
        assert len(model.requests) <= 20
        if limits.tokens:
            assert result.usage.total <= limits.tokens
        told = handed(lead)["reader"]["reason"] if len(lead.requests) > 1 else result.reason
        assert named in told


async def test_case_68_a_nested_spawn_storm_has_no_more_agents_than_allowed(tmp_path):
    """Each one sends out five of itself; the limit holds over all levels, and all of it ends."""

    def spawning(body: Any) -> Any:
        if looked(body) or "delegate" not in str(body.get("tools")):
            return "storm is over for me"
        return call("delegate", tasks=[{"agent": "storm", "task": f"more {n}"} for n in range(5)])

    model = ScriptedModel(spawning)
    storm: Any = Agent("storm", "Spawn.", model)
    for _ in range(4):
        storm = Coordinator(Agent("storm", "Spawn.", model), [storm])
    lead = Coordinator(
        Agent("lead", "Lead.", model), [storm], limits=Limits(agents=17, depth=9), runs=tmp_path
    )
    result = await lead.run("x")
    assert (result.status, result.text) == ("done", "storm is over for me")
    entries = read_entries(result.folder / "events.db")
    asked = {entry.thread for entry in entries if isinstance(entry.event, RequestSent)}
    assert len(asked - {"main"}) == 17
    started = {entry.thread for entry in entries if isinstance(entry.event, ThreadStarted)}
    ends = {e.thread: e.event for e in entries if isinstance(e.event, ThreadEnded)}
    assert set(ends) == started
    refused = [ends[thread] for thread in started - asked]
    assert refused
    assert {(end.status, end.reason) for end in refused} == {
        ("limit", "the limit of 17 agents is reached")
    }


async def test_case_r2_an_exception_in_a_childs_tool_ends_neither_child_nor_run():
    def script(body: Any) -> Any:
        said = [m["content"] for m in body["messages"] if m["role"] == "tool"]
        return call("conclude", answer=f"It said: {said[0]}") if said else call("burn")

    child = Agent("agent", "Work.", ScriptedModel(script), [burn], output_type=Conclusion)
    _, told = await sent([child])
    assert told["agent"]["status"] == "done"
    assert "KeyError: 'no such thing'" in told["agent"]["conclusion"]["answer"]


async def test_case_r7_of_two_children_that_write_one_shared_file_the_later_one_is_told():
    def script(name: str) -> ScriptedModel:
        def play(body: Any) -> Any:
            said = [m["content"] for m in body["messages"] if m["role"] == "tool"]
            if not said:
                return call("write_file", path="/shared/notes.md", content=f"from {name}\n")
            return f"{name} was told: {said[-1]}"

        return ScriptedModel(play)

    children = [Agent(n, "Work.", script(n), files="all") for n in ("one", "two")]
    lead = ScriptedModel(
        [delegate(one={}, two={}), call("read_file", path="/shared/notes.md"), "went on"]
    )
    agent = Agent("lead", "Lead.", lead, files="all")
    assert (await Coordinator(agent, children, shared_files=True).run("x")).status == "done"
    messages = loads(lead.requests[-1])["messages"]
    delegated, read = (m["content"] for m in messages if m["role"] == "tool")
    told = [child["text"] for child in loads(delegated)]
    refused = ["[error]" in text for text in told]
    assert sorted(refused) == [False, True]
    kept, lost = ("two", "one") if refused[0] else ("one", "two")
    assert f"from {kept}" in read
    assert f"from {lost}" not in read
    assert "read_file" in told[refused.index(True)]


@pytest.mark.parametrize("kind", ["agent", "coordinator"])
@pytest.mark.parametrize("said", ["The number is 7.", '{"number": 7}'])
async def test_case_r18_text_in_place_of_the_declared_output_is_never_a_success(
    kind: str, said: str
):
    model = ScriptedModel(lambda _: said)
    agent = Agent("child", "Work.", model, output_type=Answer)
    _, told = await sent([agent if kind == "agent" else Coordinator(agent)])
    assert told["child"]["status"] == "failed"
    assert "no usable answer in two tries" in told["child"]["reason"]
    assert len(model.requests) == 2
    good = ScriptedModel([said, call("conclude", number=7)])
    _, told = await sent([Agent("child", "Work.", good, output_type=Answer)])
    assert (told["child"]["status"], told["child"]["conclusion"]) == ("done", {"number": 7})
