"""The goal-success scorer over finished runs: records by code, and by a judge when one is named."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from memory import JsonObject, LogError, read_entries

from ..errors import EvalError
from ..judging import GOAL, Verdict, ask_judge, judged
from ..launching import launch
from ..models import EvalModel, open_model
from ..options import ModelOptions
from ..results import LONGEST_ANSWER, Record
from ..running import Ran, Sample
from .scoring import GoalScore, score_goal

_CALLS = 80
"""Calls that a judge is shown: the first quarter and the newest ones."""
_ARGUMENTS = 300
"""Characters of the arguments of each."""


def read_goal(run: Path) -> GoalScore:
    """The score of the run in a folder. Raises `EvalError` when it holds none that can be read."""
    try:
        return score_goal(read_entries(run / "events.db"))
    except LogError as error:
        raise EvalError(f"{str(run)!r} holds no run that can be read: {error}") from error


def score_goals(
    runs: Sequence[Path], out: Path, options: ModelOptions
) -> tuple[list[GoalScore], Ran]:
    """Score finished runs into `out/results.jsonl`; the model of `options` is the judge.

    Raises `EvalError` for a folder without a run, or as `launch` does.
    """
    judge = open_model(options)
    scores = [read_goal(run) for run in runs]
    samples = [Sample(score, tuple(_blanks(score, judge))) for score in scores]
    return scores, launch(samples, _scoring(judge), out, options, judge)


def _blanks(score: GoalScore, judge: EvalModel | None) -> list[Record]:
    blank = Record(
        suite="goal-success",
        sample=score.run_id,
        cluster=score.run_id,
        family="run",
        policy="compacted" if score.compactions else "whole",
        model=score.model,
        scripted=score.model in ("scripted", "extractive"),
        passed=False,
        evidence=score.goal[:200],
    )
    if judge is None:
        return [blank]
    return [blank, blank.model_copy(update={"reading": "judged", "judge": judge.name})]


def _scoring(judge: EvalModel | None) -> Callable[[GoalScore], Awaitable[list[Record]]]:
    async def score_one(score: GoalScore) -> list[Record]:
        code, *more = _blanks(score, judge)
        first = score.findings[0] if score.findings else None
        update: JsonObject = {
            "passed": score.passed,
            "failure": first.kind if first else "",
            "why": "; ".join(f"{f.kind}: {f.detail}" for f in score.findings)[:LONGEST_ANSWER],
            "figures": _figures(score),
        }
        records = [code.model_copy(update=update)]
        if judge is not None:
            view = judge.sample()
            try:
                verdict = await ask_judge(view, GOAL, digest_of(score))
            except Exception as error:  # noqa: BLE001 - the boundary: the view marks the record
                verdict = Verdict(None, str(error))
            own = {"model": code.model, "scripted": code.scripted}
            marked = view.mark([judged(more[0], verdict)])
            records += [record.model_copy(update=own) for record in marked]
        return records

    return score_one


def digest_of(score: GoalScore) -> JsonObject:
    """What a judge is shown of a run, bounded."""
    calls = [f"{each.call.name} {each.call.arguments[:_ARGUMENTS]}" for each in score.calls]
    if len(calls) > _CALLS:
        first = _CALLS // 4
        gap = f"({len(calls) - _CALLS} more calls)"
        calls = [*calls[:first], gap, *calls[first - _CALLS :]]
    return {
        "goal": score.goal[:LONGEST_ANSWER],
        "constraints": [[rule.text, rule.verdict] for rule in score.constraints],
        "steps": [[step.text, step.state] for step in score.steps],
        "status": score.status,
        "found by code": [f"{f.kind}: {f.detail}"[:_ARGUMENTS] for f in score.findings],
        "calls": calls,
        "answer": score.answer[:LONGEST_ANSWER],
    }


def _figures(score: GoalScore) -> dict[str, float]:
    verdicts = [rule.verdict for rule in score.constraints]
    return {
        "constraints": float(len(verdicts)),
        "violated": float(verdicts.count("violated")),
        "unchecked": float(verdicts.count("unchecked")),
        "steps": float(len(score.steps)),
        "steps_done": float(sum(step.state == "done" for step in score.steps)),
        "calls": float(len(score.calls)),
        "compactions": float(score.compactions),
    }
