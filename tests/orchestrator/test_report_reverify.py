"""A finished report is checked again, also after somebody edited it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.report_sources import (
    MemorySearch,
    answered,
    concluded,
    draft,
    passage,
    report_input,
)

from filesystem import FolderCorpus
from orchestrator.researching.render import render_markdown
from orchestrator.researching.report import build_report
from orchestrator.researching.report_parts import Mode
from orchestrator.researching.reverify import verify_report

TEXT = 'He said "total raised: $142M" [sic]. **Fleet**: 3,120 robots, <b>47</b> sites.'
RAISED = passage("e1", TEXT, "fin/a, b.md", "lines 3-4")
FLEET = passage("e2", "Availability was 99.2%.", "ops.pdf", "page 2", heading="Q1 2026")
SEARCH = MemorySearch(RAISED, FLEET)
CONCLUSION = concluded(
    "",
    ("It raised $142M.", "e1", 'He said "total raised: $142M" [sic].'),
    ("It runs 3,120 robots.", "e1", "**Fleet**: 3,120 robots, <b>47</b> sites."),
    ("Q1 2026 availability: 99.2%.", "e2", "Availability was 99.2%."),
)


async def written(mode: Mode) -> str:
    return render_markdown(
        await build_report(report_input(answered("q1", CONCLUSION), mode=mode), SEARCH)
    )


async def faults(text: str, search: MemorySearch = SEARCH) -> list[tuple[str, str]]:
    """The faults as (line of the text, message)."""
    lines = text.split("\n")
    return [
        (lines[fault.line - 1], fault.message)
        for fault in (await verify_report(text, search)).faults
    ]


@pytest.mark.parametrize("mode", ["model", "extractive"])
async def test_a_fresh_report_holds(mode: Mode) -> None:
    found = await verify_report(await written(mode), SEARCH)
    assert found.ok
    assert found.faults == ()
    assert (found.sentences, found.citations, found.quotes) == (3, 2, 3)


@pytest.mark.parametrize("mode", ["model", "extractive"])
async def test_it_holds_without_the_ids_and_and_with_an_editors_line_ends(mode: Mode) -> None:
    text = (await written(mode)).replace("  \n", "\n").replace("\n", "\r\n")
    text = text[: text.index("<!--")].replace("Q1 2026 ", "")  # known from a heading, found by id
    assert await faults(text) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("raised $142M.", "raised $143M.", "number not in evidence: $143M in 'It raised $143M.'"),
        ("$142M. [1]", "$142M. [7]", "citation [7] is not in the list"),
        ("$142M. [1]", "$142M.", "no citation that resolves: 'It raised $142M.'"),
        (
            '"Availability was',
            '"Availability is',
            "not found in 'ops.pdf': 'Availability is 99.2%.'",
        ),
        (
            "ops.pdf, page 2",
            "other.pdf, page 2",
            "not found in 'other.pdf': 'Availability was 99.2%.'",
        ),
        (
            "ops.pdf, page 2",
            "ops.pdf, page 3",
            "stands at 'page 2', not 'page 3': 'Availability was 99.2%.'",
        ),
        ("[2] ops.pdf", "[1] ops.pdf", "citation [1] is listed twice"),
        (
            "[2] ops.pdf",
            "(2) ops.pdf",
            "this is no citation: '(2) ops.pdf, page 2: \"Availability was 99.2%.\"'",
        ),
    ],
)
async def test_an_edit_of_a_written_report_is_found_at_its_line(
    old: str, new: str, message: str
) -> None:
    text = await written("model")
    assert old in text
    edited = text.replace(old, new, 1)
    found = await faults(edited)
    assert message in [each for _, each in found]
    assert new in next(line for line, each in found if each == message)


async def test_numbers_between_marks_are_in_evidence() -> None:
    text = "It costs __12 million__ dollars and 5*3 more."
    search = MemorySearch(passage("e1", text))
    found = concluded("", ("It costs.", "e1", text))
    given = report_input(answered("q1", found), mode="extractive")
    report = render_markdown(await build_report(given, search))
    assert await faults(report, search) == []
    merged = [fault for _, fault in await faults(report.replace("5\\*3", "53"), search)]
    assert len(merged) == 1
    assert merged[0].startswith("number not in evidence: 53 in")


async def test_a_brief_shows_no_marks_and_its_places_are_still_checked() -> None:
    text = await written("extractive")
    assert "\nFleet: 3,120 robots, " in text
    moved = text[: text.index("<!--")].replace("lines 3-4", "lines 8-9")
    told = [fault for _, fault in await faults(moved)]
    assert any("stands at 'lines 3-4'" in fault and "Fleet" in fault for fault in told)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "3,120 robots",
            "3,121 robots",
            "not found in 'fin/a, b.md': 'Fleet: 3,121 robots, <b>47</b> sites.'",
        ),
        ("was 99.2%", "is 99.2%", "not found in 'ops.pdf': 'Availability is 99.2%.'"),
    ],
)
async def test_an_edit_of_a_brief_is_found(old: str, new: str, message: str) -> None:
    text = (await written("extractive")).replace(old, new, 1)
    assert message in [each for _, each in await faults(text)]


async def test_a_mark_is_no_excuse() -> None:
    text = (await written("model")).replace("raised $142M.", "raised $143M. [unverified]", 1)
    assert await faults(text) == [
        (
            "It raised $143M. [unverified] [1]",
            "number not in evidence: $143M in 'It raised $143M.'",
        )
    ]


async def test_a_line_with_several_sentences_is_taken_apart() -> None:
    text = (await written("model")).replace("$142M. [1]\n", "$142M [1]. And $150M [1]. ", 1)
    assert [message for _, message in await faults(text)] == [
        "number not in evidence: $150M in 'And $150M'"
    ]


async def test_a_source_that_changed_is_noticed() -> None:
    changed = MemorySearch(RAISED, passage("e5", "Availability was 98.4%.", "ops.pdf", "page 2"))
    found = await faults(await written("model"), changed)
    assert "not found in 'ops.pdf': 'Availability was 99.2%.'" in [message for _, message in found]


async def test_ids_cannot_lend_a_quote_to_another_source() -> None:
    """An edited list of ids must not make a passage of one file speak for another."""
    text = (await written("model")).replace("2=e2", "2=e1").replace("Q1 2026 ", "")
    assert await faults(text) == []
    stolen = text.replace("ops.pdf, page 2", "ghost.md, page 2", 1)
    assert any("not found in 'ghost.md'" in message for _, message in await faults(stolen))


async def test_a_quote_that_never_ends_is_read_to_the_end_of_its_line() -> None:
    text = (await written("model")).replace('was 99.2%."', "was 99.2%.")
    assert await faults(text) == []
    hostile = text.replace("was 99.2%.", "was" + '\\"' * 50_000)
    assert any("not found in 'ops.pdf'" in message for _, message in await faults(hostile))


async def test_an_unverified_report_does_not_pass() -> None:
    report = await build_report(
        report_input(answered("q1", concluded("", ("Claim.", "e1", "invented words")))), SEARCH
    )
    found = await verify_report(render_markdown(report), SEARCH)
    assert not found.ok
    assert [fault.message for fault in found.faults] == [
        "not found in 'fin/a, b.md': 'invented words'"
    ]


@pytest.mark.parametrize("text", ["", "just text", "# Title\n\n## Citations\n", "\x00\x1b[1]" * 50])
async def test_what_is_no_report_does_not_pass(text: str) -> None:
    assert not (await verify_report(text, SEARCH)).ok


@given(
    body=st.text(min_size=1, max_size=80).filter(lambda text: any(map(str.isalnum, text))),
    mode=st.sampled_from(["model", "extractive"]),
)
async def test_any_text_quoted_in_full_holds(body: str, mode: Mode) -> None:
    """Whatever a document holds: escaped, written, read back, found again, also without the ids."""
    search = MemorySearch(passage("e1", body, 'od"d, [n].md', "line 1"))
    conclusion = concluded("", (body, "e1", body))
    text = render_markdown(
        await build_report(report_input(answered("q1", conclusion), mode=mode), search)
    )
    assert (await verify_report(text, search)).faults == ()


async def test_a_report_over_a_real_folder_holds_and_notices_a_changed_file(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "plan.md").write_text(
        "# Plan\n\nThe launch is set\nfor 11 February 2026, says *Mara*.\n"
    )
    (docs / "fleet.csv").write_text("site,robots\nOslo,40\nBergen,55\n")
    corpus = await FolderCorpus.open([docs], tmp_path / "index.db")
    launch = (await corpus.search("when is the launch")).hits[0].passage
    fleet = (await corpus.search("robots in Oslo")).hits[0].passage
    conclusion = concluded(
        "",
        (
            "Launch on 2026-02-11.",
            launch.id,
            "The launch is set for 11 February 2026, says *Mara*.",
        ),
        ("Oslo has 40 robots.", fleet.id, fleet.text.split("\n")[-1]),
    )
    written = draft(q1=[("Launch on 2026-02-11.", launch.id), ("Oslo has 40 robots.", fleet.id)])
    text = render_markdown(
        await build_report(report_input(answered("q1", conclusion), written=written), corpus)
    )
    assert "[1] plan.md, line" in text
    assert (await verify_report(text, corpus)).faults == ()
    await corpus.close()
    (docs / "plan.md").write_text("# Plan\n\nThe launch is set\nfor 12 March 2026, says *Mara*.\n")
    corpus = await FolderCorpus.open([docs], tmp_path / "index.db")
    messages = [fault.message for fault in (await verify_report(text, corpus)).faults]
    await corpus.close()
    assert messages == [
        "not found in 'plan.md': 'The launch is set for 11 February 2026, says *Mara*.'"
    ]
