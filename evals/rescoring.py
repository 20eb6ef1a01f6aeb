"""A second pass over stored answers: scored again by code, and by a judge when one is named; no new runs.

A suite with `--judge` makes this pass over its own results when it is done.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from .answers import score_answer
from .errors import EvalError
from .judging import ANSWER, Verdict, ask_judge, judged
from .launching import launch
from .models import EvalModel, open_model
from .options import AnswerOptions, ModelOptions
from .planning import close_results
from .results import Record, append_results, read_results, results_path
from .running import Ran, Sample

RESCORED = "rescored"
"""Folder in the one of the results that holds what the second pass gave."""


def check_judge(out: Path, options: AnswerOptions) -> None:
    """Before a suite: raise what else would be known only when its answers are there to be judged.

    Raises `EvalError` for a judge without a model, an address without a judge, results of an earlier pass
    that are not to be gone on with, and a judge that cannot be used or does not answer.
    """
    if not options.judge:
        if options.judge_url:
            raise EvalError("--judge-url is of use only with a judge: name one with --judge")
        return
    if not options.model:
        raise EvalError(
            f"the judge {options.judge!r} has nothing to judge: scripted answers are scored by code alone; "
            "name the model that answers with --model, or leave --judge out"
        )
    _refuse_results(out / RESCORED / "results.jsonl", options)
    judge = open_model(options.judging)
    if judge is not None:
        asyncio.run(_settle(judge))


async def _settle(judge: EvalModel) -> None:
    try:
        await judge.settle()
    finally:
        await judge.close()


def stored_answers(results: Path) -> list[Record]:
    """The records of asked questions, those without an answer among them; empty when none has one."""
    found = read_results(results_path(results)).records
    asked = [r for r in found if r.expected and r.question and not r.judge]
    return asked if any(r.answer is not None for r in asked) else []


def rescore(results: Path, out: Path, options: ModelOptions) -> tuple[int, int, Ran | None]:
    """Score the stored answers of `results` into `out/results.jsonl`; the model of `options` is the judge.

    Returns how many there are, how many code now scores otherwise, and what came of asking the judge.
    Raises `EvalError` when no answer is stored, or as `launch` does.
    """
    asked = stored_answers(results)
    if not asked:
        raise EvalError(
            f"{str(results)!r} holds no stored answer; replay and needle-recovery with --model store them, "
            "scripted answers and acts are not stored"
        )
    target = out / "results.jsonl"
    _refuse_results(target, options)
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
        [Sample(r, (_owed(r, judge),)) for r in asked], _asking(judge), out, options, judge
    )
    return len(again), changed, ran


def _refuse_results(target: Path, options: ModelOptions) -> None:
    if target.exists() and not options.resume:
        raise EvalError(
            f"{str(target)!r} exists: go on with --resume, choose another --out, or move it away"
        )


def _by_code(record: Record) -> Record:
    """As the code of this version scores a stored answer; other readings keep the verdict of their run."""
    if record.answer is None or record.reading != "answered":
        return record
    failure = score_answer(record.expected, record.answer)
    return record.model_copy(update={"failure": failure, "passed": not failure})


def _blank(record: Record, judge: EvalModel) -> Record:
    return record.model_copy(update={"reading": "judged", "judge": judge.name, "passed": False})


def _owed(record: Record, judge: EvalModel) -> Record:
    """What is planned: nothing of the answer, which may be missing now and there when the pass goes on."""
    answer = {"answer": None, "figures": {}, "run": "", "request": 0}
    return _blank(record, judge).model_copy(update=answer)


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
