"""The goal-drift suite: families, languages, loads and policies, run and summed up."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from agents import ScriptedModel

from ..arms import FULL, Arm
from ..axes import arms_under_test, loads
from ..launching import launch, run_folder
from ..models import EvalModel, open_model
from ..options import ArmOptions, ModelOptions
from ..results import Record
from ..running import Ran, Sample
from .families import FAMILIES
from .plan import POLICIES_OF, arms_of
from .running import RUN, arm_of, drift_record, run_drift
from .scripted import POLICIES
from .tasks import DriftTask, drift_task
from .wording import LANGUAGES

MOST_SWALLOWED = 0.25
"""Trigger up to which the user's message of the family `swallowed` fits the user's share of the window."""


@dataclass(frozen=True, slots=True)
class Job:
    """One sample under one arm."""

    task: DriftTask
    policy: str
    """A scripted policy, `""` for the language model."""
    arm: Arm


@dataclass(frozen=True, slots=True)
class Samples:
    """Which samples are run."""

    families: tuple[str, ...] = ()
    """Empty for all."""
    languages: tuple[str, ...] = ()
    """Empty for all."""
    seeds: int = 2
    """Tasks of each family and language."""


def run_goal_drift(
    out: Path,
    which: Samples | None = None,
    arms: ArmOptions | None = None,
    options: ModelOptions | None = None,
) -> Ran:
    """Run the suite into `out/results.jsonl`; without a model in `options` the scripted policies answer.

    Raises `FamilyUnknown` for a name there is not, and as `open_model` and `launch` do.
    """
    options, arms = options or ModelOptions(), arms or ArmOptions()
    model = open_model(options)
    jobs = list(_jobs(which or Samples(), arms, model))

    async def run_one(job: Job) -> Sequence[Record]:
        if model is None:
            script = POLICIES[job.policy]
            answering = ScriptedModel(script, name=job.policy, window=job.arm.model_window)
        else:
            answering = model.sample(None if job.arm.policy == FULL else job.arm.window)
        turns = options.max_turns
        if options.keep_runs:
            with run_folder(out, f"{job.task.name}/{job.policy}/{job.arm.name}") as folder:
                record = await run_drift(job.task, answering, job.arm, folder, turns=turns)
                record = record.model_copy(update={"run": str((folder / RUN).relative_to(out))})
        else:
            record = await run_drift(job.task, answering, job.arm, turns=turns)
        return [record] if isinstance(answering, ScriptedModel) else answering.mark([record])

    samples = [Sample(job, (_blank(job, model),)) for job in jobs]
    return launch(samples, run_one, out, options, model)


def _jobs(which: Samples, options: ArmOptions, model: EvalModel | None) -> Iterator[Job]:
    arms = arms_under_test(options)
    families, languages = which.families or tuple(FAMILIES), which.languages or tuple(LANGUAGES)
    for number, (family, language, seed) in enumerate(
        product(families, languages, range(which.seeds))
    ):
        tested = _fitting(family, loads(arms, options, number))
        yield from _jobs_of(family, language, seed, tested, model)


def _jobs_of(
    family: str, language: str, seed: int, tested: Sequence[Arm], model: EvalModel | None
) -> Iterator[Job]:
    tasks = {
        arm.load: drift_task(family, language, seed, arm.load, families=FAMILIES) for arm in tested
    }
    tested = [arm_of(tasks[arm.load], arm) for arm in tested]
    if model is not None:
        every = [each for arm in tested for each in (arm.full, arm, arm.head_only)]
        for arm in {(arm.name, arm.load): arm for arm in every}.values():
            yield Job(tasks[arm.load], "", arm)
        return
    for policy in POLICIES_OF[family]:
        for arm in arms_of(family, policy, tested):
            yield Job(tasks[arm.load], policy, arm)


def _fitting(family: str, arms: Sequence[Arm]) -> list[Arm]:
    """The arms as a family can bear them: a message that makes a compaction necessary makes one, and may
    take no more than a user's messages may."""
    if family != "swallowed":
        return list(arms)
    return [replace(arm, compactions=1, trigger=min(arm.trigger, MOST_SWALLOWED)) for arm in arms]


def _blank(job: Job, model: EvalModel | None) -> Record:
    """What stands for a job while it has no result."""
    name = model.name if model else job.policy
    return drift_record(job.task, job.arm, name).model_copy(update={"scripted": model is None})
