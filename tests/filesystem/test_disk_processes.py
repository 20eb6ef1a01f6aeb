"""One folder, several processes."""

import asyncio
import subprocess
import sys

import pytest

from filesystem import DiskStore, NameCollision, Quota, QuotaExceeded

COUNT = """
import asyncio, hashlib, sys
from pathlib import Path
from filesystem import DiskStore, WriteConflict
async def main():
    store = DiskStore(Path(sys.argv[1]))
    lost = 0
    async def add_one():
        nonlocal lost
        while True:
            seen = await store.read("counter")
            try:
                await store.write("counter", str(int(seen) + 1),
                                  if_hash=hashlib.sha256(seen).hexdigest())
                return
            except WriteConflict:
                lost += 1
    for _ in range(20):
        await asyncio.gather(add_one(), add_one())
        await store.append("log", sys.argv[2] + "\\n")
    print(lost)
asyncio.run(main())
"""


async def test_conditional_writes_hold_between_processes(tmp_path):
    store = DiskStore(tmp_path)
    await store.write("counter", "0")
    running = [
        subprocess.Popen([sys.executable, "-c", COUNT, str(tmp_path), name], stdout=subprocess.PIPE)
        for name in "abc"
    ]
    for process in running:
        assert await asyncio.to_thread(process.wait, 60) == 0
        process.stdout.close()
    assert await store.read("counter") == b"120"
    assert sorted((await store.read("log")).split()) == [b"a"] * 20 + [b"b"] * 20 + [b"c"] * 20


async def test_names_and_quotas_hold_between_two_stores(tmp_path):
    """Two stores on one folder stand for two processes: each keeps its own catalogue."""
    one = DiskStore(tmp_path, quota=Quota(bytes=10, files=3))
    two = DiskStore(tmp_path, quota=Quota(bytes=10, files=3))
    await one.write("Notes.md", "12345")
    with pytest.raises(NameCollision) as caught:
        await two.write("notes.md", "1")
    assert caught.value.existing == "Notes.md"
    await two.write("b", "12345")
    for call in (one.append("b", "6"), one.write("c", "6"), two.append("Notes.md", "6")):
        with pytest.raises(QuotaExceeded):
            await call
    await one.delete("b")
    await two.write("notes", "12345")
    assert [entry.path for entry in await one.glob()] == ["Notes.md", "notes"]
