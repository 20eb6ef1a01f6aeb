"""Needle tasks through the real coordinator and its own compaction: generators, policies, strict scoring."""

import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from support.needles import ARM, answered, task_of
from typer.testing import CliRunner

from agents import call
from evals.arms import Arm
from evals.errors import ControlPassed, EvalError, FamilyUnknown
from evals.needles.families import FAMILIES, JOIN
from evals.needles.running import needle_record
from evals.needles.scoring import cut_characters, score
from evals.needles.scripted import (
    SAME,
    dumper,
    guesser,
    limited,
    naive,
    opener,
    reader,
    searcher,
)
from evals.needles.suite import check_controls, is_control
from evals.needles.tasks import SYSTEM, without_needle
from evals.needles.values import KINDS
from evals.needles.wording import LANGUAGES, NOT_FOUND
from evals.results import append_results
from filesystem import ArtifactRef
from memory import Entry, Stored, ToolCall, ToolReturned
from orchestrator.cli.app import app

ABSTAIN = ("absent", "destroyed")
ROUND = [(family, list(LANGUAGES)[n % 4]) for n, family in enumerate(FAMILIES)]
"""Every family once, the languages in turn."""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_needle_stands_on_one_line_and_nowhere_else(family: str, language: str) -> None:
    for seed in range(2):
        task = task_of(family, language, seed)
        assert task_of(family, language, seed) == task
        around = SYSTEM + task.goal + task.question + task.name
        text = "\n".join(task.pages)
        for value in task.tracked:
            assert text.count(value) == (family != "argument")
            assert value not in around
        assert (task.expected == (NOT_FOUND,)) == (family in ABSTAIN)
        for value, _ in task.wrong:
            assert value in text
            assert value not in task.expected
        assert task.question == unicodedata.normalize("NFC", task.question)
        assert not any(value in "\n".join(without_needle(task).pages) for value in task.tracked)


def test_seeds_differ_and_families_do_what_they_say() -> None:
    assert task_of("identifier", seed=1).expected != task_of("identifier", seed=2).expected
    assert len({task_of("identifier", seed=n).expected for n in range(len(KINDS))}) == len(KINDS)
    for family in ("decomposed", "preview-cut"):
        text = "".join(task_of(family, "vi").pages)
        assert text != unicodedata.normalize("NFC", text)
    old = task_of("overwritten", seed=3)
    text = "\n".join(old.pages)
    assert text.index(old.wrong[0][0]) < text.index(old.expected[0])
    assert {name for _, name in task_of("look-alike", "zh", 1).wrong} == {"near miss"}
    places = [_page_of("position", seed) for seed in range(5)]
    assert places == [0, 1, 2, 3, 5]
    artifacts = [_page_of("artifact-position", seed) for seed in range(3)]
    large = [max(map(len, task_of("artifact-position", seed=n).pages)) for n in range(3)]
    assert min(large) > 3 * len(task_of("position").pages[0])
    assert len(set(artifacts)) > 1
    assert any(JOIN in page for page in task_of("argument").pages)


def _page_of(family: str, seed: int) -> int:
    task = task_of(family, seed=seed)
    return next(n for n, page in enumerate(task.pages) if task.tracked[0] in page)


def test_other_words_share_none_with_those_on_the_pages() -> None:
    for other, word in SAME.items():
        spaced = " " in word or word.isascii()
        ours, theirs = (set(t.lower().split() if spaced else t) for t in (word, other))
        assert not ours & theirs, (word, other)


def test_unknown_names_are_told() -> None:
    with pytest.raises(FamilyUnknown, match="identifier, look-alike"):
        task_of("x")
    with pytest.raises(FamilyUnknown, match="en, vi, zh, ja"):
        task_of("identifier", "xx")


def test_a_leak_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "uuid", lambda random: "depots")
    with pytest.raises(EvalError, match="leaks"):
        task_of("identifier")


def answers(*values: object) -> list[ToolCall]:
    return [call("answer", values=list(values))]


def test_case_75_scoring_is_strict_and_names_the_failure() -> None:
    task = replace(
        task_of("overwritten"), expected=("A-1",), tracked=("A-1",), wrong=(("A-2", "stale value"),)
    )
    look = call("history_search", query="x")

    def kind(calls: list[ToolCall], *, visible: bool = False) -> str:
        return score(task, calls, visible=visible)

    assert kind(answers("A-1")) == ""
    for given in (answers("A-1."), answers("It is A-1"), answers(1), answers(["A-1"])):
        assert kind(given) == "invented answer"
    assert kind([ToolCall("", "answer", "{")]) == "invented answer"
    assert kind([ToolCall("", "answer", '{"values":"A-1"}')]) == "invented answer"
    assert kind(answers("A-2")) == "stale value"
    assert kind(answers(NOT_FOUND)) == "should have looked"
    assert kind([look, *answers(NOT_FOUND)]) == "looked and missed"
    assert kind(answers(NOT_FOUND), visible=True) == "abstained"
    assert kind([look]) == "no answer"
    assert kind([*answers("A-1"), *answers("A-2")]) == "stale value"
    two = replace(task, expected=("A-1", "B-1"), tracked=("A-1", "B-1"))
    assert score(two, answers("A-1"), visible=False) == "near miss"
    assert score(two, answers("B-1", "A-1"), visible=False) == "near miss"
    gone = replace(task_of("destroyed"), tracked=("A-1",))
    assert score(gone, answers("A-1"), visible=False) == "stale value"


@pytest.mark.parametrize(("family", "language"), ROUND)
async def test_case_79_a_searcher_recovers_what_the_products_compaction_hid(
    family: str, language: str
) -> None:
    arm = Arm(
        trigger=0.2
    )  # below it, what the searcher found may itself be compacted before it answers
    record = await answered(task_of(family, language, arm=arm), searcher(8), arm)
    assert (record.state, record.why, record.failure) == ("valid", "", "")
    assert record.figures["compactions"] >= 1
    assert record.figures["extra_calls"] >= 1


@pytest.mark.parametrize(("family", "language"), ROUND[::3])
async def test_full_history_is_the_ceiling(family: str, language: str) -> None:
    record = await answered(task_of(family, language), reader, ARM.full)
    expected = "should have looked" if FAMILIES[family].child else ""
    assert (record.state, record.failure) == ("valid", expected)


@pytest.mark.parametrize("family", ["identifier", "artifact", "subagent", "argument"])
async def test_negative_controls_fail(family: str) -> None:
    """A reader of what is hidden, one of the head alone, a searcher that has nothing to look with."""
    task = task_of(family)
    for script, arm, blind in (
        (reader, ARM, False),
        (reader, ARM.head_only, False),
        (searcher(8), ARM, True),
    ):
        record = await answered(task, script, arm, blind=blind)
        assert (record.state, record.failure) == ("valid", "should have looked")
        assert is_control(record.model_copy(update={"model": "reader"}))


async def test_dumper_and_guesser_fail_and_a_reader_of_the_ends_sees_less() -> None:
    task = task_of("identifier")
    for script in (dumper, guesser):
        record = await answered(task, script, ARM.full)
        assert (record.passed, record.failure) == (False, "invented answer")
    record = await answered(task, limited(1, 4_000), ARM.full)
    assert record.failure == "abstained"


async def test_words_that_are_not_shared_need_other_words_and_a_reference_is_enough() -> None:
    record = await answered(task_of("no-shared-words", "ja"), naive)
    assert (record.state, record.failure) == ("valid", "looked and missed")
    arm = Arm("micro", trigger=0.2)
    record = await answered(task_of("artifact", arm=arm), opener, arm)
    assert (record.state, record.failure) == ("valid", "")


@pytest.mark.parametrize("family", ["two-hops", "artifact", "argument"])
async def test_swap_and_delete(family: str) -> None:
    """Another needle, another answer; no needle, no answer."""
    task = task_of(family, "vi", 1, value="XK-77-0042")
    other = await answered(task, searcher(8))
    assert (other.state, other.failure, other.answer) == ("valid", "", "XK-77-0042")
    none = await answered(without_needle(task), searcher(8))
    assert (none.failure, none.answer) == ("", NOT_FOUND)


@pytest.mark.parametrize("compactions", [3, 6])
async def test_several_compactions_between_reading_and_question(compactions: int) -> None:
    arm = Arm(trigger=0.1, compactions=compactions)
    record = await answered(task_of("file-search", "zh", arm=arm), searcher(8), arm)
    assert (record.state, record.why, record.failure) == ("valid", "", "")
    assert record.figures["compactions"] >= compactions


async def test_a_sample_that_tests_nothing_is_invalid() -> None:
    task = task_of("identifier")
    mute = await answered(task, lambda body: "no", ARM.full)
    assert (mute.state, mute.failure, mute.success) == ("invalid", "no answer", 0)
    record = await answered(task, reader, Arm(trigger=0.1, compactions=6))
    assert record.state == "invalid"
    assert "of 6 compactions between key and question" in record.why
    told = replace(task, question=f"{task.question} Is it {task.expected[0]}?")
    record = await answered(told, reader)
    assert "stands in the request after the question" in record.why


def test_a_preview_that_cuts_a_character_is_seen() -> None:
    page = "mu\u031ba " * 40

    def entries(head: str, tail: str) -> list[Entry]:
        ref = ArtifactRef("0" * 64, len(page), 1, "text/plain", "")
        shown = Stored(f"[/artifacts/x.txt]\n{head}\n[... 9 bytes left out ...]\n{tail}", ref)
        return [Entry(1, "main", 0.0, ToolReturned("c", "read_page", (shown,)))]

    assert cut_characters(entries("mu\u031ba mu", "a mu\u031ba "), [page])
    assert cut_characters(entries("mu\u031ba mu\u031b", "\u031ba "), [page])
    assert not cut_characters(entries("mu\u031ba mu\u031b", "a mu\u031ba "), [page])


def test_a_control_that_passes_ends_the_command(tmp_path: Path) -> None:
    record = needle_record(task_of("identifier"), ARM.full, "dumper")
    append_results(tmp_path / "results.jsonl", [record])
    check_controls(tmp_path)
    append_results(tmp_path / "results.jsonl", [record.model_copy(update={"passed": True})])
    with pytest.raises(ControlPassed, match="'dumper' under 'full'"):
        check_controls(tmp_path)
    abstained = needle_record(task_of("absent"), ARM, "reader")
    assert not is_control(abstained.model_copy(update={"passed": True}))


def test_the_command(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ["eval", "needle-recovery", "--out", str(out), "--seeds", "1", "--language", "en"]
    arguments = [*command, "--trigger", "0.1", "--compactions", "1", "--policy", "micro"]
    result = CliRunner().invoke(app, [*arguments, "--family", "file-search"])
    assert result.exit_code == 0, result.output
    assert "plumbing, not behaviour" in result.output
    assert (out / "report.html").exists()
    again = CliRunner().invoke(app, [*arguments, "--family", "file-search"])
    assert (again.exit_code, "exists: go on with --resume" in again.output) == (2, True)
    for wrong in (["--family", "nope"], ["--language", "xx"], ["--policy", "nope"]):
        result = CliRunner().invoke(app, [*command[:3], str(tmp_path / "o"), *wrong])
        assert result.exit_code == 2, result.output
        assert "there are: " in result.output
