"""Full research runs against a scripted chat-completions server on loopback, with all that can fail."""

import asyncio
import os

import pytest
from langchain_openai import ChatOpenAI
from support.chat_server import ChatServer, Drop, Say, Status
from support.research_script import DOCS, QUESTION, TOPICS, Fault, answer, conclude, task, wanted

from agents import WireModel
from memory import Noticed, ReplyReceived, RunEnded, ToolReturned, loads, read_entries
from orchestrator import Models
from orchestrator.researching import ResearchOptions, research, resume_research


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in DOCS.items():
        (folder / name).write_text(text)
    return folder


async def run(server, docs, *, model=None, **options):
    model = model or WireModel("m", server.url)
    options.setdefault("rounds", 1)
    chosen = ResearchOptions(models=Models(model), runs=docs.parent / "runs", **options)
    return await research(QUESTION, [docs], chosen)


def intact(result):
    """The run folder holds everything, readable, and the log says how it ended."""
    folder = result.folder
    entries = read_entries(folder / "events.db")
    ends = [e.event.status for e in entries if isinstance(e.event, RunEnded)]
    assert ends == [result.status]
    assert (folder / "report.md").read_text() == result.text
    assert loads((folder / "report.json").read_bytes())["run_id"] == result.run_id
    assert loads((folder / "usage.json").read_bytes())["model_calls"] > 0
    assert (folder / "transcripts" / "plan.txt").stat().st_size
    assert (folder / "todo.md").read_text().startswith("# Goal")
    return entries


def verified(result):
    cited = result.output["citations"]
    return [c["source"] for c in cited if c["quotes"] and all(q["verified"] for q in c["quotes"])]


@pytest.mark.parametrize("stream", [True, False])
async def test_five_researchers_in_parallel(docs, stream):
    def slowly(body):
        step = answer(body)
        step.delay = 0.05
        return step

    async with ChatServer(slowly) as server:
        result = await run(server, docs, model=WireModel("m", server.url, stream=stream))
        assert server.most_under_way == 5
        assert all(bool(r.body.get("stream")) is stream for r in server.requests)
    assert result.status == "done"
    assert sorted(verified(result)) == sorted(DOCS)
    assert "The red valve opens at 11 degrees" in result.text
    assert result.usage.cached_tokens > 0
    intact(result)


async def test_through_chat_openai(docs):
    async with ChatServer(answer) as server:
        model = ChatOpenAI(model="m", base_url=server.url, api_key="none", max_retries=0)
        result = await run(server, docs, model=model)
    assert result.status == "done"
    assert sorted(verified(result)) == sorted(DOCS)
    intact(result)


FAULTS = {
    "429 with Retry-After": Status(429, headers={"Retry-After": "0.1"}),
    "500": Status(500),
    "dropped connection": Drop(),
    "stream cut in the middle": Say(calls=[("search", {"query": "valve"})], cut=2),
    "broken JSON in arguments": Say(calls=[("search", '{"query": "val')]),
    "unknown tool": Say(calls=[("browse", {"url": "x"})]),
    "cut at the length limit": Say("I was about to say", finish="length"),
    "empty answer": Say(""),
    "text in place of the output": Say("The valve opens at 11 degrees."),
    "wrong output": conclude(findings="none"),
    "arguments of another type": Say(calls=[("search", {"query": ["a", 1]})]),
}


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
async def test_one_fault_is_survived(docs, fault, stream):
    async with ChatServer(Fault(fault)) as server:
        result = await run(server, docs, model=WireModel("m", server.url, stream=stream))
    assert (result.status, result.reason) == ("done", "")
    assert len(verified(result)) == 5
    intact(result)


async def test_a_fault_that_stays_is_a_clear_error_and_an_intact_folder(docs):
    async with ChatServer(lambda body: Status(401, "bad key")) as server:
        result = await run(server, docs)
    assert result.status == "failed"
    assert "bad key" in result.reason
    intact_failed = read_entries(result.folder / "events.db")
    assert [e.event.status for e in intact_failed if isinstance(e.event, RunEnded)] == ["failed"]
    assert result.exit_code == 1


async def test_reasoning_that_a_server_wants_back_is_sent_and_said_in_the_log(docs):
    """The server refuses, as some do, a request that leaves its reasoning out."""

    def script(body):
        calls = [m for m in body["messages"] if m["role"] == "assistant"]
        if any("reasoning_content" not in message for message in calls):
            return Status(400, "The reasoning_content in the thinking mode must be passed back")
        return answer(body)

    async with ChatServer(script) as server:
        result = await run(server, docs)
    assert result.status == "done"
    topics = [e.event.topic for e in intact(result) if isinstance(e.event, Noticed)]
    assert any("reasoning" in topic for topic in topics)


async def test_reasoning_that_a_server_forbids_is_left_out(docs):
    def script(body):
        if any("reasoning_content" in m for m in body["messages"]):
            return Status(400, "reasoning_content is not allowed")
        return answer(body)

    async with ChatServer(script) as server:
        result = await run(server, docs)
    assert result.status == "done"
    replies = [e.event for e in intact(result) if isinstance(e.event, ReplyReceived)]
    assert any(block.type == "reasoning" for reply in replies for block in reply.content)


async def test_failed_researchers_are_named_and_the_others_report(docs):
    """One raises, one hangs past its time, one returns nothing: the other two are in the report."""

    def script(body):
        if wanted(body) == "Conclusion":
            if "red" in task(body):
                return Status(400, "no such luck")
            if "green" in task(body):
                return Say("never", delay=60)
            if "blue" in task(body):
                return Say("")
        return answer(body)

    async with ChatServer(script) as server:
        result = await run(server, docs, seconds=3.0)
    assert (result.status, result.exit_code) == ("partial", 3)
    assert sorted(verified(result)) == ["black.md", "white.md"]
    gaps = result.text.partition("Gaps")[2]
    for word in ("red", "green", "blue"):
        assert f"the {word} valve" in gaps
    assert "no such luck" in gaps
    intact(result)


async def test_a_quote_that_is_not_in_its_source_is_marked(docs):
    def script(body):
        if wanted(body) == "Draft" or (wanted(body) == "Conclusion" and "red" not in task(body)):
            return answer(body)
        step = answer(body)
        if wanted(body) == "Conclusion" and step.calls[0][0] == "conclude":
            output = step.calls[0][1]
            output["findings"][0]["citations"][0]["quote"] = "The red valve never opens at all"
        return step

    async with ChatServer(script) as server:
        result = await run(server, docs)
    assert len(verified(result)) == 4
    assert "unverified" in result.text


async def test_a_second_round_asks_what_the_review_found_missing(docs):
    def script(body):
        if wanted(body) == "Gaps" and loads(task(body))["round"] == 1:
            return conclude(questions=[{"id": "x", "question": "Who built the red valve?"}])
        return answer(body)

    async with ChatServer(script) as server:
        result = await run(server, docs, rounds=2)
    assert "Who built the red valve?" in result.text
    assert (result.folder / "transcripts" / "r2q1.txt").is_file()


async def test_dependent_questions_wait_and_are_told_the_answers(docs):
    def script(body):
        if wanted(body) == "Plan":
            first = {
                "id": "a",
                "question": "When does the red valve open?",
                "depends_on": ["b", "a"],
            }
            second = {"id": "b", "question": "When does the blue valve open?", "depends_on": ["a"]}
            return conclude(title="Two", questions=[first, second])
        return answer(body)

    async with ChatServer(script) as server:
        result = await run(server, docs)
        asked = [task(r.body) for r in server.requests if wanted(r.body) == "Conclusion"]
    assert result.status == "done"
    assert (
        "Known from earlier questions:\n- When does the red valve open? The red valve opens"
        in asked[-1]
    )
    assert len(set(asked)) == 2
    assert len(asked) == 4


async def test_an_interrupted_run_resumes_and_repeats_no_finished_call(docs):
    stuck = asyncio.Event()

    def script(body):
        if wanted(body) == "Draft":
            stuck.set()
            return Say("never", delay=60)
        return answer(body)

    async with ChatServer(script) as server:
        running = asyncio.create_task(run(server, docs))
        await stuck.wait()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        before = len(server.requests)
        server.script = answer
        (folder,) = (p for p in (docs.parent / "runs").iterdir() if not p.name.startswith("."))
        os.environ["OPENAI_BASE_URL"] = server.url
        try:
            result = await resume_research(folder)
        finally:
            del os.environ["OPENAI_BASE_URL"]
        assert len(server.requests) - before == 1
    assert result.status == "done"
    assert len(verified(result)) == 5
    intact(result)


async def test_tool_results_hold_what_the_documents_say_and_nothing_else(docs):
    async with ChatServer(answer) as server:
        result = await run(server, docs)
    results = [
        e.event
        for e in intact(result)
        if isinstance(e.event, ToolReturned) and e.event.name == "search"
    ]
    assert len(results) == len(TOPICS)
    assert all(not r.is_error for r in results)
