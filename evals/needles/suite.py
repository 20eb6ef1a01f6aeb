"""The needle suite: families, languages, loads and policies, run and summed up.

Every sample is answered by the searcher. On the first seed the others answer as well, the negative controls
among them: what a control passes proves that a sample tests nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from agents import ScriptedModel

from ..arms import FULL, HEAD_ONLY, Arm
from ..axes import arms_under_test, loads
from ..errors import ControlPassed, FamilyUnknown
from ..launching import launch, run_folder
from ..models import EvalModel, open_model
from ..options import ArmOptions, ModelOptions
from ..results import Record, read_results
from ..running import Ran, Sample
from .drafting import Shape
from .families import FAMILIES
from .running import BLIND, RUN, needle_record, run_needle
from .scripted import Script, dumper, guesser, limited, naive, opener, reader, searcher, unreported
from .tasks import NeedleTask, needle_task
from .wording import LANGUAGES, NOT_FOUND

SEARCHER = "searcher-8"
POLICIES: dict[str, Script] = {
    "reader": reader,
    "limited-reader": limited(2_000, 16_000),
    SEARCHER: searcher(8),
    "naive-searcher": naive,
    "opener": opener,
    "dumper": dumper,
    "guesser": guesser,
}
"""The scripted models."""
CONTROL_LANGUAGES = ("en", "ja")
"""Of the readers and the negative controls."""
SEEDS = 5


@dataclass(frozen=True, slots=True)
class Samples:
    """Which samples are run."""

    families: tuple[str, ...] = ()
    """Empty for all."""
    languages: tuple[str, ...] = ()
    """Empty for all."""
    seeds: int = SEEDS
    """Tasks of each family and language."""


@dataclass(frozen=True, slots=True)
class Job:
    """One sample under one arm."""

    task: NeedleTask
    policy: str
    """A scripted policy, `""` for the language model."""
    arm: Arm
    blind: bool = False


def run_needles(
    out: Path,
    which: Samples | None = None,
    arms: ArmOptions | None = None,
    options: ModelOptions | None = None,
) -> Ran:
    """Run the suite into `out/results.jsonl`; without a model in `options` the scripted policies answer.

    Raises `FamilyUnknown` for a name there is not, and as `open_model` and `launch` do.
    """
    options = options or ModelOptions()
    model = open_model(options)
    jobs = list(_jobs(which or Samples(), arms or ArmOptions(), model))

    async def run_one(job: Job) -> Sequence[Record]:
        if model is None:
            script = unreported(POLICIES[job.policy])
            answering = ScriptedModel(script, name=job.policy, window=job.arm.model_window)
        else:
            answering = model.sample(None if job.arm.policy == FULL else job.arm.window)
        turns, blind = options.max_turns, job.blind
        if options.keep_runs:
            with run_folder(out, _name(job)) as folder:
                record = await run_needle(
                    job.task, answering, job.arm, folder, blind=blind, turns=turns
                )
                record = record.model_copy(update={"run": str((folder / RUN).relative_to(out))})
        else:
            record = await run_needle(job.task, answering, job.arm, blind=blind, turns=turns)
        return [record] if isinstance(answering, ScriptedModel) else answering.mark([record])

    blanks = {(blank := _blank(job, model)).key: Sample(job, (blank,)) for job in jobs}
    samples = list(blanks.values())  # policies share their controls
    return launch(samples, run_one, out, options, model)


def check_controls(out: Path) -> None:
    """Raise `ControlPassed` when a negative control of the results passed a sample."""
    passed = [r for r in read_results(out / "results.jsonl").records if is_control(r) and r.passed]
    if passed:
        raise ControlPassed(
            f"{len(passed)} samples were passed by a negative control, for example {passed[0].sample!r} by "
            f"{passed[0].model!r} under {passed[0].policy!r}: they test nothing, so no figure counts"
        )


def is_control(record: Record) -> bool:
    """True for a record of which a pass would prove its sample wrong."""
    if record.expected == (NOT_FOUND,) or not record.scripted:
        return False
    if record.model in ("dumper", "guesser") or record.policy.startswith(HEAD_ONLY):
        return True
    return record.policy.endswith(BLIND) or (record.model == "reader" and record.policy != FULL)


def _jobs(which: Samples, options: ArmOptions, model: EvalModel | None) -> Iterator[Job]:
    arms = arms_under_test(options)
    families, languages = which.families or tuple(FAMILIES), which.languages or tuple(LANGUAGES)
    for name in families:
        if name not in FAMILIES:
            known = ", ".join(FAMILIES)
            raise FamilyUnknown(f"no needle family is called {name!r}; there are: {known}")
    for number, (family, language, seed) in enumerate(
        product(families, languages, range(which.seeds))
    ):
        for arm in loads(arms, options, number):
            shape = Shape.of(arm.tokens(ScriptedModel([])), arm.window, arm.compactions)
            task = needle_task(family, language, seed, arm.load, shape)
            if model is not None:
                yield from (Job(task, "", each) for each in (arm.full, arm, arm.head_only))
            else:
                yield from _scripted_jobs(task, arm)


def _scripted_jobs(task: NeedleTask, arm: Arm) -> Iterator[Job]:
    yield Job(task, SEARCHER, arm)
    if task.seed > 0 or task.language not in CONTROL_LANGUAGES:
        return
    yield from (Job(task, policy, arm) for policy in ("reader", "limited-reader", "naive-searcher"))
    if task.traits.large != "none":
        yield Job(task, "opener", arm)
    yield from (Job(task, policy, arm.full) for policy in ("reader", "dumper", "guesser"))
    yield Job(task, "reader", arm.head_only)
    yield Job(task, SEARCHER, arm, blind=True)


def _blank(job: Job, model: EvalModel | None) -> Record:
    """What stands for a job while it has no result."""
    name = model.name if model else job.policy
    record = needle_record(job.task, job.arm, name, blind=job.blind)
    return record.model_copy(update={"scripted": model is None})


def _name(job: Job) -> str:
    return f"{job.task.name}/{job.policy}/{job.arm.name}{f'/{BLIND}' if job.blind else ''}"
