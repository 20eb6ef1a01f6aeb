"""Attempts to leave a disk store's folder, each with both ways of opening."""

import contextlib
import os
import shutil
import socket
import sys
import threading

import pytest

from filesystem import DiskStore, FileError, FileMissing, PathRefused, Query, UnsafeFile, confined


@pytest.fixture(params=["openat2", "walk"])
def place(request, tmp_path, monkeypatch):
    if request.param == "walk":
        monkeypatch.setattr(confined, "has_openat2", lambda: False)
    elif not confined.has_openat2():
        pytest.skip("this kernel has no openat2")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("the secret")
    inside = tmp_path / "store"
    return DiskStore(inside), inside, outside


async def chunks():
    yield b"new"


async def attempts(store, path):
    """Every way to touch `path`, each of which must be refused."""
    for call in (
        lambda: store.read(path),
        lambda: store.stat(path),
        lambda: anext(store.stream(path)),
        lambda: store.write(path, "new"),
        lambda: store.write(path, chunks()),
        lambda: store.append(path, "new"),
        lambda: store.edit(path, "secret", "public"),
        lambda: store.delete(path),
    ):
        with pytest.raises(UnsafeFile) as caught:
            await call()
        assert "Use another path" in str(caught.value)
    await alive(store)


async def alive(store):
    """The run goes on, and neither listing nor search shows what is outside."""
    await store.write("fine", "public words")
    found = await store.grep(Query("the secret"))
    assert found.hits == ()
    assert "fine" in [entry.path for entry in await store.list()]
    assert all(entry.path == "fine" for entry in await store.glob())


def unchanged(outside):
    assert [path.name for path in outside.iterdir()] == ["secret"]
    assert (outside / "secret").read_text() == "the secret"


async def test_a_link_to_a_file_outside(place):
    store, inside, outside = place
    (inside / "link").symlink_to(outside / "secret")
    (inside / "dangling").symlink_to(outside / "new")
    await attempts(store, "link")
    for call in (
        store.read("dangling"),
        store.write("dangling", "x"),
        store.append("dangling", "x"),
    ):
        with pytest.raises(FileError):
            await call
    unchanged(outside)


async def test_a_link_to_a_folder_outside(place):
    store, inside, outside = place
    (inside / "folder").symlink_to(outside, target_is_directory=True)
    await attempts(store, "folder/secret")
    for call in (store.list("folder"), store.write("folder/new", "x"), store.write("folder", "x")):
        with pytest.raises(UnsafeFile):
            await call
    unchanged(outside)


async def test_a_link_that_stays_inside_is_refused_too(place):
    store, inside, _ = place
    await store.write("real", "x")
    (inside / "link").symlink_to("real")
    with pytest.raises(UnsafeFile):
        await store.read("link")


@pytest.mark.skipif(sys.platform != "linux", reason="magic links are Linux's")
async def test_magic_links(place):
    store, inside, _ = place
    fd = os.open("/etc/hostname", os.O_RDONLY)
    try:
        (inside / "magic").symlink_to(f"/proc/self/fd/{fd}")
        (inside / "root").symlink_to("/proc/self/root")
        for path in ("magic", "root/etc/hostname", "root"):
            with pytest.raises(UnsafeFile):
                await store.read(path)
    finally:
        os.close(fd)
    await alive(store)


async def test_pipes_sockets_and_devices(place):
    store, inside, _ = place
    os.mkfifo(inside / "pipe")
    await attempts(store, "pipe")
    (inside / "pipe").unlink()
    listening = socket.socket(socket.AF_UNIX)
    old = os.getcwd()
    os.chdir(inside)  # a socket's path is limited to about 100 bytes
    try:
        listening.bind("socket")
    finally:
        os.chdir(old)
    await attempts(store, "socket")
    listening.close()


async def test_a_device(place):
    store, inside, _ = place
    try:
        os.mknod(inside / "zero", 0o666 | 0o020000, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("making a device needs root")
    await attempts(store, "zero")


async def test_a_hard_link_to_outside(place):
    store, inside, outside = place
    os.link(outside / "secret", inside / "hard")
    await attempts(store, "hard")
    unchanged(outside)


@pytest.mark.parametrize(
    "path",
    [
        "../outside/secret",
        "a/../../outside/secret",
        "/etc/passwd",
        "nul\0",
        "n" * 300,
        "..",
        "a\nb",
    ],
)
async def test_bad_paths(place, path):
    store, _, outside = place
    for call in (store.read(path), store.write(path, "x"), store.list(path), store.delete(path)):
        with pytest.raises(PathRefused):
            await call
    await alive(store)
    unchanged(outside)


@pytest.mark.parametrize("at", ["leaf", "folder"])
async def test_a_link_swapped_in_during_the_open(place, at):
    """A second thread swaps a file (or its folder) for a link, again and again, while we work."""
    store, inside, outside = place
    await store.write("folder/secret", "inside")
    target = inside / "folder" / "secret" if at == "leaf" else inside / "folder"
    aside = inside / ".aside"
    stop = threading.Event()
    swaps = 0

    def swap():
        nonlocal swaps
        while not stop.is_set():
            try:
                os.rename(target, aside)
                target.symlink_to(outside / "secret" if at == "leaf" else outside)
                os.unlink(target)
                os.rename(aside, target)
                swaps += 1
            except OSError:
                # An append got between and made the path anew; start again from what was there.
                if aside.exists():
                    if target.is_dir() and not target.is_symlink():
                        shutil.rmtree(target, ignore_errors=True)
                    else:
                        target.unlink(missing_ok=True)
                    with contextlib.suppress(OSError):
                        os.rename(aside, target)

    thread = threading.Thread(target=swap)
    thread.start()
    seen: set[str] = set()
    try:
        for _ in range(300):
            for call in (
                lambda: store.read("folder/secret"),
                lambda: store.append("folder/secret", ""),
                lambda: store.grep(Query("the secret")),
            ):
                try:
                    result = await call()
                except FileError as error:
                    seen.add(type(error).__name__)
                else:
                    seen.add("done")
                    assert result != b"the secret"
                    assert getattr(result, "hits", ()) == ()
    finally:
        stop.set()
        thread.join()
    assert swaps > 10
    assert "done" in seen
    assert seen <= {"done", "UnsafeFile", "FileMissing", "NotAFolder", "IsAFolder", "StorageFailed"}
    unchanged(outside)


async def test_the_stores_own_folder_is_out_of_reach(place):
    store, inside, outside = place
    await store.write("a", "x")
    assert (inside / ".undrift" / "lock").exists()
    assert [entry.path for entry in await store.list()] == ["a"]
    (inside / ".undrift" / "lock").unlink()
    (inside / ".undrift").rmdir()
    (inside / ".undrift").symlink_to(outside, target_is_directory=True)
    with pytest.raises(UnsafeFile):
        await store.write("a", "y")
    unchanged(outside)


async def test_reading_a_folder_leaves_no_trace(place):
    store, inside, _ = place
    (inside / "given.md").write_text("x")
    assert await store.read("given.md") == b"x"
    await store.glob()
    with pytest.raises(FileMissing):
        await store.read("no")
    assert os.listdir(inside) == ["given.md"]
