"""The report: numbering, checks and marks, conflicts, gaps, and the same bytes every time."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from support.report_sources import (
    MemorySearch,
    answered,
    concluded,
    draft,
    passage,
    report_input,
)

from agents import Conclusion
from filesystem import Skipped
from orchestrator.researching.checks import unverified_quotes
from orchestrator.researching.render import BRIEF, render_markdown
from orchestrator.researching.report import Report, build_report

RAISED = passage("e1", "Total raised: $142M. The\nround closed in 2025.", "fin/a.md", "lines 1-2")
FLEET = passage(
    "e2", "The fleet has 3,120 robots at 47 sites.", "ops.pdf", "page 2", heading="Q1 2026"
)
OTHER = passage("e3", "Total raised: $138M.", "old/b.md", "line 9", status="superseded")
SEARCH = MemorySearch(RAISED, FLEET, OTHER)
MONEY = concluded("It raised $142M.", ("It raised $142M.", "e1", "Total raised: $142M."))
ROBOTS = concluded("Many robots.", ("3,120 robots run.", "e2", "3,120 robots at 47 sites"))


async def text_of(*items: object, **more: object) -> str:
    return render_markdown(await build_report(report_input(*items, **more), SEARCH))


async def test_a_written_report_cites_places_and_exact_quotes() -> None:
    written = draft(
        [("Money and robots.", "e1", "e2")],
        q1=[("Veltrix raised $142M.", "e1")],
        q2=[("It runs 3120 robots in Q1 2026.", "e2"), ("It has raised 142 million.", "e1")],
    )
    text = await text_of(answered("q1", MONEY), answered("q2", ROBOTS), written=written)
    assert text == (
        "# What is known\n"
        "\n"
        "## Summary\n"
        "\n"
        "Money and robots. [1][2]\n"
        "\n"
        "## 1. What about q1?\n"
        "\n"
        "Veltrix raised $142M. [1]\n"
        "\n"
        "## 2. What about q2?\n"
        "\n"
        "It runs 3120 robots in Q1 2026. [2]\n"
        "It has raised 142 million. [1]\n"
        "\n"
        "## Citations\n"
        "\n"
        '[1] fin/a.md, lines 1-2: "Total raised: $142M."  \n'
        '[2] ops.pdf, page 2: "3,120 robots at 47 sites"  \n'
        "\n"
        "## Sources\n"
        "\n"
        "fin/a.md  \n"
        "ops.pdf  \n"
        "\n"
        "## Usage\n"
        "\n"
        "1,200+300 tokens; some-model; 2 researchers; 2 citations; 0 failed checks; run run-1.\n"
        "\n"
        "<!-- evidence:1=e1,2=e2 -->\n"
    )


async def test_without_a_draft_the_findings_are_the_text() -> None:
    report = await build_report(report_input(answered("q1", MONEY)), SEARCH)
    assert [each.text for each in report.sections[0].sentences] == ["It raised $142M."]
    assert report.summary is None
    assert report.status == "done"


async def test_a_section_that_the_draft_lacks_is_made_of_the_conclusion() -> None:
    written = draft(q1=[("Veltrix raised $142M.", "e1")], unknown=[("Ignored.", "e1")])
    report = await build_report(
        report_input(answered("q1", MONEY), answered("q2", ROBOTS), written=written), SEARCH
    )
    texts = [[each.text for each in section.sentences] for section in report.sections]
    assert texts == [["Veltrix raised $142M."], ["Many robots.", "3,120 robots run."]]


async def test_without_a_model_the_sentences_are_the_quotes_and_the_list_repeats_none() -> None:
    conclusion = concluded(
        "", ("x", "e1", "Total raised: $142M."), ("x", "e1", "The\nround closed in 2025.")
    )
    text = await text_of(answered("q1", conclusion), mode="extractive")
    assert text.splitlines()[2] == BRIEF
    assert "Total raised: $142M. [1]\n\nThe round closed in 2025. [1]\n" in text
    assert text.count("Total raised") == 1
    assert "\n[1] fin/a.md, lines 1-2  \n" in text
    assert "[2]" not in text


@pytest.mark.parametrize(
    ("sentence", "line"),
    [
        (("No source.",), "No source. [unverified]"),
        (("An unknown id.", "e9"), "An unknown id. [unverified]"),
        (("Raised, says a ghost.", "e1", "e9"), "Raised, says a ghost. [1] [unverified]"),
        (
            ("It raised $143M and 7%.", "e1"),
            "It raised $143M and 7%. [1] [number not in evidence: $143M, 7%]",
        ),
        (("All of 42.", "e9"), "All of 42. [unverified]"),
        (("Closed in 2025.", "e1"), "Closed in 2025. [1]"),
        (
            ("It has 3 robots [2].", "e2"),
            "It has 3 robots \\[2\\]. [1] [number not in evidence: 3, 2]",
        ),
    ],
)
async def test_what_fails_is_marked(sentence: tuple[str, ...], line: str) -> None:
    text = await text_of(answered("q1", MONEY), written=draft(q1=[sentence]))
    assert line in text.splitlines()


async def test_a_quote_that_is_not_in_the_source_is_marked_and_counted() -> None:
    invented = concluded("Much.", ("It raised a lot.", "e1", "raised $999M"))
    report = await build_report(report_input(answered("q1", invented)), SEARCH)
    text = render_markdown(report)
    assert "It raised a lot. [1] [unverified]\n" in text
    assert '[1] fin/a.md, lines 1-2: "raised $999M" [unverified]  \n' in text
    assert report.checks.quotes_unverified == 1
    assert report.checks.failed == 1


async def test_a_quote_elsewhere_in_the_source_gets_its_own_place() -> None:
    later = passage("e4", "Runway: 20 months.", "fin/a.md", "line 40")
    conclusion = concluded("", ("Runway is 20 months.", "e1", "Runway: 20 months."))
    report = await build_report(
        report_input(answered("q1", conclusion)), MemorySearch(RAISED, later)
    )
    assert [(each.place, each.quotes[0].verified) for each in report.citations] == [
        ("line 40", True)
    ]
    assert report.checks.failed == 0


async def test_an_id_that_nobody_quoted_gets_the_nearest_sentence_of_its_passage() -> None:
    written = draft(q1=[("The round was closed in 2025.", "e1")])
    text = await text_of(answered("q1", ROBOTS), written=written)
    assert '"The round closed in 2025."' in text


async def test_conflicts_show_both_quotes_and_the_status() -> None:
    rival = concluded("It raised $138M.", ("It raised $138M.", "e3", "Total raised: $138M."))
    written = draft(q1=[("It raised $142M.", "e1")], q2=[("Nothing new.", "e2")])
    text = await text_of(answered("q1", MONEY), answered("q2", rival), written=written)
    assert (
        '- $142M: "Total raised: $142M." [1] against $138M: "Total raised: $138M." [3] (superseded)\n'
        in text
    )
    brief = await text_of(answered("q1", MONEY), answered("q2", rival), mode="extractive")
    assert "- $142M [1] against $138M [2] (superseded)\n" in brief


async def test_files_that_were_not_read_are_named_in_one_line() -> None:
    skipped = [Skipped("b *x*\n## 9.pdf", "encrypted PDF: it needs a password")]
    skipped += [Skipped(f"{n:02}.bin", "binary content, not text") for n in range(12)]
    report = await build_report(report_input(answered("q1", MONEY), skipped=skipped), SEARCH)
    assert (report.status, len(report.not_read)) == ("done", 13)
    (line,) = [each for each in render_markdown(report).splitlines() if "not read" in each]
    assert line.startswith(
        "- not read: b \\*x\\* \\## 9.pdf (encrypted PDF: it needs a password); 00.bin (binary"
    )
    assert line.endswith("; and 3 more, see report.json")
    assert "not read" not in await text_of(answered("q1", MONEY))


async def test_two_good_researchers_of_five_are_reported_and_three_named_under_gaps() -> None:
    report = await build_report(
        report_input(
            answered("q1", MONEY),
            answered("q2", status="failed", reason="ValueError: boom"),
            answered("q3", ROBOTS),
            answered("q4", status="timed_out", reason="no result after 600 s"),
            answered(
                "q5", Conclusion(answer="No document says so.", open_questions=["Who audits?"])
            ),
            problems=["writer failed: no answer"],
        ),
        SEARCH,
    )
    text = render_markdown(report)
    assert report.status == "partial"
    assert report.reason == (
        "3 of 5 sub-questions lack a complete answer: q2 (failed), q4 (timed_out), q5 (no findings); "
        "writer failed: no answer"
    )
    gaps = text[text.index("## Gaps") : text.index("## Citations")].splitlines()[2:-1]
    assert gaps == [
        "- What about q2? - researcher q2 failed (failed): ValueError: boom",
        "- What about q4? - researcher q4 failed (timed_out): no result after 600 s",
        "- What about q5? - researcher q5 found nothing: No document says so.",
        "- What about q5? - still open: Who audits?",
        "- problem: writer failed: no answer",
    ]
    assert "## 2. What about q2?\n\nNothing found, see Gaps.\n" in text
    assert "3,120 robots run. [2]" in text


async def test_a_partial_researcher_makes_the_report_partial() -> None:
    half = concluded("Half.", ("It raised $142M.", "e1", "Total raised: $142M."), status="partial")
    report = await build_report(report_input(answered("q1", half)), SEARCH)
    assert (report.status, [gap.kind for gap in report.gaps]) == ("partial", ["partial"])


@pytest.mark.parametrize("items", [(), (answered("q1", status="failed", reason="no model"),)])
async def test_a_report_without_a_citation_has_failed(items: tuple[object, ...]) -> None:
    report = await build_report(report_input(*items), SEARCH)
    assert report.status == "failed"
    assert report.reason.startswith("nothing could be cited")
    assert "Status: failed" in render_markdown(report)


async def test_untrusted_text_cannot_make_markup_anywhere() -> None:
    evil = "# H\n<img src=x> [1] [a](b) \x1b[31m"
    source = passage("e7", f"{evil} stays.", 'x"]: <b>.md')
    conclusion = concluded(evil, (evil, "e7", evil), open_questions=[evil])
    text = render_markdown(
        await build_report(
            report_input(
                answered("q1", conclusion, question=evil),
                answered("q2", status="failed", reason=evil),
                title=evil,
                problems=[evil],
                models=[evil],
            ),
            MemorySearch(source),
        )
    )
    assert "\x1b" not in text
    assert text.count("<") == text.count("\\<") + 1  # ours, the ids
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "# \\# H \\<img src=x> \\[1\\] \\[a\\](b)",
        "## 1. \\# H \\<img src=x> \\[1\\] \\[a\\](b)",
        "## 2. What about q2?",
        "## Gaps",
        "## Citations",
        "## Sources",
        "## Usage",
    ]


async def test_report_json_can_be_read_back() -> None:
    report = await build_report(report_input(answered("q1", MONEY)), SEARCH)
    stored = report.model_dump_json(indent=1)
    assert Report.model_validate_json(stored) == report
    assert '"format": 1' in stored


async def test_unverified_quotes_of_a_conclusion() -> None:
    conclusion = concluded(
        "",
        ("a", "e1", "Total  raised:\n$142M."),
        ("b", "e1", "total raised"),
        ("c", "e9", "Total raised: $142M."),
        ("d", "e2", " "),
    )
    failed = await unverified_quotes(conclusion, SEARCH)
    assert [(each.evidence, each.quote) for each in failed] == [
        ("e1", "total raised"),
        ("e9", "Total raised: $142M."),
        ("e2", " "),
    ]


PROGRAM = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from support.report_sources import *
from orchestrator.researching.render import render_markdown
from orchestrator.researching.report import build_report
texts = [f"Total raised by fund {'abcdef'[n % 6] * 3}: ${100 + n}M. Fleet has {n} robots." for n in range(12)]
search = MemorySearch(*(passage(f"e{n}", text, f"{n}.md") for n, text in enumerate(texts)))
items = [answered(f"q{n}", concluded("a", (text, f"e{n}", text))) for n, text in enumerate(texts)]
report = asyncio.run(build_report(report_input(*items), search))
sys.stdout.write(report.model_dump_json(indent=1) + render_markdown(report))
"""


def test_the_same_input_gives_the_same_bytes_under_any_hash_seed() -> None:
    tests = Path(__file__).parent.parent
    outputs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM, str(tests)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=tests.parent,
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "77")
    ]
    assert outputs[0] == outputs[1]
    assert b"## Conflicts" in outputs[0]


async def test_a_draft_of_600_words_stays_under_850() -> None:
    letters = random.Random(7)
    texts = [
        " ".join("".join(letters.choices("abcdefgh", k=6)) for _ in range(15)) + f" {n}."
        for n in range(38)
    ]
    passages = [
        passage(
            f"e{n}", " ".join(texts[n * 2 : n * 2 + 2]), f"ops/report_{n % 11}.pdf", f"page {n}"
        )
        for n in range(19)
    ]
    questions = [
        "funding",
        "product line and pricing",
        "operations and key risks",
        "competitive position",
    ]
    ids = [f"q{n}" for n in range(4)]
    rows = [(text, f"e{n // 2}") for n, text in enumerate(texts)]
    written = draft(**{id: rows[at::4] for at, id in enumerate(ids)})
    items = [
        answered(
            id,
            concluded("", *((text, evidence, text) for text, evidence in rows[at::4])),
            question=what,
        )
        for at, (id, what) in enumerate(zip(ids, questions, strict=True))
    ]
    report = await build_report(
        report_input(*items, written=written, mode="extractive"), MemorySearch(*passages)
    )
    assert sum(len(text.split()) for text in texts) > 600
    assert report.checks.failed == 0
    assert len(render_markdown(report).split()) < 850
