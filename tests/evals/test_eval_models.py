"""Models that answer an eval: options on the command line, cassettes, and what had no answer."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import typer
from support.chat_server import ChatServer, Drop, Say, Status
from typer.testing import CliRunner

from agents import Agent, ScriptedModel, WireModel, tool
from evals.cassettes import CassetteModel
from evals.errors import EvalError
from evals.launching import folder_name, launch, run_folder
from evals.models import EvalModel, SampleModel, open_model
from evals.options import ModelOptions, grouped
from evals.results import STALE, Record, read_results
from evals.running import Sample
from orchestrator import Coordinator

KEY = "sk-verysecretverysecretvery"


def answer(value: str) -> str:
    """Give the answer."""
    return "recorded"


def blank(policy: str = "p") -> Record:
    return Record(
        suite="goal-drift", sample="s", cluster="s", family="f", policy=policy, passed=False
    )


async def ask(model: SampleModel, task: str = "What is it?") -> str:
    agent = Agent("keeper", "Answer by the tool.", tools=[tool(answer)])
    return (await Coordinator(agent, model=model).run(task)).text


async def send_all(model: SampleModel, *tasks: str) -> list[str]:
    return [await ask(model, task) for task in tasks]


async def test_a_recorded_eval_runs_again_without_its_server(tmp_path: Path) -> None:
    folder = tmp_path / "cassettes"
    script = [Say("", calls=[("answer", {"value": "7"})]), Say("done"), Say("again")]
    async with ChatServer(script) as server:
        inner = WireModel("m", server.url, api_key=KEY)
        recording = EvalModel(CassetteModel(inner, folder, record=True))
        first = await send_all(recording.sample(), "one", "two")
        await recording.close()
        assert len(server.requests) == 3
        again = EvalModel(CassetteModel(inner, folder, record=True))
        assert await send_all(again.sample(), "one", "two") == first
        assert len(server.requests) == 3, "what is recorded is not asked for again"
        await again.close()
    replay = EvalModel(CassetteModel(WireModel("m", "http://127.0.0.1:9/v1"), folder))
    assert await send_all(replay.sample(), "one", "two") == first == ["done", "again"]
    kept = "".join(path.read_text() for path in folder.rglob("*.json"))
    assert "again" in kept
    assert KEY not in kept
    assert "uthorization" not in kept


async def test_a_request_that_differs_by_a_byte_is_stale_and_never_passes(tmp_path: Path) -> None:
    folder = tmp_path / "cassettes"
    async with ChatServer([Say("done")]) as server:
        recording = EvalModel(CassetteModel(WireModel("m", server.url), folder, record=True))
        await ask(recording.sample(), "one")
        await recording.close()
    sample = EvalModel(CassetteModel(WireModel("m", "http://127.0.0.1:9/v1"), folder)).sample()
    await ask(sample, "one.")
    (record,) = sample.mark([blank().model_copy(update={"passed": True})])
    assert (record.state, record.failure, record.success) == ("missing", STALE, 0)
    assert "no reply is recorded for this request" in record.why


async def test_what_a_server_cannot_do_is_replayed_too(tmp_path: Path) -> None:
    """A server without tool calls changes the bytes of every request, with or without the server."""
    folder = tmp_path / "cassettes"
    refusal = Status(400, "this model does not support tools")
    chosen = Say('{"tool": "answer", "arguments": {"value": "7"}}')
    async with ChatServer([refusal, chosen, chosen, Say('{"answer": "done"}')]) as server:
        recording = EvalModel(CassetteModel(WireModel("m", server.url), folder, record=True))
        await recording.settle()
        told = await ask(recording.sample())
        await recording.close()
        asked = [request.raw for request in server.requests]
    replay = EvalModel(CassetteModel(WireModel("m", "http://127.0.0.1:9/v1"), folder))
    await replay.settle()
    sample = replay.sample()
    assert await ask(sample) == told
    assert sample.why == ""
    assert sample.requests == asked[2:]


async def test_a_reply_with_a_secret_in_it_is_not_kept(tmp_path: Path) -> None:
    async with ChatServer([Say(f"the key is {KEY}")]) as server:
        cassette = CassetteModel(WireModel("m", server.url), tmp_path / "c", record=True)
        model = EvalModel(cassette)
        assert KEY in await ask(model.sample())
        await model.close()
    assert cassette.unkept == 1
    assert list((tmp_path / "c").rglob("*.json")) == []


async def test_a_sample_whose_model_did_not_answer_is_missing_and_not_a_failure_of_the_model() -> (
    None
):
    async with ChatServer([Say("", calls=[("answer", {"value": "7"})]), Drop()]) as server:
        model = EvalModel(WireModel("m", server.url))
        sample = model.sample(window=9000)
        assert sample.window == 9000
        await ask(sample)
        await model.close()
    (record,) = sample.mark([blank()])
    assert (record.state, record.failure, record.scripted) == ("missing", "no result", False)
    assert record.model == "openai:m"
    assert record.figures["model_calls"] == 2
    assert record.figures["output_tokens"] == 10


async def test_a_model_that_does_not_answer_at_all_is_told_before_the_first_sample() -> None:
    model = EvalModel(WireModel("m", "http://127.0.0.1:9/v1"))
    with pytest.raises(EvalError, match=r"gave no answer.*start its server, or correct the model"):
        await model.settle()
    await model.close()


def test_tokens_of_all_samples_end_an_eval(tmp_path: Path) -> None:
    model = EvalModel(ScriptedModel(lambda body: "word " * 50), most_tokens=200)
    owed = [blank(f"p{n}").model_copy(update={"model": model.name}) for n in range(20)]
    every = [Sample(one, (one,)) for one in owed]

    async def run_one(one: Record) -> Sequence[Record]:
        sample = model.sample()
        await ask(sample)
        return sample.mark([one])

    ran = launch(every, run_one, tmp_path, ModelOptions(concurrency=1), model)
    assert "tokens are spent, of 200 allowed" in ran.stopped
    assert 0 < ran.done < 20
    assert ran.missing == 20 - ran.done
    assert len(read_results(tmp_path / "results.jsonl").records) == 20


def test_options_of_a_model() -> None:
    assert open_model(ModelOptions()) is None
    found = open_model(ModelOptions(model="openai:m", base_url="http://127.0.0.1:9/v1"))
    assert found is not None
    assert found.model.settings["max_tokens"] == 1024
    for wrong, words in (
        (ModelOptions(base_url="http://x"), "only with a model"),
        (ModelOptions(model="openai:m", record=True), "--record needs --cassettes"),
        (ModelOptions(model="openai:m", cassettes=Path("/nowhere")), "no cassettes at"),
    ):
        with pytest.raises(EvalError, match=words):
            open_model(wrong)


def test_a_command_takes_a_group_of_options_as_one_argument() -> None:
    app = typer.Typer()
    given: list[object] = []

    @app.command()
    @grouped
    def suite(name: str, options: ModelOptions) -> None:
        """Say what was given."""
        given.extend([name, options])

    run = CliRunner().invoke
    assert run(app, ["n", "--model", "openai:m", "--cassettes", "c", "--resume"]).exit_code == 0
    assert given == ["n", ModelOptions(model="openai:m", cassettes=Path("c"), resume=True)]
    assert run(app, ["n", "--concurrency", "0"]).exit_code == 2
    assert "--max-total-tokens" in run(app, ["--help"]).output.replace("\n", "")


def test_kept_run_folders_have_names_of_their_own(tmp_path: Path) -> None:
    names = ["a/b", "a-b", "a b", "../../etc", "é" * 200]
    assert len({folder_name(name) for name in names}) == len(names)
    assert all("/" not in folder_name(name) and folder_name(name)[0] != "." for name in names)
    with run_folder(tmp_path, "a/b") as first, run_folder(tmp_path, "a/b") as second:
        assert first != second
    with run_folder(None, "a/b") as gone:
        assert gone.is_dir()
    assert first.is_dir()
    assert not gone.exists()


async def test_a_damaged_cassette_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    model = CassetteModel(ScriptedModel(["a", "b"]), folder, record=True)
    await ask(EvalModel(model).sample())
    (path,) = folder.rglob("*.json")
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "reply": None, "notices": []}))
    sample = EvalModel(CassetteModel(ScriptedModel([]), folder)).sample()
    await ask(sample)
    assert "cannot be used: delete it" in sample.why
