"""The researcher's tools: what one call shows, and how reading goes on."""

from pathlib import Path

import pytest

from agents import ToolError
from filesystem import FolderCorpus
from orchestrator.researching.search_tools import READ_CHARACTERS, READ_LINES, search_tools


async def test_reading_on_shows_every_line_of_any_length(tmp_path: Path) -> None:
    lines = ["long " * 1_000, *("short " + str(n) for n in range(300)), *(["wide " * 999] * 9)]
    lines.append("end")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("\n".join(lines))
    corpus = await FolderCorpus.open([tmp_path / "docs"], tmp_path / "index.db")
    read_source = search_tools(corpus)[1].function
    seen: list[str] = []
    more = "first"
    while more:
        found = await read_source(source="a.txt", line=len(seen) + 1)
        shown, more = found["text"].split("\n"), found["next"]
        assert len(found["text"]) <= READ_CHARACTERS
        assert len(shown) <= READ_LINES
        assert found["lines"] == f"{len(seen) + 1}-{len(seen) + len(shown)} of {len(lines)}"
        seen += shown
        assert not more or more == f"read_source(source='a.txt', line={len(seen) + 1})"
    assert seen == lines
    with pytest.raises(ToolError, match="has 311 lines"):
        await read_source(source="a.txt", line=900)
    await corpus.close()


async def test_a_line_without_end_is_cut_and_passed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("word " * 10_000 + "\nend")
    corpus = await FolderCorpus.open([tmp_path / "a.txt"], tmp_path / "index.db")
    read_source = search_tools(corpus)[1].function
    found = await read_source(source="a.txt")
    assert (len(found["text"]), found["next"]) == (
        READ_CHARACTERS,
        "read_source(source='a.txt', line=2)",
    )
    await corpus.close()
