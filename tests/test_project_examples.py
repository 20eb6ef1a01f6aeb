"""Every program in `examples/` runs, without a key and without a network, and its output is right.

What they print is worked out here a second time, from the files that they read.
"""

import asyncio
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

PROJECT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted(path.stem for path in (PROJECT / "examples").glob("*.py"))
PAGES = {path.name: path.read_text() for path in (PROJECT / "docs").glob("*.md")}
MOST_LINES = 95
"""Of an example: a newcomer reads it in one pass."""


def load(name: str) -> ModuleType:
    """The example as a fresh module: its scripts play once."""
    spec = importlib.util.spec_from_file_location(
        f"example_{name}", PROJECT / "examples" / f"{name}.py"
    )
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def printed(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    done = load(name).main()
    if done is not None:
        asyncio.run(done)
    return capsys.readouterr().out.strip()


def words(text: str) -> int:
    return len(text.split())


def test_every_example_is_checked_here_and_shown_in_the_docs() -> None:
    checked = set(re.findall(r'(?:printed|load)\("(\w+)"', Path(__file__).read_text()))
    assert set(EXAMPLES) == checked
    guide = PAGES["agent-graphs.md"] + PAGES["embedding.md"]
    assert [name for name in EXAMPLES if f"examples/{name}.py" not in guide] == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_short_and_says_how_it_is_run(name: str) -> None:
    text = (PROJECT / "examples" / f"{name}.py").read_text()
    assert len(text.splitlines()) <= MOST_LINES
    assert f"\n    python examples/{name}.py" in text


def test_the_coordinator_answers_from_both_of_its_subagents(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = sum(len(path.read_text().splitlines()) for path in PROJECT.glob("examples/*.py"))
    count = sum(words(page) for page in PAGES.values())
    assert printed("coordinator", capsys) == (
        f"The examples have {lines} lines of Python, the documentation has {count} words. (done)"
    )


def test_the_steps_of_the_pipeline_read_those_before_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Also a check of the docs: no link between pages leads nowhere."""
    links = {link for page in PAGES.values() for link in re.findall(r"\]\(([\w-]+\.md)", page)}
    assert printed("pipeline", capsys) == (
        f"{len(links)} pages are linked to, 0 of them are missing. (done)"
    )
    module = load("pipeline")
    assert module.broken(["concepts.md", "nowhere.md"]) == ["nowhere.md"]


def test_map_reduce_covers_every_item(capsys: pytest.CaptureFixture[str]) -> None:
    total, longest = (
        sum(map(words, PAGES.values())),
        max(PAGES, key=lambda name: words(PAGES[name])),
    )
    assert printed("map_reduce", capsys) == (
        f"{len(PAGES)} of {len(PAGES)} pages, {total} words; the longest is {longest}. (done)"
    )


async def test_an_item_that_fails_is_missed_and_the_others_are_added_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = load("map_reduce")
    monkeypatch.setitem(module.PAGES, "gone.md", Path("gone.md"))
    result = await module.job.run("How long is the documentation?")
    assert result.text.startswith(f"{len(PAGES)} of {len(PAGES) + 1} pages, ")


def test_the_critic_loop_ends_with_a_text_that_the_critic_takes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text, _, rounds = printed("critic_loop", capsys).partition(" [")
    assert rounds == "round 2] (done)"
    introduction = (PROJECT / "README.md").read_text().split("\n\n")[1]
    assert " ".join(introduction.split()).startswith(text)
    assert words(text) <= load("critic_loop").MOST_WORDS < words(introduction)


async def test_the_critic_loop_ends_when_its_rounds_are_used_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = load("critic_loop")
    monkeypatch.setattr(module, "MOST_WORDS", 2)
    result = await module.critic_loop.run("What does this project do?")
    assert result.text.endswith("[round 3]")


def test_the_graph_of_ones_own_takes_both_of_its_ways(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed("own_graph", capsys).splitlines() == [
        f"How many pages are there? {len(PAGES)} (figure)",
        "What is the page of promises called? Guarantees (text)",
    ]


@pytest.mark.slow
def test_the_research_graph_answers_from_the_docs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)  # its index goes into the folder where it runs
    monkeypatch.setattr("sys.argv", ["research_graph.py"])
    answer = " ".join(printed("research_graph", capsys).split())
    assert "every quote is found in its source" in answer
