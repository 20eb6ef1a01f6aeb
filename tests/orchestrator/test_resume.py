"""Going on after a crash, from the log alone: nothing lost, doubled or paid for twice."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from agents import Agent, Conclusion, ScriptedModel, call, tool
from memory import (
    LogLocked,
    MessageAdded,
    ReplyReceived,
    RequestSent,
    RunEnded,
    ThreadStarted,
    ToolReturned,
    loads,
    plain_text,
    read_entries,
)
from orchestrator import (
    Coordinator,
    ResearchOptions,
    as_subagent,
    find_run,
    list_runs,
    research,
    resume_research,
)


@tool(repeatable=True)
def look(n: int) -> str:
    """Look."""
    return f"saw {n}"


def results(body):
    return [m["content"] for m in body["messages"] if m["role"] == "tool"]


def concluding(_):
    return call("conclude", answer="ok")


def made(script, runs, tools=(), subagents=()):
    return Coordinator(Agent("lead", "L.", ScriptedModel(script), tools), subagents, runs=runs)


async def cut_off(coordinator, until, **options):
    """Run until `until()` and stop there, as a crash would: nothing is recorded on the way out."""
    running = asyncio.create_task(coordinator.run("x", run_id="r", **options))
    while not until():
        assert not running.done(), running.result()
        await asyncio.sleep(0.005)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


def events(runs, thread=None):
    return read_entries(runs / "r" / "events.db", thread)


def test_kills_at_commits_and_at_random_lose_and_double_nothing(project):
    """The benchmark in short: SIGKILL, resume, every thread compared with the undisturbed run."""
    program = project / "benchmarks" / "crash.py"
    words = [sys.executable, str(program), "--kills", "16", "--seed", str(os.getpid())]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "events lost: 0; doubled: 0; threads differing: 0" in done.stdout
    assert "finished calls made twice: 0; resumes that failed: 0" in done.stdout
    assert "resumed: True" in done.stdout
    assert "Permission denied" in done.stdout
    assert "the file is damaged" in done.stdout


async def test_case_4_a_call_without_an_answer_disables_nothing(tmp_path):
    """A tool is cut off, and the run keeps talking: every later turn is a valid request."""
    started = []

    @tool
    async def hang() -> str:
        """Hang."""
        started.append(1)
        await asyncio.sleep(60)
        return "never"

    await cut_off(made([call("hang")], tmp_path, [hang]), lambda: started)
    model = ScriptedModel([*[call("look", n=n) for n in range(20)], "went on", "and on"])
    coordinator = Coordinator(Agent("lead", "L.", model, [hang, look]), runs=tmp_path)
    assert (await coordinator.resume("r")).text == "went on"
    assert (await coordinator.ask("r", "more")).text == "and on"
    assert len(started) == 1
    for request in model.requests:
        messages = loads(request)["messages"]
        asked = [c["id"] for m in messages for c in m.get("tool_calls") or ()]
        answered = [m["tool_call_id"] for m in messages if m["role"] == "tool"]
        assert len(asked) == len(answered)
    assert "unknown" in results(loads(model.requests[0]))[0]


async def test_case_9_a_thread_cut_between_call_and_result_takes_a_message(tmp_path):
    started = []

    @tool
    async def hang() -> str:
        """Hang."""
        started.append(1)
        await asyncio.sleep(60)
        return "never"

    await cut_off(made([call("hang")], tmp_path, [hang]), lambda: started)
    model = ScriptedModel(["hello to you"])
    coordinator = Coordinator(Agent("lead", "L.", model, [hang]), runs=tmp_path)
    assert (await coordinator.ask("r", "hello")).text == "hello to you"
    roles = [m["role"] for m in loads(model.requests[0])["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "user"]


async def test_case_52_ten_resumes_keep_every_message_once(tmp_path):
    def script(body):
        done = len(results(body))
        return call("look", n=done) if done < 12 else "end"

    class Stop(BaseException):
        pass

    for number in range(10):
        calls = 0

        def stopping(body, number=number):
            nonlocal calls
            calls += 1
            if calls > 1 and number < 9:
                raise Stop
            return script(body)

        coordinator = made(stopping, tmp_path, [look])
        going = coordinator.resume("r") if number else coordinator.run("x", run_id="r")
        with contextlib.suppress(Stop):
            assert (await going).text == "end"
    before = events(tmp_path)
    for _ in range(10):
        assert (await made([], tmp_path, [look]).resume("r")).text == "end"
    assert events(tmp_path) == before
    seen = [e.event for e in before]
    assert sum(isinstance(e, ThreadStarted) for e in seen) == 1
    assert sum(isinstance(e, MessageAdded) for e in seen) == 1
    assert sum(isinstance(e, ReplyReceived) for e in seen) == 13
    returned = [plain_text(e.content) for e in seen if isinstance(e, ToolReturned)]
    assert returned == [f"saw {n}" for n in range(12)]
    assert sum(isinstance(e, RunEnded) for e in seen) == 1


async def test_case_53_a_failing_first_call_after_a_resume_overwrites_nothing(tmp_path):
    class Stop(BaseException):
        pass

    script = [*[call("look", n=n) for n in range(10)], Stop()]
    with pytest.raises(Stop):
        await made(script, tmp_path, [look]).run("x", run_id="r")
    before = events(tmp_path)
    failed = await made([ConnectionError("refused")], tmp_path, [look]).resume("r")
    assert failed.status == "failed"
    assert events(tmp_path)[: len(before)] == before
    model = ScriptedModel(["fine"])
    again = Coordinator(Agent("lead", "L.", model, [look]), runs=tmp_path)
    assert (await again.ask("r", "try again")).text == "fine"
    assert len(results(loads(model.requests[0]))) == 10


async def test_case_54_reading_and_resuming_a_finished_run_writes_nothing(tmp_path):
    helper = Agent("helper", "H.", ScriptedModel(concluding), output_type=Conclusion)
    tasks = [{"agent": "helper", "task": str(n)} for n in range(3)]
    script = [call("delegate", tasks=tasks), "end"]
    await made(script, tmp_path, subagents=[helper]).run("x", run_id="r")
    before = events(tmp_path)
    transcripts = {p.name: p.read_bytes() for p in (tmp_path / "r" / "transcripts").iterdir()}
    for _ in range(3):
        assert list_runs(tmp_path)[0].status == "done"
        assert find_run(tmp_path, "last") == tmp_path / "r"
        await made([], tmp_path, subagents=[helper]).resume("r")
    assert events(tmp_path) == before
    assert transcripts == {
        p.name: p.read_bytes() for p in (tmp_path / "r" / "transcripts").iterdir()
    }


@pytest.mark.parametrize("kept", [True, False])
async def test_case_55_a_second_invocation_on_a_thread_at_work_is_refused(tmp_path, kept):
    """The first goes on untouched, and the thread takes messages afterwards."""
    going, free = asyncio.Event(), asyncio.Event()

    async def slow(_):
        going.set()
        await free.wait()
        return "first"

    model = ScriptedModel([slow, "second"])
    coordinator = Coordinator(Agent("lead", "L.", model), runs=tmp_path if kept else None)
    graph = coordinator.compile()
    config = {"configurable": {"thread_id": "h"}}
    first = asyncio.create_task(graph.ainvoke({"messages": [("user", "one")]}, config))
    await going.wait()
    with pytest.raises(LogLocked):
        await graph.ainvoke({"messages": [("user", "two")]}, config)
    free.set()
    assert (await first)["answer"] == "first"
    state = await graph.ainvoke({"messages": [("user", "three")]}, config)
    assert state["answer"] == "second"
    contents = [m["content"] for m in loads(model.requests[-1])["messages"][1:]]
    assert contents == ["one", "first", "three"]


PROGRAM = """
import asyncio, os, sys, time
from undrift import Agent, Conclusion, Coordinator, ScriptedModel, call, tool

def note(word):
    with open("account", "a") as file:
        file.write(word + "\\n")

@tool
async def pay() -> str:
    "Pay."
    note("pay")
    await asyncio.sleep(0 if os.path.exists("quick") else 60)
    return "paid"

@tool(repeatable=True)
async def look() -> str:
    "Look."
    note("look")
    await asyncio.sleep(0 if os.path.exists("quick") else 60)
    return "seen"

def script(body):
    note("model")
    done = [m["content"] for m in body["messages"] if m["role"] == "tool"]
    return " and ".join(done) if done else [call("pay"), call("look")]

team = Coordinator(Agent("lead", "L.", ScriptedModel(script), [pay, look]), runs="runs")
go = team.resume("r") if sys.argv[1] == "resume" else team.run("x", run_id="r")
print(asyncio.run(go).text)
"""


def test_case_56_killed_during_a_tool_it_resumes_with_one_result_a_call(tmp_path: Path):
    """kill -9 while two tools run: the one that may be repeated is, the other is unknown, once."""
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))
    account = tmp_path / "account"
    words = [sys.executable, "program.py"]
    first = subprocess.Popen([*words, "run"], cwd=tmp_path)
    while not account.exists() or len(account.read_text().split()) < 3:
        assert first.poll() is None
        os.sched_yield()
    first.send_signal(signal.SIGKILL)
    first.wait()
    (tmp_path / "quick").touch()
    for _ in range(2):
        done = subprocess.run(
            [*words, "resume"], cwd=tmp_path, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        assert "unknown" in done.stdout
        assert done.stdout.strip().endswith("and seen")
    assert sorted(account.read_text().split()) == ["look", "look", "model", "model", "pay"]
    entries = read_entries(tmp_path / "runs" / "r" / "events.db", "main")
    kinds = [(e.event.name, e.event.kind) for e in entries if isinstance(e.event, ToolReturned)]
    assert sorted(kinds) == [("look", ""), ("pay", "unknown_after_crash")]


async def test_a_follow_up_that_a_crash_cut_off_is_answered_once(tmp_path):
    class Stop(BaseException):
        pass

    await made(["first"], tmp_path).run("x", run_id="r")
    with pytest.raises(Stop):
        await made([Stop()], tmp_path).ask("r", "and then?")
    assert list_runs(tmp_path)[0].status == "unfinished"
    model = ScriptedModel(["second"])
    assert (
        await Coordinator(Agent("lead", "L.", model), runs=tmp_path).resume("r")
    ).text == "second"
    contents = [m["content"] for m in loads(model.requests[0])["messages"][1:]]
    assert contents == ["x", "first", "and then?"]


async def test_subagents_keep_their_threads_when_a_call_was_repeated(tmp_path):
    """The coordinator's call was cut off twice; its children are named as in an undisturbed run."""
    seen = []

    async def hang(_):
        seen.append(1)
        await asyncio.sleep(60)

    helper = Agent("helper", "H.", ScriptedModel(concluding), output_type=Conclusion)
    await cut_off(made(hang, tmp_path, subagents=[helper]), lambda: seen)
    tasks = [{"agent": "helper", "task": "t"}]
    script = [call("delegate", tasks=tasks), "end"]
    assert (await made(script, tmp_path, subagents=[helper]).resume("r")).text == "end"
    assert {e.thread for e in events(tmp_path)} == {"", "main", "main.1-1"}


async def test_a_graph_that_was_cut_off_as_a_subagent_ends_as_unknown(tmp_path):
    calls = []

    async def node(state):
        calls.append(1)
        await asyncio.sleep(60 if len(calls) == 1 else 0)
        return {"messages": [("assistant", "graph says")]}

    graph = StateGraph(MessagesState)
    graph.add_node("n", node)
    graph.add_edge(START, "n")
    graph.add_edge("n", END)
    tasks = [{"agent": "grapher", "task": "t"}]

    def script(body):
        return results(body)[-1] if results(body) else call("delegate", tasks=tasks)

    for repeatable, says in [(False, "whether it took effect is unknown"), (True, "graph says")]:
        runs = tmp_path / str(repeatable)
        calls.clear()
        child = as_subagent(graph.compile(), name="grapher", repeatable=repeatable)
        await cut_off(made(script, runs, subagents=[child]), lambda: calls)
        done = await made(script, runs, subagents=[child]).resume("r")
        assert says in done.text
        assert len(calls) == 1 + repeatable
        started = [e for e in events(runs, "main.1-1") if isinstance(e.event, ThreadStarted)]
        assert len(started) == 1


def hosted(coordinator, saver):
    graph = StateGraph(MessagesState)
    graph.add_node("team", coordinator.compile())
    graph.add_edge(START, "team")
    graph.add_edge("team", END)
    return graph.compile(checkpointer=saver)


async def test_a_hosts_checkpoint_older_than_the_log_doubles_nothing(tmp_path):
    """The host dies inside our node and starts it again from its own checkpoint."""
    saver, seen = InMemorySaver(), []
    config = {"configurable": {"thread_id": "h"}}

    async def hang(body):
        if results(body):
            seen.append(1)
            await asyncio.sleep(60)
        return call("look", n=1)

    host = hosted(made(hang, tmp_path, [look]), saver)
    running = asyncio.create_task(host.ainvoke({"messages": [("user", "hi")]}, config))
    while not seen:
        await asyncio.sleep(0.005)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    model = ScriptedModel(["the end"])
    host = hosted(Coordinator(Agent("lead", "L.", model, [look]), runs=tmp_path), saver)
    state = await host.ainvoke(None, config)
    assert [m.content for m in state["messages"]] == ["hi", "the end"]
    contents = [m["content"] for m in loads(model.requests[0])["messages"][1:]]
    assert contents[0] == "hi"
    assert contents[-1] == "saw 1"
    assert contents.count("hi") == 1
    (run,) = tmp_path.iterdir()
    replies = [e for e in read_entries(run / "events.db") if isinstance(e.event, ReplyReceived)]
    assert len(replies) == 2


async def test_a_host_that_goes_back_forks_the_run(tmp_path):
    """Time travel in the host: the log of the first history is kept, the second is a run of its own."""
    saver = InMemorySaver()
    config = {"configurable": {"thread_id": "h"}}
    model = ScriptedModel(["one", "two", "other two"])
    host = hosted(Coordinator(Agent("lead", "L.", model), runs=tmp_path), saver)
    await host.ainvoke({"messages": [("user", "first")]}, config)
    back = (await host.aget_state(config)).config
    await host.ainvoke({"messages": [("user", "second")]}, config)
    (run,) = tmp_path.iterdir()
    before = read_entries(run / "events.db")
    state = await host.ainvoke({"messages": [("user", "other second")]}, back)
    assert [m.content for m in state["messages"]] == ["first", "one", "other second", "other two"]
    contents = [m["content"] for m in loads(model.requests[-1])["messages"][1:]]
    assert contents == ["first", "one", "other second"]
    assert read_entries(run / "events.db") == before
    assert len(list(tmp_path.iterdir())) == 2
    model.script = ["-"] * 3 + ["other three"]
    state = await host.ainvoke({"messages": [("user", "third")]}, config)
    assert state["messages"][-1].content == "other three"
    assert len(list(tmp_path.iterdir())) == 2


async def test_a_research_run_cut_off_anywhere_gives_the_same_report(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Harbour\n\nThe harbour opened in 1901 and closed in 1950.\n")
    (docs / "b.md").write_text("# Bridge\n\nThe bridge was built by Anna Berg in 1920.\n")
    question = "When did the harbour open? Who built the bridge?"
    options = ResearchOptions(runs=tmp_path / "runs")
    whole = await research(question, [docs], options, run_id="whole")
    cuts = 0
    for after in range(1, 30, 3):
        run_id = f"cut-{after}"
        seen, tasks = [], []

        def stop(event, after=after, seen=seen, tasks=tasks):
            seen.append(event)
            if len(seen) == after:
                tasks[0].cancel()

        going = research(question, [docs], options, run_id=run_id, emit=stop)
        tasks.append(asyncio.create_task(going))
        (end,) = await asyncio.gather(*tasks, return_exceptions=True)
        cuts += isinstance(end, BaseException)
        result = await resume_research(tmp_path / "runs" / run_id)
        assert result.status == whole.status
        assert result.text.replace(run_id, "whole") == whole.text
        entries = read_entries(tmp_path / "runs" / run_id / "events.db")
        replies = {e.event.request for e in entries if isinstance(e.event, ReplyReceived)}
        assert len(replies) == len([e for e in entries if isinstance(e.event, ReplyReceived)])
        assert all(isinstance(entries[seq - 1].event, RequestSent) for seq in replies)
    assert cuts >= 5
