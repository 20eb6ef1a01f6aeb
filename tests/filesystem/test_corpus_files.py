"""The documents of a corpus as files: the lines that citations name, read-only, nothing but what it cites."""

import os
import re
from pathlib import Path

import pytest
from support.documents import docx, paragraph, pdf

from filesystem import (
    FileError,
    FileMissing,
    FolderCorpus,
    IsAFolder,
    MemoryStore,
    NotAFolder,
    NotWritable,
    Query,
    Workspace,
    namespaces,
)

PAGE = """<html><head><title>Cranes</title></head>
<body><h1>The crane</h1><p>It lifts nine tonnes.</p><p>It was made in 1950.</p>

<table><tr><td>load</td><td>nine</td></tr>
<tr><td>height</td><td>forty
metres</td></tr></table>
<script>hidden()</script><ul><li>first</li><li>second</li></ul>
<p>The last
words.</p></body></html>
"""
FILES: dict[str, str | bytes] = {
    "notes.md": "# Notes\r\n\r\nThe crane lifts.\r\n" + "A long walk. " * 200 + "\r\nThe end.\r\n",
    "deep/page.html": PAGE,
    "one line.html": "<p>first words</p><p>second words</p><p>third words</p>",
    "table.csv": 'name,load\n\n"two\nlines",9\n,\ncrane,12\n',
    "data.json": '{"a": "one\\ntwo",\n\n "b": "three",\n "c": ["x", "y\\ny"]}\n',
    "report.docx": docx(paragraph("A title") + paragraph("") + paragraph("Words of the report.")),
    "pages.pdf": pdf("The first page of cranes", "The second page"),
    "caf\u00e9.txt": "au lait\u2028still line one\x0cand here\nline two",
    "broken.pdf": b"%PDF-1.4 nothing",
    "picture.png": b"\x89PNG\0\0",
    ".hidden/secret.md": "hidden words",
}


def put(folder: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.fixture
async def corpus(tmp_path: Path):
    put(tmp_path / "docs", FILES)
    opened = await FolderCorpus.open([tmp_path / "docs"], tmp_path / "index.db")
    yield opened
    await opened.close()


def flat(text: str) -> str:
    return " ".join(text.split())


async def test_every_passage_stands_in_the_lines_that_its_place_names(corpus: FolderCorpus):
    files, seen = corpus.files(), set[str]()
    for query in ("crane words first two x nine title page lait end load", "walk", "three metres"):
        for hit in (await corpus.search(query, 50)).hits:
            passage = hit.passage
            seen.add(passage.source)
            lines = (await files.read(passage.source)).decode().split("\n")
            if place := re.fullmatch(r"lines? (\d+)(?:-(\d+))?", passage.place):
                lines = lines[int(place[1]) - 1 : int(place[2] or place[1])]
            assert flat(passage.text) in flat(" ".join(lines)), passage
    assert seen == set(await corpus.sources())
    assert (await files.read("one line.html")) == b"first words second words third words"
    page = (await files.read("deep/page.html")).decode().split("\n")
    assert page[1] == "The crane It lifts nine tonnes. It was made in 1950."
    assert (page[2], page[3], page[4]) == ("", "load | nine", "height | forty metres")
    assert page[-2:] == ["The last", "words."]


async def test_tools_agree_on_lines_and_sizes(corpus: FolderCorpus):
    space = Workspace(namespaces(MemoryStore(), inputs=corpus.files()))
    listed = await space.ls("/inputs")
    assert [entry.path for entry in listed.entries] == [
        "/inputs/caf\u00e9.txt", "/inputs/data.json", "/inputs/deep", "/inputs/notes.md",
        "/inputs/one line.html", "/inputs/pages.pdf", "/inputs/report.docx", "/inputs/table.csv",
    ]  # fmt: skip
    found = await space.glob("/inputs/**")
    assert {entry.path[8:] for entry in found.entries} == set(await corpus.sources())
    for entry in found.entries:
        stat = await space.folders.stat(entry.path[1:])
        data = await space.folders.read(entry.path[1:])
        assert entry.size == stat.size == len(data)
        assert (await space.folders.read(entry.path[1:], 3, 5)) == data[3:8]
    hits = (await space.grep(Query(r"words|crane", regex=True, ignore_case=True), "/inputs")).hits
    assert len(hits) > 6
    for hit in hits:
        page = await space.read_file(hit.path, start_line=hit.line, lines=1)
        assert hit.text in page.content
        assert page.start_char + hit.column == hit.char
    in_one = await space.grep(Query("second words"), "/inputs/one line.html")
    assert (in_one.files, [hit.line for hit in in_one.hits]) == (1, [1])
    assert (await space.read_file("/inputs/caf\u00e9.txt")).lines == 2


async def test_only_reading_and_only_what_is_there(corpus: FolderCorpus, tmp_path: Path):
    files = corpus.files()
    for change in (
        files.write("notes.md", "x"),
        files.append("notes.md", "x"),
        files.edit("notes.md", "The", "A"),
        files.delete("notes.md"),
    ):
        with pytest.raises(NotWritable):
            await change
    for path in ("broken.pdf", "picture.png", ".hidden/secret.md", "notes.md/x", "absent", "dee"):
        with pytest.raises(FileMissing):
            await files.read(path)
    for path in ("../docs/notes.md", "/etc/passwd", "a\0b", "n" * 300):
        with pytest.raises(FileError):
            await files.read(path)
    with pytest.raises(IsAFolder):
        await files.read("deep")
    with pytest.raises(NotAFolder):
        await files.list("notes.md")
    with pytest.raises(FileMissing):
        await files.list("shallow")
    assert (tmp_path / "docs" / "notes.md").read_bytes().startswith(b"# Notes")


async def test_links_that_lead_out_are_not_followed(tmp_path: Path):
    docs, outside = tmp_path / "docs", tmp_path / "outside"
    put(docs, {"a.md": "inside words"})
    put(outside, {"secret.md": "outside words"})
    (docs / "link.md").symlink_to(outside / "secret.md")
    (docs / "folder").symlink_to(outside, target_is_directory=True)
    corpus = await FolderCorpus.open([docs], tmp_path / "index.db")
    files = corpus.files()
    assert [entry.path for entry in await files.glob()] == ["a.md"]
    assert [hit.path for hit in (await files.grep(Query("words"))).hits] == ["a.md"]
    for path in ("link.md", "folder/secret.md", "../outside/secret.md"):
        with pytest.raises(FileError):
            await files.read(path)
    # A link put in the place of a document after it was read changes nothing: no document is opened.
    (docs / "a.md").unlink()
    (docs / "a.md").symlink_to(outside / "secret.md")
    assert await files.read("a.md") == b"inside words"
    await corpus.close()
    again = await FolderCorpus.open([docs, outside], tmp_path / "index.db")
    assert "docs/a.md" not in [entry.path for entry in await again.files().glob()]
    await again.close()


async def test_folders_of_one_name_do_not_meet_and_impossible_names_are_left_out(tmp_path: Path):
    one, two = tmp_path / "one" / "docs", tmp_path / "two" / "docs"
    put(one, {"a.md": "words of one", "line\nbreak.md": "cannot be named"})
    put(two, {"a.md": "words of two"})
    corpus = await FolderCorpus.open([one, two], tmp_path / "index.db")
    files = corpus.files()
    bodies = {entry.path: await files.read(entry.path) for entry in await files.glob()}
    assert bodies == {"docs/a.md": b"words of one", "docs-2/a.md": b"words of two"}
    await corpus.close()


async def test_an_index_of_before_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from filesystem.corpus import store

    put(tmp_path / "docs", {"page.html": PAGE})
    index = tmp_path / "index.db"
    monkeypatch.setattr(store, "_FORMAT", "3")
    await (await FolderCorpus.open([tmp_path / "docs"], index)).close()
    monkeypatch.undo()
    corpus = await FolderCorpus.open([tmp_path / "docs"], index)
    assert corpus.report.indexed == 1
    os.utime(tmp_path / "docs" / "page.html", (1, 1))  # read again, and found to be the same
    await corpus.close()
    corpus = await FolderCorpus.open([tmp_path / "docs"], index)
    assert b"\nload | nine\n" in await corpus.files().read("page.html")
    await corpus.close()
