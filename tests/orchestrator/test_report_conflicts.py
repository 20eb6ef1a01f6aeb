"""Conflicts between quotes: what is one, and the false alarms that must not be raised."""

import pytest
from support.report_sources import passage

from orchestrator.researching.conflicts import Stated, find_conflicts


def values(
    first: str,
    second: str,
    heads: tuple[str, str] = ("", ""),
    sources: tuple[str, str] = ("a.md", "b.md"),
):
    one = passage("e1", first, sources[0], heading=heads[0])
    two = passage("e2", second, sources[1], heading=heads[1])
    pairs = find_conflicts([Stated(first, one, "line 1"), Stated(second, two, "line 1")])
    return [(left[1], right[1]) for _, left, right in pairs]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("Total raised: $142M.", "Total raised to date: $138M.", ("$142M", "$138M")),
        ("Total raised is $142M.", "Total raised: 138 million USD.", ("$142M", "138 million USD")),
        (
            "The VLX-400 list price is $48,500.",
            "VLX-400 list price: $52,000",
            ("$48,500", "$52,000"),
        ),
        (
            "Top three customers are 44% of ARR.",
            "Top three customers were 52% of ARR",
            ("44%", "52%"),
        ),
        (
            "The VLX-500 launch is planned for Q4 2026.",
            "The VLX-500 launch is planned for Q2 2026.",
            ("Q4 2026", "Q2 2026"),
        ),
        ("The company was founded in 2019.", "Company founded: 2018", ("2019", "2018")),
        (
            "Certification is due on 11 February 2026.",
            "Certification is due on 2026-03-12",
            ("11 February 2026", "2026-03-12"),
        ),
        (
            "Fleet availability was 99.2% in Q1 2026.",
            "Fleet availability was 98.4% in Q1 2026.",
            ("99.2%", "98.4%"),
        ),
        (
            "The battery lasts 14 hours per charge.",
            "The battery lasts 11 hours per charge.",
            ("14", "11"),
        ),
    ],
)
def test_the_same_quantity_with_another_value(
    first: str, second: str, expected: tuple[str, str]
) -> None:
    assert values(first, second) == [expected]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Total raised: $142M.", "Total raised: 142 million USD."),
        ("Revenue in Q1 2026 was $21.4M.", "Revenue in Q4 2025 was $18.2M."),
        ("Revenue target for 2026 is $96M.", "Revenue for 2026 is $61M."),
        ("Annual recurring revenue in 2026: $96M", "Annual recurring revenue in Q1 2026: $21M"),
        ("The VLX-400 list price is $48,500.", "The VLX-500 list price is $56,000."),
        ("Headcount is 241 employees.", "Headcount in Atlanta is 40 employees."),
        (
            "The Rotterdam site runs 120 robots on night shift.",
            "The Nagoya site runs 80 robots on night shift.",
        ),
        ("The north warehouse has 20 robots.", "The south warehouse has 30 robots."),
        ("Minimum order size is 10 units.", "Maximum order size is 50 units."),
        ("Availability was 99.2% of scheduled hours.", "Availability was 99% of scheduled hours."),
        ("The fleet has over 3,000 robots deployed.", "The fleet has 3,120 robots deployed."),
        (
            "| Series A | Jun 2022 | $18M | HenQ Capital |",
            "| Series B | Feb 2024 | $34.5M | Prime Ventures |",
        ),
        ("| Oslo depot robots | 40 |", "| Bergen depot robots | 55 |"),
        ("Series C raised $85M at $610M post-money.", "Series C raised $85M at a $525M pre-money."),
        ("The 14 sites were fixed within 36 hours.", "The 14 customers were told within 2 days."),
        ("Price: $10", "Price: $20"),
        ("The board met in Q1 2026 on hiring plans.", "The board met in Q2 2026 on hiring plans."),
        ("Payload grew from 800 kg to 950 kg.", "Payload grew from 700 kg to 900 kg."),
    ],
)
def test_no_false_alarm(first: str, second: str) -> None:
    assert values(first, second) == []


def test_the_period_of_a_document_counts_when_the_sentence_names_none() -> None:
    first, second = "Fleet availability was 98.4%.", "Fleet availability was 99.2%."
    assert values(first, second) == [("98.4%", "99.2%")]
    assert values(first, second, ("Operations, Q1 2025", "Operations, Q1 2026")) == []
    assert values(first, second, sources=("ops/2025.md", "ops/2026.md")) == []


def test_rows_of_one_table_are_no_conflict() -> None:
    first, second = "standard plan seats | 40 |", "standard plan seats | 60 |"
    assert values(first, second, sources=("t.csv", "t.csv")) == []
    assert values(first, second) == [("40", "60")]


def test_quotes_of_one_passage_are_no_conflict() -> None:
    same = passage("e1", "Total raised: $142M. Total raised: $138M.")
    assert (
        find_conflicts(
            [Stated("Total raised: $142M.", same, ""), Stated("Total raised: $138M.", same, "")]
        )
        == []
    )


def test_a_conflict_is_told_once() -> None:
    stated = [
        Stated(text, passage(f"e{n}", text, f"{n}.md"), "line 1")
        for n, text in enumerate(
            ["Total raised: $142M.", "Total raised: $138M.", "Total raised: $138M."]
        )
    ]
    assert len(find_conflicts(stated)) == 1


def test_a_series_of_values_is_no_conflict() -> None:
    texts = [f"Battery level of the robot: {level}%." for level in (90, 70, 50, 30)]
    stated = [Stated(text, passage(f"e{text}", text, f"{text}.md"), "") for text in texts]
    assert len(find_conflicts(stated[:2])) == 1
    assert len(find_conflicts(stated[:3])) == 3
    assert find_conflicts(stated) == []
