"""Numbers: which ways of writing are the same number, and which are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.researching.quantities import NumbersIn, numbers


def occurs(sentence: str, evidence: str) -> bool:
    """True when every number of the sentence occurs in the evidence; there must be one."""
    found = [number for number in numbers(sentence) if not number.inside]
    assert found
    held = NumbersIn(evidence)
    return all(held.holds(number) for number in found)


@pytest.mark.parametrize(
    ("sentence", "evidence"),
    [
        ("1,950 a month", "1950 a month"),
        ("1950 a month", "1 950 a month"),
        ("1,950 a month", "1\u202f950 a month"),
        ("1,950 a month", "1\u00a0950 a month"),
        ("1,950 a month", "1.950 im Monat"),
        ("1,950 a month", "1'950 im Monat"),
        ("1,234.56", "1.234,56"),
        ("1,234,567", "12,34,567"),
        ("$85M", "85 million USD"),
        ("85 million dollars", "$85M"),
        ("$85 million", "85,000,000"),
        ("85 million", "$85m"),
        ("$85 million", "85-million-dollar round"),
        ("1.2 billion", "1,200 million"),
        ("2.5k users", "2,500 users"),
        ("85 million yen", "8500万円"),
        ("67 percent", "67%"),
        ("67%", "67 per cent"),
        ("67 %", "６７％"),
        ("10% to 20%", "10-20 %"),
        ("99.2%", "availability of 99.20 %"),
        ("between 3 and 5 million", "3-5 million"),
        ("in Q4 2026", "2026, fourth quarter"),
        ("Q4 2026", "4Q 2026"),
        ("H1 2026", "first half of 2026"),
        ("11 February 2026", "2026-02-11"),
        ("2026-02-11", "on February 11, 2026"),
        ("2026-02-11", "on Feb 11, 2026"),
        ("11.02.2026", "11 February 2026"),
        ("FY2026", "in 2026"),
        ("FY26", "in FY 2026"),
        ("firmware 4.7.2", "version v4.7.2"),
        ("3 robots", "three robots"),
        ("-25 C", "minus 25 C"),
        ("-25 C", "\u221225 C"),
        ("950 kg", "950kg"),
        ("the 1st", "1 of them"),
        ("$142M", "USD million | 142 |"),
        ("44%", "Share (%) | 44 |"),
        ("٤٢ robots", "42 robots"),
        ("10 m long", "10 metres"),
        ("VLX-400", "the VLX-400"),
        ("5 days", "5 days."),
    ],
)
def test_the_same_number_written_another_way(sentence: str, evidence: str) -> None:
    assert occurs(sentence, evidence)


@pytest.mark.parametrize(
    ("sentence", "evidence"),
    [
        ("$85", "$85M"),
        ("$85M", "$85"),
        ("$85M", "$85B"),
        ("$85M", "85 robots"),
        ("44%", "44 sites"),
        ("44 sites", "44%"),
        ("1,950", "1,905"),
        ("1.95", "1.59"),
        ("21.4", "21"),
        ("Q4 2026", "Q2 2026"),
        ("Q4 2026", "Q4 2025"),
        ("H2", "Q2"),
        ("4.7.2", "4.7.3"),
        ("4.7.2", "4.7"),
        ("2026-02-11", "2026-02-12"),
        ("2026-02-11", "11 March 2026"),
        ("VLX-400", "VLX-500"),
        ("142", "14.2"),
        ("14", "142"),
        ("42", "no number here"),
    ],
)
def test_another_number(sentence: str, evidence: str) -> None:
    assert not occurs(sentence, evidence)


@pytest.mark.parametrize("text", ["a B2B firm", "H2O", "an i7 chip"])
def test_a_digit_inside_a_word_is_no_number_to_check(text: str) -> None:
    assert [number for number in numbers(text) if not number.inside] == []


@given(st.text(max_size=200))
def test_a_text_holds_its_own_numbers(text: str) -> None:
    held = NumbersIn(text)
    assert [number.written for number in numbers(text) if not held.holds(number)] == []


@given(st.integers(min_value=1, max_value=10**9))
def test_thousands_separators_do_not_count(value: int) -> None:
    for written in (f"{value:,}", f"{value:,}".replace(",", " "), f"{value:,}".replace(",", "'")):
        assert occurs(written, str(value))
        assert occurs(str(value), written)


def test_a_very_long_number_is_compared_in_full() -> None:
    digits = "7" * 3000
    assert occurs(digits, digits)
    assert not occurs(digits, digits[:-1] + "8")
