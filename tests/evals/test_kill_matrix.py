"""Each deliberate fault turns a sample red that is green without it; the page lists them all."""

from pathlib import Path

import pytest
from support.faults import FAULTS, SAMPLES, outcome

DOCS = Path(__file__).parents[2] / "docs" / "evals.md"


@pytest.mark.parametrize("sample", SAMPLES)
async def test_without_a_fault_each_sample_is_green(sample: str) -> None:
    assert await outcome(sample) == ""


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_is_noticed(fault: str) -> None:
    assert await outcome(FAULTS[fault].sample, fault) != ""


def test_the_page_has_the_matrix() -> None:
    text = DOCS.read_text(encoding="utf-8")
    for name, fault in FAULTS.items():
        row = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
        assert f"`{fault.sample}`" in row
