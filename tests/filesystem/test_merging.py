"""Taking a child's files over."""

import asyncio

import pytest

from filesystem import DiskStore, MemoryStore, Merger, MergeRule, Version, snapshot


@pytest.fixture(params=["memory", "disk"])
def make(request, tmp_path):
    if request.param == "memory":
        return lambda name: MemoryStore()
    return lambda name: DiskStore(tmp_path / name)


async def child_of(parent, store):
    """Start a child's store with the parent's files, as a coordinator hands them over."""
    for entry in await parent.glob():
        await store.write(entry.path, parent.stream(entry.path))
    return store, await snapshot(store)


async def contents(store):
    return {e.path: (await store.read(e.path)).decode() for e in await store.glob()}


async def test_changes_and_deletions_arrive(make):
    parent = make("parent")
    for path, text in (
        ("same", "1"),
        ("edited", "1"),
        ("gone", "1"),
        ("parents", "1"),
        ("d/x", "1"),
    ):
        await parent.write(path, text)
    child, base = await child_of(parent, make("child"))
    await child.write("edited", "2")
    await child.write("new/file", "3")
    await child.delete("gone")
    await child.delete("d/x")
    await child.write("d", "a file where a folder was")
    await parent.write("parents", "4")
    report = await Merger(parent, "lead").merge("researcher", child, base=base)
    assert (report.written, report.deleted) == (("d", "edited", "new/file"), ("d/x", "gone"))
    assert report.conflicts == ()
    assert await contents(parent) == {
        "same": "1",
        "edited": "2",
        "parents": "4",
        "new/file": "3",
        "d": "a file where a folder was",
    }


async def test_two_children_that_changed_one_path(make):
    parent = make("parent")
    await parent.write("notes.md", "base")
    one, base_one = await child_of(parent, make("one"))
    two, base_two = await child_of(parent, make("two"))
    await one.write("notes.md", "one's")
    await one.write("fresh.md", "one's")
    await two.write("notes.md", "two's")
    await two.write("fresh.md", "two's")
    merger = Merger(parent, "lead")
    assert (await merger.merge("one", one, base=base_one)).conflicts == ()
    report = await merger.merge("two", two, base=base_two)
    assert report.written == ()
    hashes_one, hashes_two = await snapshot(one), await snapshot(two)
    for conflict, path in zip(report.conflicts, ("fresh.md", "notes.md"), strict=True):
        assert conflict.path == path
        assert conflict.kept == Version("one", path, hashes_one[path])
        assert conflict.other == Version("two", f"conflicts/two/{path}", hashes_two[path])
        assert "one" in str(conflict)
        assert f"conflicts/two/{path}" in str(conflict)
    assert await contents(parent) == {
        "notes.md": "one's",
        "fresh.md": "one's",
        "conflicts/two/notes.md": "two's",
        "conflicts/two/fresh.md": "two's",
    }


async def test_a_change_against_a_deletion(make):
    parent = make("parent")
    await parent.write("a", "base")
    await parent.write("b", "base")
    one, base_one = await child_of(parent, make("one"))
    two, base_two = await child_of(parent, make("two"))
    await one.delete("a")
    await one.write("b", "one's")
    await two.write("a", "two's")
    await two.delete("b")
    merger = Merger(parent, "lead")
    await merger.merge("one", one, base=base_one)
    report = await merger.merge("two", two, base=base_two)
    on_b, on_a = report.conflicts
    assert (on_a.kept, on_a.other.path) == (Version("one", "a", None), "conflicts/two/a")
    assert (on_b.kept.owner, on_b.other) == ("one", Version("two", "b", None))
    assert await contents(parent) == {"b": "one's", "conflicts/two/a": "two's"}
    assert "one deleted it" in str(on_a)


async def test_equal_changes_and_repeated_merges_are_no_conflict(make):
    parent = make("parent")
    await parent.write("a", "base")
    one, base_one = await child_of(parent, make("one"))
    two, base_two = await child_of(parent, make("two"))
    for child in (one, two):
        await child.write("a", "the same")
    await two.write("b", "two's")
    await one.write("b", "one's")
    for _ in range(2):  # a coordinator that was killed merges again, with a new merger
        merger = Merger(parent, "lead")
        assert (await merger.merge("one", one, base=base_one)).conflicts == ()
        report = await merger.merge("two", two, base=base_two)
        assert [conflict.path for conflict in report.conflicts] == ["b"]
    assert await contents(parent) == {"a": "the same", "b": "one's", "conflicts/two/b": "two's"}


async def test_names_that_collide_are_conflicts(make):
    parent = make("parent")
    await parent.write("Notes.md", "parent's")
    await parent.write("folder/x", "parent's")
    child = make("child")
    await child.write("notes.md", "child's")
    await child.write("folder", "child's")
    report = await Merger(parent, "lead").merge("child", child, base={})
    assert [(c.path, c.kept.path, c.kept.owner) for c in report.conflicts] == [
        ("folder", "folder", "lead"),
        ("notes.md", "Notes.md", "lead"),
    ]
    assert await contents(parent) == {
        "Notes.md": "parent's",
        "folder/x": "parent's",
        "conflicts/child/folder": "child's",
        "conflicts/child/notes.md": "child's",
    }


async def test_beside_touches_nothing_of_the_parents(make):
    parent = make("parent")
    await parent.write("a", "base")
    await parent.write("b", "base")
    child, base = await child_of(parent, make("child"))
    await child.write("a", "child's")
    await child.delete("b")
    merger = Merger(parent, "lead")
    report = await merger.merge("child", child, base=base, rule=MergeRule.BESIDE)
    assert (report.written, report.deleted, report.conflicts) == (("child/a",), ("b",), ())
    await child.write("a", "child's second")
    report = await merger.merge("child", child, base=base, rule=MergeRule.BESIDE)
    assert report.written == ("child-2/a",)
    assert await contents(parent) == {
        "a": "base",
        "b": "base",
        "child/a": "child's",
        "child-2/a": "child's second",
    }


async def test_many_children_at_once_lose_nothing(make):
    parent = make("parent")
    merger = Merger(parent, "lead")

    async def work(n):
        child = make(f"child-{n}")
        await child.write("summary.md", f"summary of {n}")
        await child.write(f"own-{n}.md", f"own of {n}")
        return await merger.merge(f"child-{n}", child, base={})

    reports = await asyncio.gather(*(work(n) for n in range(20)))
    assert sum(len(report.conflicts) for report in reports) == 19
    kept = await contents(parent)
    assert sorted(kept.values()) == sorted(
        [f"summary of {n}" for n in range(20)] + [f"own of {n}" for n in range(20)]
    )
