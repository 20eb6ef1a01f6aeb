"""Records, half-written lines, summaries and paired comparison."""

import json
from pathlib import Path

import pytest

from evals.comparing import compare
from evals.errors import ResultsDamaged
from evals.results import Record, Results, append_results, read_results, results_path
from evals.statistics import upper_bound_of_none
from evals.summary import ALL, summarise, write_summary


def record(sample: str, passed: bool, **fields: object) -> Record:
    cluster = fields.pop("cluster", sample)
    base = {"suite": "replay", "family": "f", "policy": "p", "cluster": cluster}
    return Record.model_validate({**base, "sample": sample, "passed": passed, **fields})


def test_records_come_back_as_written(tmp_path: Path) -> None:
    path = tmp_path / "new" / "results.jsonl"
    records = [
        record("a", True, figures={"tokens": 3.5}),
        record("câu\u2028 hỏi\n", False, why="x"),
    ]
    assert append_results(path, records) == 2
    assert append_results(path, [record("c", True)]) == 1
    assert read_results(path).records == (*records, record("c", True))
    assert results_path(path.parent) == path == results_path(path)


def test_a_half_written_line_is_kept_marked_and_written_past(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    append_results(path, [record("a", True), record("b", False)])
    cut = path.read_bytes()[:-20]
    path.write_bytes(cut)
    found = read_results(path)
    assert [r.sample for r in found.records] == ["a"]
    assert [line.number for line in found.broken] == [2]
    append_results(path, [record("b", False)])
    assert path.read_bytes().startswith(cut + b"\n")
    again = read_results(path)
    assert [r.sample for r in again.records] == ["a", "b"]
    assert len(again.broken) == 1


@pytest.mark.parametrize("line", ["{", "[]", "3", '{"format": 1}', '"x"', "[" * 100_000, "\udcff"])
def test_lines_that_are_no_records_are_told(tmp_path: Path, line: str) -> None:
    path = tmp_path / "results.jsonl"
    good = record("a", True).model_dump_json()
    path.write_bytes(line.encode(errors="surrogateescape") + b"\n" + good.encode() + b"\n")
    found = read_results(path)
    assert (len(found.records), found.broken[0].number) == (1, 1)
    assert found.broken[0].why


def test_nothing_readable_is_an_error_that_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(ResultsDamaged, match="no results at"):
        read_results(tmp_path / "absent")
    (tmp_path / "x").write_text("{\n")
    with pytest.raises(ResultsDamaged, match="1 broken lines"):
        read_results(tmp_path / "x")


def test_a_later_format_is_refused_not_misread(tmp_path: Path) -> None:
    later = record("a", True).model_dump() | {"format": 2}
    (tmp_path / "x").write_text(json.dumps(later))
    with pytest.raises(ResultsDamaged, match="format 2"):
        read_results(tmp_path / "x")


def test_invalid_and_missing_count_as_failures(tmp_path: Path) -> None:
    records = (
        record("a", True),
        record("b", True, state="invalid", why="no compaction", failure="invalid"),
        record("c", False, state="missing"),
        record("d", True),
    )
    summary = summarise(Results(records))
    row = next(r for r in summary.rows if r.family == ALL and r.trigger is None)
    assert (row.samples, row.passed, row.invalid, row.missing, row.rate) == (4, 2, 1, 1, 0.5)
    assert row.failures == {"invalid": 1}
    write_summary(tmp_path / "s.json", summary)
    assert json.loads((tmp_path / "s.json").read_text())["rows"][0]["rate"] == 0.5


def test_there_is_a_rate_for_each_family_under_each_trigger() -> None:
    cells = (("x", 0.1, True), ("x", 0.85, False), ("y", 0.85, True))
    records = tuple(record(f"{c}", c[2], family=c[0], trigger=c[1]) for c in cells)
    rates = {(row.family, row.trigger): row.rate for row in summarise(Results(records)).rows}
    assert rates == {
        (ALL, None): pytest.approx(2 / 3),
        ("x", None): 0.5,
        ("y", None): 1,
        (ALL, 0.1): 1,
        (ALL, 0.85): 0.5,
        ("x", 0.1): 1,
        ("x", 0.85): 0,
        ("y", 0.85): 1,
    }


def test_a_rate_of_zero_has_its_upper_bound_over_clusters() -> None:
    records = tuple(record(f"{n}", False, cluster=str(n % 10)) for n in range(50))
    row = summarise(Results(records)).rows[0]
    assert (row.rate, row.clusters) == (0, 10)
    assert row.upper_bound == pytest.approx(upper_bound_of_none(10))
    assert row.lower_bound is None


def test_compare_pairs_by_sample_and_says_what_has_no_pair() -> None:
    first = Results(tuple(record(f"{n}", True) for n in range(12)))
    second = Results(tuple(record(f"{n}", n == 11, policy="q") for n in range(2, 14)))
    (found,) = compare(first, second)
    assert (found.overall.verdict, found.only_first, found.only_second) == ("first", 2, 2)
    assert (found.first_rate, found.second_rate) == (1, 0.1)
    assert found.overall.p_value == pytest.approx(2 / 2**9)
    assert found.families[0].adjusted_p == found.overall.p_value


def test_compare_says_when_it_cannot_tell() -> None:
    first = Results(tuple(record(f"{n}", n % 2 == 0) for n in range(10)))
    second = Results(tuple(record(f"{n}", n % 3 == 0) for n in range(10)))
    assert compare(first, second)[0].overall.verdict == "cannot tell apart"


def test_compare_refuses_what_it_cannot_pair() -> None:
    one = Results((record("a", True),))
    with pytest.raises(ResultsDamaged, match="share no sample"):
        compare(one, Results((record("b", True),)))
    two = Results((record("a", True), record("a", False, policy="q")))
    with pytest.raises(ResultsDamaged, match=r"'a' twice.*\['p', 'q'\]"):
        compare(two, one)
    assert compare(two.of_policy("q"), one)[0].overall.interval.estimate == -1
    with pytest.raises(ResultsDamaged, match="'z'"):
        two.of_policy("z")
