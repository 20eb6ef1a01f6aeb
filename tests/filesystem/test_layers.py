"""Two read-only places under one name."""

import pytest

from filesystem import FileMissing, Layers, MemoryStore, NotWritable, Query


async def layers() -> Layers:
    upper, lower = MemoryStore(), MemoryStore()
    for path in ("both.md", "b/handed.md"):
        await upper.write(path, "a pin\nof the upper")
    for path in ("a.md", "both.md", "b/deep/c.md", "z.md"):
        await lower.write(path, "a pin\nof the lower")
    return Layers(upper, lower)


async def test_what_is_in_either_is_there_and_the_upper_one_goes_first():
    store = await layers()
    every = ["a.md", "b/deep/c.md", "b/handed.md", "both.md", "z.md"]
    assert [entry.path for entry in await store.glob()] == every
    assert [entry.path for entry in await store.glob("b/**")] == every[1:3]
    assert [(e.path, e.size is None) for e in await store.list()] == [
        ("a.md", False),
        ("b", True),
        ("both.md", False),
        ("z.md", False),
    ]
    assert (await store.read("both.md")).endswith(b"upper")
    assert b"".join([block async for block in store.stream("a.md")]).endswith(b"lower")
    assert (await store.stat("b/handed.md")).path == "b/handed.md"
    with pytest.raises(FileMissing):
        await store.read("absent")
    with pytest.raises(NotWritable):
        await store.write("new.md", "x")


async def test_a_search_goes_through_both_in_order_and_never_shows_what_is_hidden():
    store = await layers()
    found = await store.grep(Query("pin"))
    assert [hit.path for hit in found.hits] == [entry.path for entry in await store.glob()]
    assert (found.files, found.more) == (5, False)
    assert [
        hit.path for hit in (await store.grep(Query("lower"))).hits if hit.path == "both.md"
    ] == []
    for limit in range(1, 6):
        part = await store.grep(Query("pin", limit=limit))
        assert part.hits == found.hits[:limit]
        assert part.more is (limit < 5)
    only = await store.grep(Query("pin", allow=lambda path: path == "b/handed.md"))
    assert [hit.path for hit in only.hits] == ["b/handed.md"]
