"""The index follows the folder: changes, removals, ignore rules, links, several roots, bad places."""

import asyncio
import os
import sqlite3
from pathlib import Path

import pytest

from filesystem import (
    CorpusError,
    FolderCorpus,
    FolderMissing,
    IndexUnusable,
    NothingReadable,
    RunFolder,
)
from filesystem.corpus.store import IndexFile


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


async def opened(tmp_path: Path, *roots: Path) -> FolderCorpus:
    return await FolderCorpus.open(roots or [tmp_path / "docs"], tmp_path / "index.db")


async def sources(corpus: FolderCorpus, query: str) -> list[str]:
    return [hit.passage.source for hit in (await corpus.search(query)).hits]


async def test_only_changes_are_read_again(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    write(docs, {"a.md": "alpha", "b.md": "beta", "c.md": "gamma"})
    first = (await opened(tmp_path)).report
    assert (first.files, first.indexed, first.unchanged, first.removed) == (3, 3, 0, 0)
    second = (await opened(tmp_path)).report
    assert (second.indexed, second.unchanged, second.passages) == (0, 3, 3)
    write(docs, {"a.md": "delta"})  # as long as before, and within the clock's grain
    (docs / "b.md").unlink()
    os.utime(docs / "c.md", (1, 1))
    corpus = await opened(tmp_path)
    report = corpus.report
    assert (report.indexed, report.unchanged, report.removed, report.passages) == (1, 1, 1, 2)
    assert await sources(corpus, "delta") == ["a.md"]
    assert await sources(corpus, "alpha beta") == []


async def test_a_changed_index_equals_a_fresh_one(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    write(docs, {f"{number}.md": f"# Note {number}\n\ncrane {number} lifts" for number in range(9)})
    await (await opened(tmp_path)).close()
    for number in range(0, 9, 2):
        (docs / f"{number}.md").write_text(f"# New {number}\n\nbarge and crane {number} float")
    (docs / "1.md").unlink()
    changed = await opened(tmp_path)
    fresh = await FolderCorpus.open([docs], tmp_path / "fresh.db")
    for query in ("crane", "barge", "new 4", "note 3 lifts"):
        assert await changed.search(query) == await fresh.search(query)
    with sqlite3.connect(tmp_path / "index.db") as database:
        database.execute("INSERT INTO terms (terms) VALUES ('integrity-check')")
        words = database.execute("SELECT term, doc, cnt FROM vocabulary").fetchall()
    with sqlite3.connect(tmp_path / "fresh.db") as database:
        assert database.execute("SELECT term, doc, cnt FROM vocabulary").fetchall() == words


async def test_a_file_that_breaks_leaves_the_index(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    write(docs, {"a.md": "alpha", "b.md": "beta"})
    await (await opened(tmp_path)).close()
    (docs / "b.md").write_bytes(b"\x00\x01" * 50)
    corpus = await opened(tmp_path)
    assert [skipped.source for skipped in corpus.report.skipped] == ["b.md"]
    assert corpus.report.removed == 1
    assert await sources(corpus, "beta") == []


async def test_ignore_rules(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    kept = ["keep.md", "sub/deep/keep.md", "build.md", "logs/special.log", "a/x/z.md"]
    left = [
        ".hidden.md",
        ".git/config",
        "node_modules/m/readme.md",
        "__pycache__/x.py",
        "trace.log",
        "sub/trace.log",
        "build/out.md",
        "sub/build/out.md",
        "top.md",
        "a/y/z.md",
        "sub/own.txt",
        "we[ird].md",
        "~$lock.docx",
    ]
    write(docs, dict.fromkeys(kept + left, "some words"))
    write(docs, {"sub/top.md": "words"})
    (docs / ".gitignore").write_text(
        "# rules\n*.log\n!special.log\nbuild/\n/top.md\na/**/z.md\n!a/x/z.md\nwe\\[ird\\].md\n"
    )
    (docs / "sub" / ".ignore").write_text("own.txt\n")
    corpus = await opened(tmp_path)
    assert await corpus.sources() == sorted([*kept, "sub/top.md"])
    assert corpus.report.skipped == ()


async def test_links_are_not_followed_out_or_round(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    write(docs, {"a.md": "alpha", ".store/real.md": "beta", "sub/c.md": "gamma"})
    write(tmp_path, {"outside/secret.md": "secret"})
    (docs / "loop").symlink_to(docs)
    (docs / "self").symlink_to("self")
    (docs / "out.md").symlink_to(tmp_path / "outside" / "secret.md")
    (docs / "outside").symlink_to(tmp_path / "outside")
    (docs / "twice.md").symlink_to("a.md")
    (docs / "shown.md").symlink_to(".store/real.md")
    (docs / "gone.md").symlink_to("nothing.md")
    corpus = await opened(tmp_path)
    assert await corpus.sources() == ["a.md", "shown.md", "sub/c.md"]
    reasons = {each.source: each.reason for each in corpus.report.skipped}
    assert set(reasons) == {"loop", "self", "out.md", "outside", "twice.md", "gone.md"}
    assert "leaves the folder" in reasons["out.md"]
    assert "leaves the folder" in reasons["outside"]
    assert "link to a folder" in reasons["loop"]
    assert await sources(corpus, "secret") == []


async def test_several_roots_and_single_files(tmp_path: Path) -> None:
    write(tmp_path, {"x/docs/a.md": "alpha", "y/docs/a.md": "alpha", "note.md": "alpha"})
    roots = [tmp_path / "x/docs", tmp_path / "y/docs", tmp_path / "note.md", tmp_path / "x/docs"]
    corpus = await opened(tmp_path, *roots)
    assert await corpus.sources() == ["docs-2/a.md", "docs/a.md", "note.md"]


async def test_an_index_inside_the_folder_is_not_a_document(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "alpha"})
    for _ in range(2):
        corpus = await FolderCorpus.open([tmp_path], tmp_path / "index.db")
        assert corpus.report.files == 1
        assert corpus.report.skipped == ()


async def test_what_runs_left_is_never_a_document(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    write(docs, {"a.md": "alpha", "runs/keep.md": "alpha", "results/run.json": '{"alpha": 1}'})
    run = RunFolder.create(docs / "runs", "20260101-1")
    run.write_text("report.md", "alpha")
    corpus = await opened(tmp_path)
    assert corpus.report.skipped == ()
    assert set(await sources(corpus, "alpha")) == {"a.md", "runs/keep.md", "results/run.json"}
    named = await FolderCorpus.open([run.path], tmp_path / "own.db")
    assert await named.sources() == ["report.md", "run.json"]  # who names it wants it


async def test_only_its_owner_can_read_an_index(tmp_path: Path) -> None:
    write(tmp_path / "docs", {"a.md": "alpha"})
    corpus = await FolderCorpus.open([tmp_path / "docs"], tmp_path / "new" / "index.db")
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700
    for file in (tmp_path / "new").iterdir():
        assert file.stat().st_mode & 0o777 == 0o600, file.name
    await corpus.close()


async def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    try:
        for name in (b"caf\xe9.md", b"caf\xe8.md"):
            (docs / os.fsdecode(name)).write_text("alpha")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    corpus = await opened(tmp_path)
    assert await corpus.sources() == ["caf\ufffd.md"]
    assert len(corpus.report.skipped) == 1


async def test_missing_and_empty_folders(tmp_path: Path) -> None:
    with pytest.raises(FolderMissing, match=r"no such folder: '.*docs'"):
        await opened(tmp_path)
    (tmp_path / "docs").mkdir()
    with pytest.raises(NothingReadable, match="holds no files"):
        await opened(tmp_path)
    (tmp_path / "docs" / "a.pdf").write_bytes(b"junk")
    with pytest.raises(NothingReadable, match=r"'a\.pdf': broken PDF") as caught:
        await opened(tmp_path)
    assert caught.value.skipped[0][0] == "a.pdf"
    assert isinstance(caught.value, CorpusError)


async def test_an_index_that_cannot_be_used(tmp_path: Path) -> None:
    write(tmp_path, {"docs/a.md": "alpha", "index.db": "not a database, but long enough" * 20})
    with pytest.raises(IndexUnusable, match=r"index\.db"):
        await opened(tmp_path)
    assert (tmp_path / "index.db").read_text().startswith("not a database")
    (tmp_path / "index.db").unlink()
    with sqlite3.connect(tmp_path / "index.db") as database:
        database.execute("CREATE TABLE theirs (value)")
    with pytest.raises(IndexUnusable, match="another program"):
        await opened(tmp_path)
    with pytest.raises(IndexUnusable):
        await FolderCorpus.open([tmp_path / "docs"], tmp_path / "docs" / "a.md" / "index.db")


async def test_an_index_of_another_version_is_made_anew(tmp_path: Path) -> None:
    write(tmp_path, {"docs/a.md": "alpha"})
    await (await opened(tmp_path)).close()
    with sqlite3.connect(tmp_path / "index.db") as database:
        database.execute("UPDATE settings SET value = 'older'")
    corpus = await opened(tmp_path)
    assert corpus.report.indexed == 1
    assert await sources(corpus, "alpha") == ["a.md"]


async def test_a_full_disk_is_one_clear_error_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"docs/a.md": "alpha"})
    await (await opened(tmp_path)).close()
    write(tmp_path, {"docs/b.txt": " ".join(f"word{number}" for number in range(20_000))})
    connect = sqlite3.connect

    def small(*args: object, **options: object) -> sqlite3.Connection:
        connection = connect(*args, **options)
        connection.execute("PRAGMA max_page_count = 60")
        return connection

    with monkeypatch.context() as patched:
        patched.setattr(sqlite3, "connect", small)
        with pytest.raises(IndexUnusable, match="full"):
            await opened(tmp_path)
    corpus = await opened(tmp_path)
    assert await corpus.sources() == ["a.md", "b.txt"]


async def test_two_openings_at_once_agree(tmp_path: Path) -> None:
    write(tmp_path / "docs", {f"{number}.md": f"crane {number}" for number in range(60)})
    one, other = await asyncio.gather(opened(tmp_path), opened(tmp_path))
    assert one.report.passages == other.report.passages == 60
    assert await one.search("crane 7") == await other.search("crane 7")


async def test_an_opening_waits_for_another_that_writes(tmp_path: Path) -> None:
    """SQLite itself does not wait where the journal's mode is set."""
    path = tmp_path / "index.db"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    opening = asyncio.create_task(asyncio.to_thread(IndexFile, path))
    await asyncio.sleep(0.2)  # it passes without the wait too, should the opening begin only now
    other.execute("ROLLBACK")
    (await opening).close()
    other.close()


def test_an_index_that_another_makes_between_two_looks_is_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect
    looks: list[str] = []

    def look(statement: str) -> None:
        if "application_id" in statement or "sqlite_master" in statement:
            looks.append(statement)
            if len(looks) == 2:
                IndexFile(tmp_path / "index.db").close()

    def watched(*args: object, **options: object) -> sqlite3.Connection:
        connection = connect(*args, **options)
        connection.set_trace_callback(look)
        return connection

    monkeypatch.setattr(sqlite3, "connect", watched)
    IndexFile(tmp_path / "index.db").close()
    assert len(looks) > 2


async def test_a_closed_corpus_says_so(tmp_path: Path) -> None:
    write(tmp_path, {"docs/a.md": "alpha"})
    corpus = await opened(tmp_path)
    await corpus.close()
    with pytest.raises(IndexUnusable, match="closed"):
        await corpus.search("alpha")
