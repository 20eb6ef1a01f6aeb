"""What every `FileStore` does: one file of assertions, run over each implementation."""

import asyncio
import hashlib
import sys
from collections.abc import AsyncIterator

import pytest

from filesystem import (
    ABSENT,
    BadArgument,
    BadPattern,
    DiskStore,
    EditAmbiguous,
    EditFailed,
    EditNoMatch,
    Entry,
    FileError,
    FileMissing,
    FileStore,
    IsAFolder,
    MemoryStore,
    NameCollision,
    NotAFolder,
    PathRefused,
    Query,
    Quota,
    QuotaExceeded,
    SearchTimedOut,
    WriteConflict,
    confined,
)

TEXTS = [
    "",
    "plain\n",
    "no end",
    "\r\nboth\rkinds\n\r\n",
    "form\ffeed\vand\u2028separators\u2029\x85\x1c",
    "nul\0inside",
    "lone \ud800 and \udfff and a split pair \ud83d\ude00",
    "e\u0301 é 👨‍👩‍👧‍👦 🇩🇪🇫🇷 กำ 각\u1100\u1161",
    "\ufeffmark",
    "\U0010ffff\uffff",
]


@pytest.fixture(params=["memory", "disk", "disk-walk"])
def make(request, tmp_path, monkeypatch):
    if request.param == "memory":
        return MemoryStore
    if request.param == "disk-walk":
        monkeypatch.setattr(confined, "has_openat2", lambda: False)
    elif sys.platform == "linux" and not confined.has_openat2():
        pytest.skip("this kernel has no openat2; the walk is tested beside")
    return lambda **options: DiskStore(tmp_path / "store", **options)


@pytest.fixture
def store(make) -> FileStore:
    return make()


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


async def chunks(*parts: bytes | str) -> AsyncIterator[bytes | str]:
    for part in parts:
        yield part


async def snapshot(store: FileStore) -> dict[str, bytes]:
    return {entry.path: await store.read(entry.path) for entry in await store.glob()}


@pytest.mark.parametrize("text", TEXTS)
async def test_text_comes_back_exactly(store, text):
    data = text.encode("utf-8", "surrogatepass")
    stat = await store.write("a/b.txt", text)
    assert (stat.path, stat.size, stat.sha256) == ("a/b.txt", len(data), sha(data))
    assert await store.read("a/b.txt") == data
    assert await store.stat("a/b.txt") == stat
    assert await store.append("a/b.txt", text) == 2 * len(data)
    assert await store.read("a/b.txt") == data * 2


async def test_ranges_and_streams(store):
    body = bytes(range(256)) * 12_000
    await store.write("big", chunks(body[:5], body[5:2_000_000], b"", body[2_000_000:]))
    assert await store.read("big", 10, 5) == body[10:15]
    assert await store.read("big", len(body) - 1) == body[-1:]
    assert await store.read("big", len(body) + 5) == b""
    assert b"".join([block async for block in store.stream("big")]) == body
    await store.write("mixed", iter(["ä", b"\xff", "z"]))
    assert await store.read("mixed") == b"\xc3\xa4\xffz"
    for bad in ((-1, None), (0, -1)):
        with pytest.raises(BadArgument):
            await store.read("big", *bad)


async def test_a_stream_that_fails_leaves_the_old_content(store):
    await store.write("a", "old")

    async def broken():
        yield b"new"
        raise RuntimeError("source died")

    with pytest.raises(RuntimeError):
        await store.write("a", broken())
    assert await snapshot(store) == {"a": b"old"}


async def test_conditional_changes(store):
    first = await store.write("a", "one", if_hash=ABSENT)
    with pytest.raises(WriteConflict) as caught:
        await store.write("a", "two", if_hash=ABSENT)
    assert caught.value.actual == first.sha256
    for change in (
        store.write("a", "two", if_hash=sha(b"else")),
        store.append("a", "two", if_hash=sha(b"else")),
        store.edit("a", "one", "two", if_hash=sha(b"else")),
        store.delete("a", if_hash=sha(b"else")),
        store.write("b", "two", if_hash=first.sha256),
        store.write("b", chunks(b"two"), if_hash=first.sha256),
    ):
        with pytest.raises(WriteConflict):
            await change
    assert await snapshot(store) == {"a": b"one"}
    second = await store.write("a", "two", if_hash=first.sha256)
    await store.append("a", "!", if_hash=second.sha256)
    edited = await store.edit("a", "two", "three", if_hash=sha(b"two!"))
    await store.delete("a", if_hash=edited.stat.sha256)
    assert await snapshot(store) == {}


async def test_one_winner_of_many_conditional_writers(store):
    await store.write("counter", "0")
    conflicts = 0

    async def add_one() -> None:
        nonlocal conflicts
        while True:
            seen = await store.read("counter")
            try:
                await store.write("counter", str(int(seen) + 1), if_hash=sha(seen))
                return
            except WriteConflict:
                conflicts += 1

    await asyncio.gather(*(add_one() for _ in range(20)))
    assert await store.read("counter") == b"20"


async def test_case_R7_parallel_appends_keep_every_line(store):
    lines = [f"agent {n}\n" for n in range(60)]
    await asyncio.gather(*(store.append("shared/log.md", line) for line in lines))
    kept = (await store.read("shared/log.md")).decode().splitlines(keepends=True)
    assert sorted(kept) == sorted(lines)


async def test_folders_exist_as_long_as_they_hold_files(store):
    await store.write("a/b/one", "1")
    await store.write("a/two", "22")
    assert await store.list() == (Entry("a", None),)
    assert await store.list("a") == (Entry("a/b", None), Entry("a/two", 2))
    assert await store.list("./a//b/") == (Entry("a/b/one", 1),)
    await store.delete("a/b/one")
    assert await store.list("a") == (Entry("a/two", 2),)
    with pytest.raises(FileMissing):
        await store.list("a/b")
    await store.write("a/b", "now a file")
    await store.delete("a/b")
    await store.delete("a/two")
    assert await store.list() == ()


async def test_files_and_folders_do_not_mix(store):
    await store.write("a/b", "1")
    for call in (
        store.read("a"),
        store.stat("a"),
        store.write("a", "x"),
        store.append("a", "x"),
        store.edit("a", "x", "y"),
        store.delete("a"),
    ):
        with pytest.raises(IsAFolder):
            await call
    for call in (
        store.read("a/b/c"),
        store.write("a/b/c", "x"),
        store.append("a/b/c", "x"),
        store.delete("a/b/c"),
        store.list("a/b"),
        store.list("a/b/c"),
    ):
        with pytest.raises(NotAFolder):
            await call
    assert await snapshot(store) == {"a/b": b"1"}


async def test_missing_files(store):
    for call in (
        store.read("no"),
        store.stat("no"),
        store.edit("no", "a", "b"),
        store.delete("no"),
        store.list("no"),
        store.read("no/where"),
    ):
        with pytest.raises(FileMissing):
            await call


BAD_PATHS = [
    "",
    ".",
    "/",
    "/etc/passwd",
    "..",
    "../a",
    "a/../../b",
    "a/..",
    "nul\0name",
    "line\nbreak",
    "x" * 300,
    "é" * 200,
    "/".join(["deep"] * 300),
    "\ud800",
    ".undrift",
    ".undrift/lock",
    ".UNDRIFT/x",
]


@pytest.mark.parametrize("path", BAD_PATHS)
async def test_case_R9_bad_paths_are_refused_alike(store, path):
    await store.write("kept", "1")
    for call in (
        store.read(path),
        store.stat(path),
        store.write(path, "x"),
        store.write(path, chunks(b"x")),
        store.append(path, "x"),
        store.edit(path, "x", "y"),
        store.delete(path),
    ):
        with pytest.raises(PathRefused) as caught:
            await call
        assert str(caught.value)
    if path not in ("", "."):
        with pytest.raises(PathRefused):
            await store.list(path)
    assert await snapshot(store) == {"kept": b"1"}


@pytest.mark.parametrize(
    "path", ["a..b.md", "notes..v2.md", "...", ".hidden", " spaced ", "é ß 你"]
)
async def test_case_R9_odd_but_fine_names(store, path):
    await store.write(path, "x")
    assert await store.read(path) == b"x"
    assert [entry.path for entry in await store.list()] == [path]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Notes.md", "notes.md"),
        ("caf\u00e9", "cafe\u0301"),
        ("Stra\u00dfe", "strasse"),
        ("Dir/a", "dir/b"),
        ("\u00c5/x/y", "A\u030a/x/z"),
        ("dir/a", "DIR"),
    ],
)
async def test_names_that_differ_only_in_form_collide(store, first, second):
    await store.write(first, "1")
    for change in (store.write(second, "2"), store.append(second, "2")):
        with pytest.raises(NameCollision) as caught:
            await change
        assert caught.value.existing in str(caught.value)
    assert await snapshot(store) == {first: b"1"}
    await store.delete(first)
    await store.write(second, "2")
    assert await snapshot(store) == {second: b"2"}


async def test_quotas(make):
    store = make(quota=Quota(bytes=10, files=2))
    await store.write("a", "12345")
    await store.write("b", "12345")
    for change in (
        store.write("c", ""),
        store.write("a", "123456"),
        store.write("a", chunks(b"123456")),
        store.append("a", "6"),
        store.edit("a", "5", "56"),
    ):
        with pytest.raises(QuotaExceeded):
            await change
    assert await snapshot(store) == {"a": b"12345", "b": b"12345"}
    await store.write("a", "1")
    await store.append("b", "6789")
    await store.delete("a")
    await store.write("c", "1")
    assert await snapshot(store) == {"b": b"123456789", "c": b"1"}


async def test_what_is_over_a_quota_may_shrink(tmp_path):
    """A store of an earlier run is opened with less room than it uses."""
    await DiskStore(tmp_path).write("a", "1234567890")
    await DiskStore(tmp_path).write("b", "12345")
    store = DiskStore(tmp_path, quota=Quota(bytes=8, files=1))
    await store.write("a", "123456789")
    with pytest.raises(QuotaExceeded):
        await store.append("a", "0")
    with pytest.raises(QuotaExceeded):
        await store.write("c", "")


async def test_an_endless_stream_stops_at_the_quota(make):
    store = make(quota=Quota(bytes=3_000_000))
    seen = 0

    async def endless():
        nonlocal seen
        while True:
            seen += 1
            yield bytes(100_000)

    with pytest.raises(QuotaExceeded):
        await store.write("a", endless())
    assert seen < 60
    assert await snapshot(store) == {}


async def test_edit_is_exact(store):
    await store.write("a", "one\ntwo\ntwo\n")
    done = await store.edit("a", "one", "1\n")
    assert (done.replaced, done.line) == (1, 1)
    with pytest.raises(EditAmbiguous, match="2 times, on lines 3, 4"):
        await store.edit("a", "two", "2")
    done = await store.edit("a", "two", "2", every=True)
    assert (done.replaced, done.line) == (2, 3)
    assert await store.read("a") == b"1\n\n2\n2\n"
    for old, new, error in (
        ("", "x", BadArgument),
        ("2", "2", BadArgument),
        ("z", "", EditNoMatch),
    ):
        with pytest.raises(error):
            await store.edit("a", old, new)
    await store.write("binary", b"\xff\xfe")
    with pytest.raises(EditFailed):
        await store.edit("binary", "x", "y")
    await store.write("sub", r"\1 \g<0> \n" + "\ud800")
    await store.edit("sub", "\ud800", r"\2")
    assert await store.read("sub") == rb"\1 \g<0> \n\2"


async def test_glob(store):
    for path in ("a.md", "b/c.md", "b/d/e.md", "b/d/f.txt", "cafe\u0301.md", ".h/x.md"):
        await store.write(path, "x")

    async def found(pattern):
        return [entry.path for entry in await store.glob(pattern)]

    assert await found("**") == [
        ".h/x.md",
        "a.md",
        "b/c.md",
        "b/d/e.md",
        "b/d/f.txt",
        "cafe\u0301.md",
    ]
    assert await found("*.md") == ["a.md", "cafe\u0301.md"]
    assert await found("**/*.md") == [".h/x.md", "a.md", "b/c.md", "b/d/e.md", "cafe\u0301.md"]
    assert await found("b/**/e.md") == ["b/d/e.md"]
    assert await found("b/*") == ["b/c.md"]
    assert await found("b/?/[ef].*") == ["b/d/e.md", "b/d/f.txt"]
    assert await found("caf\u00e9.*") == ["cafe\u0301.md"]
    assert await found("../*") == []
    with pytest.raises(BadPattern):
        await store.glob("*" * 2_000)


async def test_grep_lines_and_context(store):
    await store.write(
        "a.txt", "one\r\ntwo\ffeed\u2028still two\nneedle three\r\nfour\n\nneedle six"
    )
    hits = (await store.grep(Query("needle", context=2))).hits
    assert [(hit.line, hit.column, hit.text) for hit in hits] == [
        (3, 0, "needle three"),
        (6, 0, "needle six"),
    ]
    assert hits[0].before == ("one", "two\ffeed\u2028still two")
    assert hits[0].after == ("four", "")
    assert hits[1].before == ("four", "")
    assert hits[1].after == ()
    text = (await store.read("a.txt")).decode()
    assert [text[hit.char :][:6] for hit in hits] == ["needle", "needle"]


@pytest.mark.parametrize("regex", [False, True])
async def test_grep_is_blind_to_normal_forms(store, regex):
    await store.write("composed", "x\nle caf\u00e9 noir")
    await store.write("decomposed", "x\nle cafe\u0301 noir\u0301 cafe\u0301")
    await store.write("other", "cafe Cafe\u0301")
    for wanted in ("caf\u00e9", "cafe\u0301"):
        found = await store.grep(Query(wanted, regex=regex))
        assert [(hit.path, hit.line, hit.column) for hit in found.hits] == [
            ("composed", 2, 3),
            ("decomposed", 2, 3),
        ]
    found = await store.grep(Query("CAFE\u0301 N", regex=regex, ignore_case=True))
    assert [hit.path for hit in found.hits] == ["composed", "decomposed"]
    found = await store.grep(Query("noir\u0301", regex=regex))
    assert [(hit.column, hit.text[hit.column :][:5]) for hit in found.hits] == [(9, "noir\u0301")]


async def test_grep_by_regular_expression(store):
    await store.write("a", "alpha 1\r\nbeta 22\r\n")
    await store.write("b/c", "gamma 333")
    found = await store.grep(Query(r"^\w+ \d{2,}$", regex=True))
    assert [(hit.path, hit.line) for hit in found.hits] == [("a", 2), ("b/c", 1)]
    assert (found.files, found.more) == (2, False)
    found = await store.grep(Query(r"\r$", regex=True))
    assert [(hit.path, hit.line) for hit in found.hits] == [("a", 1), ("a", 2)]
    found = await store.grep(Query("a", glob="b/**"))
    assert [(hit.path, hit.line) for hit in found.hits] == [("b/c", 1)]
    found = await store.grep(Query(".", regex=True, limit=2))
    assert (len(found.hits), found.more) == (2, True)
    with pytest.raises(BadPattern, match="unterminated"):
        await store.grep(Query("(", regex=True))
    with pytest.raises(BadArgument):
        await store.grep(Query(""))


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|aa)+$", r"(.*a){25}b"])
async def test_a_pattern_that_backtracks_is_stopped(store, pattern):
    await store.write("a", "a" * 5_000 + "!")
    with pytest.raises(SearchTimedOut):
        await store.grep(Query(pattern, regex=True, seconds=0.5))
    assert len((await store.grep(Query("a+!", regex=True))).hits) == 1


async def test_grep_in_long_lines_and_large_files(store):
    needle = "n\u00e9edle"
    line = "x" * 4_194_300 + needle + "\u00fc" * 3_000_000 + needle
    await store.write("long", "first\n" + line)
    for query in (Query(needle), Query("n.edle", regex=True)):
        found = (await store.grep(query)).hits
        assert [(hit.line, hit.column) for hit in found] == [(2, 4_194_300), (2, 7_194_306)]
        assert [hit.char for hit in found] == [4_194_306, 7_194_312]
        assert all(needle in hit.text and not hit.is_whole for hit in found)
        assert all(line[hit.text_column :].startswith(hit.text) for hit in found)
    lines = [f"line {n} {'needle' if n % 1_000 == 0 else 'hay'}" for n in range(400_000)]
    await store.write("many", "\n".join(lines))
    found = (await store.grep(Query("needle", glob="many", context=2))).hits
    assert [hit.line for hit in found] == list(range(1, 400_000, 1_000))
    for hit in found:
        at = hit.line - 1
        assert hit.text == lines[at]
        assert (hit.before, hit.after) == (
            tuple(lines[max(at - 2, 0) : at]),
            tuple(lines[at + 1 : at + 3]),
        )


async def test_every_refusal_is_a_file_error_that_names_the_path(store):
    with pytest.raises(FileError) as caught:
        await store.read("not/here.md")
    assert "'not/here.md'" in str(caught.value)
