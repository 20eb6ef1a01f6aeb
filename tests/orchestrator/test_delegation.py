"""What is delegated and what a child sees: nothing, the text, or the exact prefix; order, inputs, limits."""

import asyncio

import pytest
from support.chat_server import ChatServer, Say

from agents import Agent, Conclusion, Limits, Reply, ScriptedModel, WireModel, call, tool
from memory import Text, best_counter, dumps, loads, read_entries
from orchestrator import Coordinator, TaskSpec
from orchestrator.delegation import DelegatedTask, _unseen


@tool
async def look(n: int) -> str:
    """Look at something."""
    return f"fact {n}"


@tool
async def erase(n: int) -> str:
    """Erase something."""
    return f"erased {n}"


def delegate(*tasks, agent="helper"):
    return call("delegate", tasks=[{"agent": agent, **task} for task in tasks])


def first(body):
    return next(m["content"] for m in body["messages"] if m["role"] == "user")


def results(model):
    messages = loads(model.requests[-1])["messages"]
    return loads([m["content"] for m in messages if m["role"] == "tool"][-1])


def helper(script, **options):
    return Agent("helper", "Help.", ScriptedModel(script), output_type=Conclusion, **options)


def concluding(body):
    return call("conclude", answer=f"seen: {first(body)}")


async def test_tasks_run_in_the_order_of_their_dependencies_and_get_earlier_conclusions():
    order = []

    async def script(body):
        task = first(body).partition("\n")[0]
        order.append(task)
        await asyncio.sleep(0.02 if task == "one" else 0)
        return call("conclude", answer=f"result of {task}", open_questions=["and then?"])

    tasks = [
        {"task": "one"},
        {"task": "two"},
        {"task": "three", "depends_on": [1, 2]},
        {"task": "four", "depends_on": [3]},
    ]
    lead = ScriptedModel([delegate(*tasks), "ok"])
    child = helper(script)
    await Coordinator(Agent("lead", "Lead.", lead), [child]).run("x")
    assert order[2:] == ["three", "four"]
    three = next(r.decode() for r in child.model.requests if b"three" in r)
    assert "result of one" in three
    assert "result of two" in three
    assert "and then?" in three
    assert [child["conclusion"]["answer"] for child in results(lead)][3] == "result of four"
    assert results(lead)[0]["conclusion"]["open_questions"] == ["and then?"]


async def test_a_failed_dependency_is_handed_over_with_its_status():
    def script(body):
        if first(body) == "one":
            raise RuntimeError("broken")
        return concluding(body)

    lead = ScriptedModel([delegate({"task": "one"}, {"task": "two", "depends_on": [1]}), "ok"])
    await Coordinator(Agent("lead", "Lead.", lead), [helper(script)]).run("x")
    one, two = results(lead)
    assert (one["status"], two["status"]) == ("failed", "done")
    assert "broken" in two["conclusion"]["answer"]


async def test_a_task_has_limits_of_its_own():
    async def script(body):
        if "hang" in first(body):
            await asyncio.sleep(60)
        return call("look", n=len(body["messages"]))

    tasks = [
        {"task": "hang", "limits": {"seconds": 0.1}},
        {"task": "calls", "limits": {"model_calls": 3}},
        {"task": "tokens", "limits": {"tokens": 5_000}},
    ]
    lead = ScriptedModel([delegate(*tasks), "ok"])
    await Coordinator(Agent("lead", "Lead.", lead), [helper(script, tools=[look])]).run("x")
    hang, calls, tokens = results(lead)
    assert hang["status"] == "timed_out"
    assert (calls["status"], "3 model calls" in calls["reason"]) == ("limit", True)
    assert (tokens["status"], "5,000 tokens" in tokens["reason"]) == ("limit", True)
    assert "fact" in calls["found"]


async def test_files_and_constraints_of_the_run_are_handed_over_and_nothing_else():
    child = ScriptedModel(concluding)
    lead = ScriptedModel([delegate({"task": "do it", "inputs": ["/artifacts/abc.txt"]}), "ok"])
    agent = Agent("helper", "Help.", child, output_type=Conclusion)
    words = "Write about harbours. Never mention the budget of 2019."
    await Coordinator(Agent("lead", "SECRET", lead), [agent]).run(words)
    seen = first(loads(child.requests[0]))
    assert seen.startswith("do it\n\n")
    assert "Never mention the budget of 2019." in seen
    assert "/artifacts/abc.txt" in seen
    assert "Write about harbours" not in seen
    assert "SECRET" not in child.requests[0].decode()


async def test_text_shows_what_was_said_and_no_calls_or_results():
    child = ScriptedModel(concluding)
    looking = [Text("I look first."), call("look", n=41)]
    sending = [Text("Now the rest."), delegate({"task": "sum up the talk above", "see": "text"})]
    lead = ScriptedModel([looking, sending, "ok"])
    agent = Agent("helper", "Help.", child, output_type=Conclusion)
    await Coordinator(Agent("lead", "SECRET", lead, [look]), [agent]).run("the user's words")
    seen = child.requests[0].decode()
    assert "the user's words" in seen
    assert "I look first." in seen
    assert "Now the rest." not in seen  # it stands in the reply whose call is open
    assert "fact 41" not in seen
    assert "SECRET" not in seen


async def test_fork_shares_the_parents_bytes_and_refuses_tools_at_call_time(tmp_path):
    """Must show 6: asserted on the bytes that the server got."""

    def script(body):
        messages = body["messages"]
        if "From here on you are 'helper'" in str(messages):
            mine = messages[next(i for i, m in enumerate(messages) if "From here on" in str(m)) :]
            done = [m for m in mine if m["role"] == "tool"]
            if not done:
                return Say(calls=[("erase", {"n": 1}), ("look", {"n": 2})])
            return Say("forked: " + " | ".join(m["content"] for m in done))
        done = sum(m["role"] == "tool" for m in messages)
        if done == 0:
            return Say("Let me see.", calls=[("look", {"n": 1})])
        if done == 1:
            task = {"agent": "helper", "task": "go on from the above", "see": "fork"}
            return Say(calls=[("delegate", {"tasks": [task]})])
        return Say("all done")

    async with ChatServer(script) as server:
        model = WireModel("m", server.url)
        child = Agent("helper", "Be brief.", tools=[look], output_type=Conclusion)
        lead = Agent("lead", "You lead. " * 50, tools=[look, erase])
        coordinator = Coordinator(lead, [child], model=model, runs=tmp_path)
        result = await coordinator.run("the user's words")
        await model.close()
    assert result.text == "all done"
    second = server.requests[1].raw  # the parent's, which the delegation answers
    forked = server.requests[2].raw
    shared = second[: second.rindex(b"]")]
    assert forked.startswith(shared)
    assert b"delegate" in shared  # the schema stays; the open call is not shown
    assert b'"go on from the above"' not in forked
    assert forked.count(b"tool_calls") == second.count(b"tool_calls")
    said = server.requests[4].body["messages"][-1]["content"]
    (handed,) = loads(said)
    assert "You may not use 'erase'" in handed["text"]
    assert "fact 2" in handed["text"]
    entries = read_entries(result.folder / "events.db")
    assert {e.thread for e in entries if e.thread} == {"main", "main.2-1"}
    usage = loads((result.folder / "usage.json").read_bytes())
    assert usage["model_calls"] == 5


async def test_a_forked_child_goes_on_after_a_crash_and_pays_for_nothing_it_copied(tmp_path):
    calls = []

    async def child_script(body):
        calls.append(body)
        if len(calls) == 1:
            await asyncio.sleep(60)
        return "forked answer"

    def script(body):
        if "From here on" in str(body["messages"]):
            return child_script(body)
        if any(m["role"] == "tool" for m in body["messages"]):
            return "ok"
        return delegate({"task": "go on", "see": "fork"})

    model = ScriptedModel(script)

    def team():
        child = Agent("helper", "Help.", tools=[look])
        return Coordinator(
            Agent("lead", "Lead.", tools=[look]), [child], model=model, runs=tmp_path
        )

    running = asyncio.create_task(team().run("x", run_id="r1"))
    while not calls:
        await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    result = await team().resume("r1")
    assert result.text == "ok"
    assert calls[0] == calls[1]
    assert loads((result.folder / "usage.json").read_bytes())["model_calls"] == 3


@pytest.mark.parametrize(
    "task",
    [
        "Summarise the file above.",
        "Summarise the report above",
        "Check the claims mentioned earlier.",
        "As discussed above, go on.",
        "Translate my previous message.",
        "Use the list shown above and sort it.",
        "Continue our conversation.",
        "Read the attached file.",
    ],
)
def test_a_task_that_points_at_what_its_agent_cannot_see_is_returned(task):
    assert _unseen(DelegatedTask(agent="a", task=task, see="none"))
    assert not _unseen(DelegatedTask(agent="a", task=task, see="text"))


@pytest.mark.parametrize(
    "task",
    [
        "Find words that occur above 5 % of the time.",
        "Measure above-ground biomass in the plots above the tree line of the Alps.",
        "Find what was said earlier this year about rates.",
        "List the results before 1990.",
        "Look at https://example.org/the-file and sum it up.",
        "Here is a text. " + "word " * 100 + "Summarise the text above.",
    ],
)
def test_a_task_that_is_complete_is_sent(task):
    assert not _unseen(DelegatedTask(agent="a", task=task, see="none"))


async def test_a_pointing_task_costs_nothing_and_says_what_to_do():
    child = ScriptedModel(concluding)
    lead = ScriptedModel([delegate({"task": "Summarise the file above."}, {"task": "good"}), "ok"])
    agent = Agent("helper", "Help.", child, output_type=Conclusion)
    await Coordinator(Agent("lead", "Lead.", lead), [agent]).run("x")
    said = next(m["content"] for m in loads(lead.requests[-1])["messages"] if m["role"] == "tool")
    assert "task 1 points at 'the file above'" in said
    assert not child.requests


@pytest.mark.parametrize("answer", ["", "see above", "Let me check the files first.", "# Report"])
async def test_case_62_an_answer_that_says_nothing_is_repaired_once_and_then_failed(answer):
    asked = []

    def script(body):
        if not asked or asked[-1] == "look":
            asked.append("look" if not asked else "answer")
            return call("look", n=5) if len(asked) == 1 else answer
        asked.append("answer")
        return answer

    lead = ScriptedModel([delegate({"task": "x"}), "ok"])
    child = Agent("helper", "Help.", ScriptedModel(script), [look])
    await Coordinator(Agent("lead", "Lead.", lead), [child]).run("x")
    (handed,) = results(lead)
    assert handed["status"] == "failed"
    assert len(asked) == 3
    if not answer:
        assert "fact 5" in handed["found"]

    good = ScriptedModel([answer, "The harbour opened in 1901."])
    lead = ScriptedModel([delegate({"task": "x"}), "ok"])
    await Coordinator(Agent("lead", "Lead.", lead), [Agent("helper", "Help.", good)]).run("x")
    assert results(lead)[0]["text"] == "The harbour opened in 1901."


async def test_case_63_a_child_cut_off_by_length_hands_back_what_it_had_found():
    def script(body):
        if not any(m["role"] == "tool" for m in body["messages"]):
            return call("look", n=9)
        return Reply((Text(""),), "length")

    lead = ScriptedModel([delegate({"task": "x"}), "ok"])
    child = Agent("helper", "Help.", ScriptedModel(script), [look])
    await Coordinator(Agent("lead", "Lead.", lead), [child]).run("x")
    (handed,) = results(lead)
    assert handed["status"] == "failed"
    assert "length limit" in handed["reason"]
    assert "fact 9" in handed["found"]


async def test_later_children_of_a_large_shared_prefix_wait_for_the_firsts_first_words():
    order = []

    def script(body):
        task = first(body)
        order.append(("ask", task))
        return Say(f"The result of {task} is 5.", delay=0.05)

    async with ChatServer(script) as server:
        model = WireModel("m", server.url)
        child = Agent("helper", "Long instructions. " * 400)
        tasks = [{"task": f"part {n}"} for n in range(4)]
        lead = ScriptedModel([delegate(*tasks), "ok"])
        coordinator = Coordinator(Agent("lead", "Lead.", lead), [child], model=model)
        await coordinator.run("x")
        await model.close()
    assert server.most_under_way == 3  # the first alone, then the other three
    assert order[0] == ("ask", "part 0")
    assert len(results(lead)) == 4


def test_a_task_is_json():
    spec = TaskSpec("main.1-1", "a", "t", "main", 3.0, inputs=("/x",), after=("main.1-2",))
    assert TaskSpec.from_json(loads(dumps(spec.to_json()))) == spec


async def test_the_lead_reads_its_children_within_their_cap():
    lead = ScriptedModel([delegate(*({"task": f"t {n}"} for n in range(30))), "ok"])
    agent = Agent("helper", "Help.", ScriptedModel(lambda _: "A long answer. " * 5_000))
    limits = Limits(agents=40)
    await Coordinator(Agent("lead", "Lead.", lead), [agent], limits=limits).run("x")
    handed = loads(lead.requests[-1])["messages"][-1]["content"]
    assert best_counter().count(handed) <= 30 * 2_000
