"""Options that several commands share, as frozen classes: a command takes such an object as an argument."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

_Judge = Annotated[
    str, typer.Option(help="Model that judges: openai:NAME, PROVIDER:NAME; none: code alone.")
]
_JudgeUrl = Annotated[str, typer.Option(help="Address of the judge's OpenAI-compatible server.")]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Which model answers, and how far it may go. Without a model the scripted ones answer."""

    model: Annotated[
        str,
        typer.Option(help="Model that answers: openai:NAME, PROVIDER:NAME; none: scripted ones."),
    ] = ""
    base_url: Annotated[
        str,
        typer.Option(
            help="Address of an OpenAI-compatible server, ending before /chat/completions."
        ),
    ] = ""
    concurrency: Annotated[int, typer.Option(help="Samples at the same time.", min=1)] = 4
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the results in --out: run what has none.")
    ] = False
    cassettes: Annotated[
        Path | None, typer.Option(help="Folder of recorded replies; a request not in it is stale.")
    ] = None
    record: Annotated[
        bool,
        typer.Option("--record", help="Ask the model for what --cassettes lacks, and keep it."),
    ] = False
    max_tokens: Annotated[int, typer.Option(help="Longest answer, in tokens.", min=1)] = 1024
    max_turns: Annotated[
        int, typer.Option(help="Model calls of one sample, 0 for what its suite sets.", min=0)
    ] = 0
    max_seconds: Annotated[
        float, typer.Option(help="Wall time of one sample, 0 for no limit.", min=0)
    ] = 600.0
    max_total_tokens: Annotated[
        int,
        typer.Option(
            help="Tokens after which no further sample is begun, 0 for no limit; a judge's count apart.",
            min=0,
        ),
    ] = 0
    keep_runs: Annotated[
        bool, typer.Option("--keep-runs", help="Keep each sample's run folder under OUT/runs.")
    ] = False


@dataclass(frozen=True, slots=True)
class AnswerOptions(ModelOptions):
    """Which model answers, and which one judges the stored answers afterwards, if any."""

    judge: _Judge = ""
    judge_url: _JudgeUrl = ""

    @property
    def judging(self) -> ModelOptions:
        """The judge's: the same limits but for the length of a reply and the calls of a sample."""
        return _judging(self, max_seconds=self.max_seconds, max_total_tokens=self.max_total_tokens)


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """Which model judges, if any."""

    judge: _Judge = ""
    judge_url: _JudgeUrl = ""
    concurrency: Annotated[int, typer.Option(help="Verdicts at the same time.", min=1)] = 4
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the results in --out: run what has none.")
    ] = False
    cassettes: Annotated[
        Path | None, typer.Option(help="Folder of recorded replies; a request not in it is stale.")
    ] = None
    record: Annotated[
        bool,
        typer.Option("--record", help="Ask the judge for what --cassettes lacks, and keep it."),
    ] = False

    @property
    def model(self) -> ModelOptions:
        """The same for `open_model`."""
        return _judging(self)


def _judging(options: "AnswerOptions | JudgeOptions", **limits: Any) -> ModelOptions:
    return ModelOptions(
        options.judge,
        options.judge_url,
        options.concurrency,
        options.resume,
        options.cassettes,
        options.record,
        **limits,
    )


@dataclass(frozen=True, slots=True)
class ArmOptions:
    """What is done to the history. Left out, an axis has its default."""

    policy: Annotated[
        list[str] | None, typer.Option(help="Compaction strategy under test; may be repeated.")
    ] = None
    recite: Annotated[
        list[str] | None,
        typer.Option(
            help="Recitation: MODE or MODE:PART,PART (off, readings, replace:goal...); repeatable."
        ),
    ] = None
    prompt: Annotated[
        list[str] | None,
        typer.Option(help="The summariser's prompt: a name, or a file with your own; repeatable."),
    ] = None
    summariser: Annotated[
        str, typer.Option(help="Writes summaries: code, model, or a scripted one by name.")
    ] = "code"
    pinned: Annotated[bool, typer.Option(help="Hand the rules to the agent as pinned text.")] = True
    trigger: Annotated[
        list[float] | None,
        typer.Option(help="Share of the window to compact at; repeatable. Default: all in turn."),
    ] = None
    window: Annotated[int, typer.Option(help="Tokens of the declared window.")] = 32_000
    compactions: Annotated[
        list[int] | None,
        typer.Option(help="Compactions forced before the question; repeatable. Default: in turn."),
    ] = None


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose arguments of a dataclass type are that class's fields as options.

    It keeps functions within seven arguments where commands share a dozen options.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    shown: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        group = groups.get(parameter.name)
        if group is None:
            shown.append(parameter.replace(annotation=hints[parameter.name]))
        else:
            shown += _options_of(group)

    def run(**values: Any) -> None:
        for name, kind in groups.items():
            values[name] = kind(**{field.name: values.pop(field.name) for field in fields(kind)})
        command(**values)

    # Not functools.wraps: a command that says it wraps another is taken to be at its boundary already.
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature(shown)  # pyright: ignore[reportFunctionMemberAccess] - read by Typer
    return run


def _options_of(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]
