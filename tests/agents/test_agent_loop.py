"""The turn loop against scripted models: what a model does wrong becomes a result, never a crash."""

import asyncio
import sys
import time

import pytest
from pydantic import BaseModel, field_validator

from agents import (
    Agent,
    AgentDefinitionError,
    Hold,
    LimitReached,
    Limits,
    Meter,
    Reply,
    Run,
    ScriptedModel,
    ToolError,
    call,
    open_session,
    tool,
)
from memory import (
    MemoryEventLog,
    MessageAdded,
    Noticed,
    ReplyReceived,
    Text,
    ToolCall,
    ToolReturned,
    Unknown,
    Usage,
    loads,
)


class Sum(BaseModel):
    """Hand in the sum."""

    total: int


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def start(agent, *models, log=None, limits=None, thread="main", task="do it"):
    run = Run("r", log or MemoryEventLog(), Meter(limits or Limits()))
    return await open_session(run, agent, task, thread=thread, models=models)


async def results(session):
    entries = await session.run.log.read(session.thread.name)
    return [e.event for e in entries if isinstance(e.event, ToolReturned)]


async def test_text_without_calls_is_the_answer():
    agent = Agent("a", "Be brief.")
    session = await start(agent, ScriptedModel(["forty-two"]))
    outcome = await agent.run(session)
    assert (outcome.status, outcome.text) == ("done", "forty-two")


async def test_tools_run_in_parallel_and_their_results_stand_in_call_order():
    order = []

    @tool
    async def wait(name: str, seconds: float) -> str:
        """Wait."""
        await asyncio.sleep(seconds)
        order.append(name)
        return name

    agent = Agent("a", "x", tools=[wait])
    model = ScriptedModel(
        [[call("wait", name="slow", seconds=0.05), call("wait", name="fast", seconds=0)], "ok"]
    )
    session = await start(agent, model)
    assert (await agent.run(session)).text == "ok"
    assert order == ["fast", "slow"]
    messages = loads(model.requests[1])["messages"]
    assert [m["content"] for m in messages if m["role"] == "tool"] == ["slow", "fast"]


@pytest.mark.parametrize(
    ("wrong", "kind", "says"),
    [
        (ToolCall("1", "ad", '{"a":1,"b":2}'), "unknown_tool", "Did you mean 'add'?"),
        (ToolCall("1", "add", '{"a":1'), "arguments", "not valid JSON"),
        (
            ToolCall("1", "add", '{"a":"x","b":2}'),
            "arguments",
            "a: Input should be a valid integer",
        ),
    ],
)
async def test_a_wrong_call_becomes_a_result_that_says_what_to_do(wrong, kind, says):
    agent = Agent("a", "x", tools=[add])
    model = ScriptedModel([wrong, call("add", a=1, b=2), "3"])
    session = await start(agent, model)
    assert (await agent.run(session)).text == "3"
    first, second = await results(session)
    assert first.is_error
    assert first.kind == kind
    assert says in first.content[0].text
    assert second.content == (Text("3"),)


async def test_case_R2_an_exception_in_a_tool_does_not_end_the_run():
    @tool
    def broken() -> str:
        """Break."""
        raise ValueError("no such row")

    @tool
    def told() -> str:
        """Tell."""
        raise ToolError("Ask for a smaller page.")

    agent = Agent("a", "x", tools=[broken, told])
    session = await start(agent, ScriptedModel([[call("broken"), call("told")], "went on"]))
    assert (await agent.run(session)).text == "went on"
    first, second = sorted(await results(session), key=lambda r: r.name)
    assert (first.kind, second.kind) == ("exception", "tool_error")
    assert "ValueError: no such row" in first.content[0].text
    assert second.content[0].text == "Ask for a smaller page."


class Mute(Exception):
    def __str__(self):
        raise KeyError("no words")


class Picky(BaseModel):
    a: int

    @field_validator("a")
    @classmethod
    def refuse(cls, value):
        raise KeyError("of the author")


@tool
def mute() -> str:
    """Raise what has no words."""
    raise Mute


@tool
def leave() -> str:
    """Leave the program."""
    sys.exit(3)


@tool
async def leave_async() -> str:
    """Leave the program."""
    sys.exit(3)


@tool
def leave_midway():
    """Yield, then leave the program."""
    yield "begun"
    sys.exit(3)


@tool
def no_json() -> Unknown:
    """Return what no log can keep."""
    return Unknown("odd", {"data": b"bytes"})


@tool
def endless_number() -> list:
    """Return a number that is too long to write."""
    return [Unknown("odd", {"n": 10**5000})]


@tool
def picky(p: Picky) -> str:
    """Refuse."""
    return "never"


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "says"),
    [
        ("mute", "{}", "exception", "Mute: (its text cannot be read)"),
        ("leave", "{}", "exception", "SystemExit: 3"),
        ("leave_async", "{}", "exception", "SystemExit: 3"),
        ("leave_midway", "{}", "exception", "SystemExit: 3"),
        ("no_json", "{}", "exception", "not JSON serializable"),
        ("endless_number", "{}", "exception", "4300 digits"),
        ("picky", '{"p": {"a": 1}}', "exception", "of the author"),
        ("add", "[" * 100_000, "arguments", "nested too deeply"),
    ],
)
async def test_case_R2_nothing_that_a_tool_does_ends_the_run(name, arguments, kind, says):
    tools = [mute, leave, leave_async, leave_midway, no_json, endless_number, picky, add]
    agent = Agent("a", "x", tools=tools)
    reply = Reply((ToolCall("c1", name, arguments),), "tool_calls")
    session = await start(agent, ScriptedModel([reply, "went on"]))
    assert (await agent.run(session)).text == "went on"
    (result,) = await results(session)
    assert result.kind == kind
    assert says in result.content[0].text


async def test_a_hanging_tool_is_stopped_and_said_so():
    @tool(seconds=0.05)
    async def hang() -> str:
        """Hang."""
        await asyncio.sleep(60)
        return "never"

    agent = Agent("a", "x", tools=[hang])
    session = await start(agent, ScriptedModel([call("hang"), "went on"]))
    assert (await agent.run(session)).text == "went on"
    (result,) = await results(session)
    assert result.kind == "timeout"
    assert "after 0.05 s" in result.content[0].text


async def test_a_tools_own_timeout_error_is_an_exception_not_our_limit():
    @tool
    async def slow() -> str:
        """Call something slow."""
        raise TimeoutError("upstream")

    agent = Agent("a", "x", tools=[slow])
    session = await start(agent, ScriptedModel([call("slow"), "ok"]))
    await agent.run(session)
    (result,) = await results(session)
    assert "TimeoutError: upstream" in result.content[0].text


async def test_the_output_type_is_enforced_by_the_conclude_tool():
    agent = Agent("a", "x", output_type=Sum)
    session = await start(agent, ScriptedModel([call("conclude", total=3)]))
    outcome = await agent.run(session)
    assert (outcome.status, outcome.output, outcome.read(Sum)) == (
        "done",
        {"total": 3},
        Sum(total=3),
    )


async def test_case_R18_text_instead_of_the_output_gets_one_repair_turn():
    agent = Agent("a", "x", output_type=Sum)
    model = ScriptedModel(["The total is 3.", call("conclude", total=3)])
    session = await start(agent, model)
    assert (await agent.run(session)).output == {"total": 3}
    assert "conclude" in loads(model.requests[1])["messages"][-1]["content"]


async def test_text_twice_instead_of_the_output_fails_with_the_reason():
    agent = Agent("a", "x", output_type=Sum)
    session = await start(agent, ScriptedModel(["It is 3.", "As I said, 3."]))
    outcome = await agent.run(session)
    assert (outcome.status, outcome.output) == ("failed", {})
    assert "two tries" in outcome.reason


async def test_a_wrong_output_is_repaired_once():
    agent = Agent("a", "x", output_type=Sum)
    session = await start(
        agent, ScriptedModel([call("conclude", total="x"), call("conclude", total=4)])
    )
    assert (await agent.run(session)).output == {"total": 4}
    session = await start(
        agent, ScriptedModel([call("conclude", total="x"), call("conclude", sum=4)])
    )
    outcome = await agent.run(session)
    assert outcome.status == "failed"
    assert "total: Field required" in outcome.reason


async def test_other_calls_beside_the_output_run_first():
    agent = Agent("a", "x", tools=[add], output_type=Sum)
    session = await start(
        agent, ScriptedModel([[call("conclude", total=3), call("add", a=1, b=2)]])
    )
    assert (await agent.run(session)).output == {"total": 3}
    assert [r.name for r in await results(session)] == ["add", "conclude"]


@pytest.mark.parametrize(
    "bad", [Reply((Text(""),), "stop"), Reply((), "stop"), Reply((Text("half a sen"),), "length")]
)
async def test_an_empty_or_cut_answer_is_asked_for_once_more(bad):
    agent = Agent("a", "x")
    session = await start(agent, ScriptedModel([bad, "whole"]))
    assert (await agent.run(session)).text == "whole"
    session = await start(agent, ScriptedModel([bad, bad]))
    outcome = await agent.run(session)
    assert outcome.status == "failed"


async def test_a_withheld_answer_fails_at_once():
    agent = Agent("a", "x")
    session = await start(agent, ScriptedModel([Reply((), "content_filter"), "never asked"]))
    assert (await agent.run(session)).status == "failed"


async def test_the_next_model_of_the_chain_takes_over_and_the_log_says_so():
    agent = Agent("a", "x")
    first = ScriptedModel([ConnectionError("refused")], name="first")
    second = ScriptedModel(["from the second"], name="second")
    session = await start(agent, first, second)
    assert (await agent.run(session)).text == "from the second"
    entries = await session.run.log.read()
    notices = [e.event for e in entries if isinstance(e.event, Noticed)]
    (notice,) = [event for event in notices if event.topic == "model_fallback"]
    assert (notice.data["from"], notice.data["to"]) == ("first", "second")


async def test_when_every_model_fails_the_outcome_says_why():
    agent = Agent("a", "x")
    session = await start(agent, ScriptedModel([ConnectionError("refused")]))
    outcome = await agent.run(session)
    assert outcome.status == "failed"
    assert "ConnectionError: refused" in outcome.reason


async def test_a_broken_log_is_not_taken_for_a_broken_model():
    class Broken(MemoryEventLog):
        async def commit(self):
            raise OSError("disk full")

    agent = Agent("a", "x")
    session = await start(agent, ScriptedModel(["x"]), ScriptedModel(["y"]), log=Broken())
    with pytest.raises(OSError, match="disk full"):
        await agent.run(session)


async def test_limits_end_the_work_with_their_name():
    agent = Agent("a", "x", tools=[add], limits=Limits(turns=2))
    session = await start(agent, ScriptedModel(lambda _: call("add", a=1, b=1)))
    outcome = await agent.run(session)
    assert (outcome.status, "2 turns" in outcome.reason) == ("limit", True)

    agent = Agent("a", "x")
    session = await start(agent, ScriptedModel(["x"]), limits=Limits(tokens=100))
    outcome = await agent.run(session)
    assert (outcome.status, "100 tokens" in outcome.reason) == ("limit", True)

    agent = Agent("a", "x")
    session = await start(agent, ScriptedModel(["x"], seconds=30), limits=Limits(seconds=0.05))
    started = time.monotonic()
    outcome = await agent.run(session)
    assert outcome.status == "timed_out"
    assert time.monotonic() - started < 20


async def test_a_meter_reserves_for_the_whole_tree_before_spending():
    root = Meter(Limits(tokens=100))
    first, second = Meter(Limits(), root), Meter(Limits(tokens=30), root)
    await first.reserve(Hold(50, 10))
    with pytest.raises(LimitReached):
        await second.reserve(Hold(1, 30))
    await second.reserve(Hold(10, 20))
    late = asyncio.create_task(first.reserve(Hold(50, 0)))
    await asyncio.sleep(0)
    assert not late.done()  # what the first call holds may come back
    first.settle(Hold(50, 10), Usage(10, 5))
    await late
    assert (root.usage.total, first.usage.total, second.usage.total) == (15, 15, 0)
    with pytest.raises(LimitReached, match="15 are spent"):
        await first.reserve(Hold(86, 0))


async def test_a_reply_in_the_log_is_not_paid_for_twice():
    """Stopped between the reply and its tools: the resumed run acts on the reply as it stands."""
    log = MemoryEventLog()
    calls = []

    @tool(repeatable=True)
    def look(n: int) -> int:
        """Look."""
        calls.append(n)
        return n

    @tool
    def pay(n: int) -> int:
        """Pay."""
        calls.append(-n)
        return n

    agent = Agent("a", "x", tools=[look, pay])
    session = await start(agent, ScriptedModel([[call("look", n=1), call("pay", n=2)]]), log=log)
    await agent.ask(session)
    again = ScriptedModel(["done"])
    resumed = await start(agent, again, log=log)
    assert (await agent.run(resumed)).text == "done"
    assert calls == [1]
    kinds = {r.name: r.kind for r in await results(resumed)}
    assert kinds == {"look": "", "pay": "unknown_after_crash"}
    replies = [e for e in await log.read() if isinstance(e.event, ReplyReceived)]
    assert len(replies) == 2


async def test_a_final_answer_in_the_log_is_not_asked_for_again():
    log = MemoryEventLog()
    agent = Agent("a", "x")
    await agent.ask(await start(agent, ScriptedModel(["the answer"]), log=log))
    resumed = await start(agent, ScriptedModel([]), log=log)
    assert (await agent.run(resumed)).text == "the answer"


async def test_an_open_call_is_closed_when_the_user_goes_on():
    """Case 9: an interrupted call must not leave the thread refusing all input."""
    log = MemoryEventLog()
    agent = Agent("a", "x", tools=[add])
    session = await start(agent, ScriptedModel([call("add", a=1, b=2)]), log=log)
    await agent.ask(session)
    session.thread.append(MessageAdded((Text("never mind"),)))
    model = ScriptedModel(["fine"])
    resumed = await start(agent, model, log=log)
    assert (await agent.run(resumed)).text == "fine"
    roles = [m["role"] for m in loads(model.requests[0])["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "user"]


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(AgentDefinitionError, match="two tools of one name"):
        Agent("a", "x", tools=[add, add]).toolbox()
