"""What agents read under `/inputs`: a corpus, a folder, a store; never more, also after a resume."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.chat_server import ChatServer, serve_in_process
from support.looking_script import LOOKS, looks
from support.research_script import DOCS, QUESTION, answer, task, wanted

from agents import Agent, AgentDefinitionError, Conclusion, ScriptedModel, WireModel, call
from filesystem import FolderCorpus, FolderMissing, MemoryStore
from memory import ToolReturned, loads, plain_text, read_entries
from orchestrator import Coordinator, Models
from orchestrator.researching import ResearchOptions, ask_research, research, resume_research


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "deep").mkdir(parents=True)
    for name, text in DOCS.items():
        (folder / name).write_text(text)
    (folder / "deep" / "page.html").write_text("<p>Made by the\n<b>Works</b></p>")
    (tmp_path / "outside.md").write_text("the secret")
    (folder / "link.md").symlink_to(tmp_path / "outside.md")
    return folder


def results(folder: Path, thread: str) -> list[str]:
    """The results of a researcher's looks."""
    events = [entry.event for entry in read_entries(folder / "events.db", thread)]
    found = [plain_text(e.content) for e in events if isinstance(e, ToolReturned)]
    return found[: len(LOOKS)]


def seen(texts: list[str]) -> None:
    listed, globbed, found, read, link, written = texts
    assert "/inputs/red.md" in listed
    assert "/inputs/deep/" in listed
    assert "link.md" not in listed
    assert "/inputs/deep/page.html" in globbed
    assert "/inputs/deep/page.html:2: Works" in found
    assert "/inputs/red.md:3: " in found
    assert "The red valve opens at 11 degrees" in read
    assert "no such document" in link
    assert "read-only" in written
    assert "the secret" not in "".join(texts)


def options(server: ChatServer, docs: Path, **more: bool) -> ResearchOptions:
    model = Models(WireModel("m", server.url))
    return ResearchOptions(model, runs=docs.parent / "runs", rounds=1, **more)


async def test_folders_are_given_one_or_several_as_paths_or_words(docs: Path, tmp_path: Path):
    for given in (docs, str(docs), [str(docs)]):
        chosen = ResearchOptions(runs=str(tmp_path / "runs"))  # type: ignore[arg-type] - a word, on purpose
        result = await research("When does the red valve open?", given, chosen)
        assert result.status == "done", result.reason
        assert result.folder is not None
        assert result.folder.parent == tmp_path / "runs"


@pytest.mark.parametrize("wrong", [{"parallel": 0}, {"rounds": 0}, {"parallel": -2}])
def test_less_than_one_researcher_or_round_is_refused(wrong: dict[str, int]):
    with pytest.raises(AgentDefinitionError, match="is a number from 1, not"):
        ResearchOptions(**wrong)  # type: ignore[arg-type] - numbers alone


async def test_a_researcher_lists_reads_and_searches_the_documents(docs: Path):
    async with ChatServer(looks) as server:
        result = await research(QUESTION, [docs], options(server, docs, file_tools=True))
    assert result.status == "done", result.reason
    assert result.folder is not None
    seen(results(result.folder, "q1"))
    copies = [p for p in result.folder.rglob("*") if p.name in DOCS or p.name == "page.html"]
    assert copies == []


async def test_also_after_a_resume_and_in_a_follow_up(docs: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    def script(body):
        if wanted(body) == "Conclusion" and "white" in task(body) and not work.cancelling():
            work.cancel()
        return looks(body)

    async with ChatServer(script) as server:
        given = ResearchOptions(
            Models("openai:m"),
            docs.parent / "runs",
            rounds=1,
            base_url=server.url,
            file_tools=True,
        )
        work = asyncio.create_task(research(QUESTION, [docs], given, run_id="r"))
        await asyncio.wait({work})
        assert work.cancelled()
        result = await resume_research(given.runs / "r")
        assert result.status == "done", result.reason
        assert result.folder is not None
        for thread in ("q1", "q5"):
            seen(results(result.folder, thread))
        asked = await ask_research(result.folder, "And when does the red valve open?")
        assert asked.status == "done", asked.reason
        seen(results(result.folder, "ask-6") or results(result.folder, "ask-1"))


async def test_researchers_have_no_file_tools_unless_asked_for(docs: Path):
    async with ChatServer(answer) as server:
        await research(QUESTION, [docs], options(server, docs))
        named = {
            tuple(tool["function"]["name"] for tool in request.body["tools"])
            for request in server.requests
            if wanted(request.body) == "Conclusion"
        }
    assert named == {("search", "read_source", "conclude")}


def told(model: ScriptedModel) -> str:
    return "\n".join(
        str(m["content"]) for m in loads(model.requests[-1])["messages"] if m["role"] == "tool"
    )


def team(*, runs: Path | None = None, child: list[object] | None = None):
    steps = [[call(name, **arguments) for name, arguments in LOOKS], call("conclude", answer="ok")]
    reader = ScriptedModel(child or steps)
    one = Agent("one", "Work.", reader, output_type=Conclusion, files="all")
    lead = ScriptedModel([call("delegate", tasks=[{"agent": "one", "task": "look"}]), "ok"])
    return Coordinator(Agent("lead", "Lead.", lead), [one], runs=runs), reader


async def test_a_coordinator_hands_a_corpus_to_all_its_agents(docs: Path, tmp_path: Path):
    corpus = await FolderCorpus.open([docs], tmp_path / "index.db")
    coordinator, reader = team(runs=tmp_path / "runs")
    coordinator.give(corpus.files())
    assert (await coordinator.run("go")).status == "done"
    read = [m["content"] for m in loads(reader.requests[-1])["messages"] if m["role"] == "tool"]
    seen(read)
    await corpus.close()


@pytest.mark.parametrize("as_text", [False, True])
async def test_a_folder_is_read_as_it_is_and_left_as_it_is(docs: Path, as_text: bool):
    coordinator, reader = team(
        child=[
            [
                call("read_file", path="/inputs/deep/page.html"),
                call("read_file", path="/inputs/link.md"),
                call("delete", path="/inputs/red.md"),
            ],
            call("conclude", answer="ok"),
        ]
    )
    before = sorted(os.listdir(docs))
    coordinator.give(str(docs) if as_text else docs)
    await coordinator.run("go")
    assert "<p>Made by the" in told(reader)
    assert "the secret" not in told(reader)
    assert "it leads to a link" in told(reader)
    assert "read-only" in told(reader)
    assert sorted(os.listdir(docs)) == before
    with pytest.raises(FolderMissing):
        coordinator.give(docs / "absent")


async def test_what_is_handed_over_stands_beside_what_the_run_was_given_and_never_in_its_place():
    store = MemoryStore()
    await store.write("data.csv", "given,1")
    await store.write("deep/a.md", "given deep")
    child = [
        [
            call("read_file", path="/inputs/own.md"),
            call("read_file", path="/inputs/data.csv"),
            call("ls", path="/inputs"),
            call("write_file", path="/inputs/own.md", content="x"),
        ],
        call("conclude", answer="ok"),
    ]
    one = Agent("one", "Work.", reader := ScriptedModel(child), output_type=Conclusion, files="all")
    inputs = ["/files/own.md", "/files/data.csv", "/files/deep", "/inputs/deep/a.md"]
    lead = ScriptedModel(
        [
            [
                call("write_file", path="own.md", content="of the parent"),
                call("write_file", path="data.csv", content="forged,2"),
                call("write_file", path="deep", content="a file where a folder is"),
            ],
            call("delegate", tasks=[{"agent": "one", "task": "look", "inputs": inputs}]),
            "ok",
        ]
    )
    coordinator = Coordinator(Agent("lead", "Lead.", lead, files="all"), [one])
    coordinator.give(store)
    assert (await coordinator.run("go")).status == "done"
    asked = str(loads(reader.requests[0])["messages"][1]["content"])
    assert "- /inputs/own.md" in asked
    assert "- /inputs/deep/a.md" in asked
    assert "/files/data.csv: could not be handed over" in asked
    assert "/files/deep: could not be handed over" in asked
    assert "of the parent" in told(reader)
    assert "given,1" in told(reader)
    assert "forged" not in told(reader)
    assert "3 entries" in told(reader)
    assert "read-only" in told(reader)
    assert await store.read("data.csv") == b"given,1"


def test_a_lead_from_files_reads_the_documents_of_its_team(
    docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "team").mkdir()
    for name in ("lead", "reader"):
        (tmp_path / "team" / f"{name}.md").write_text(f"---\nname: {name}\n---\nWork.\n")
    with serve_in_process("support.looking_script:reads") as url:
        words = ["run", "team", "look", "--docs", "docs", "--model", "openai:m", "--quiet"]
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        command = [sys.executable, "-m", "undrift", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    (run,) = (path for path in (tmp_path / "runs").iterdir() if not path.name.startswith("."))
    read = "\n".join(results(run, "main"))  # it has `grep` and `read_file`, as every lead
    assert "/inputs/deep/page.html:2: Works" in read
    assert "The red valve opens at 11 degrees" in read
    assert "no such document" in read
