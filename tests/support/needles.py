"""One needle sample, as tests run it."""

from agents import ScriptedModel
from evals.arms import Arm
from evals.needles.drafting import Shape
from evals.needles.running import run_needle
from evals.needles.scripted import Script, unreported
from evals.needles.tasks import NeedleTask, needle_task
from evals.results import Record

ARM = Arm(trigger=0.1)


def task_of(
    family: str, language: str = "en", seed: int = 0, arm: Arm = ARM, value: str | None = None
) -> NeedleTask:
    """The task that an arm's load makes."""
    shape = Shape.of(arm.tokens(ScriptedModel([])), arm.window, arm.compactions)
    return needle_task(family, language, seed, arm.load, shape, value=value)


async def answered(
    task: NeedleTask, script: Script, arm: Arm = ARM, *, blind: bool = False
) -> Record:
    """What a scripted policy makes of a task under an arm."""
    model = ScriptedModel(unreported(script), name="policy", window=arm.model_window)
    return await run_needle(task, model, arm, blind=blind)
