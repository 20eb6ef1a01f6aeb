"""A second pass over stored answers: scored again by code, and by a judge when one is named; no new runs."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from .answers import score_answer
from .errors import EvalError
from .judging import ANSWER, Verdict, ask_judge, judged
from .launching import launch
from .models import EvalModel, open_model
from .options import ModelOptions
from .planning import close_results
from .results import Record, append_results, read_results, results_path
from .running import Ran, Sample


def rescore(results: Path, out: Path, options: ModelOptions) -> tuple[int, int, Ran | None]:
    """Score the stored answers of `results` into `out/results.jsonl`; the model of `options` is the judge.

    Returns how many there are, how many code now scores otherwise, and what came of asking the judge.
    Raises `EvalError` when no answer is stored, or as `launch` does.
    """
    found = read_results(results_path(results)).records
    asked = [r for r in found if r.expected and r.question and not r.judge]
    if not any(r.answer is not None for r in asked):
        raise EvalError(
            f"{str(results)!r} holds no stored answer; a suite with --model stores them, a scripted one "
            "has none"
        )
    target = out / "results.jsonl"
    if target.exists() and not options.resume:
        raise EvalError(
            f"{str(target)!r} exists: go on with --resume, choose another --out, or move it away"
        )
    judge = open_model(options)
    had, _ = close_results(target)
    again = [_by_code(record) for record in asked]
    changed = sum(old.passed != new.passed for old, new in zip(asked, again, strict=True))
    append_results(target, (record for record in again if record.key not in had))
    if judge is None:
        return len(again), changed, None
    options = ModelOptions(
        concurrency=options.concurrency, resume=True, max_seconds=options.max_seconds
    )
    ran = launch(
        [Sample(r, (_blank(r, judge),)) for r in asked], _asking(judge), out, options, judge
    )
    return len(again), changed, ran


def _by_code(record: Record) -> Record:
    """As the code of this version scores a stored answer; other readings keep the verdict of their run."""
    if record.answer is None or record.reading != "answered":
        return record
    failure = score_answer(record.expected, record.answer)
    return record.model_copy(update={"failure": failure, "passed": not failure})


def _blank(record: Record, judge: EvalModel) -> Record:
    return record.model_copy(update={"reading": "judged", "judge": judge.name, "passed": False})


def _asking(judge: EvalModel) -> Callable[[Record], Awaitable[list[Record]]]:
    async def ask(record: Record) -> list[Record]:
        blank = _blank(record, judge)
        if record.answer is None:
            return [blank.model_copy(update={"state": "missing", "failure": "no answer to judge"})]
        view = judge.sample()
        expected = list(record.expected)
        data = {"question": record.question, "expected": expected, "answer": record.answer}
        try:
            verdict = await ask_judge(view, ANSWER, data)
        except Exception as error:  # noqa: BLE001 - the boundary: the view marks the record
            verdict = Verdict(None, str(error))
        own = {"model": record.model, "scripted": record.scripted}
        return [m.model_copy(update=own) for m in view.mark([judged(blank, verdict)])]

    return ask
