"""Spans: the tree of a run, what they carry and what not, the file, OpenTelemetry beside it."""

import asyncio
import json
import subprocess
import sys
import textwrap

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as wanted
from opentelemetry.trace import SpanKind, get_current_span

from agents import (
    Agent,
    Conclusion,
    ScriptedModel,
    Settings,
    Spans,
    ToolError,
    call,
    conventions,  # a module, for its names
    span_inside,
    tool,
    traceparent,
)
from orchestrator import Coordinator, ResearchOptions, research
from orchestrator.telemetry import SpanFile

SECRET = "sk-abcdefghijklmnopqrstuvwx123456"
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


@tool
def look(n: int) -> str:
    """Look."""
    if n > 5:
        raise ToolError(f"no page {n} for {SECRET}")
    return f"saw {n} with api_key={SECRET}"


def results(body):
    return [m["content"] for m in body["messages"] if m["role"] == "tool"]


def helper(body):
    task = next(m["content"] for m in body["messages"] if m["role"] == "user")
    return call("conclude", answer="ok") if results(body) else call("look", n=int(task))


def lead(body):
    if results(body):
        return "end"
    tasks = [{"agent": "helper", "task": "1"}, {"agent": "helper", "task": "9"}]
    return [call("delegate", tasks=tasks), call("look", n=0)]


def team(runs):
    child = Agent("helper", "Help.", ScriptedModel(helper), [look], output_type=Conclusion)
    return Coordinator(Agent("lead", "Lead.", ScriptedModel(lead), [look]), [child], runs=runs)


def spans_in(folder):
    return [json.loads(line) for line in (folder / "spans.jsonl").read_text().splitlines()]


def tree(spans, parent=""):
    """Names nested as the spans are, in order of their beginning."""
    inside = sorted((s for s in spans if s["parent_id"] == parent), key=lambda s: s["start"])
    return [(s["name"], tree(spans, s["span_id"])) for s in inside]


async def test_the_tree_of_a_run_with_two_subagents(tmp_path):
    folder = (await team(tmp_path).run("x", run_id="r")).folder
    spans = spans_in(folder)
    child = (
        "invoke_agent helper",
        [("chat scripted", []), ("execute_tool look", []), ("chat scripted", [])],
    )
    ((root, (agent,)),) = tree(spans)
    assert root == "invoke_workflow coordinator"
    name, inside = agent
    assert name == "invoke_agent lead"
    assert sorted(inside, key=str) == sorted(
        [("chat scripted", []), ("execute_tool look", []), child, child, ("chat scripted", [])],
        key=str,
    )
    assert len({s["trace_id"] for s in spans}) == 1
    assert len({s["span_id"] for s in spans}) == len(spans) == 13
    assert (folder / "spans.jsonl").stat().st_mode & 0o777 == 0o600


async def test_what_the_spans_say(tmp_path):
    spans = spans_in((await team(tmp_path).run("x", run_id="r")).folder)
    assert {s["attributes"]["gen_ai.conversation.id"] for s in spans} == {"r"}
    model = next(s["attributes"] for s in spans if s["name"].startswith("chat"))
    assert model["gen_ai.operation.name"] == "chat"
    assert model["gen_ai.request.model"] == model["gen_ai.response.model"] == "scripted"
    assert model["gen_ai.response.finish_reasons"] == ["tool_calls"]
    assert model["gen_ai.usage.input_tokens"] > 0
    agents = {
        s["attributes"]["gen_ai.agent.id"] for s in spans if s["name"].startswith("invoke_agent")
    }
    assert agents == {"main", "main.1-1", "main.1-2"}
    failed = [s for s in spans if s["status"] == "error"]
    assert [(s["name"], s["attributes"]["error.type"]) for s in failed] == [
        ("execute_tool look", "tool_error")
    ]
    assert all(s["end"] >= s["start"] for s in spans)


def test_every_name_is_one_of_the_conventions_or_ours():
    known = {v for k, v in vars(wanted).items() if k.startswith("GEN_AI_")} | {"error.type"}
    operations = {v.value for v in wanted.GenAiOperationNameValues}
    ours = {v for k, v in vars(conventions).items() if k.isupper()}
    later = {"gen_ai.conversation.compacted"}  # newer than the installed list
    assert {name for name in ours - known - later if not name.startswith("undrift.")} == set()
    assert {"invoke_workflow", "invoke_agent", "chat", "execute_tool", "retrieval"} <= operations


async def test_content_stays_out_until_it_is_asked_for_and_is_redacted_then(tmp_path, monkeypatch):
    monkeypatch.delenv(CAPTURE, raising=False)
    plain = ((await team(tmp_path).run("x", run_id="r")).folder / "spans.jsonl").read_text()
    assert "saw 0" not in plain
    assert '"n":' not in plain.replace("\\", "")
    monkeypatch.setenv(CAPTURE, "true")
    told = ((await team(tmp_path).run("x", run_id="s")).folder / "spans.jsonl").read_text()
    assert "saw 0 with api_key=" in told
    assert '"n":9' in told.replace("\\", "")
    assert SECRET not in plain + told
    assert "[redacted]" in told


async def test_case_72_an_exceptions_words_are_on_no_span(tmp_path):
    @tool
    def broken() -> str:
        """Break."""
        raise RuntimeError(f"authorization: Bearer {SECRET}")

    script = [call("broken"), RuntimeError(f"refused {SECRET}")]
    agent = Agent("lead", "L.", ScriptedModel(script), [broken])
    result = await Coordinator(agent, runs=tmp_path).run("x", run_id="r")
    assert result.status == "failed"
    text = (result.folder / "spans.jsonl").read_text()
    assert SECRET not in text
    assert "refused" not in text
    kinds = {s["attributes"].get("error.type") for s in spans_in(result.folder)}
    assert {"exception", "ModelUnavailable", "failed"} <= kinds


async def test_stored_bodies_and_compactions_are_spans_too(tmp_path):
    @tool
    def dump(n: int) -> str:
        """Dump."""
        return f"line {n} of a long body\n" * (8_000 if n == 0 else 100)

    def script(body):
        turns = sum(m["role"] == "assistant" for m in body["messages"])
        return call("dump", n=turns) if len(model.requests) < 25 else "end"

    model = ScriptedModel(script, window=16_000)
    agent = Agent("lead", "L.", model, [dump])
    result = await Coordinator(agent, runs=tmp_path).run("x", run_id="r")
    assert result.status == "done", result.reason
    spans = spans_in(result.folder)
    by_id = {s["span_id"]: s["name"] for s in spans}
    above = {s["name"].split()[0]: by_id.get(s["parent_id"]) for s in spans}
    assert above["offload"] == above["compact"] == "invoke_agent lead"
    compacted = [
        s["attributes"].get("gen_ai.conversation.compacted")
        for s in spans
        if s["name"].startswith("chat")
    ]
    assert compacted[0] is None
    assert compacted[-1] is True


async def test_a_search_is_a_span_inside_its_tool_call(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Harbour\n\nThe harbour opened in 1901.\n")
    result = await research("When did the harbour open?", [docs], ResearchOptions(runs=tmp_path))
    spans = spans_in(result.folder)
    by_id = {s["span_id"]: s["name"] for s in spans}
    above = {by_id[s["parent_id"]] for s in spans if s["name"].startswith("retrieval")}
    assert above == {"execute_tool search"}
    assert tree(spans)[0][0] == "invoke_workflow research"


async def test_a_resumed_run_appends_its_spans_and_a_looked_at_one_tells_its_status(tmp_path):
    await team(tmp_path).run("x", run_id="r")
    await team(tmp_path).resume("r")
    roots = [s for s in spans_in(tmp_path / "r") if not s["parent_id"]]
    assert [s["attributes"]["undrift.status"] for s in roots] == ["done", "done"]


def mirrored():
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter, provider.get_tracer("undrift")


def test_opentelemetry_gets_the_same_spans():
    exporter, tracer = mirrored()
    written = []
    spans = Spans(written.append, tracer, conversation="r")
    with spans.start("invoke_workflow", "w", {}) as root:
        with spans.start("chat", "m", {}) as inner:
            current = get_current_span().get_span_context()
            assert f"{current.span_id:016x}" == inner.span_id
        spans.start("execute_tool", "t", {}, root.traceparent).end()
    theirs = {s.name: s for s in exporter.get_finished_spans()}
    for ours in written:
        other = theirs[ours["name"]]
        assert f"{other.context.trace_id:032x}" == ours["trace_id"]
        assert f"{other.context.span_id:016x}" == ours["span_id"]
        parent = f"{other.parent.span_id:016x}" if other.parent else ""
        assert parent == ours["parent_id"]
        assert dict(other.attributes) == ours["attributes"]
        assert (other.start_time, other.end_time) == (ours["start"], ours["end"])
    assert theirs["chat m"].kind is SpanKind.CLIENT
    assert theirs["execute_tool t"].parent.span_id == theirs["invoke_workflow w"].context.span_id


def test_the_span_of_the_program_around_is_the_parent():
    _, tracer = mirrored()
    spans = Spans(None, tracer)
    around = tracer.start_as_current_span("theirs")
    with around as theirs, spans.start("invoke_workflow", "w", {}) as ours:
        assert ours.trace_id == f"{theirs.get_span_context().trace_id:032x}"


def test_a_run_inside_a_run_nests_and_keeps_its_own_root():
    written = []
    outer, inner = Spans(written.append), Spans(written.append)
    with outer.start("execute_tool", "t", {}) as tool_call:
        inner.root = inner.start("invoke_workflow", "w", {})
        inner.start("invoke_agent", "a", {}).end()
        inner.root.end()
    parents = {s["name"]: s["parent_id"] for s in written}
    assert parents["invoke_workflow w"] == tool_call.span_id
    assert parents["invoke_agent a"] == inner.root.span_id


def test_nothing_is_made_where_nobody_wants_spans():
    spans = Spans()
    with spans.start("chat", "m", {}):
        assert traceparent() == ""
        span_inside("retrieval", "x", {}).end()
    assert not spans.on


@pytest.mark.parametrize(
    ("environment", "traces", "protocol"),
    [
        ({}, "", "http/protobuf"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, "otlp", "http/protobuf"),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "otlp", "grpc"),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_TRACES_EXPORTER": "none"},
            "",
            "http/protobuf",
        ),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_SDK_DISABLED": "true"},
            "",
            "http/protobuf",
        ),
        ({"OTEL_TRACES_EXPORTER": "console"}, "console", "http/protobuf"),
    ],
)
def test_the_standard_variables_say_where_spans_go(environment, traces, protocol):
    settings = Settings.from_env(environment)
    assert (settings.traces, settings.traces_protocol) == (traces, protocol)


PROGRAM = """
import asyncio, sys
import agents, orchestrator.telemetry
print("opentelemetry" in sys.modules)
from undrift import Agent, Coordinator, ScriptedModel
team = Coordinator(Agent("lead", "L.", ScriptedModel(["end"])), runs="runs")
print(asyncio.run(team.run("x")).status)
"""


@pytest.mark.parametrize("exported", [True, False])
def test_a_provider_of_our_own_exports_and_the_api_is_loaded_only_when_needed(tmp_path, exported):
    variables = {"OTEL_TRACES_EXPORTER": "console"} if exported else {}
    from os import environ

    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)],
        cwd=tmp_path, env={**environ, **variables}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.split() == ["False", "done"], done.stderr
    assert ('"name": "invoke_agent lead"' in done.stderr) == exported


def test_a_disk_that_refuses_spans_stops_them_and_not_the_run(tmp_path, caplog):
    file = SpanFile(tmp_path / "absent" / "spans.jsonl")
    for _ in range(3):
        file.write({"name": "x"})
    file.close()
    assert caplog.text.count("no more spans are written") == 1


async def test_spans_that_end_together_are_written_together_and_all_at_the_close(tmp_path):
    path = tmp_path / "spans.jsonl"
    file = SpanFile(path)
    for number in range(3):
        file.write({"name": str(number)})
    await asyncio.to_thread(file.write, {"name": "a tool's thread"})
    assert path.read_text().count("\n") == 1
    file.close()
    written = [json.loads(line)["name"] for line in path.read_text().splitlines()]
    assert written == ["a tool's thread", "0", "1", "2"]
