"""Searching a folder: order, stale files, hostile queries, the gate, many searches at once."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from filesystem import FolderCorpus

NOTES = {
    "ops/report_2026.md": "# Operations 2026\n\nThe fleet has 3,120 robots at 47 sites.",
    "ops/archive/report_2024.md": "# Operations 2024\n\nThe fleet has 1,180 robots at 21 sites.",
    "ops/plan.md": "# Fleet plan\n\nNOTE: superseded by the 2026 report.\n\nThe fleet has 900 robots.",
    "hr/leave.md": "# Annual leave\n\nUnused days do not roll over. Ask IT for access.",
    "hr/newest.md": "# Robots policy\n\nThis policy supersedes the one of 2019. Robots rest at night.",
}


async def opened(tmp_path: Path, files: dict[str, str]) -> FolderCorpus:
    for name, text in files.items():
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return await FolderCorpus.open([tmp_path / "docs"], tmp_path / "index.db")


async def test_current_files_come_before_stale_ones(tmp_path: Path) -> None:
    corpus = await opened(tmp_path, NOTES)
    hits = (await corpus.search("how many robots has the fleet")).hits
    assert hits[0].passage.source == "ops/report_2026.md"
    status = {hit.passage.source: hit.passage.status for hit in hits}
    assert status["ops/archive/report_2024.md"] == "archived"
    assert status["ops/plan.md"] == "superseded"
    assert status["hr/newest.md"] == "current"


async def test_title_heading_and_path_are_searchable(tmp_path: Path) -> None:
    files = {
        "sales/matrix.md": "# Discounts\n\nUp to five percent.",
        "x.md": "# Other\n\nA word about sales.",
    }
    corpus = await opened(tmp_path, files)
    assert (await corpus.search("sales discounts")).hits[0].passage.source == "sales/matrix.md"
    assert (await corpus.search("matrix")).hits[0].passage.source == "sales/matrix.md"


async def test_ids_are_stable_and_resolve(tmp_path: Path) -> None:
    corpus = await opened(tmp_path, NOTES)
    (hit, *_) = (await corpus.search("annual leave")).hits
    evidence = hit.passage.id
    assert len(evidence) == 8
    assert evidence[0] == "e"
    assert int(evidence[1:], 16) >= 0
    assert await corpus.passage(evidence) == hit.passage
    assert await corpus.passage("e0000000") is None
    await corpus.close()
    again = await FolderCorpus.open([tmp_path / "docs"], tmp_path / "other.db")
    assert await again.passage(evidence) == hit.passage


async def test_equal_passages_at_one_place_have_ids_of_their_own(tmp_path: Path) -> None:
    corpus = await opened(tmp_path, {"line.txt": ("echo " * 130 + "end. ") * 6})
    hits = (await corpus.search("echo", 50)).hits
    assert len(hits) > 3
    assert len({hit.passage.id for hit in hits}) == len(hits)


async def test_quotes_are_verbatim_but_for_white_space(tmp_path: Path) -> None:
    corpus = await opened(tmp_path, {"a.txt": "first line\nThe  crane\nlifts forty tonnes.\n"})
    assert await corpus.find_quote("a.txt", " The crane lifts\tforty ") == "lines 1-3"
    assert await corpus.find_quote("a.txt", "the crane") is None
    assert await corpus.find_quote("a.txt", "   ") is None
    assert await corpus.find_quote("missing.txt", "crane") is None
    assert await corpus.text("missing.txt") is None
    assert await corpus.sources() == ["a.txt"]


async def test_a_quote_across_passages_names_both_places(tmp_path: Path) -> None:
    lines = [
        f"Sentence number {number} about the harbour and its many cranes." for number in range(60)
    ]
    corpus = await opened(tmp_path, {"a.txt": "\n".join(lines)})
    whole = await corpus.text("a.txt")
    assert whole == "\n".join(lines)
    assert await corpus.find_quote("a.txt", whole) == "lines 1-60"


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        '"',
        'robots"',
        "NEAR(robots fleet)",
        "title:robots",
        "robots AND NOT OR",
        "robots*",
        "^robots - {fleet}",
        "'; DROP TABLE passages; --",
        "\x00robots\x00",
        "\ud800robots",
        "(" * 500,
        "🤖🤖",
        "robots " * 20_000,
        " ".join(f"w{number}x" for number in range(20_000)),
        "é" * 100_000,
    ],
)
async def test_hostile_queries_are_only_words(tmp_path: Path, query: str) -> None:
    corpus = await opened(tmp_path, NOTES)
    result = await corpus.search(query)
    assert result.query == query
    assert bool(result.hits) == ("robots" in query)
    if not result.hits:
        assert not result.confident


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=80))
def test_any_text_is_a_query(tmp_path: Path, query: str) -> None:
    async def ask() -> None:
        corpus = await opened(tmp_path, NOTES)
        scores = [hit.score for hit in (await corpus.search(query)).hits]
        assert scores == sorted(scores, reverse=True)
        await corpus.close()

    asyncio.run(ask())


async def test_limit_is_kept(tmp_path: Path) -> None:
    corpus = await opened(tmp_path, NOTES)
    assert len((await corpus.search("robots", 2)).hits) == 2
    assert (await corpus.search("robots", 0)).hits == ()


async def test_capitals_make_a_word_of_a_stop_word(tmp_path: Path) -> None:
    corpus = await opened(tmp_path, NOTES)
    assert (await corpus.search("who is IT")).hits[0].passage.source == "hr/leave.md"


async def test_the_gate_tells_answers_from_other_subjects(tmp_path: Path) -> None:
    corpus = await opened(tmp_path, NOTES)
    assert (await corpus.search("How many robots does the fleet have?")).confident
    assert not (await corpus.search("Which volcano night erupted in Iceland?")).confident


async def test_many_searches_at_once_agree(tmp_path: Path) -> None:
    corpus = await opened(tmp_path, NOTES)
    alone = await corpus.search("robots fleet sites")
    assert set(await asyncio.gather(*(corpus.search("robots fleet sites") for _ in range(40)))) == {
        alone
    }


async def test_ties_are_ordered_by_source_and_place(tmp_path: Path) -> None:
    files = {f"{name}.md": "# Same\n\nThe very same words." for name in ("c", "a", "b")}
    hits = (await (await opened(tmp_path, files)).search("same words")).hits
    assert [hit.passage.source for hit in hits] == ["a.md", "b.md", "c.md"]


SCRIPT = """
import asyncio, sys
from pathlib import Path
from filesystem import FolderCorpus, pick_sentences

async def main():
    corpus = await FolderCorpus.open([Path(sys.argv[1])], Path(sys.argv[2]))
    for query in ("robots fleet sites 2026", "leave days", "Straße robots"):
        result = await corpus.search(query)
        print(result)
        print(pick_sentences(query, [hit.passage.text for hit in result.hits], 5))
    print(corpus.report)

asyncio.run(main())
"""


async def test_hash_seeds_change_nothing(tmp_path: Path) -> None:
    await (await opened(tmp_path, NOTES)).close()
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT, str(tmp_path / "docs"), str(tmp_path / f"{seed}.db")],
            env={"PYTHONHASHSEED": str(seed), "PATH": "/usr/bin"},
            capture_output=True,
            check=True,
        ).stdout
        for seed in (0, 1, 77)
    }
    assert len(outputs) == 1
    assert b"report_2026" in outputs.pop()


async def test_veltrix_parts_find_their_documents(tmp_path: Path, test_data: Path) -> None:
    docs = test_data / "research" / "veltrix-dossier" / "docs"
    corpus = await FolderCorpus.open([docs], tmp_path / "index.db")
    assert corpus.report.skipped == ()
    assert corpus.report.indexed == 27
    for query, best in (
        ("funding rounds and total raised", "company_overview.md"),
        ("product line, 2026 roadmap and pricing", "company_overview.md"),
        ("VLX-500 roadmap and pricing", "product/vlx500_product_brief.docx"),
        ("operational performance and key risks", "ops/q1_2026_ops_report.pdf"),
        ("competitive position", "board/board_memo_2026_strategy.pdf"),
        ("firmware 4.7.2", "ops/q1_2026_ops_report.pdf"),
    ):
        hits = (await corpus.search(query)).hits
        assert hits[0].passage.source == best, query
