"""Forty children, half of them hostile, against parents of 128k and 32k tokens; and trees of limits."""

import asyncio
import random

import pytest

from agents import Agent, Conclusion, Limits, Price, ScriptedModel, call
from filesystem import ArtifactStore
from memory import Text, ThreadEnded, ThreadStarted, best_counter, dumps, loads, read_entries
from orchestrator import Coordinator

SOURCE = "The harbour opened in 1901. The bridge was built by Anna Berg in 1920."
TOKENS = best_counter()


def task_of(body):
    return next(m["content"] for m in body["messages"] if m["role"] == "user")


def delegate(*tasks, agent="helper"):
    return call("delegate", tasks=[{"agent": agent, "task": task} for task in tasks])


async def quotes(output):
    """The check of a conclusion: every quote stands in the source."""
    faults = []
    for finding in output.findings:
        for citation in finding.citations:
            citation.verified = citation.quote in SOURCE
            if not citation.verified:
                faults.append(f"The quote {citation.quote!r} is not in {citation.source!r}.")
    return faults


def finding(quote):
    return {"claim": quote, "citations": [{"quote": quote, "source": "harbour.md", "place": "1"}]}


def child_script(seed, words=45_455):
    rng = random.Random(seed)

    async def script(body):
        await asyncio.sleep(rng.random() * 0.05)
        task = task_of(body)
        kind, _, number = task.partition(" ")
        if kind == "raise":
            raise RuntimeError(f"broken {number}")
        if kind == "hang":
            await asyncio.sleep(3600)
        if kind == "nothing":
            return ""
        if kind == "flood":
            return call("conclude", answer=f"flood {number} " + "word and number 12345 " * words)
        if kind == "lie":
            return call("conclude", answer=f"lie {number}", findings=[finding("It sank in 1905.")])
        return call(
            "conclude",
            answer=f"The harbour opened in 1901, says {task}.",
            findings=[finding("The harbour opened in 1901.")],
            open_questions=["Who built it?"],
        )

    return script


KINDS = ("raise", "hang", "nothing", "flood", "lie", *["good"] * 3)


async def run_forty(folder, window, seed, filler=0, words=45_455):
    tasks = [f"{KINDS[number % 8]} {number}" for number in range(40)]
    random.Random(7).shuffle(tasks)
    sent = [{"agent": "helper", "task": task} for task in tasks]
    for task in sent:
        if task["task"].startswith("hang"):
            task["limits"] = {"seconds": 1}
    lead = ScriptedModel([call("delegate", tasks=sent), "the report"], window=window)
    child = Agent(
        "helper",
        "Help.",
        ScriptedModel(child_script(seed, words)),
        output_type=Conclusion,
        check=quotes,
        limits=Limits(seconds=100),
    )
    coordinator = Coordinator(Agent("lead", "Lead.", lead), [child], runs=folder)
    result = await coordinator.run("x" + " filler word" * filler, run_id="r1")
    messages = loads(lead.requests[-1])["messages"]
    (handed,) = [m["content"] for m in messages if m["role"] == "tool"]
    seen = sum(TOKENS.count(str(m["content"])) for m in messages if m["role"] != "tool")
    return result, tasks, handed, window - 4096 - seen


@pytest.mark.slow
@pytest.mark.parametrize(("window", "filler"), [(128_000, 0), (32_000, 0), (32_000, 5_000)])
async def test_forty_children_of_a_parent(tmp_path, window, filler):
    """Must show 1: 5 raise, 5 hang, 5 say nothing, 5 hand back a million characters, 5 cite false quotes."""
    result, tasks, handed, room = await run_forty(tmp_path, window, 1, filler)
    children = loads(handed)
    assert (result.status, len(children)) == ("done", 40)
    cap = min(2_000, room // 40)
    assert TOKENS.count(handed) <= 40 * cap
    assert all(TOKENS.count(dumps(child).decode()) <= cap for child in children)
    wanted = {"raise": "failed", "hang": "timed_out", "nothing": "failed", "flood": "done"}
    entries = read_entries(result.folder / "events.db")
    threads = {e.thread: e.event.task for e in entries if isinstance(e.event, ThreadStarted)}
    store = ArtifactStore(result.folder / "artifacts")
    for task, child in zip(tasks, children, strict=True):
        kind = task.partition(" ")[0]
        assert threads[child["thread"]] == task
        assert child["status"] == wanted.get(kind, "partial" if kind == "lie" else "done")
        if kind == "lie":
            assert "not in 'harbour.md'" in child["reason"]
            (citation,) = child["conclusion"]["findings"][0]["citations"]
            assert citation["verified"] is False
        elif kind == "flood":
            path = child["cut"].rpartition(" ")[2]
            whole = loads(await store.read(path))
            assert len(whole["conclusion"]["answer"]) >= 1_000_000
            assert child["conclusion"]["answer"].startswith(f"flood {task.partition(' ')[2]} ")
        elif kind == "good":
            assert child["conclusion"]["findings"][0]["citations"][0]["verified"] is True
    ends = [e for e in entries if isinstance(e.event, ThreadEnded) and e.thread != "main"]
    assert len(ends) == 40


@pytest.mark.slow
async def test_the_order_in_which_children_finish_changes_nothing(tmp_path):
    folders = [(seed, tmp_path / str(seed)) for seed in (1, 2, 3)]
    reports = [(await run_forty(path, 128_000, seed, words=900))[2] for seed, path in folders]
    assert len(set(reports)) == 1


async def test_without_room_for_each_an_index_with_a_line_each_is_handed_over(tmp_path):
    tasks = [f"good {number}" for number in range(60)]
    lead = ScriptedModel([delegate(*tasks), "ok"], window=12_000)
    child = Agent("helper", "Help.", ScriptedModel(child_script(1)), output_type=Conclusion)
    coordinator = Coordinator(Agent("lead", "Lead.", lead), [child], runs=tmp_path)
    result = await coordinator.run("x")
    (handed,) = [m["content"] for m in loads(lead.requests[-1])["messages"] if m["role"] == "tool"]
    index = loads(handed)
    assert (index["children"], index["by_status"]) == (60, {"done": 60})
    store = ArtifactStore(result.folder / "artifacts")
    lines = (await store.read(index["index"])).decode().splitlines()
    assert len(lines) == 60
    path = lines[41].rpartition("-> ")[2]
    assert loads(await store.read(path))["conclusion"]["answer"].endswith("good 41.")


async def test_case_64_a_long_conclusion_is_shortened_by_its_author_or_by_priority(tmp_path):
    told = []

    def script(body):
        told.append([m["content"] for m in body["messages"] if m["role"] == "tool"])
        return call(
            "conclude",
            answer="The answer itself. " + "More of it. " * 3_000,
            findings=[{"claim": f"claim {n} " * 40} for n in range(100)]
            + [finding("The harbour opened in 1901.")],
            open_questions=["What of the bridge?"],
            next_steps=["Look at the bridge."],
        )

    lead = ScriptedModel([delegate("x"), "ok"])
    child = Agent("helper", "Help.", ScriptedModel(script), output_type=Conclusion, check=quotes)
    await Coordinator(Agent("lead", "Lead.", lead), [child], runs=tmp_path).run("x")
    assert len(told) == 2
    assert "at most 2,000 tokens are read" in told[1][0]
    (handed,) = [m["content"] for m in loads(lead.requests[-1])["messages"] if m["role"] == "tool"]
    assert TOKENS.count(handed) <= 2_000
    (only,) = loads(handed)
    conclusion = only["conclusion"]
    assert conclusion["answer"].startswith("The answer itself.")
    assert conclusion["findings"][0]["citations"][0]["verified"] is True
    assert only["cut"].startswith("shortened; all of it: /artifacts/")


# Limits of the tree.


def greedy(body):
    """Asks for one thing after the other, and never concludes by itself."""
    if "conclude now" in str(body["messages"][-1]["content"]).lower():
        return call("conclude", answer=f"partial {task_of(body)}", status="partial")
    return [Text("I found a fact. " * 20), call("look", n=len(body["messages"]))]


async def tree(limits, children=20, tmp=None):
    async def look(n: int) -> str:
        """Look."""
        return f"fact {n} " * 20

    tasks = [f"part {n}" for n in range(children)]
    lead = ScriptedModel([delegate(*tasks), "the partial report"], settings={"max_tokens": 200})
    model = ScriptedModel(greedy, seconds=0.001, settings={"max_tokens": 200})
    child = Agent("helper", "Help.", model, [look], output_type=Conclusion, limits=Limits(turns=30))
    coordinator = Coordinator(Agent("lead", "Lead.", lead), [child], limits=limits, runs=tmp)
    live = {}

    def watch(_):
        for work in coordinator.works.values():
            meter = live["meter"] = work.session.run.meter
            assert limits.tokens is None or meter.usage.total <= limits.tokens
            assert limits.cost is None or meter.cost <= limits.cost

    result = await coordinator.run("x", emit=watch)
    return result, lead, live["meter"]


def handed_to(lead):
    messages = loads(lead.requests[-1])["messages"]
    return [child for m in messages if m["role"] == "tool" for child in loads(m["content"])]


async def test_case_69_a_limit_of_tokens_holds_for_twenty_children_that_want_three_times_as_much(
    tmp_path,
):
    _, _, wanted = await tree(Limits(parallel_agents=20))
    assert wanted.usage.total >= 3 * 150_000
    limits = Limits(tokens=150_000, parallel_agents=20)
    result, _, meter = await tree(limits, tmp=tmp_path)
    assert 75_000 < meter.usage.total <= 150_000
    assert result.status == "limit"  # nothing was left for a last word of the lead's own
    assert "150,000 tokens" in result.reason
    assert "I found a fact" in result.text
    entries = read_entries(result.folder / "events.db")
    ends = {e.thread: e.event for e in entries if isinstance(e.event, ThreadEnded)}
    children = [end for thread, end in ends.items() if thread != "main"]
    assert len(children) == 20
    assert {end.status for end in children} <= {"limit", "partial"}
    assert any("150,000 tokens" in end.reason for end in children)
    assert all(end.result["output"] or end.result["text"] for end in children)


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        (Limits(cost=0.05, prices={"*": Price(1.0, 5.0)}), "0.05 on the cost"),
        (Limits(model_calls=50), "50 model calls"),
        (Limits(agents=7), "7 agents"),
        (Limits(depth=0), "levels deep"),
        (Limits(seconds=0.4), "time"),
    ],
)
async def test_the_other_limits_of_a_tree_end_in_results_that_name_them(limits, named):
    result, lead, meter = await tree(limits)
    if limits.cost:
        assert meter.cost <= limits.cost
    if limits.model_calls:
        assert meter.model_calls <= limits.model_calls
    assert meter.agents <= limits.agents
    told = result.reason + "".join(
        str(m["content"]) for r in lead.requests for m in loads(r)["messages"]
    )
    assert named in told + result.text
    assert result.status in ("done", "limit", "timed_out")
    if len(lead.requests) > 1:  # a limit that left the lead its last turn
        children = handed_to(lead)
        assert len(children) == 20
        assert "failed" not in {child["status"] for child in children}


async def test_tool_calls_beyond_the_limit_are_refused_and_the_work_ends_with_what_there_is():
    result, lead, meter = await tree(Limits(tool_calls=30), children=5)
    assert meter.tool_calls == 30
    assert result.status == "done"
    assert len(handed_to(lead)) == 5


async def test_case_67_and_68_a_spawn_storm_ends_at_the_limit_with_results():
    """A coordinator whose subagent is itself again: every level spawns three more."""
    model = ScriptedModel(
        lambda body: (
            f"level done with {len(body['messages'])}"
            if any(m["role"] == "tool" for m in body["messages"])
            else call(
                "delegate", tasks=[{"agent": "spawner", "task": f"more {n}"} for n in range(3)]
            )
        )
    )
    spawner = Coordinator(Agent("spawner", "Spawn.", model))
    spawner = Coordinator(Agent("spawner", "Spawn.", model), [spawner])
    for _ in range(6):
        spawner = Coordinator(Agent("spawner", "Spawn.", model), [spawner])
    limits = Limits(agents=16, depth=5)
    lead = Coordinator(Agent("lead", "Lead.", model), [spawner], limits=limits)
    result = await lead.run("x")
    assert result.status == "done"
    started = model.requests
    assert len(started) <= 2 * (16 + 1)
    assert any("the limit of 16 agents is reached" in request.decode() for request in started)
