"""Runs afterwards: turns shown, forks, purges, checks, and whose run folder is gone on with."""

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from agents import Agent, Conclusion, ScriptedModel, call, tool
from filesystem import ArtifactStore
from memory import (
    ContentOffloaded,
    RunForked,
    RunStarted,
    SecretPurged,
    SqliteEventLog,
    Text,
    ToolReturned,
    loads,
    read_entries,
)
from orchestrator import (
    Coordinator,
    PurgeRefused,
    RunNotTrusted,
    RunResult,
    TurnNotFound,
    ask_research,
    assert_prefix_stable,
    fork_run,
    list_runs,
    purge_run,
    read_turn,
    resume_research,
    verify_run,
)
from orchestrator.cli.app import app
from orchestrator.trust import is_ours

SECRET = 'kept-"here"-4711'


@tool(repeatable=True)
def look(n: int) -> str:
    """Look."""
    return f"saw {n}, and the word {SECRET}" if n == 2 else f"saw {n}"


def team(runs: Path, script: object = None) -> Coordinator:
    """A coordinator that looks, sends two subagents out, and answers."""
    tasks = [{"agent": "helper", "task": f"part {n}"} for n in (1, 2)]
    lead = ScriptedModel(
        script or [call("look", n=1), call("look", n=2), call("delegate", tasks=tasks), "all done"]
    )
    helper = Agent(
        "helper",
        "Help.",
        ScriptedModel(
            lambda body: (
                call("conclude", answer="done")
                if any(m["role"] == "tool" for m in body["messages"])
                else call("look", n=7)
            )
        ),
        [look],
        output_type=Conclusion,
    )
    return Coordinator(Agent("lead", "Lead.", lead, [look]), [helper], runs=runs)


@pytest.fixture
async def done(tmp_path: Path) -> RunResult:
    result = await team(tmp_path).run("do it")
    assert result.text == "all done"
    return result


def undrift(folder: Path | None, *words: str, **options: Any) -> Result:
    out = ["--out", str(folder.parent)] if folder else []
    return CliRunner().invoke(app, [*words, *out], **options)


async def test_a_run_verifies_and_its_usage_tells_bytes_by_turn(done: RunResult) -> None:
    assert done.folder
    found = verify_run(done.folder)
    assert (found.problems, found.log.requests) == ((), 8)
    usage = json.loads((done.folder / "usage.json").read_text())["requests"]
    assert sorted(usage) == ["main", "main.3-1", "main.3-2"]
    assert len(usage["main"]["reused_bytes"]) == 4
    assert usage["main"]["reused_bytes"][0] == 0
    assert all(reused > 500 for reused in usage["main"]["reused_bytes"][1:])
    for turn, (reused, new) in enumerate(
        zip(usage["main"]["reused_bytes"], usage["main"]["unreused_bytes"], strict=True), 1
    ):
        _, request = read_turn(done.folder, turn)
        assert reused + new == len(request.check().body)


async def test_a_stored_body_that_was_changed_is_a_problem(done: RunResult) -> None:
    assert done.folder
    ref = await ArtifactStore(done.folder / "artifacts").put("a large body", origin="test")
    assert verify_run(done.folder).artifacts == 1
    (body,) = (done.folder / "artifacts").glob(f"{ref.sha256}*")
    body.write_text("another body")
    (problem,) = verify_run(done.folder).problems
    assert ref.sha256[:16] in problem


async def test_show_prints_a_turns_exact_bytes_from_disk_alone(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    coordinator = team(tmp_path)
    done = await coordinator.run("do it")
    assert done.folder
    lead = coordinator.agent.model
    assert isinstance(lead, ScriptedModel)
    for turn, sent in enumerate(lead.requests, 1):
        result = undrift(done.folder, "show", done.run_id, "--turn", str(turn), "--request")
        assert result.stdout_bytes == sent
    child = undrift(
        done.folder, "show", done.run_id, "--thread", "main.3-1", "--turn", "1", "--request"
    )
    assert loads(child.stdout)["messages"][1]["content"].startswith("part 1")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--diff", "1", "2"],
            ["first byte that differs", "belongs to a reply (event 7)", "% of turn 2"],
        ),
        (["--diff", "2", "2"], ["equal, byte for byte"]),
        (
            ["--context", "3"],
            ["saw 2, and the word", "nothing is hidden", "system (model scripted"],
        ),
        (["--turn", "1"], ["message from user\ndo it", "the bytes that were sent"]),
        (["--verify"], ["8 requests rebuilt and equal"]),
        (["--thread", "main.3-2", "--context", "2"], ["part 2", "saw 7"]),
    ],
    ids=str,
)
async def test_show_tells_about_turns(done: RunResult, words: list[str], said: list[str]) -> None:
    result = undrift(done.folder, "show", done.run_id, *words)
    assert result.exit_code == 0, result.stderr
    for text in said:
        assert text in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--turn", "9"], "has no turn 9: it has turns 1 to 4"),
        (["--thread", "nobody", "--turn", "1"], "no thread 'nobody'"),
        (["--request"], "--request needs a turn"),
        (["--verify", "--turn", "1"], "give one of"),
    ],
)
async def test_show_says_what_there_is_instead(
    done: RunResult, words: list[str], said: str
) -> None:
    result = undrift(done.folder, "show", done.run_id, *words)
    assert result.exit_code == 2
    assert said in result.stderr


async def test_show_goes_on_behind_damage_and_says_so(done: RunResult) -> None:
    assert done.folder
    with sqlite3.connect(done.folder / "events.db") as db:
        db.execute("update event set body = cast('{}' as blob) where seq = 5")
    db.close()
    result = undrift(done.folder, "show", done.run_id)
    assert result.exit_code == 1
    assert "all done" in result.stdout
    assert "event 5" in result.stderr


async def test_a_fork_goes_another_way_and_the_old_run_stays(
    done: RunResult, tmp_path: Path
) -> None:
    assert done.folder
    before = (done.folder / "events.db").read_bytes()
    result = undrift(done.folder, "fork", done.run_id, "--turn", "2")
    assert result.exit_code == 0, result.stderr
    folder = Path(result.stdout.strip())
    last = read_entries(folder / "events.db")[-1].event
    assert last == RunForked(folder.name, done.run_id, "main", 2)
    other = team(tmp_path, ["-", "-", "another end"][2:])
    asked = await other.ask(folder.name, "stop here and answer")
    assert (asked.run_id, asked.text) == (folder.name, "another end")
    (request,) = other.agent.model.requests
    contents = [m["content"] for m in loads(request)["messages"] if m["role"] in ("user", "tool")]
    assert contents[0] == "do it"
    assert contents[2].startswith("saw 2")
    assert "stop here" in contents[3]
    assert (done.folder / "events.db").read_bytes() == before
    assert verify_run(folder).problems == ()
    assert {info.run_id for info in list_runs(tmp_path)} == {done.run_id, folder.name}


async def test_a_fork_is_resumed_with_the_request_that_the_old_run_sent_next(
    tmp_path: Path,
) -> None:
    first = team(tmp_path)
    done = await first.run("do it")
    assert done.folder
    folder = fork_run(done.folder, 1)
    other = team(tmp_path, ["an early end"])
    assert (await other.resume(folder)).text == "an early end"
    assert other.agent.model.requests == first.agent.model.requests[1:2]
    again = fork_run(done.folder, 4)
    assert (await team(tmp_path, []).resume(again)).text == "all done"
    start = fork_run(done.folder, 0)
    assert (await team(tmp_path, ["at once"]).resume(start)).text == "at once"
    with pytest.raises(TurnNotFound, match="no turn 5"):
        fork_run(done.folder, 5)
    assert len(list_runs(tmp_path)) == 4


async def test_a_purge_leaves_no_byte_in_the_folder(done: RunResult, tmp_path: Path) -> None:
    folder = done.folder
    assert folder
    ref = await ArtifactStore(folder / "artifacts").put(json.dumps({"x": SECRET}), origin="test")
    (folder / "files" / "note.txt").write_text(f"see {ref.path}: {SECRET}")
    fork = fork_run(folder, 2)
    result = undrift(folder, "runs", "purge", done.run_id, input=SECRET + "\n")
    assert result.exit_code == 0, result.stderr
    assert "taken out of 1 events" in result.stdout
    assert f"{fork.name} is a fork" in result.stderr
    for path in folder.rglob("*"):
        if path.is_file():
            assert b"4711" not in path.read_bytes(), path
    note = (folder / "files" / "note.txt").read_text()
    where = note.split()[1].rstrip(":")
    assert where != ref.path
    assert await ArtifactStore(folder / "artifacts").read(where) == b'{"x": "[purged]"}'
    found = verify_run(folder)
    assert found.problems == ()
    event = read_entries(folder / "events.db")[-1].event
    assert isinstance(event, SecretPurged)
    assert found.log.purged == event.requests
    assert len(event.requests) == 2
    assert (await team(tmp_path, []).resume(folder)).text == "all done"
    assert "4711" in (fork / "events.db").read_bytes().decode("utf-8", "replace")
    again = undrift(folder, "runs", "purge", done.run_id, input=SECRET + "\n")
    assert "does not hold it" in again.stdout


async def test_a_purge_takes_the_secret_from_a_variable_and_refuses_short_ones(
    done: RunResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLD", SECRET)
    assert done.folder
    result = undrift(done.folder, "runs", "purge", done.run_id, "--env", "OLD")
    assert result.exit_code == 0
    with pytest.raises(PurgeRefused, match="too short"):
        purge_run(done.folder, "abc")
    (done.folder / "files" / "name-4711.txt").write_text("x")
    with pytest.raises(PurgeRefused, match="name of a file"):
        purge_run(done.folder, "name-4711")


async def test_the_prefix_check_passes_for_a_run_and_names_what_breaks_one(
    done: RunResult, tmp_path: Path
) -> None:
    assert_prefix_stable(done)
    kept_in_memory = await Coordinator(Agent("a", "x", ScriptedModel(["y"]))).run("x")
    with pytest.raises(ValueError, match="in memory"):
        assert_prefix_stable(kept_in_memory)
    # What a request has shown is shown otherwise afterwards: what the framework itself never does.
    folder = fork_run(done.folder, 2)
    log = SqliteEventLog(folder / "events.db")
    shown = next(e for e in await log.read("main") if isinstance(e.event, ToolReturned))
    log.append("main", ContentOffloaded(shown.seq, (Text("shorter"),)))
    await log.close()
    await team(tmp_path, ["the end"]).resume(folder)
    with pytest.raises(
        AssertionError, match=rf"thread 'main': .* turn 2 .* in the result of event {shown.seq}"
    ):
        assert_prefix_stable(folder)


async def test_case_71_a_tool_that_changes_its_arguments_changes_nothing_that_is_kept(
    tmp_path: Path,
) -> None:
    @tool
    def fetch(query: dict[str, str]) -> str:
        """Fetch."""
        query["authorization"] = "Bearer PLANTED-credential-1"
        return "fetched"

    model = ScriptedModel([call("fetch", query={"q": "x"}), "done"])
    result = await Coordinator(Agent("a", "x", model, [fetch]), runs=tmp_path).run("go")
    assert result.folder
    for path in result.folder.rglob("*"):
        assert not path.is_file() or b"PLANTED" not in path.read_bytes(), path
    assert b"PLANTED" not in model.requests[1]


# Whose run folder it is.


def _from_elsewhere(folder: Path, to: Path) -> Path:
    """The run as somebody else's machine would have made it: its mark is of another key."""
    copy = to / folder.name
    shutil.copytree(folder, copy)
    (copy / "made-here").write_text("ab" * 32 + "\n")
    return copy


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Fare\n\nThe ferry fare is 12 euro for each trip.\n")
    return tmp_path / "docs"


def test_a_run_from_elsewhere_is_not_gone_on_with_unasked(documents: Path, tmp_path: Path) -> None:
    words = [
        "research",
        "What is the ferry fare?",
        str(documents),
        "--out",
        str(tmp_path / "r"),
        "--json",
    ]
    made = CliRunner().invoke(app, words)
    assert made.exit_code == 0, made.stderr
    own = Path(json.loads(made.stdout)["folder"])
    assert CliRunner().invoke(app, ["resume", str(own)]).exit_code == 0
    moved = tmp_path / "elsewhere" / own.name
    shutil.copytree(own, moved)
    assert CliRunner().invoke(app, ["resume", str(moved)]).exit_code == 0, "moving it is no harm"
    foreign = _from_elsewhere(own, tmp_path / "foreign")
    for command in (["resume", str(foreign)], ["ask", str(foreign), "and a child's fare?"]):
        refused = CliRunner().invoke(app, command)
        assert refused.exit_code == 2
        assert "was not made by you here" in refused.stderr
        assert f"read '{documents}'" in refused.stderr
        assert "--trust" in refused.stderr
        assert CliRunner().invoke(app, [*command, "--trust"]).exit_code == 0


async def test_a_log_that_names_a_server_and_a_file_is_refused_before_either_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "the-users-own-key")
    (tmp_path / "evil.py").write_text("import pathlib\npathlib.Path('ran').write_text('x')\n")
    monkeypatch.chdir(tmp_path)
    for number, options in enumerate(
        (
            {"kind": "research", "docs": ["/etc"], "base_url": "http://127.0.0.1:9/v1"},
            {"kind": "coordinator", "object": str(tmp_path / "evil.py") + ":x"},
        )
    ):
        folder = tmp_path / f"run{number}"
        folder.mkdir()
        (folder / "run.json").write_text(json.dumps({"run": f"run{number}", "format": 1}))
        log = SqliteEventLog(folder / "events.db")
        log.append("", RunStarted(f"run{number}", "x", options))
        await log.close()
        result = CliRunner().invoke(app, ["resume", str(folder)])
        assert result.exit_code == 2
        assert "'http://127.0.0.1:9/v1'" in result.stderr or "evil.py" in result.stderr
        if options["kind"] == "research":
            with pytest.raises(RunNotTrusted, match="your API key"):
                await resume_research(folder)
            with pytest.raises(RunNotTrusted):
                await ask_research(folder, "and this?")
    assert not (tmp_path / "ran").exists()


async def test_the_mark_goes_with_the_first_event_and_not_with_another(done: RunResult) -> None:
    assert done.folder
    started = read_entries(done.folder / "events.db", "")[0].event
    assert is_ours(done.folder, started)
    started.options["base_url"] = "http://elsewhere"
    assert not is_ours(done.folder, started)
    assert (done.folder / "made-here").stat().st_mode & 0o077 == 0


async def test_a_key_that_others_can_read_marks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    first = await team(tmp_path / "r").run("do it")
    key = tmp_path / "state" / "undrift" / "key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert first.folder
    assert (first.folder / "made-here").exists()
    key.chmod(0o644)
    second = await team(tmp_path / "r").run("do it")
    assert second.folder
    assert not (second.folder / "made-here").exists()
