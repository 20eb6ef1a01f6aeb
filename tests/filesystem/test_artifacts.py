"""Bodies named by their hash."""

import asyncio
import hashlib
import os
import stat
import subprocess
import sys
import tracemalloc

import pytest

from filesystem import ArtifactStore, BadArgument, FileMissing, StorageFailed


@pytest.fixture
def store(tmp_path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "artifacts")


async def parts(*chunks):
    for chunk in chunks:
        yield chunk


@pytest.mark.parametrize(
    "body", ["", "text\r\n", "\ud800 lone", "nul \0 \f \u2028", b"\xff\xfe\0", "é" * 70_000]
)
async def test_case_R10_any_body_comes_back(store, body):
    data = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
    ref = await store.put(body, origin="call 1")
    assert (ref.sha256, ref.size) == (hashlib.sha256(data).hexdigest(), len(data))
    assert await store.read(ref) == await store.read(ref.path) == data
    assert await store.read(ref, 1, 2) == data[1:3]
    assert ref.origin == "call 1"
    found = await store.stat(ref.path)
    assert (found.sha256, found.size, found.lines, found.kind) == (
        ref.sha256,
        ref.size,
        ref.lines,
        ref.kind,
    )


async def test_streams_are_stored_as_the_whole_body(store):
    whole = await store.put("aé\nb" * 400_000, origin="a")
    streamed = await store.put(parts(*["aé", b"\nb"] * 400_000), origin="b")
    iterated = await store.put(iter(["aé\nb"] * 400_000), origin="c")
    assert whole.sha256 == streamed.sha256 == iterated.sha256
    assert whole.lines == streamed.lines == 400_001
    assert store.names() == (whole.sha256,)
    assert len(os.listdir(store.folder)) == 1


async def test_case_R3_equal_call_ids_never_meet(store):
    first = await store.put("result of the first", origin="call_1")
    second = await store.put("result of the second", origin="call_1")
    assert first.path != second.path
    assert await store.read(first.path) == b"result of the first"
    assert await store.read(second.path) == b"result of the second"
    many = await asyncio.gather(*(store.put(f"body {n % 7}", origin="call_1") for n in range(70)))
    assert len({ref.path for ref in many}) == 7
    for n, ref in enumerate(many):
        assert await store.read(ref) == f"body {n % 7}".encode()


@pytest.mark.parametrize(
    ("body", "kind", "ending"),
    [
        ("plain words", "text/plain", "txt"),
        ('{"a": 1}', "application/json", "json"),
        (" [1, 2]\n", "application/json", "json"),
        ("a,b\n1,2\n3,4\n", "text/csv", "csv"),
        ("a;b\n1;2\n3;4\n", "text/csv", "csv"),
        ("a\tb\n1\t2\n3\t4\n", "text/tab-separated-values", "tsv"),
        ("Well, yes.\nNo, never.\nWell, yes.\n", "text/plain", "txt"),
        (b"\xff\xfe\0\1", "application/octet-stream", "bin"),
        ("a\0b\0" * 50, "application/octet-stream", "bin"),
        ("", "text/plain", "txt"),
        (b"%PDF-1.7 ...", "application/pdf", "pdf"),
    ],
)
async def test_kinds_are_guessed(store, body, kind, ending):
    ref = await store.put(body, origin="")
    assert (ref.kind, ref.path.rpartition(".")[2]) == (kind, ending)
    assert ref.path.startswith(f"/artifacts/{ref.sha256[:16]}.")


async def test_one_body_under_two_kinds_is_stored_once(store):
    plain = await store.put("# title", origin="a")
    marked = await store.put("# title", kind="text/markdown", origin="b")
    assert (plain.name[-3:], marked.name[-3:]) == ("txt", ".md")
    assert await store.read(marked.path) == await store.read(plain.path) == b"# title"
    assert len(os.listdir(store.folder)) == 1


async def test_a_second_store_on_the_folder_finds_the_bodies(store):
    ref = await store.put("kept", origin="a")
    again = ArtifactStore(store.folder)
    assert await again.read(ref) == await again.read(ref.path) == b"kept"
    other = await again.put("later", origin="b")
    assert await store.read(other.path) == b"later"


@pytest.mark.parametrize(
    "path", ["", "/artifacts/", "/artifacts/0123456789abcdef.txt", "../../etc/passwd", "ab.txt"]
)
async def test_unknown_names(store, path):
    await store.put("x", origin="")
    with pytest.raises(FileMissing):
        await store.read(path)


async def test_a_stream_that_fails_leaves_nothing(store):
    async def broken():
        yield b"x" * 3_000_000
        raise RuntimeError("source died")

    with pytest.raises(RuntimeError, match="source died"):
        await store.put(broken(), origin="")
    assert os.listdir(store.folder) == []
    with pytest.raises(BadArgument):
        await store.read((await store.put("x", origin="")), -1)


async def test_a_cancelled_stream_leaves_nothing(store):
    started = asyncio.Event()

    async def endless():
        while True:
            yield b"x" * 3_000_000
            started.set()
            await asyncio.sleep(0)

    task = asyncio.create_task(store.put(endless(), origin=""))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [name for name in os.listdir(store.folder) if not name.startswith(".")] == []


async def test_bodies_are_for_the_owner_only(store):
    ref = await store.put("secret", origin="")
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((store.folder / f"{ref.sha256}.txt").stat().st_mode) == 0o600


async def test_a_half_body_under_the_name_is_replaced(store):
    ref = await store.put("whole body", origin="")
    (store.folder / f"{ref.sha256}.txt").write_bytes(b"whole")  # as a machine crash may leave it
    again = await store.put("whole body", origin="")
    assert await store.read(again) == b"whole body"


FULL_DISK = """
import asyncio, resource, signal, sys
from pathlib import Path
from filesystem import ArtifactStore, DiskStore, RunFolder, StorageFailed
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
async def main(root):
    run = RunFolder.create(root, "r")
    store, files = ArtifactStore(run.artifacts), DiskStore(run.files / "a")
    run.write_text("report.md", "old")
    await files.write("a", "old")
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
    big = "x" * 100_000
    async def chunks():
        yield big
    async def change():
        for call in (lambda: store.put(big, origin=""), lambda: store.put(chunks(), origin=""),
                     lambda: files.write("a", big), lambda: files.write("a", chunks()),
                     lambda: files.append("a", big), lambda: files.append("b", big)):
            try:
                await call()
            except StorageFailed as error:
                print("refused:", error)
        try:
            run.write_text("report.md", big)
        except StorageFailed as error:
            print("refused:", error)
    await change()
    print(run.report_md.read_text(), await files.read("a"), [e.path for e in await files.glob()])
    print(sorted(p.name for p in run.path.rglob("*") if p.is_file()))
asyncio.run(main(Path(sys.argv[1])))
"""


def test_a_full_disk_is_told_and_keeps_what_was(tmp_path):
    """A limit on file size stands for the full disk: the system refuses in the middle of a write."""
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)], capture_output=True, text=True, check=True
    )
    *refused, kept, names = done.stdout.splitlines()
    assert len(refused) == 7
    assert kept == "old b'old' ['a']"
    assert names == str(["a", "lock", "report.md", "run.json"])


async def test_memory_stays_small_while_a_large_body_streams(store):
    block = b"0123456789abcde\n" * 4_096

    async def body():
        for _ in range(320):
            yield block

    tracemalloc.start()
    ref = await store.put(body(), origin="")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (ref.size, ref.lines) == (320 * 65_536, 320 * 4_096)
    assert peak < 8 << 20
    assert (await store.read(ref, ref.size - 1)) == b"\n"


async def test_no_permission_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageFailed):
        await ArtifactStore(tmp_path / "file" / "below").put("x", origin="")
