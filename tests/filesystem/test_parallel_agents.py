"""Many agents at once in one shared folder: nothing is lost without a word."""

import asyncio
from collections import Counter

import pytest

from filesystem import (
    ABSENT,
    DiskStore,
    MemoryStore,
    Workspace,
    WriteConflict,
    namespaces,
)

AGENTS, FILES = 200, 50


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["memory", "disk"])
async def test_case_R7_200_agents_write_50_files_each(kind, tmp_path):
    """Half of each agent's files have the same names for all; half of the agents write them
    conditionally by themselves, half leave it to the workspace."""
    shared = MemoryStore() if kind == "memory" else DiskStore(tmp_path)
    written: dict[str, str] = {}
    conflicts: Counter[str] = Counter()

    async def agent(number: int) -> None:
        space = Workspace(namespaces(MemoryStore(), shared=shared))
        condition = ABSENT if number % 2 else None
        for n in range(FILES):
            common = n < FILES // 2
            path = f"/shared/{'common' if common else f'agent {number}'}/file {n}.md"
            text = f"agent {number}, file {n}"
            try:
                await space.write_file(path, text, if_hash=condition)
            except WriteConflict:
                conflicts[path] += 1
            else:
                assert path not in written
                written[path] = text

    await asyncio.gather(*(agent(number) for number in range(AGENTS)))
    assert sum(conflicts.values()) == (AGENTS - 1) * FILES // 2
    assert set(conflicts.values()) == {AGENTS - 1}
    listed = await shared.glob()
    assert len(listed) == len(written) == FILES // 2 + AGENTS * FILES // 2
    for entry in listed:
        assert await shared.read(entry.path) == written[f"/shared/{entry.path}"].encode()


@pytest.mark.parametrize("kind", ["memory", "disk"])
async def test_read_then_write_keeps_every_agents_line(kind, tmp_path):
    shared = MemoryStore() if kind == "memory" else DiskStore(tmp_path)
    await shared.write("log", "")

    async def agent(number: int) -> int:
        space = Workspace(namespaces(MemoryStore(), shared=shared))
        refused = 0
        while True:
            page = await space.read_file("/shared/log")
            try:
                await space.write_file("/shared/log", f"{page.content}agent {number}\n")
            except WriteConflict:
                refused += 1
                continue
            return refused

    await asyncio.gather(*(agent(number) for number in range(25)))
    lines = (await shared.read("log")).decode().splitlines()
    assert sorted(lines) == sorted(f"agent {number}" for number in range(25))
