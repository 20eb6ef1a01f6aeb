"""The operations behind a model's file tools."""

import re

import pytest

from filesystem import (
    ABSENT,
    ArtifactFiles,
    ArtifactStore,
    BadArgument,
    DiskStore,
    EditNoMatch,
    FileError,
    FileMissing,
    IsAFolder,
    MemoryStore,
    NameCollision,
    NotAFolder,
    NotWritable,
    PathRefused,
    Query,
    Quota,
    QuotaExceeded,
    View,
    Workspace,
    WriteConflict,
    namespaces,
)


@pytest.fixture
def files() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def space(files) -> Workspace:
    return Workspace(namespaces(files), cap=4_000)


async def read_all(space: Workspace, path: str) -> str:
    """Follow the calls that read on, as a model would, and join what they show."""
    page = await space.read_file(path)
    text = page.content
    while page.next_call:
        assert page.next_call in page.text
        name, value = re.search(r", (start_line|start_char)=(\d+)\)$", page.next_call).groups()
        page = await space.read_file(path, **{name: int(value)})
        assert page.content
        assert len(page.text) <= space.cap
        text += page.content
    return text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "one line",
        "".join(f"line {n}\r\n" for n in range(3_000)),
        "x" * 9_000,
        "\n" + "y" * 9_000 + "\n\n" + "z\n" * 4_000,
        "\u2028\f\0\ud800" * 4_000,
        "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 1_000,
    ],
)
async def test_reading_on_shows_every_character(space, text):
    await space.write_file("/files/a", text)
    assert await read_all(space, "/files/a") == text


async def test_pages_by_line_and_by_character(space):
    text = "".join(f"line {n}\n" for n in range(1, 101))
    await space.write_file("a", text)
    page = await space.read_file("/files/a", start_line=3, lines=2)
    assert page.content == "line 3\nline 4\n"
    assert page.text == (
        "[/files/a: lines 3-4 of 100, characters 14-28 of 792]\nline 3\nline 4\n"
        '[goes on: read_file(path="/files/a", start_line=5)]\n'
    )
    page = await space.read_file("a", start_char=14, chars=9)
    assert (page.content, page.start_line) == ("line 3\nli", 3)
    page = await space.read_file("a", start_char=-5)
    assert (page.content, page.start_line, page.next_call) == (" 100\n", 100, None)
    page = await space.read_file("a", start_line=100)
    assert (page.content, page.next_call) == ("line 100\n", None)
    assert (await space.read_file("a", start_char=-10_000)).start_char == 0


async def test_the_last_character_of_a_very_long_line(tmp_path):
    """50 MB in one line: found by grep, read by character, from both ends."""
    store = DiskStore(tmp_path)

    async def body():
        yield "first\n"
        for _ in range(50):
            yield "x" * 999_999 + "\u00e4"
        yield "needle!"

    await store.write("big", body())
    space = Workspace(namespaces(store), cap=4_000)
    hit = (await space.grep(Query("needle"))).hits[0]
    assert (hit.path, hit.line, hit.char, hit.column) == ("/files/big", 2, 50_000_006, 50_000_000)
    page = await space.read_file("/files/big", start_char=hit.char)
    assert (page.content, page.start_line, page.lines) == ("needle!", 2, 2)
    assert (await space.read_file("/files/big", start_char=-1)).content == "!"
    page = await space.read_file("/files/big", start_line=2)
    assert page.content == "x" * len(page.content)
    assert page.next_call == f'read_file(path="/files/big", start_char={6 + len(page.content)})'
    assert len(page.text) <= 4_000


@pytest.mark.parametrize(
    "arguments",
    [
        {"start_line": 0},
        {"start_line": 4},
        {"lines": 0},
        {"chars": 0},
        {"start_char": 6},
        {"start_char": 1, "start_line": 2},
    ],
)
async def test_arguments_out_of_range(space, arguments):
    await space.write_file("a", "a\nb\nc\n")
    with pytest.raises(BadArgument) as caught:
        await space.read_file("a", **arguments)
    assert "'a'" in str(caught.value)


async def test_case_R12_what_was_read_can_be_edited(space):
    await space.write_file("/files/a", "one\r\ntwo\r\nthree\r\n")
    shown = (await space.read_file("/files/a", start_line=2, lines=2)).content
    assert shown == "two\r\nthree\r\n"
    await space.edit_file("/files/a", shown, "2\r\n3\r\n")
    assert (await space.read_file("/files/a")).content == "one\r\n2\r\n3\r\n"
    # A model that writes plain line feeds for what it saw means the same lines.
    await space.edit_file("/files/a", "2\n3\n", "two\nthree\n")
    assert (await space.read_file("/files/a")).content == "one\r\ntwo\r\nthree\r\n"


async def test_case_R13_an_edit_needs_no_reading_first_and_says_nothing_else(space, files):
    await files.write("a", "old words")
    change = await space.edit_file("/files/a", "old", "new")
    assert change.text == "edited /files/a: one place, on line 1; 9 bytes now"
    assert await files.read("a") == b"new words"


async def test_line_numbers_agree_between_all_operations(space):
    text = "a\fb\vc\u2028d\u2029e\x85f\x1cg\rh\r\nsecond\n\nfourth needle"
    await space.write_file("a", text)
    hits = (await space.grep(Query("needle"))).hits
    assert [hit.line for hit in hits] == [4]
    assert (await space.read_file("a", start_line=4)).content == "fourth needle"
    assert (await space.edit_file("a", "needle", "pin")).text.count("on line 4") == 1
    assert (await space.read_file("a")).lines == 4


async def test_not_text_is_shown_and_said(space, files):
    await files.write("b", b"ok\n\xff\xfe\n")
    page = await space.read_file("/files/b")
    assert (page.is_text, page.content) == (False, "ok\n\ufffd\ufffd\n")
    assert "not UTF-8" in page.text


async def test_ls_glob_and_grep_page_within_the_cap(space, files):
    for n in range(400):
        await files.write(f"folder/file number {n:03}.md", f"alpha {n}\nbeta {n}\n" + "-" * n)
    for listing in (
        lambda start: space.ls("/files/folder", start=start),
        lambda start: space.glob("/files/**", start=start),
        lambda start: space.grep(Query("beta", context=1), start=start),
    ):
        seen, start = [], 0
        while start is not None:
            result = await listing(start)
            assert len(result.text) <= space.cap
            seen += [
                entry.path
                for entry in (result.entries if hasattr(result, "entries") else result.hits)
            ]
            if result.next_start is not None:
                assert f"start={result.next_start}" in result.text
            start = result.next_start
        assert seen == [f"/files/folder/file number {n:03}.md" for n in range(400)]


async def test_ls_shows_the_places(space):
    listing = await space.ls()
    assert listing.text == "['/': 1 entries]\n/files/  (your own files, writable)\n"
    assert (await space.ls("/files")).text == "['/files': 0 entries]\n"
    await space.write_file("a/b", "12")
    assert (await space.ls("files".join("//"))).text == "['/files/': 1 entries]\n/files/a/\n"
    assert (await space.ls("a")).text == "['a': 1 entries]\n/files/a/b  2 bytes\n"


async def test_grep_text(space):
    await space.write_file("a", "one\ntwo\nthree\n")
    await space.write_file("b/c", "x" * 500 + "two" + "y" * 500)
    found = await space.grep(Query("two", context=1))
    first, second = found.text.split("--\n")
    assert first == (
        "[2 hits in 2 files searched]\n/files/a-1- one\n/files/a:2: two\n/files/a-3- three\n"
    )
    assert second.startswith("/files/b/c:1 (start_char=500): ...xxxx")
    assert (await space.grep(Query("two"), "/files/b")).hits[0].path == "/files/b/c"
    assert (await space.grep(Query("two"), "b/c")).files == 1
    assert (await space.grep(Query("two", glob="*.md"))).hits == ()
    assert len((await space.grep(Query("two", glob="/files/b/*"), "/files")).hits) == 1
    assert len((await space.grep(Query("two", glob="b/*"), "/files")).hits) == 1
    assert (await space.grep(Query("none"))).text == "[0 hits in 2 files searched]\n"


async def test_namespaces(tmp_path, files):
    artifacts = ArtifactStore(tmp_path / "artifacts")
    mine = await artifacts.put("my result: needle", origin="call 1")
    theirs = await artifacts.put("their result: needle", origin="call 2")
    (tmp_path / "inputs").mkdir()
    (tmp_path / "inputs" / "given.md").write_text("given needle")
    transcripts = MemoryStore()
    for thread in ("lead", "lead.1", "lead.2"):
        await transcripts.write(f"{thread}.md", f"{thread} said needle")
    granted = ArtifactFiles(artifacts, [mine])
    space = Workspace(
        namespaces(
            files,
            inputs=DiskStore(tmp_path / "inputs"),
            artifacts=granted,
            transcripts=View(transcripts, lambda path: path == "lead.1.md"),
        )
    )
    listed = [entry.path for entry in (await space.glob("/**")).entries]
    assert listed == ["/inputs/given.md", mine.path, "/transcripts/lead.1.md"]
    found = await space.grep(Query("needle"))
    assert [hit.path for hit in found.hits] == listed
    assert found.files == 3
    assert (await space.read_file(mine.path)).content == "my result: needle"
    for path in (theirs.path, "/transcripts/lead.md", "/transcripts/lead.2.md"):
        with pytest.raises(FileMissing):
            await space.read_file(path)
    with pytest.raises(PathRefused, match=r"/files, /inputs, /artifacts, /transcripts"):
        await space.read_file("/shared/a")
    for place in ("/inputs/x", mine.path, "/transcripts/lead.1.md"):
        for call in (
            space.write_file(place, "x"),
            space.edit_file(place, "needle", "x"),
            space.delete(place),
        ):
            with pytest.raises(NotWritable, match="under /files"):
                await call
    granted.grant(theirs)
    assert (await space.read_file(theirs.path)).content == "their result: needle"
    assert [entry.path for entry in (await space.ls("/transcripts")).entries] == [
        "/transcripts/lead.1.md"
    ]


async def test_shared_files_are_overwritten_only_as_they_were_read():
    shared = MemoryStore()
    one = Workspace(namespaces(MemoryStore(), shared=shared))
    two = Workspace(namespaces(MemoryStore(), shared=shared))
    await one.write_file("/shared/plan", "one's plan")
    with pytest.raises(WriteConflict, match="read_file"):
        await two.write_file("/shared/plan", "two's plan")
    with pytest.raises(WriteConflict):
        await two.delete("/shared/plan")
    await two.read_file("/shared/plan")
    await two.write_file("/shared/plan", "one's plan, and two's")
    with pytest.raises(WriteConflict):
        await one.write_file("/shared/plan", "one's second plan")
    await one.edit_file("/shared/plan", "one's plan", "first plan")
    with pytest.raises(WriteConflict):  # an edit shows one place, not what others wrote elsewhere
        await one.write_file("/shared/plan", "mine alone")
    page = await one.read_file("/shared/plan")
    assert page.content == "first plan, and two's"
    await one.write_file("/shared/plan", "x", if_hash=page.sha256)
    with pytest.raises(WriteConflict):
        await one.write_file("/shared/plan", "y", if_hash=ABSENT)
    await one.delete("/shared/plan")
    await one.write_file("own", "1")
    await one.write_file("own", "2")


async def test_every_refusal_says_what_to_do_and_names_no_missing_tool(files):
    await files.write("notes/Plan.md", "alpha\n")
    await files.write("two", "a a")

    async def told(tools, call):
        space = Workspace(namespaces(files, inputs=MemoryStore()), tools=tools)
        with pytest.raises(FileError) as caught:
            await call(space)
        return str(caught.value), type(caught.value)

    calls = [
        (
            lambda s: s.read_file("/files/notes/Plam.md"),
            FileMissing,
            "Did you mean '/files/notes/Plan.md'",
        ),
        (lambda s: s.read_file("/files/notes"), IsAFolder, "folder"),
        (lambda s: s.ls("/files/two"), NotAFolder, "file"),
        (lambda s: s.ls("/nowhere"), PathRefused, "/files, /inputs"),
        (
            lambda s: s.write_file("/files/notes/plan.md", "x"),
            NameCollision,
            "/files/notes/Plan.md",
        ),
        (lambda s: s.edit_file("/files/notes/Plan.md", "beta", "x"), EditNoMatch, "does not occur"),
        (lambda s: s.write_file("/inputs/x", "x"), NotWritable, "read-only"),
        (lambda s: s.delete("/files/none"), FileMissing, "no such file"),
        (lambda s: s.grep(Query("x"), "/files/none"), FileMissing, "no such"),
        (lambda s: s.grep(Query("x"), "/files/two/deeper"), NotAFolder, "file"),
    ]
    names = {"read_file", "write_file", "edit_file", "grep", "glob", "delete", "ls"}
    for tools in (names, {"read_file"}, {"glob"}, set()):
        for call, kind, said in calls:
            text, error = await told(tools, call)
            assert error is kind, text
            assert said in text
            for name in names - set(tools):
                assert not re.search(rf"\b{name}\b", text), text


async def test_a_full_quota_is_told(files):
    space = Workspace(namespaces(MemoryStore(quota=Quota(bytes=10))))
    with pytest.raises(QuotaExceeded, match="delete"):
        await space.write_file("a", "x" * 11)


async def test_a_cap_too_small_is_refused(files):
    with pytest.raises(ValueError, match="at least"):
        Workspace(namespaces(files), cap=100)
