"""Probes, policies, the scripted searcher, and what replay measures."""

import ast
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.errors import FamilyUnknown
from evals.replay.measure import measure
from evals.replay.policies import POLICIES, REMOVED
from evals.replay.probes import EACH, SHORTEST, extract_probes, flatten
from evals.replay.readers import read_recorded
from evals.replay.rerun import opened, rerun
from evals.replay.searcher import Searcher, words_of
from evals.replay.trajectory import Message, Trajectory
from evals.replay.treating import treatments_named
from memory import Text, ToolCall, ToolResult, dumps


def user(text: str) -> Message:
    return Message("user", (Text(text),))


def step(
    number: int, shell: str, result: str, tool: str = "bash", /, **more: object
) -> list[Message]:
    arguments = more or {"command": shell}
    reply = (Text(f"Step {number}. More."), ToolCall(f"c{number}", tool, dumps(arguments).decode()))
    return [
        Message("assistant", reply),
        Message("tool", (ToolResult(f"c{number}", tool, (Text(result),)),)),
    ]


HEAD = [Message("system", (Text("You fix things."),)), user("Make src/known.py right.")]
RUN = [
    *HEAD,
    *step(1, "grep -rn colour src", "src/paint.py:3: colour = 1"),
    *step(2, "sed -i 's/1/2/' src/paint.py", "<returncode>0</returncode>"),
    *step(3, "cat > tests/test_new.py <<'EOF'\nassert 1\nEOF", "<returncode>0</returncode>"),
    *step(
        4, "pytest tests", "ValueError: bad colour\n3 failed, 4 passed\n<returncode>1</returncode>"
    ),
    *step(
        5, "", "ok", "str_replace_editor", command="str_replace", path="src/known.py", old_str="a"
    ),
    *step(6, "", "ok", "str_replace_editor", command="create", path="docs/page.md", file_text="x"),
    *step(7, "pytest -q", "7 passed\n<returncode>0</returncode>"),
    *step(8, "git diff --stat", "2 files changed"),
]
EXPECTED = {
    ("first edit", "src/paint.py"),
    ("file changed", "src/paint.py"),
    ("file created", "tests/test_new.py"),
    ("file created", "docs/page.md"),
    ("k-th command", "grep -rn colour src"),
    ("k-th command", "pytest -q"),
    ("last command", "git diff --stat"),
    ("first error", "ValueError: bad colour"),
    ("first failing command", "pytest tests"),
    ("first test count", "3 failed, 4 passed"),
    ("last test count", "7 passed"),
}


def test_probes_of_a_coding_run() -> None:
    """`src/known.py` was edited too, but the task names it: its probe would prove nothing."""
    probes = extract_probes(RUN, len(HEAD))
    assert {(probe.kind, probe.answers[0]) for probe in probes} == EXPECTED


def test_probes_of_a_service_run() -> None:
    found = (
        '{"user_id": "mia_12", "payment_methods": {"id": "card_77"}, "dob": "1990-04-05", "n": 1}'
    )
    run = [
        *HEAD,
        *step(1, "", found, "get_user", name="mia"),
        *step(2, "", '{"price": 1250, "payment_id": "card_77"}', "find_flight", day="x"),
        *step(3, "", "{}", "book_flight", flight="HAT123", insured="yes!"),
    ]
    found_probes = {(p.kind, p.answers) for p in extract_probes(run, len(HEAD))}
    assert found_probes == {
        ("entity id", ("mia_12",)),
        ("entity id", ("card_77",)),
        ("date", ("1990-04-05",)),
        ("amount", ("1250",)),
        ("payment id", ("card_77",)),
        ("argument of the last write", ("HAT123",)),
        ("argument of the last write", ("yes!",)),
        ("list of writes", ("book_flight",)),
    }


def test_probes_of_all_shared_runs_hold_what_they_promise(test_data: Path) -> None:
    recorded = read_recorded(test_data / "trajectories")
    kinds: set[str] = set()
    for run in recorded.trajectories:
        head = flatten("\n".join(m.text for m in run.messages[: run.head]))
        probes = extract_probes(run.messages, run.head)
        text = "\n".join(m.text for m in run.messages)
        for probe in probes:
            kinds.add(probe.kind)
            assert probe.held_by(text)
            for answer in probe.answers:
                assert len(flatten(answer)) >= SHORTEST
                assert flatten(answer) not in head
                assert flatten(answer) not in probe.question
        for kind in {p.kind for p in probes}:
            assert sum(p.kind == kind for p in probes) <= EACH
    assert {"first edit", "first error", "entity id", "payment id", "amount"} <= kinds


def test_probes_share_no_code_with_compaction() -> None:
    """What asks the questions must not know what makes the answers survive: no import of compaction
    or of the policies, in the modules of the probes and all of ours that they import."""
    folder = Path(extract_probes.__code__.co_filename).parent
    waiting, seen = ["probes"], set[str]()
    names: set[str] = set()
    while waiting:
        module = waiting.pop()
        seen.add(module)
        for node in ast.walk(ast.parse((folder / f"{module}.py").read_text())):
            if isinstance(node, ast.ImportFrom):
                names |= {alias.name for alias in node.names}
                if node.level == 1 and node.module and node.module not in seen:
                    waiting.append(node.module)
    assert seen == {"probes", "edits_seen", "service_probes", "trajectory"}
    assert not any("compact" in name.lower() or "summar" in name.lower() for name in names)
    assert names <= {
        *("re", "Callable", "Iterable", "Sequence", "dataclass", "field", "cached_property", "Any"),
        *("Literal", "TypeVar", "Block", "Text", "ToolCall", "ToolResult", "dumps", "loads"),
        *("estimate_tokens", "TrajectoryError", "Message", "values_of", "Command", "commands_of"),
        *("file_edits", "service_probes"),
    }


def paired(messages: list[Message]) -> bool:
    open_calls: set[str] = set()
    for message in messages:
        for result in message.results:
            if result.call_id not in open_calls:
                return False
            open_calls.remove(result.call_id)
        open_calls |= {call.id for call in message.calls}
    return not open_calls


def made_run(seed: int) -> list[Message]:
    random = Random(seed)
    run = list(HEAD)
    for number in range(random.randint(0, 30)):
        if random.random() < 0.2:
            run.append(user(f"Go on {number}"))
        else:
            run += step(number, random.choice(["ls", "cat b"]), "x " * random.randint(0, 6_000))
    return run


@pytest.mark.parametrize("name", POLICIES)
@given(seed=st.integers(0, 10_000))
def test_policies_keep_the_head_split_no_pair_and_never_grow(name: str, seed: int) -> None:
    run = made_run(seed)
    kept = POLICIES[name](run, len(HEAD))
    assert kept[: len(HEAD)] == HEAD
    assert paired(kept)
    assert POLICIES[name](run, len(HEAD)) == kept
    if not name.startswith(("reset", "notes")):
        assert sum(m.tokens for m in kept) <= sum(m.tokens for m in run)


def test_policies_do_what_their_names_say() -> None:
    run = [*HEAD, *(m for n in range(12) for m in step(n, f"run {n}", f"output {n} " * 30))]
    head = len(HEAD)
    assert POLICIES["full"](run, head) == run
    assert POLICIES["head-only"](run, head) == HEAD
    assert POLICIES["latest-10"](run, head) == [*HEAD, *run[-10:]]
    micro = POLICIES["micro-3"](run, head)
    assert [m.text == REMOVED for m in micro if m.results] == [True] * 9 + [False] * 3
    assert [m.text for m in micro if m.calls] == [m.text for m in run if m.calls]
    assert len(POLICIES["tail-50"](run, head)) in (head + 10, head + 12)
    notes = POLICIES["reset-with-notes"](run, head)
    assert notes[head].text.splitlines()[0] == "Step 0"
    again = [*HEAD, *step(1, "ls", "old " * 9), *step(2, "ls", "new " * 9)]
    collapsed = POLICIES["retry-collapse"](again, head)
    assert [m.text for m in collapsed if m.results] == [REMOVED, "new " * 9]
    random = POLICIES["random=micro-3"](run, head)
    assert sum(m.tokens for m in random) <= sum(m.tokens for m in micro)


def test_an_unknown_policy_is_told_with_the_known_ones() -> None:
    assert treatments_named(["micro-3", "full"]).names == ("micro-3", "full")
    assert set(treatments_named([]).names) > set(POLICIES)
    with pytest.raises(FamilyUnknown, match=r"'micro-4'.*latest-10"):
        treatments_named(["micro-4"])


async def test_the_searcher_knows_the_words_of_the_question_and_no_more() -> None:
    """Its two calls are those of the product, over the log of the run taken again."""
    probes = {p.kind: p for p in extract_probes(RUN, len(HEAD))}
    again = await rerun(Trajectory("r", "chat", "t", tuple(RUN)), len(RUN))
    searcher = Searcher((await opened(again, len(RUN))).thread)
    found = await searcher.fetch(probes["first test count"])
    assert not found.found, "no word of the question stands beside the count"
    assert found.calls == 2
    asked = type(probes["first error"])
    told = await searcher.fetch(asked("x", "Which colour is bad?", ("src/paint.py:3",)))
    assert (told.found, told.calls) == (True, 1)
    read = await searcher.fetch(asked("x", "Which colour is bad?", ("3 failed, 4 passed",)))
    assert read.found, "in what it searched for, or read"
    assert words_of("What was the first error message?") == ["message", "error"]


async def test_measure_reads_present_and_reachable_apart() -> None:
    run = Trajectory("r", "chat", "t", tuple(RUN))
    chosen = treatments_named(["full", "head-only", "micro-3"])
    records = [record async for record in measure([run], chosen, (0.9,))]
    assert all(record.state == "valid" for record in records)
    rate = {
        (policy, reading): [r.passed for r in records if (r.policy, r.reading) == (policy, reading)]
        for policy in ("full", "head-only", "micro-3")
        for reading in ("present", "reachable")
    }
    assert all(rate["full", "present"])
    assert rate["full", "present"]
    assert not any(rate["head-only", "present"])
    assert 0 < sum(rate["micro-3", "present"]) < len(rate["micro-3", "present"])
    assert sum(rate["head-only", "reachable"]) >= sum(rate["head-only", "present"])
    full = next(r for r in records if r.policy == "full")
    assert full.figures == {"share_kept": 1, "prefix_kept": 1}


def test_swap_the_answer_and_the_reading_follows() -> None:
    """Swap and delete: the same run with another error asks for the other; without it, for none."""

    def errors(result: str) -> list[str]:
        run = [*HEAD, *step(1, "run", result), *step(2, "ls", "x")]
        return [p.answers[0] for p in extract_probes(run, len(HEAD)) if p.kind == "first error"]

    assert errors("KeyError: first") == ["KeyError: first"]
    assert errors("KeyError: other") == ["KeyError: other"]
    assert errors("fine") == []
