"""The page, the charts and the terminal's table."""

import io
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from agents import Agent, ScriptedModel
from evals.comparing import compare
from evals.reports.charts import Point, Rate, rate_rows, scatter
from evals.reports.drilling import MOST_SAMPLES, failed_samples, other_samples
from evals.reports.ladder import recovery_ladder
from evals.reports.page import render_page
from evals.reports.table import print_comparison, print_summary
from evals.results import BrokenLine, Record, Results
from evals.summary import summarise
from memory import read_entries, requests_of
from orchestrator import Coordinator

HOSTILE = "<script>alert('x')</script>&\"'\x1b[31m"


def record(sample: str, passed: bool, **fields: object) -> Record:
    base = {"suite": "replay", "family": "first error", "policy": "micro-3", "cluster": sample}
    figures = {"share_kept": 0.5}
    return Record.model_validate(
        {**base, "sample": sample, "passed": passed, "figures": figures, **fields}
    )


class Tags(HTMLParser):
    """Opened and closed tags, in order; whatever is left open."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in ("meta", "rect", "path", "circle"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def page_of(*records: Record, broken: tuple[BrokenLine, ...] = ()) -> str:
    results = Results(records, broken)
    return render_page(results, summarise(results), "Title")


def test_the_page_needs_nothing_but_itself_and_runs_nothing() -> None:
    page = page_of(record("a", True), record("b", False, failure="not present"))
    tags = Tags(page)
    assert tags.open == []
    assert not tags.seen & {"script", "link", "img", "iframe", "object", "base", "form"}
    assert not tags.attributes & {"src", "href", "onload", "onclick"}
    assert not re.search(r"https?://|url\(|@import", page)
    assert "prefers-color-scheme:dark" in page
    assert "viewport" in page


def test_text_of_results_never_becomes_markup() -> None:
    fields = dict.fromkeys(("family", "policy", "model", "why", "evidence", "failure"), HOSTILE)
    page = page_of(record(HOSTILE, False, **fields), record("b", True, **fields))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert Tags(page).open == []


def test_scripted_and_model_figures_stand_in_tables_of_their_own() -> None:
    page = page_of(record("a", True), record("b", True, scripted=False, model="m", policy="real"))
    models, _, plumbing = page.partition("<h2>Plumbing</h2>")
    plumbing = plumbing.partition("<h2>Failures</h2>")[0]
    assert "real (m)" in models
    assert "micro-3" not in models
    assert "micro-3" in plumbing
    assert "real (m)" not in plumbing
    assert "nothing about how a model behaves" in plumbing
    assert "Plumbing" not in page_of(record("b", True, scripted=False))


def test_failures_are_listed_without_the_controls() -> None:
    page = page_of(
        record("kept", True),
        record("lost", False, failure="not present", evidence="KeyError: x"),
        record("control", False, policy="head-only"),
        broken=(BrokenLine(3, "{", "cut"),),
    )
    failures = page.partition("<h2>Failures</h2>")[2]
    assert "micro-3: lost" in failures
    assert "KeyError: x" in failures
    assert "head-only" not in failures
    assert "kept" not in failures
    assert "1 lines could not be read" in page
    many = page_of(*(record(f"{n}", False) for n in range(MOST_SAMPLES + 5)))
    assert many.count("<details><summary>micro-3: ") == MOST_SAMPLES
    assert f"{MOST_SAMPLES + 5} records. The first {MOST_SAMPLES} are shown" in many


def test_a_rate_of_zero_shows_its_bound() -> None:
    assert "at most 25.9%" in page_of(*(record(f"{n}", False) for n in range(10)))


def test_a_rate_of_one_shows_its_bound_and_no_empty_interval() -> None:
    page = page_of(*(record(f"{n}", True) for n in range(10)))
    assert "at least 74.1%" in page
    assert "100% to 100%" not in page
    assert "M74.11 6H100.00" in page


def test_the_page_has_a_chart_for_each_family_and_trigger_with_its_interval() -> None:
    records = [
        record(f"{family}/{trigger}/{n}", n < passed, family=family, trigger=trigger)
        for family, trigger, passed in (("x", 0.1, 2), ("x", 0.85, 4), ("y", 0.85, 8))
        for n in range(8)
    ][::-1]
    page = page_of(*records)
    both = page.partition("<h4>By family and trigger or cut</h4>")[2].partition("</section>")[0]
    assert re.findall(r"<summary>(\w)</summary>", both) == ["y", "x"]
    assert re.findall(r"<th>([\d.]+ %)</th>", both) == ["10 %", "85 %"] * 2
    assert re.findall(r'class="bar" width="([\d.]+)"', both) == ["100.00", "25.00", "50.00"]
    assert both.count("whisker") == 3
    rows = summarise(Results(tuple(records))).rows
    (row,) = (r for r in rows if (r.family, r.trigger) == ("x", 0.1))
    assert row.low is not None
    assert row.high is not None
    assert 0 <= row.low < row.rate == 0.25 < row.high < 1
    assert f"{row.low:.0%} to {row.high:.0%}" in both
    one = page_of(record("a", True), record("b", True, family="y"))
    assert "By family and trigger" not in one


def test_charts_put_marks_where_the_figures_are() -> None:
    bar = rate_rows([Rate("x", 0.25, 0.1, 0.5, "n")])
    assert 'width="25.00"' in bar
    assert "M10.00 6H50.00" in bar
    assert "whisker" not in rate_rows([Rate("x", 0.25, None, None, "n")])
    marks = scatter([Point("a", 0, 0), Point("b", 1, 1, control=True)], "across", "up")
    assert 'cx="64.0" cy="312.0"' in marks
    assert 'cx="624.0" cy="12.0"' in marks
    assert marks.count('class="mark control"') == 1


@pytest.mark.parametrize("width", [60, 100, 200])
def test_the_terminal_shows_every_policy_and_what_is_missing(width: int) -> None:
    records = (record("a", True), record("a", False, policy="tail-50", state="missing"))
    out = io.StringIO()
    print_summary(summarise(Results(records)), Console(file=out, width=width))
    assert "micro-3" in out.getvalue()
    assert re.search(r"tail-50 +0\.0% +at most 95\.0% +0/1 +1", out.getvalue())
    assert "plumbing, not behaviour" in out.getvalue()


def test_the_comparison_in_words() -> None:
    first = Results(tuple(record(f"{n}", True) for n in range(20)))
    second = Results(tuple(record(f"{n}", n < 3) for n in range(20)))
    out = io.StringIO()
    print_comparison(compare(first, second), Console(file=out, width=160))
    assert "present" not in out.getvalue()
    assert "passed: 100.0% against 15.0%" in out.getvalue()
    assert "A - B +85.0% (" in out.getvalue()
    assert out.getvalue().count("A is higher") == 2
    out = io.StringIO()
    print_comparison(compare(first, first), Console(file=out, width=160))
    assert out.getvalue().count("this sample cannot tell them apart") == 2


def test_a_family_is_told_apart_only_when_the_correction_leaves_it() -> None:
    """Six of six would do alone; among ten families it does not."""
    families = [f"f{n}" for n in range(10)]
    first = Results(tuple(record(f"{f}/{n}", True, family=f) for f in families for n in range(6)))
    second = Results(
        tuple(record(f"{f}/{n}", f != "f0", family=f) for f in families for n in range(6))
    )
    found = next(f for f in compare(first, second)[0].families if f.family == "f0")
    assert (found.difference.verdict, found.verdict) == ("first", "cannot tell apart")
    assert found.adjusted_p == pytest.approx(10 * 2 / 2**6)


def looked(sample: str, calls: float, passed: bool) -> Record:
    return Record(
        suite="needle-recovery",
        sample=sample,
        cluster=sample,
        family="f",
        policy="auto",
        model="searcher",
        passed=passed,
        figures={"extra_calls": calls},
    )


def test_the_ladder_counts_each_sample_on_one_step() -> None:
    records = [
        looked("a", 0, True),
        looked("b", 2, True),
        looked("c", 7, True),
        looked("d", 3, False),
    ]
    page = recovery_ladder(records, "Plumbing")
    shares = re.findall(r'title="of 4">(\d+)%', page)
    assert shares == ["25", "0", "25", "0", "25", "25"]
    assert recovery_ladder([looked("a", 0, True)], "Plumbing") == ""


async def test_a_failed_sample_opens_down_to_its_exact_request(tmp_path: Path) -> None:
    hostile = "</pre><script>alert(1)</script> sk-verysecretverysecretvery"
    agent = Agent("payer", "Pay.")
    await Coordinator(agent, model=ScriptedModel(["no"]), runs=tmp_path / "runs").run(
        hostile, run_id="one"
    )
    entries = read_entries(tmp_path / "runs" / "one" / "events.db", "main")
    (request,) = requests_of(entries)
    record = looked("a", 0, False).model_copy(
        update={"run": "runs/one", "request": request.seq, "answer": "<b>no</b>"}
    )
    page = failed_samples([record], tmp_path)
    assert "the exact request" in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<script" not in page
    assert "<b>" not in page
    assert "verysecret" not in page
    assert "&quot;role&quot;: &quot;user&quot;" in page
    assert "undrift show runs/one --thread main --turn 1 --request" in page
    away = record.model_copy(update={"run": "../" + tmp_path.name + "/runs/one"})
    assert "the exact request" not in failed_samples([away], tmp_path / "runs")
    broken = record.model_copy(update={"request": 1})
    assert "cannot be made again" in failed_samples([broken], tmp_path)


def test_samples_that_passed_are_listed_when_their_run_was_kept_one_of_each_family_first() -> None:
    kept = [
        record(name, True, family=family, run=f"runs/{name}")
        for name, family in (("a1", "a"), ("a2", "a"), ("b1", "b"))
    ]
    page = other_samples([record("gone", True), *kept], None)
    assert re.findall(r"micro-3: (\w+)", page) == ["a1", "b1", "a2"]
    assert "<dd>valid, passed</dd>" in page
    assert other_samples([record("gone", True)], None) == ""
