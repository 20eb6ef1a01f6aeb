"""From a suite's samples to its results: the model answers, samples run, all is closed.

A suite is its samples and one function:

    async def run_one(task: Task) -> Sequence[Record]:
        with run_folder(out if options.keep_runs else None, task.name) as folder:
            answering = model.sample(window=task.window) if model else ScriptedModel(task.script)
            records = [...]  # Coordinator(agent, model=answering, runs=folder)...
        return answering.mark(records) if model else records

    model = open_model(options)  # None: no --model, so scripted ones answer
    ran = launch([Sample(task, blanks(task)) for task in tasks], run_one, out, options, model)

A command takes `options: ModelOptions` and is decorated with `grouped`.
"""

import asyncio
import contextlib
import re
import tempfile
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from .models import EvalModel
from .options import ModelOptions
from .results import Record
from .running import Ran, Running, Sample, run_samples

T = TypeVar("T")
RUNS = "runs"
"""Folder beside the results that holds the runs that are kept."""


def launch(
    samples: Iterable[Sample[T]],
    run_one: Callable[[T], Awaitable[Sequence[Record]]],
    out: Path,
    options: ModelOptions,
    model: EvalModel | None = None,
) -> Ran:
    """Run samples as the options say, with a model of `open_model` or with scripted ones.

    Ctrl-C keeps what was measured. Raises as `run_samples` and `EvalModel.settle` do.
    """
    running = Running(
        concurrency=options.concurrency if model else 1,
        resume=options.resume,
        seconds=options.max_seconds or None,
        stop=model.stop if model else lambda: "",
        tell=_print if model else lambda line: None,
    )
    try:
        return asyncio.run(_launch(samples, run_one, out, running, model))
    except KeyboardInterrupt as stop:
        stop.add_note(f"what was measured is kept in {str(out)!r}; --resume goes on with the rest")
        raise


async def _launch(
    samples: Iterable[Sample[T]],
    run_one: Callable[[T], Awaitable[Sequence[Record]]],
    out: Path,
    running: Running,
    model: EvalModel | None,
) -> Ran:
    try:
        if model is not None:
            await model.settle()
        return await run_samples(samples, run_one, out, running)
    finally:
        if model is not None:
            await model.close()


@contextlib.contextmanager
def run_folder(out: Path | None, name: str) -> Generator[Path]:
    """A new folder for one sample's run: kept under `out/runs`, or gone afterwards when `out` is `None`.

    `name` is the sample with its policy; an attempt that broke keeps its own.
    """
    if out is None:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
        return
    folder = out / RUNS / folder_name(name)
    for number in range(1, 100):
        if not folder.exists():
            break
        folder = folder.with_name(f"{folder_name(name)}.{number}")
    folder.mkdir(parents=True)
    yield folder


def folder_name(name: str) -> str:
    """A sample's name as a folder's: readable, and never the same for two names."""
    plain = re.sub(r"[^A-Za-z0-9.-]+", "-", name).strip("-.")[:80]
    return f"{plain}-{sha256(name.encode()).hexdigest()[:8]}"


def _print(line: str) -> None:
    from .reports.files import say

    say(line)
