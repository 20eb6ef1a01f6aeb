"""Files of a run's agents: what is handed over, what comes back, what each may see."""

import asyncio
import os

import pytest
from typer.testing import CliRunner

from agents import Agent, Conclusion, ScriptedModel, call, tool
from filesystem import MergeRule
from memory import loads
from orchestrator import Coordinator
from orchestrator.cli.app import app

NEEDLE = "needle-at-the-very-end-93"


def texts(model, request=-1):
    """The words of all messages of a request."""
    return "\n".join(
        part if isinstance(part, str) else "\n".join(p.get("text", "") for p in part)
        for m in loads(model.requests[request])["messages"]
        if (part := m.get("content"))
    )


def child(name, script, **options):
    model = ScriptedModel(script)
    options = {"files": "all"} | options
    return Agent(name, "Work.", model, output_type=Conclusion, **options), model


def tasks(*given, **more):
    return call("delegate", tasks=[{"agent": a, "task": t, **more} for a, t in given])


def write(path, content):
    return call("write_file", path=path, content=content)


END = call("conclude", answer="done")


async def test_files_come_back_and_conflicts_are_named_with_both_versions_kept(tmp_path):
    one, _ = child("one", [[write("own1.md", "1"), write("same.md", "from one")], END])
    two, _ = child("two", [[write("own2.md", "2"), write("same.md", "from two")], END])
    lead = ScriptedModel(
        [
            tasks(("one", "a"), ("two", "b")),
            [call("read_file", path=f"/files/{p}") for p in ("own1.md", "own2.md", "same.md")],
            call("grep", text="from ", path="/files"),
            "ok",
        ]
    )
    coordinator = Coordinator(Agent("lead", "Lead.", lead), [one, two], runs=tmp_path)
    result = await coordinator.run("go", run_id="r")
    assert result.status == "done"
    told = texts(lead, 1)
    assert "Conflict in /files/same.md" in told
    assert "/files/conflicts/main.1-2/same.md" in told
    read = texts(lead)
    assert "from one" in read
    assert "from two" in read
    assert (tmp_path / "r/files/main/conflicts/main.1-2/same.md").read_text() == "from two"


async def test_files_are_kept_beside_when_the_agent_says_so():
    one, _ = child("one", [write("a.md", "1"), END], merge=MergeRule.BESIDE)
    lead = ScriptedModel([tasks(("one", "a")), call("read_file", path="main.1-1/a.md"), "ok"])
    result = await Coordinator(Agent("lead", "Lead.", lead), [one]).run("go")
    assert result.status == "done"
    assert "/files/main.1-1/a.md" in texts(lead, 1)


async def test_what_is_handed_over_is_in_inputs_and_read_only():
    one, model = child(
        "one",
        [call("read_file", path="/inputs/data.csv"), write("/inputs/data.csv", "x"), END],
    )
    lead = ScriptedModel(
        [
            write("data.csv", "a,b\n1,2\n"),
            tasks(("one", "look at it"), inputs=["/files/data.csv", "/files/gone.md"]),
            "ok",
        ]
    )
    result = await Coordinator(Agent("lead", "Lead.", lead, files="all"), [one]).run("go")
    assert result.status == "done"
    seen = texts(model)
    assert "- /inputs/data.csv" in seen
    assert "/files/gone.md: could not be handed over" in seen
    assert "a,b\n1,2" in seen
    assert "read-only" in seen


async def test_deletes_of_a_child_that_forked_arrive():
    helper = Agent("one", "Work.", files="all")
    scripts = {
        "main": [
            [write("old.md", "old"), write("kept.md", "kept")],
            tasks(("one", "delete old.md"), see="fork"),
            call("ls", path="/files"),
            "ok",
        ],
        "child": [call("delete", path="/files/old.md"), write("kept.md", "changed"), "deleted"],
    }

    def play(body):
        forked = any("From here on you are" in str(m.get("content")) for m in body["messages"])
        return scripts["child" if forked else "main"].pop(0)

    model = ScriptedModel(play)
    lead = Agent("lead", "Lead.", model, files="all")
    result = await Coordinator(lead, [helper], model=model).run("go")
    assert result.status == "done"
    told = texts(model)
    assert "Deleted by main.2-1: /files/old.md" in told
    assert "kept.md" in told.rpartition("[tool")[2] or "/files/kept.md" in told
    assert "entries]" in told or "1 entries" in told


async def test_case_64_a_large_answer_of_a_child_is_read_from_its_file_and_others_see_nothing():
    @tool
    def fetch() -> str:
        """Fetch."""
        return "line of forty kilobytes and much more\n" * 4_000 + NEEDLE

    def hands_over(body):
        shown = [m["content"] for m in body["messages"] if m["role"] == "tool"][-1]
        path = "/artifacts/" + shown.split("/artifacts/")[1].split(":")[0]
        return call("conclude", answer="It is in the file.", artifacts=[path])

    def reads(body):
        told = [m["content"] for m in body["messages"] if m["role"] == "tool"][-1]
        path = "/artifacts/" + str(told).split("/artifacts/")[1].split('"')[0].split("\\")[0]
        return call("read_file", path=path, start_char=-100)

    one, _ = child("one", [call("fetch"), hands_over], tools=[fetch], files="auto")
    two, other = child("two", [call("ls", path="/artifacts"), call("glob", pattern="/**"), END])
    lead = ScriptedModel([tasks(("one", "a"), ("two", "b")), reads, "ok"])
    result = await Coordinator(Agent("lead", "Lead.", lead), [one, two]).run("go")
    assert result.status == "done"
    assert NEEDLE in texts(lead)
    assert len(lead.requests[1]) < 8_192
    assert "main.1-1" not in texts(other)
    assert "0 entries" in texts(other)


async def test_transcripts_are_the_own_and_those_below(tmp_path):
    one, model = child("one", [call("grep", text="go and", path="/transcripts"), END])
    lead = ScriptedModel(
        [tasks(("one", "look")), call("grep", text="look", path="/transcripts"), "ok"]
    )
    coordinator = Coordinator(Agent("lead", "Lead.", lead), [one], runs=tmp_path)
    result = await coordinator.run("go and work", run_id="r")
    assert result.status == "done"
    assert "/transcripts/main.txt" not in texts(model)
    assert "/transcripts/main.1-1.txt" in texts(lead)
    for name in ("main.txt", "main.jsonl", "main.1-1.txt", "main.1-1.jsonl", "run.txt"):
        assert (tmp_path / "r" / "transcripts" / name).stat().st_size


async def test_shared_files_are_there_only_when_asked_for():
    for shared in (False, True):
        one, model = child("one", [write("/shared/a.md", "words of all 77"), END])
        lead = ScriptedModel([tasks(("one", "a")), call("read_file", path="/shared/a.md"), "ok"])
        agent = Agent("lead", "Lead.", lead)
        await Coordinator(agent, [one], shared_files=shared).run("go")
        assert ("wrote /shared/a.md" in texts(model)) is shared
        assert ("words of all 77" in texts(lead)) is shared


async def test_files_and_stored_bodies_are_shown_after_the_run(tmp_path):
    @tool
    def fetch() -> str:
        """Fetch."""
        return "a long line of the page\n" * 8_000 + NEEDLE

    model = ScriptedModel([[call("fetch"), write("notes.md", "my notes")], "ok"])
    agent = Agent("lead", "Lead.", model, tools=[fetch], files="all")
    await Coordinator(agent, runs=tmp_path).run("go", run_id="r")

    async def shown(*options):
        given = ["show", "r", "--out", str(tmp_path), *options]
        return (await asyncio.to_thread(CliRunner().invoke, app, given)).output

    listed = await shown("--artifacts")
    assert "fetch" in listed
    assert (await shown("--file", listed.split()[0])).rstrip().endswith(NEEDLE)
    assert (await shown("--file", "/files/notes.md")).strip() == "my notes"
    assert "a long line of the page" in await shown("--file", "/transcripts/main.txt")
    assert "threads with files: main" in await shown("--file", "/files/a.md", "--thread", "nobody")


BAD = (
    "../x",
    "/files/../../x",
    "/etc/passwd",
    "a\0b",
    "n" * 300,
    "\ud800",
    "link",
    "folder/x",
    "pipe",
)


async def test_case_r9_no_path_ends_a_run_or_leaves_its_folder(tmp_path):
    """Every file tool with every bad path: errors that the model reads, then the run goes on."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_text("the secret")

    def plant(_):
        root = tmp_path / "runs/r/files/main"
        (root / "link").symlink_to(outside / "x")
        (root / "folder").symlink_to(outside, target_is_directory=True)
        os.mkfifo(root / "pipe")
        return [
            call(name, **arguments)
            for path in BAD
            for name, arguments in (
                ("ls", {"path": path}),
                ("read_file", {"path": path}),
                ("write_file", {"path": path, "content": "x"}),
                ("edit_file", {"path": path, "old": "the", "new": "a"}),
                ("glob", {"pattern": path}),
                ("grep", {"text": "secret", "path": path}),
                ("delete", {"path": path}),
            )
        ]

    model = ScriptedModel(
        [
            write("notes..v2.md", "fine"),
            plant,
            [call("read_file", path="notes..v2.md"), call("ls", path="/files")],
            "ok",
        ]
    )
    agent = Agent("lead", "Lead.", model, files="all")
    result = await Coordinator(agent, runs=tmp_path / "runs").run("go", run_id="r")
    assert result.status == "done", result.reason
    read = [m["content"] for m in loads(model.requests[-1])["messages"] if m["role"] == "tool"]
    assert len(read) == 1 + 7 * len(BAD) + 2
    assert not any("the secret" in text or "wrote" in text for text in read[1:])
    assert sum(text.startswith("[error]") for text in read) >= 6 * len(BAD)  # `glob` finds nothing
    assert "fine" in read[-2]
    assert "1 entries" in read[-1]
    assert [path.name for path in outside.iterdir()] == ["x"]
    assert (outside / "x").read_text() == "the secret"


@pytest.mark.parametrize(("files", "named"), [("read", False), ("all", True)])
async def test_errors_advise_no_tool_that_the_agent_does_not_have(files, named):
    model = ScriptedModel(
        [
            [
                call("read_file", path="/files/gone.md"),
                call("read_file", path="/nowhere/a.md"),
                call("grep", text="x", path="/files/gone"),
                call("read_file", path="/files"),
            ],
            "ok",
        ]
    )
    await Coordinator(Agent("lead", "Lead.", model, files=files)).run("go")
    read = "\n".join(
        m["content"] for m in loads(model.requests[-1])["messages"] if m["role"] == "tool"
    )
    assert read.count("[error]") == 4
    assert ("ls(" in read) is named
    assert named or "glob(" not in read
