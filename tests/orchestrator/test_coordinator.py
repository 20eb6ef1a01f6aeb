"""The coordinator: delegation through its graph, failures as data, resume, embedding."""

import asyncio

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from pydantic import BaseModel

from agents import (
    Agent,
    AgentDefinitionError,
    AgentEnded,
    AgentStarted,
    Conclusion,
    Limits,
    ScriptedModel,
    call,
    tool,
)
from memory import LogLocked, ThreadEnded, loads, read_entries
from orchestrator import (
    Coordinator,
    QuestionRefused,
    RunNotFound,
    RunResult,
    as_subagent,
    list_runs,
)


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def delegate(*tasks, agent="helper"):
    return call("delegate", tasks=[{"agent": agent, "task": task} for task in tasks])


def helper(script, **options):
    return Agent("helper", "Help.", ScriptedModel(script), output_type=Conclusion, **options)


def last_results(model, request):
    """The JSON results that the coordinator read before a request."""
    messages = loads(model.requests[request])["messages"]
    return loads([m["content"] for m in messages if m["role"] == "tool"][-1])


def concluding(body):
    return call("conclude", answer=f"about {task_of(body)}")


def task_of(body):
    return next(m["content"] for m in body["messages"] if m["role"] == "user")


async def test_it_delegates_in_parallel_and_reads_conclusions_in_task_order(tmp_path):
    running, most = 0, 0

    async def slow(body):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.02)
        running -= 1
        return concluding(body)

    lead = ScriptedModel([[delegate("one", "two", "three"), call("add", a=1, b=2)], "all done"])
    coordinator = Coordinator(Agent("lead", "Lead.", lead, [add]), [helper(slow)], runs=tmp_path)
    result = await coordinator.run("do it")
    assert (result.status, result.text) == ("done", "all done")
    assert most == 3
    messages = [m for m in loads(lead.requests[1])["messages"] if m["role"] == "tool"]
    handed = loads(messages[0]["content"])
    assert [child["conclusion"]["answer"] for child in handed] == [
        "about one",
        "about two",
        "about three",
    ]
    assert messages[1]["content"] == "3"


async def test_children_see_their_task_and_nothing_of_the_parent(tmp_path):
    child = ScriptedModel(concluding)
    lead = ScriptedModel([delegate("the task"), "ok"])
    agent = Agent("helper", "Help.", child, output_type=Conclusion)
    await Coordinator(Agent("lead", "SECRET PLAN", lead), [agent]).run("the user's words")
    body = child.requests[0].decode()
    assert "the task" in body
    assert "SECRET PLAN" not in body
    assert "the user's words" not in body


async def test_case_57_a_failing_child_is_data_and_its_siblings_finish():
    """Also R1: an exception in one of two parallel subagents must not end the run."""

    def script(body):
        if task_of(body) == "raise":
            raise RuntimeError("boom")
        if task_of(body) == "nothing":
            return ""
        return concluding(body)

    lead = ScriptedModel([delegate("good", "raise", "nothing"), "went on"])
    result = await Coordinator(Agent("lead", "Lead.", lead), [helper(script)]).run("x")
    assert result.text == "went on"
    good, raised, empty = last_results(lead, 1)
    assert good["status"] == "done"
    assert raised["status"] == "failed"
    assert "RuntimeError: boom" in raised["reason"]
    assert empty["status"] == "failed"


async def test_case_58_a_child_that_hangs_costs_only_itself():
    async def script(body):
        if task_of(body) == "hang":
            await asyncio.sleep(60)
        return concluding(body)

    lead = ScriptedModel([delegate("hang", "good"), "went on"])
    child = helper(script, limits=Limits(seconds=0.1))
    result = await Coordinator(Agent("lead", "Lead.", lead), [child]).run("x")
    hung, good = last_results(lead, 1)
    assert (result.text, hung["status"], good["status"]) == ("went on", "timed_out", "done")


async def test_wrong_delegations_are_answered_not_raised():
    lead = ScriptedModel([call("delegate", tasks=[]), delegate("x", agent="nobody"), "ok"])
    result = await Coordinator(Agent("lead", "Lead.", lead), [helper(concluding)]).run("x")
    assert result.text == "ok"
    (unknown,) = last_results(lead, 2)
    assert "there is no agent 'nobody'; the agents are: helper" in unknown["reason"]


async def test_coordinators_nest_down_to_the_depth_limit():
    leaf = helper(concluding)
    middle = ScriptedModel(
        lambda body: "middle done" if "tool" in roles(body) else delegate("leaf task")
    )
    inner = Coordinator(Agent("middle", "Middle.", middle), [leaf])
    lead = ScriptedModel([delegate("go", agent="middle"), "ok"])
    outer = Coordinator(Agent("lead", "Lead.", lead), [inner])
    assert (await outer.run("x")).text == "ok"
    (handed,) = last_results(lead, 1)
    assert (handed["status"], handed["text"]) == ("done", "middle done")
    lead.requests.clear()
    shallow = Coordinator(Agent("lead", "Lead.", lead), [inner], limits=Limits(depth=1))
    assert (await shallow.run("x")).text == "ok"
    (refused,) = [
        loads(m["content"]) for m in loads(middle.requests[-1])["messages"] if m["role"] == "tool"
    ][-1]
    assert refused["status"] == "limit"


def roles(body):
    return [m["role"] for m in body["messages"]]


async def test_a_langgraph_graph_can_be_a_subagent():
    def node(state):
        return {"messages": [("assistant", f"graph says {state['messages'][-1].content}")]}

    graph = StateGraph(MessagesState)
    graph.add_node("n", node)
    graph.add_edge(START, "n")
    graph.add_edge("n", END)
    lead = ScriptedModel([delegate("hello", agent="grapher"), "ok"])
    child = as_subagent(graph.compile(), name="grapher")
    assert (await Coordinator(Agent("lead", "Lead.", lead), [child]).run("x")).text == "ok"
    assert last_results(lead, 1)[0]["text"] == "graph says hello"
    with pytest.raises(AgentDefinitionError, match="cannot be a subagent"):
        Coordinator(Agent("lead", "Lead.", lead), [42])


async def test_the_run_folder_holds_log_usage_and_transcripts(tmp_path):
    lead = ScriptedModel([delegate("one"), "all done"])
    result = await Coordinator(
        Agent("lead", "Lead.", lead), [helper(concluding)], runs=tmp_path
    ).run("do it")
    folder = result.folder
    assert result.usage.total > 0
    assert loads((folder / "usage.json").read_bytes())["model_calls"] == 3
    text = (folder / "transcripts" / "main.1-1.txt").read_text()
    assert "about one" in text
    ends = {
        e.thread: e.event.status
        for e in read_entries(folder / "events.db")
        if isinstance(e.event, ThreadEnded)
    }
    assert ends == {"main": "done", "main.1-1": "done"}
    (info,) = list_runs(tmp_path)
    assert (info.run_id, info.task, info.status) == (result.run_id, "do it", "done")


async def test_a_finished_run_gives_its_result_again_and_takes_a_follow_up(tmp_path):
    lead = ScriptedModel(["first answer"])
    coordinator = Coordinator(Agent("lead", "Lead.", lead), runs=tmp_path)
    first = await coordinator.run("first question")
    again = await coordinator.resume(first.run_id)
    assert (again.text, len(lead.requests)) == ("first answer", 1)
    lead.script = ["-", "second answer"]
    second = await coordinator.ask(first.run_id, "second question")
    assert (second.run_id, second.text) == (first.run_id, "second answer")
    contents = [m["content"] for m in loads(lead.requests[1])["messages"][1:]]
    assert contents == ["first question", "first answer", "second question"]
    with pytest.raises(RunNotFound, match="there is no run 'nope'"):
        await coordinator.ask("nope", "x")
    with pytest.raises(QuestionRefused):
        await coordinator.run("  ")


async def test_an_interrupted_run_goes_on_and_pays_for_no_finished_call_twice(tmp_path):
    child = ScriptedModel(concluding)
    agent = Agent("helper", "Help.", child, output_type=Conclusion)

    async def hang(_):
        await asyncio.sleep(60)

    lead = ScriptedModel([delegate("one", "two"), hang])
    coordinator = Coordinator(Agent("lead", "Lead.", lead), [agent], runs=tmp_path)
    running = asyncio.create_task(coordinator.run("x", run_id="r1"))
    while len(lead.requests) < 2:
        await asyncio.sleep(0.01)
    with pytest.raises(LogLocked):
        await coordinator.resume("r1")
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert list_runs(tmp_path)[0].status == "unfinished"
    lead.script = ["-", "-", "the end"]
    result = await coordinator.resume("r1")
    assert (result.text, len(child.requests), len(lead.requests)) == ("the end", 2, 3)
    assert lead.requests[1] == lead.requests[2]


async def test_it_streams_the_whole_tree_and_the_result_last():
    lead = ScriptedModel([delegate("one"), "all done"])
    coordinator = Coordinator(Agent("lead", "Lead.", lead), [helper(concluding)])
    events = [event async for event in coordinator.stream("x")]
    assert isinstance(events[-1], RunResult)
    assert [e.thread for e in events if isinstance(e, AgentStarted)] == ["main", "main.1-1"]
    assert [e.status for e in events if isinstance(e, AgentEnded)] == ["done", "done"]


@pytest.mark.parametrize("kept", [True, False])
async def test_it_is_a_node_of_another_graph_twice_on_one_host_thread(tmp_path, kept):
    lead = ScriptedModel([delegate("one"), "first", "second"])
    coordinator = Coordinator(
        Agent("lead", "Lead.", lead), [helper(concluding)], runs=tmp_path if kept else None
    )
    graph = StateGraph(MessagesState)
    graph.add_node("team", coordinator.compile())
    graph.add_edge(START, "team")
    graph.add_edge("team", END)
    host = graph.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "host-1"}}
    seen = [
        (mode, part)
        async for _, mode, part in host.astream(
            {"messages": [("user", "hi")]},
            config,
            stream_mode=["updates", "custom"],
            subgraphs=True,
        )
    ]
    assert {"recite", "think", "subagent", "gather", "finish"} <= {
        k for m, p in seen if m == "updates" for k in p
    }
    assert any(isinstance(part, AgentStarted) for mode, part in seen if mode == "custom")
    state = await host.ainvoke({"messages": [("user", "again")]}, config)
    assert [m.content for m in state["messages"]] == ["hi", "first", "again", "second"]
    contents = [m["content"] for m in loads(lead.requests[2])["messages"] if m["role"] != "tool"]
    assert contents[1:] == ["hi", None, "first", "again"] or contents[1:] == [
        "hi",
        "",
        "first",
        "again",
    ]


async def test_an_output_type_holds_for_the_coordinator_too():
    class Sum(BaseModel):
        """Hand in the sum."""

        total: int

    lead = ScriptedModel([[delegate("one"), call("conclude", total=1)]])
    coordinator = Coordinator(Agent("lead", "Lead.", lead, output_type=Sum), [helper(concluding)])
    result = await coordinator.run("x")
    assert (result.status, result.output) == ("done", {"total": 1})


def test_two_subagents_of_one_name_are_refused():
    with pytest.raises(AgentDefinitionError, match="two subagents"):
        Coordinator(Agent("lead", "x", ScriptedModel([])), [helper([]), helper([])])
    with pytest.raises(AgentDefinitionError, match="has no model"):
        Coordinator(Agent("lead", "x"), [Agent("b", "x")])


def test_scripts_without_an_event_loop_use_run_sync():
    assert Coordinator(Agent("lead", "x", ScriptedModel(["hello"]))).run_sync("hi").text == "hello"
