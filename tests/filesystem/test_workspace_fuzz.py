"""Random calls with random arguments: only typed errors, and the rules hold."""

import random
import string

import pytest

from filesystem import (
    ArtifactFiles,
    ArtifactStore,
    DiskStore,
    FileError,
    MemoryStore,
    Query,
    Quota,
    View,
    Workspace,
    namespaces,
)

CALLS = 10_000
BITS = [
    "..", ".", "", "/", "a", "A", "e\u0301", "\u00e9", "\0", "\n", "\r\n", "\ud800", "*", "**", "[", "]",
    "a..b.md", "x" * 300, "files", "inputs", "shared", "transcripts", "artifacts", ".undrift",
    "\u2028", "\f", " ", "\u202e", "\U0001f468\u200d", "given.md", "link", "(", ")+", "|", "\\", "{9}",
]  # fmt: skip


class Fuzz:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def path(self) -> str:
        choice = self.random.random()
        if choice < 0.75:
            return f"/{self.random.choice(['files', 'shared', 'inputs'])}/{self.random.choice('abcde')}"
        return "/".join(self.random.choices(BITS, k=self.random.randint(0, 5)))

    def text(self) -> str:
        letters = string.ascii_lowercase[:4] + "\n"
        parts = self.random.choices([*BITS, *letters * 4], k=self.random.randint(0, 30))
        return "".join(parts) * self.random.choice([1, 1, 1, 100])

    def number(self) -> int:
        return self.random.choice([-(10**12), -1, 0, 1, 1, 2, 2, 3, 40, 10**12])

    def some(self, value: object) -> object:
        return self.random.choice([None, value])

    def call(self, space: Workspace):
        pick = self.random.randrange(20)
        if pick < 4:
            return space.write_file(self.path(), self.text(), if_hash=self.some("0" * 64))
        if pick < 8:
            return space.edit_file(
                self.path(), self.text()[:3], self.text(), every=self.random.random() < 0.5
            )
        if pick < 11:
            return space.read_file(
                self.path(),
                start_line=self.random.choice([1, self.number()]),
                lines=self.some(self.number()),
                start_char=self.some(self.number()),
                chars=self.some(self.number()),
            )
        if pick < 13:
            return space.delete(self.path())
        if pick < 15:
            return space.ls(self.path(), start=self.random.choice([0, self.number()]))
        if pick < 17:
            return space.glob(self.path(), start=self.random.choice([0, self.number()]))
        return self.grep(space)

    async def grep(self, space: Workspace):
        query = Query(
            self.text()[: self.random.choice([1, 5, 2_000])],
            regex=self.random.random() < 0.05,
            ignore_case=self.random.random() < 0.5,
            glob=self.random.choice(["**", self.path()]),
            context=self.random.choice([0, 2, self.number()]),
            seconds=2,
        )
        return await space.grep(query, self.path(), start=self.random.choice([0, self.number()]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["memory", "disk"])
async def test_10000_random_calls(kind, tmp_path):
    quota = Quota(bytes=200_000, files=50)
    given = tmp_path / "given"
    given.mkdir()
    (given / "given.md").write_text("given\r\nwords\n")
    (given / "link").symlink_to("/etc/passwd")
    artifacts = ArtifactStore(tmp_path / "artifacts")
    ref = await artifacts.put("x" * 100_000, origin="")
    store = MemoryStore(quota=quota) if kind == "memory" else DiskStore(tmp_path / "f", quota=quota)
    shared = MemoryStore(quota=quota)
    transcripts = MemoryStore()
    await transcripts.write("secret.md", "another agent's words")
    folders = namespaces(
        store,
        inputs=DiskStore(given),
        artifacts=ArtifactFiles(artifacts, [ref]),
        transcripts=View(transcripts, lambda path: False),
        shared=shared,
    )
    space = Workspace(folders, cap=5_000)
    fuzz = Fuzz(7)
    done = refused = 0
    for n in range(CALLS):
        try:
            text = (await fuzz.call(space)).text
            done += 1
        except FileError as error:
            text = str(error)
            refused += 1
        assert len(text) <= space.cap
        assert "another agent's words" not in text
        assert "root:" not in text
        if n % 500 == 0:
            await check(store, quota)
    await check(store, quota)
    await check(shared, quota)
    assert done > CALLS // 10
    assert refused > CALLS // 10
    assert (given / "given.md").read_text() == "given\r\nwords\n".replace("\r\n", "\n")
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "f") == [
        "artifacts",
        "given",
    ]


async def check(store, quota):
    """The listing is true, and within the quota."""
    entries = await store.glob()
    assert len(entries) <= quota.files
    assert sum(entry.size for entry in entries) <= quota.bytes
    for entry in entries:
        stat = await store.stat(entry.path)
        assert (stat.size, len(await store.read(entry.path))) == (entry.size, entry.size)
