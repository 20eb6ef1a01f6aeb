"""Our own compaction over recorded runs: through the real loop, by the product's names, counted honestly."""

import json
from pathlib import Path

import pytest
from test_replay_measure import HEAD, RUN, step, user

from agents import Reply, ScriptedModel
from evals.errors import EvalError, FamilyUnknown
from evals.replay.measure import measure
from evals.replay.ours import LADDER, PROMPTS, STRATEGIES, ours_named
from evals.replay.probes import extract_probes, flatten
from evals.replay.readers import read_recorded
from evals.replay.rerun import WINDOW, compact_at, rerun
from evals.replay.suite import run_replay
from evals.replay.trajectory import Message, Trajectory, cut_at
from evals.replay.treating import Treatments, cut_run, treatments_named
from evals.results import Record, read_results
from memory import ReplyReceived, Text, ToolReturned, plain_text

OUTPUT = "some line of output that nobody needs again\n" * 40


def long_run(steps: int = 30) -> Trajectory:
    """Commands with long results; the third shows an error, each says how many tests ran."""
    messages = list(HEAD)
    for number in range(steps):
        error = "ValueError: bad colour\n" if number == 2 else ""
        result = f"{OUTPUT}{error}{number} failed, {number + 1} passed in 1s\n{OUTPUT}"
        messages += step(number, f"pytest tests/test_part{number}.py", result)
    return Trajectory("long", "chat", "task", tuple(messages))


async def left(name: str, run: Trajectory) -> tuple[str, list[Message], str]:
    """What a setting of ours leaves of a run: its text, its messages, and why it tests nothing."""
    cut = cut_run(run, 0.75)
    what = (await treatments_named([name]).left(cut))[name]
    return flatten("\n".join(m.text for m in what.messages)), list(what.messages), what.why


async def test_a_recorded_run_is_taken_again_event_for_event() -> None:
    run = Trajectory("r", "chat", "t", (*RUN, user("And now?"), *step(9, "ls", "a.py")))
    again = await rerun(run, len(run.messages))
    said = [e.event for e in again.entries if isinstance(e.event, ReplyReceived | ToolReturned)]
    recorded = [m for m in run.messages if m.role in ("assistant", "tool")]
    assert len(said) == len(recorded)
    for event, message in zip(said, recorded, strict=True):
        if isinstance(event, ReplyReceived):
            assert event.content == message.content
        else:
            assert plain_text(event.content) == message.text
    assert again.ends == tuple(sorted(again.ends))
    made = await compact_at(again, len(run.messages), ours_named("none") or LADDER[0])
    assert [(m.role, m.text) for m in made.messages] == [(m.role, m.text) for m in run.messages]


async def test_results_recorded_as_errors_are_errors_again() -> None:
    messages = [*HEAD, *step(1, "ls", "no such folder")]
    (result,) = messages[-1].results
    failed = type(result)(result.call_id, result.name, result.content, is_error=True)
    run = Trajectory("r", "chat", "t", (*messages[:-1], Message("tool", (failed,))))
    again = await rerun(run, len(run.messages))
    (event,) = (e.event for e in again.entries if isinstance(e.event, ToolReturned))
    assert (event.is_error, plain_text(event.content)) == (True, "no such folder")


async def test_the_window_is_two_to_four_times_the_run() -> None:
    again = await rerun(long_run(), 40)
    assert 2 <= again.window / again.trajectory.tokens <= 4
    assert 2 <= WINDOW <= 4


@pytest.mark.parametrize("name", ["auto@30", "turns@30", "summary@30", "latest-n@30", "reset"])
async def test_what_a_setting_may_leave_is_what_it_leaves_at_most(name: str) -> None:
    run = long_run()
    cut = cut_at(run, 0.75)
    _, messages, why = await left(name, run)
    assert not why
    assert messages[0].text == HEAD[0].text
    kept, total = sum(m.tokens for m in messages), sum(m.tokens for m in cut)
    assert kept / total <= 0.33, "estimate and exact counter differ a little"


async def test_auto_at_30_keeps_more_probes_than_a_random_drop_of_equal_size() -> None:
    run = long_run()
    cut = cut_run(run, 0.75)
    found = await treatments_named(["auto@30", "random=auto@30", "micro-3"]).left(cut)
    present = {
        name: sum(p.held_by("\n".join(m.text for m in what.messages)) for p in cut.probes)
        for name, what in found.items()
    }
    assert present["auto@30"] == len(cut.probes)
    assert present["random=auto@30"] < present["auto@30"]
    sizes = {name: sum(m.tokens for m in what.messages) for name, what in found.items()}
    assert sizes["random=auto@30"] <= sizes["auto@30"]


async def test_swap_and_delete_through_the_loop() -> None:
    """Another error in the recording is the one that is kept; without it none is."""
    for error in ("ValueError: bad colour", "KeyError: another"):
        messages = tuple(
            Message(m.role, tuple(_swapped(block, error) for block in m.content))
            for m in long_run().messages
        )
        text, _, _ = await left("auto@30", Trajectory("r", "chat", "t", messages))
        assert (error in text, "bad colour" in text) == (True, "bad colour" in error)


def _swapped(block: object, error: str) -> object:
    content = getattr(block, "content", None)
    if not isinstance(content, tuple):
        return block
    text = content[0].text.replace("ValueError: bad colour", error)
    return type(block)(block.call_id, block.name, (Text(text),))


async def test_a_compaction_that_was_not_taken_is_invalid_and_never_a_pass() -> None:
    run = Trajectory("r", "chat", "t", tuple(RUN))
    records = [
        r async for r in measure([run], treatments_named(["retry", "none", "full"]), (0.75,))
    ]
    ours = [r for r in records if r.policy == "retry"]
    assert ours
    assert all(r.state == "invalid" and r.why and not r.success for r in ours), "no retries"
    assert all(r.success for r in records if r.policy in ("none", "full"))


async def test_a_run_that_the_loop_does_not_take_is_invalid_for_every_policy() -> None:
    class Broken(Treatments):
        async def fetched(self, run: object) -> list[object]:
            from agents import LimitReached

            raise LimitReached("window", "it does not fit")

    chosen = Broken(dict(treatments_named(["full"])._functions))
    records = [r async for r in measure([long_run()], chosen, (0.75,))]
    assert records
    assert {(r.state, r.failure) for r in records} == {("invalid", "not run")}
    assert all("does not fit" in r.why for r in records)


def test_settings_by_name() -> None:
    assert [ours_named(name) is not None for name in STRATEGIES] == [True] * len(STRATEGIES)
    third = ours_named("micro+turns@30")
    assert third is not None
    assert (third.strategy, third.target, round(third.tail, 2)) == ("micro+turns", 0.3, 0.1)
    assert {p: getattr(ours_named(f"summary[{p}]"), "prompt", "") for p in PROMPTS} == {
        p: p for p in PROMPTS
    }
    assert [ours_named(n) for n in ("micro-3", "auto@0", "auto@300", "x+auto", "summary[x]")] == (
        [None] * 5
    )
    with pytest.raises(FamilyUnknown, match=r"'atuo'.*latest-10.*auto.*STRATEGY@PERCENT"):
        treatments_named(["atuo"])
    assert set(treatments_named([]).names) >= {"auto", "auto@30", "micro-3", "ladder-5-retry"}


async def test_the_rungs_of_the_ladder_differ_by_one_mechanism_each() -> None:
    quiet = list(HEAD)
    for number in range(60):
        quiet += step(number, f"make target-{number} " + "with a long option " * 20, "12 passed")
    talk = Trajectory("r", "chat", "t", tuple(quiet))
    text, messages, why = await left("ladder-1-shipped", talk)
    assert not why
    tail, more, _ = await left("ladder-2-tail", talk)
    assert len(more) > len(messages) + 10, "a verbatim tail"
    assert text != tail
    big = list(HEAD)
    for number in range(12):
        big += step(number, f"cat {number}", f"row {number}\n" * (12_000 if number == 4 else 300))
    run = Trajectory("r", "chat", "t", tuple(big))
    whole = await rerun(run, len(big) - 1)
    stored = await rerun(run, len(big) - 1, offload=True)
    bodies = [
        max(
            len(plain_text(e.event.content)) for e in r.entries if isinstance(e.event, ToolReturned)
        )
        for r in (whole, stored)
    ]
    assert bodies[0] > 10 * bodies[1], "the large result is stored when the rung offloads"


async def test_a_summariser_gets_the_prompt_and_its_words_are_what_is_left() -> None:
    asked: list[str] = []

    def answer(body: dict[str, object]) -> Reply:
        asked.append(str(body["messages"][-1]["content"]))
        words = "I run pytest tests/test_part1.py since the third part was bad"
        return Reply((Text(json.dumps({"decisions": [words]})),), "stop")

    cut = cut_run(long_run(), 0.75)
    for prompt in ("coding", "operations"):
        model = ScriptedModel(answer, name="summariser")
        name = f"summary[{prompt}]"
        what = (await treatments_named([name], model).left(cut))[name]
        assert what.figures["summary_calls"] == 1
        assert "summary_seconds" in what.figures
        assert "the third part was bad" in "\n".join(m.text for m in what.messages)
    assert len(asked) == 2
    assert asked[0] != asked[1], "the prompt is the only difference"


def test_prompts_without_a_model_are_told_to_be_the_same(tmp_path: Path) -> None:
    recorded = tmp_path / "run.json"
    write(recorded, long_run())
    names = [f"summary[{p}]" for p in PROMPTS]
    done = run_replay(recorded, tmp_path / "out", policies=names, cuts=(0.75,))
    assert any("made by code stands in" in line for line in done.told)
    records = read_results(tmp_path / "out" / "results.jsonl").records
    by_name = {n: [r.passed for r in records if r.policy == n] for n in names}
    assert len({tuple(v) for v in by_name.values()}) == 1
    assert sum(by_name[names[0]]) > 0


def test_broken_runs_cost_the_others_nothing_and_what_was_measured_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "recorded"
    folder.mkdir()
    for number in range(3):
        write(folder / f"{number}.json", long_run(12 + number))
    whole = (folder / "0.json").read_text()
    (folder / "unpaired.json").write_text(json.dumps(json.loads(whole)[:3] + json.loads(whole)))
    (folder / "half.jsonl").write_text(json.dumps({"messages": json.loads(whole)})[:-40])
    found = read_recorded(folder)
    assert found.reasons() == {"half_written": 1, "call_without_result": 1}
    out, seen = tmp_path / "out", 0
    from evals.replay import suite

    real = suite.measure

    async def dying(*arguments: object) -> object:
        nonlocal seen
        seen += 1
        if seen == 3:
            raise EvalError("the machine went away")
        async for record in real(*arguments):
            yield record

    monkeypatch.setattr(suite, "measure", dying)
    with pytest.raises(EvalError, match="went away"):
        run_replay(folder, out, policies=["auto@30", "micro-3"], cuts=(0.75,))
    kept = read_results(out / "results.jsonl").records
    assert len({r.sample.partition("@")[0] for r in kept}) == 2
    monkeypatch.undo()
    from evals.options import ModelOptions

    again = {"policies": ["auto@30", "micro-3"], "cuts": (0.75,)}
    run_replay(folder, out, options=ModelOptions(resume=True), **again)
    records = read_results(out / "results.jsonl").records
    assert len({r.sample.partition("@")[0] for r in records}) == 3
    assert len({r.key for r in records}) == len(records), "nothing is measured twice"


def write(path: Path, run: Trajectory) -> None:
    said: list[dict[str, object]] = []
    for message in run.messages:
        if message.role == "assistant":
            calls = [
                {"id": c.id, "function": {"name": c.name, "arguments": c.arguments}}
                for c in message.calls
            ]
            said.append({"role": "assistant", "content": "I go on.", "tool_calls": calls})
        elif message.role == "tool":
            call = message.results[0].call_id
            said.append({"role": "tool", "tool_call_id": call, "content": message.text})
        else:
            said.append({"role": message.role, "content": message.text})
    path.write_text(json.dumps(said))


async def test_the_long_shared_coding_runs_at_30_percent(test_data: Path) -> None:
    """The bar: of the probes 75 % present, through the real loop, beside a random drop of equal size."""
    recorded = read_recorded(test_data / "trajectories" / "mini-swe-agent" / "output")
    records: list[Record] = []
    chosen = treatments_named(["auto@30", "random=auto@30"])
    async for record in measure(recorded.trajectories[:4], chosen, (0.75,)):
        records.append(record)
    rates = {
        (name, reading): _rate(records, name, reading)
        for name in ("auto@30", "random=auto@30")
        for reading in ("present", "reachable")
    }
    assert rates["auto@30", "present"] >= 0.75
    assert rates["auto@30", "reachable"] >= 0.9
    assert rates["random=auto@30", "present"] < rates["auto@30", "present"] - 0.2
    assert all(r.figures["share_kept"] <= 0.32 for r in records if r.reading == "present")


def _rate(records: list[Record], policy: str, reading: str) -> float:
    chosen = [r.success for r in records if (r.policy, r.reading) == (policy, reading)]
    return sum(chosen) / len(chosen)


def test_no_strategy_knows_the_probes() -> None:
    """What compacts imports nothing of what asks: the packages of the strategies do not know the evals."""
    from memory import compaction

    folder = Path(str(compaction.__file__)).parent
    for module in folder.glob("*.py"):
        text = module.read_text()
        assert "evals" not in text
        assert "probe" not in text.lower()
    assert extract_probes.__module__ == "evals.replay.probes"
