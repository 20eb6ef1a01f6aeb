"""The folder of one run."""

import stat
from pathlib import Path

import pytest

from filesystem import (
    NotARunFolder,
    PathRefused,
    RunFolder,
    RunFolderError,
    RunFolderExists,
    StorageFailed,
)


def test_create_then_open(tmp_path):
    made = RunFolder.create(tmp_path / "runs", "2026-a.1_b")
    assert made.path == tmp_path / "runs" / "2026-a.1_b"
    for folder in (made.path, made.artifacts, made.transcripts, made.files):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    again = RunFolder.open(made.path)
    assert (again.run_id, again.events_db) == ("2026-a.1_b", made.path / "events.db")


def test_an_id_is_used_once(tmp_path):
    made = RunFolder.create(tmp_path, "a")
    made.write_text("report.md", "kept")
    with pytest.raises(RunFolderExists, match="exists already"):
        RunFolder.create(tmp_path, "a")
    assert made.report_md.read_text() == "kept"


@pytest.mark.parametrize(
    "run_id", ["", ".", "..", "a/b", "../a", "-x", "a\0", "a\n", "x" * 101, "é"]
)
def test_bad_ids(tmp_path, run_id):
    with pytest.raises(RunFolderError):
        RunFolder.create(tmp_path, run_id)
    assert list(tmp_path.iterdir()) == []


def test_what_is_none_is_said(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    for name, text in (("broken", "{"), ("other", "{}"), ("future", '{"run": "a", "format": 99}')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(text)
    for name, said in (
        ("missing", "no such folder"),
        ("file", "cannot be read"),
        ("empty", "no run.json"),
        ("broken", "cannot be read"),
        ("other", "does not describe a run"),
        ("future", "layout 99"),
    ):
        with pytest.raises(NotARunFolder, match=said):
            RunFolder.open(tmp_path / name)


def test_writes_are_whole_and_private(tmp_path):
    run = RunFolder.create(tmp_path, "a")
    run.write_text("report.md", "first \ud800\r\n")
    run.write_bytes("transcripts/lead.md", b"\0")
    assert run.report_md.read_bytes() == "first \ud800\r\n".encode("utf-8", "surrogatepass")
    assert stat.S_IMODE(run.report_md.stat().st_mode) == 0o600
    assert (run.transcripts / "lead.md").read_bytes() == b"\0"
    assert sorted(p.name for p in run.path.iterdir() if p.is_file()) == ["report.md", "run.json"]


def test_a_name_cannot_leave_the_folder(tmp_path):
    run = RunFolder.create(tmp_path, "a")
    for name in ("../b", "/etc/x", "", "a/../../b", "nul\0"):
        with pytest.raises(PathRefused):
            run.write_text(name, "x")
    with pytest.raises(StorageFailed, match="cannot be written"):
        run.write_text("no/such/folder", "x")


def test_a_root_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageFailed):
        RunFolder.create(Path(tmp_path / "file" / "below"), "a")
