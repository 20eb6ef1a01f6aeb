"""Calls that wait for a person: paused runs, decisions, restarts, hosts, parallel subagents."""

import asyncio

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command

from agents import Agent, Compaction, Conclusion, ScriptedModel, call, tool
from memory import ApprovalAsked, ApprovalGiven, RequestSent, ThreadEnded, loads, read_entries
from orchestrator import Coordinator, DecisionRefused, QuestionRefused, list_runs


class Till:
    """A tool with an effect: every payment is counted."""

    def __init__(self, **options):
        self.paid = []

        def pay(amount: int) -> str:
            """Pay an amount."""
            self.paid.append(amount)
            return f"paid {amount}"

        self.tool = tool(pay, **({"approval": True} | options))


def results(body):
    return [m["content"] for m in body["messages"] if m["role"] == "tool"]


def lead(till, script, subagents=(), runs=None):
    """A coordinator as a new process would make it: nothing of the old one is left."""
    return Coordinator(
        Agent("lead", "Lead.", ScriptedModel(script), [till.tool]), subagents, runs=runs
    )


def paying(body):
    done = results(body)
    return f"answer: {done[-1]}" if done else call("pay", amount=7)


async def test_a_run_waits_and_goes_on_after_a_restart(tmp_path):
    till = Till()
    first = await lead(till, paying, runs=tmp_path).run("buy it", run_id="r")
    assert (first.status, first.exit_code, till.paid) == ("paused", 3, [])
    (waiting,) = first.pending
    assert (waiting.key, waiting.tool, waiting.arguments) == ("main/call", "pay", '{"amount":7}')
    assert "main/call (pay)" in first.reason
    assert list_runs(tmp_path)[0].status == "paused"
    second = await lead(till, paying, runs=tmp_path).resume("r", decisions={"main/call": "approve"})
    assert (second.status, second.text, till.paid) == ("done", "answer: paid 7", [7])
    kinds = [type(e.event) for e in read_entries(tmp_path / "r" / "events.db", "main")]
    assert kinds.count(ApprovalAsked) == kinds.count(ApprovalGiven) == 1
    assert kinds.count(RequestSent) == 2


async def test_looking_at_a_paused_run_changes_nothing(tmp_path):
    till = Till()
    await lead(till, paying, runs=tmp_path).run("buy it", run_id="r")
    before = read_entries(tmp_path / "r" / "events.db")
    for _ in range(3):
        again = await lead(till, paying, runs=tmp_path).resume("r")
        assert (again.status, [c.key for c in again.pending]) == ("paused", ["main/call"])
    assert read_entries(tmp_path / "r" / "events.db") == before


async def test_a_rejection_is_a_result_that_the_model_reads(tmp_path):
    till = Till()
    await lead(till, paying, runs=tmp_path).run("buy it", run_id="r")
    decision = {"call": {"decision": "reject", "note": "too dear"}}
    done = await lead(till, paying, runs=tmp_path).resume("r", decisions=decision)
    assert (done.status, till.paid) == ("done", [])
    assert "did not allow this call" in done.text
    assert "too dear" in done.text


async def test_an_edited_call_is_made_with_the_persons_arguments_and_says_so(tmp_path):
    till = Till()
    await lead(till, paying, runs=tmp_path).run("buy it", run_id="r")
    decision = {"all": {"decision": "edit", "arguments": {"amount": 3}}}
    done = await lead(till, paying, runs=tmp_path).resume("r", decisions=decision)
    assert (done.status, till.paid) == ("done", [3])
    assert 'changed the arguments before this call was made: {"amount":3}' in done.text
    assert "paid 3" in done.text


async def test_a_predicate_says_which_calls_wait():
    till = Till(approval=lambda arguments: arguments["amount"] > 5)
    script = [[call("pay", amount=1), call("pay", amount=9)], "ok"]
    coordinator = lead(till, script)
    first = await coordinator.run("buy", run_id="r")
    assert (first.status, till.paid) == ("paused", [1])
    assert [c.arguments for c in first.pending] == ['{"amount":9}']
    done = await coordinator.resume("r", decisions={"all": "approve"})
    assert (done.text, till.paid) == ("ok", [1, 9])


@pytest.mark.parametrize(
    ("decisions", "says"),
    [
        ({"main/nope": "approve"}, "no call of this run waits under the name 'main/nope'"),
        ({"main/call": "perhaps"}, "'perhaps' is no decision"),
        ({"main/call": {"decision": "edit", "arguments": "[1]"}}, "must be one JSON object"),
    ],
)
async def test_a_decision_that_cannot_be_used_changes_nothing(tmp_path, decisions, says):
    till = Till()
    await lead(till, paying, runs=tmp_path).run("buy it", run_id="r")
    before = read_entries(tmp_path / "r" / "events.db")
    with pytest.raises(DecisionRefused, match=says.replace("[", r"\[")):
        await lead(till, paying, runs=tmp_path).resume("r", decisions=decisions)
    assert read_entries(tmp_path / "r" / "events.db") == before


def team(till, runs):
    """Three subagents; two of them must ask before they pay."""

    def helper(body):
        task = next(m["content"] for m in body["messages"] if m["role"] == "user")
        done = results(body)
        if done or task == "nothing":
            return call("conclude", answer=f"{task}: {done[-1] if done else 'free'}")
        return call("pay", amount=int(task))

    child = Agent("helper", "Help.", ScriptedModel(helper), [till.tool], output_type=Conclusion)
    tasks = [{"agent": "helper", "task": task} for task in ("10", "nothing", "20")]

    def script(body):
        done = results(body)
        return done[-1] if done else call("delegate", tasks=tasks)

    return lead(till, script, [child], runs)


async def test_several_wait_at_once_in_parallel_subagents(tmp_path):
    till = Till()
    first = await team(till, tmp_path).run("x", run_id="r")
    assert [c.key for c in first.pending] == ["main.1-1/call", "main.1-3/call"]
    ended = {
        e.thread for e in read_entries(tmp_path / "r" / "events.db") if type(e.event) is ThreadEnded
    }
    assert ended == {"main.1-2"}
    second = await team(till, tmp_path).resume("r", decisions={"main.1-1/call": "approve"})
    assert (second.status, [c.key for c in second.pending]) == ("paused", ["main.1-3/call"])
    assert till.paid == [10]
    done = await team(till, tmp_path).resume("r", decisions={"main.1-3/call": "reject"})
    assert (done.status, till.paid) == ("done", [10])
    answers = [child["conclusion"]["answer"] for child in loads(done.text)]
    assert answers[:2] == ["10: paid 10", "nothing: free"]
    assert "did not allow" in answers[2]


async def test_a_call_waits_beside_delegations_and_other_calls(tmp_path):
    """The delegation of the same reply is carried out; then both waits are named."""
    till = Till()
    helper = Agent(
        "helper",
        "Help.",
        ScriptedModel(lambda _: call("conclude", answer="ok")),
        output_type=Conclusion,
    )
    both = [call("pay", amount=5), call("delegate", tasks=[{"agent": "helper", "task": "t"}])]

    def script(body):
        return "end" if results(body) else both

    first = await lead(till, script, [helper], tmp_path).run("x", run_id="r")
    assert [c.key for c in first.pending] == ["main/call"]
    done = await lead(till, script, [helper], tmp_path).resume("r", decisions={"all": "approve"})
    assert (done.text, till.paid) == ("end", [5])


async def test_a_nested_coordinator_hands_its_wait_up(tmp_path):
    till = Till()

    def outer():
        middle = Coordinator(Agent("middle", "M.", ScriptedModel(paying), [till.tool]))
        tasks = [{"agent": "middle", "task": "buy"}]

        def script(body):
            return results(body)[-1] if results(body) else call("delegate", tasks=tasks)

        return Coordinator(Agent("lead", "L.", ScriptedModel(script)), [middle], runs=tmp_path)

    first = await outer().run("x", run_id="r")
    assert [c.key for c in first.pending] == ["main.1-1/call"]
    done = await outer().resume("r", decisions={"all": "approve"})
    assert (done.status, till.paid) == ("done", [7])
    assert "answer: paid 7" in done.text


async def test_case_5_a_pending_approval_survives_ten_attempts_to_go_on(tmp_path):
    """A message while a call waits is refused with what to do; the later approval finds its call."""
    till = Till()
    await lead(till, paying, runs=tmp_path).run("buy it", run_id="r")
    before = read_entries(tmp_path / "r" / "events.db")
    for number in range(10):
        with pytest.raises(QuestionRefused, match="main/call: decide first"):
            await lead(till, paying, runs=tmp_path).ask("r", f"message {number}")
    assert read_entries(tmp_path / "r" / "events.db") == before
    done = await lead(till, paying, runs=tmp_path).resume("r", decisions={"main/call": "approve"})
    assert (done.text, till.paid) == ("answer: paid 7", [7])


async def test_case_10_no_repair_is_written_over_a_call_that_waits(tmp_path):
    """Every event of the run, cut anywhere after the question, still lets the answer through."""
    till = Till()
    model = ScriptedModel(paying)
    coordinator = Coordinator(Agent("lead", "L.", model, [till.tool]), runs=tmp_path)
    await coordinator.run("buy it", run_id="r")
    await coordinator.resume("r")  # what repairs open calls runs first
    await coordinator.resume("r", decisions={"main/call": "approve"})
    messages = loads(model.requests[-1])["messages"]
    assert [m["content"] for m in messages if m["role"] == "tool"] == ["paid 7"]


async def test_after_a_crash_a_tool_may_want_a_person_asked(tmp_path):
    calls = []

    @tool(repeatable="ask")
    async def send(to: str) -> str:
        """Send a letter."""
        calls.append(to)
        if len(calls) == 1:
            await asyncio.sleep(60)
        return f"sent to {to}"

    def script(body):
        return results(body)[-1] if results(body) else call("send", to="Ann")

    def made():
        return Coordinator(Agent("lead", "L.", ScriptedModel(script), [send]), runs=tmp_path)

    running = asyncio.create_task(made().run("x", run_id="r"))
    while not calls:
        await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    stopped = await made().resume("r")
    assert stopped.status == "paused"
    assert [(c.key, c.reason) for c in stopped.pending] == [("main/call", "crash")]
    assert calls == ["Ann"]
    done = await made().resume("r", decisions={"all": "approve"})
    assert (done.text, calls) == ("sent to Ann", ["Ann", "Ann"])


async def test_an_approved_call_that_a_crash_cut_off_is_not_made_again(tmp_path):
    """The approval was for one call; whether that took effect is unknown."""
    calls = []

    @tool(approval=True)
    async def send(to: str) -> str:
        """Send a letter."""
        calls.append(to)
        await asyncio.sleep(60)
        return "sent"

    def script(body):
        return results(body)[-1] if results(body) else call("send", to="Ann")

    def made():
        return Coordinator(Agent("lead", "L.", ScriptedModel(script), [send]), runs=tmp_path)

    await made().run("x", run_id="r")
    running = asyncio.create_task(made().resume("r", decisions={"all": "approve"}))
    while not calls:
        await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    done = await made().resume("r")
    assert (done.status, calls) == ("done", ["Ann"])
    assert "unknown" in done.text


def hosted(coordinator, saver):
    graph = StateGraph(MessagesState)
    graph.add_node("team", coordinator.compile())
    graph.add_edge(START, "team")
    graph.add_edge("team", END)
    return graph.compile(checkpointer=saver)


@pytest.mark.parametrize("restart", [True, False])
async def test_a_host_graph_is_interrupted_and_resumed(tmp_path, restart):
    till, saver = Till(), InMemorySaver()
    config = {"configurable": {"thread_id": "h"}}
    host = hosted(team(till, tmp_path), saver)
    state = await host.ainvoke({"messages": [("user", "x")]}, config)
    (stop,) = state["__interrupt__"]
    assert [w["call"] for w in stop.value["waiting"]] == ["main.1-1/call", "main.1-3/call"]
    if restart:
        host = hosted(team(till, tmp_path), saver)
    state = await host.ainvoke(Command(resume={"nobody/call": "approve"}), config)
    assert "no call of this run waits" in state["__interrupt__"][0].value["error"]
    state = await host.ainvoke(Command(resume={"main.1-1/call": "approve"}), config)
    (stop,) = state["__interrupt__"]
    assert [w["call"] for w in stop.value["waiting"]] == ["main.1-3/call"]
    if restart:
        host = hosted(team(till, tmp_path), saver)
    state = await host.ainvoke(Command(resume={"main.1-3/call": "approve"}), config)
    assert "__interrupt__" not in state
    assert sorted(till.paid) == [10, 20]
    assert "20: paid 20" in state["messages"][-1].content
    assert list_runs(tmp_path)[0].status == "done"


async def test_a_host_without_a_folder_waits_too():
    till = Till()
    config = {"configurable": {"thread_id": "h"}}
    host = hosted(lead(till, paying), InMemorySaver())
    await host.ainvoke({"messages": [("user", "x")]}, config)
    state = await host.ainvoke(Command(resume={"main/call": "approve"}), config)
    assert (state["messages"][-1].content, till.paid) == ("answer: paid 7", [7])


@pytest.mark.parametrize("on_disk", [True, False])
async def test_a_host_goes_on_when_its_call_was_decided_elsewhere(tmp_path, on_disk):
    till = Till()
    coordinator = lead(till, paying, runs=tmp_path if on_disk else None)
    host, config = hosted(coordinator, InMemorySaver()), {"configurable": {"thread_id": "h"}}
    state = await host.ainvoke({"messages": [("user", "x")]}, config)
    run = state["__interrupt__"][0].value["run"]
    await coordinator.resume(run, decisions={"main/call": "approve"})
    state = await host.ainvoke(Command(resume={"main/call": "approve"}), config)
    assert "__interrupt__" not in state
    assert (state["messages"][-1].content, till.paid) == ("answer: paid 7", [7])


async def test_a_host_that_answers_with_a_word_is_interrupted_again(tmp_path):
    till = Till()
    host = hosted(lead(till, paying, runs=tmp_path), InMemorySaver())
    config = {"configurable": {"thread_id": "h"}}
    await host.ainvoke({"messages": [("user", "x")]}, config)
    state = await host.ainvoke(Command(resume="approve"), config)
    assert "'approve' decides no call by name" in state["__interrupt__"][0].value["error"]
    state = await host.ainvoke(Command(resume={"all": "approve"}), config)
    assert (state["messages"][-1].content, till.paid) == ("answer: paid 7", [7])


async def test_a_message_of_a_host_while_a_call_waits_is_refused(tmp_path):
    till, saver = Till(), InMemorySaver()
    config = {"configurable": {"thread_id": "h"}}
    host = hosted(lead(till, paying, runs=tmp_path), saver)
    await host.ainvoke({"messages": [("user", "x")]}, config)
    with pytest.raises(QuestionRefused, match="decide first"):
        await host.ainvoke({"messages": [("user", "and now?")]}, config)
    assert till.paid == []


async def test_a_run_that_paused_after_a_compaction_goes_on_when_it_is_resumed(tmp_path):
    @tool
    def dump(n: int) -> str:
        """Dump."""
        return f"line {n} of a body\n" * 120

    asked = []

    def script(body):
        asked.append(body)
        return call("dump", n=1) if len(asked) < 25 else "end"

    def made():
        agent = Agent(
            "lead",
            "L.",
            ScriptedModel(script, window=16_000),
            [dump],
            compaction=Compaction(pause=True),
        )
        return Coordinator(agent, runs=tmp_path)

    first = await made().run("x", run_id="r")
    assert (first.status, first.pending) == ("paused", ())
    result = first
    for _ in range(12):
        if result.status != "paused":
            break
        result = await made().resume("r")
    assert (result.status, list_runs(tmp_path)[0].status) == ("done", "done")
