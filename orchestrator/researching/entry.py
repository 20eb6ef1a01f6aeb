"""`undrift research` from command to report: open the documents, make a run, walk the graph."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents import AgentDefinitionError, Emit, Limits, Model, StageStarted, ignore
from filesystem import FolderCorpus, IndexReport
from memory import JsonObject, Noticed

from ..errors import QuestionRefused
from ..models import ROLES, Chain, Models
from ..result import RunResult
from ..runner import AsyncRunner
from ..runs import LiveRun, check_trusted, open_run, start_run
from ..subagents import resolve_chain
from .team import research_team

if TYPE_CHECKING:
    from .job import ResearchJob

MAX_QUESTION = 20_000
"""Characters of a question; longer text belongs into a document."""


@dataclass(frozen=True, slots=True)
class ResearchOptions:
    """How a research run is to be done.

    Raises `AgentDefinitionError` for less than one researcher or one round.
    """

    models: Models = field(default_factory=Models)
    runs: Path = Path("runs")
    """Folder in which runs are kept; the search index lives beside them in `.index`."""
    parallel: int = 5
    """Researchers at the same time."""
    rounds: int = 2
    """Rounds of research at most; from the second on they fill the gaps that a review found."""
    max_tokens: int | None = None
    """Tokens of the whole run, `None` for no limit."""
    seconds: float | None = None
    """Wall time of the whole run, `None` for no limit."""
    base_url: str | None = None
    """Address of an OpenAI-compatible server, `None` for the environment's or the provider's own."""
    redact_at_source: bool = False
    """Hides secrets in questions and documents from the models and from the log as well."""
    file_tools: bool = False
    """Gives researchers `ls`, `glob`, `grep`, `read_file` over the documents, and `/files` of their own."""

    def __post_init__(self) -> None:
        for name in ("parallel", "rounds"):
            if not getattr(self, name) >= 1:
                raise AgentDefinitionError(
                    f"{name} is a number from 1, not {getattr(self, name)!r}"
                )
        object.__setattr__(self, "runs", Path(self.runs))

    def limits(self) -> Limits:
        """The limits of the run's tree."""
        return Limits(tokens=self.max_tokens, seconds=self.seconds, parallel_agents=self.parallel)

    def stored(self, docs: Sequence[Path]) -> JsonObject:
        """What the log keeps, enough to go on with the run; models given as objects are named only."""
        return {
            "kind": "research",
            "docs": [str(path.absolute()) for path in docs],
            "models": {role: _names(self.models.chain(role)) for role in ROLES},
            "parallel": self.parallel,
            "rounds": self.rounds,
            "max_tokens": self.max_tokens,
            "seconds": self.seconds,
            "base_url": self.base_url,
            "redact_at_source": self.redact_at_source,
            "file_tools": self.file_tools,
        }


def stored_options(data: Mapping[str, Any], runs: Path) -> ResearchOptions:
    """The options that `ResearchOptions.stored` wrote."""
    names = ("parallel", "rounds", "max_tokens", "seconds", "base_url")
    names += ("redact_at_source", "file_tools")
    given = {name: data[name] for name in names if name in data}
    return ResearchOptions(models=Models(**data.get("models", {})), runs=runs, **given)


async def research(
    question: str,
    docs: Path | str | Sequence[Path | str],
    options: ResearchOptions | None = None,
    *,
    emit: Emit = ignore,
    run_id: str | None = None,
) -> RunResult:
    """Answer a question from one or more folders of documents; the result's text is the report in Markdown.

    Raises `QuestionRefused`, `CorpusError` for documents that cannot be used and `AgentDefinitionError`
    for a model that does not exist, all before a run is made. What fails later is in the result.
    """
    options = options or ResearchOptions()
    check_question(question)
    models = _resolve(options)
    roots = [Path(each) for each in ([docs] if isinstance(docs, (Path, str)) else docs)]
    corpus = await open_corpus(roots, options.runs)
    try:
        live = await start_run(
            options.runs,
            question,
            options.stored(roots),
            run_id=run_id,
            limits=options.limits(),
            emit=emit,
        )
    except BaseException:
        await corpus.close()
        raise
    return await _work(live, corpus, options, models, _walk)


async def resume_research(folder: Path, *, emit: Emit = ignore, trust: bool = False) -> RunResult:
    """Go on with an interrupted run; a finished one has its report written again, at no cost.

    Going on reads the documents and asks the server that the run's log names: `trust` says that this is
    wanted even for a run that this user did not make here; else such a one raises `RunNotTrusted`.
    Raises `NotARunFolder`, `LogLocked`, `LogError`, and what `research` raises for documents and models.
    """
    return await _reopened(folder, emit, _walk, trust)


async def ask_research(
    folder: Path, message: str, *, emit: Emit = ignore, trust: bool = False
) -> RunResult:
    """Ask a follow-up of a run: one more researcher answers it from the same documents.

    The answer is the result's text, and `answer-N.md` in the run folder. Raises as `resume_research`
    does, and `QuestionRefused`.
    """
    check_question(message)

    async def follow_up(job: "ResearchJob") -> RunResult:
        if job.live.ended is None:
            raise QuestionRefused(
                f"the run in {str(folder)!r} is not finished: go on with it first (undrift resume), "
                "then ask"
            )
        return await job.follow_up(message)

    return await _reopened(folder, emit, follow_up, trust)


async def _reopened(
    folder: Path,
    emit: Emit,
    then: Callable[["ResearchJob"], Awaitable[RunResult]],
    trust: bool,
) -> RunResult:
    if not trust:
        check_trusted(folder)
    live = await open_run(folder, limits=Limits(), emit=emit)
    try:
        options = stored_options(live.started.options, folder.parent)
        live.run.meter.limits = options.limits()
        models = _resolve(options)
        corpus = await open_corpus([Path(p) for p in live.started.options["docs"]], options.runs)
    except BaseException:
        await live.close()
        raise
    return await _work(live, corpus, options, models, then)


def check_question(question: str) -> None:
    """Raise `QuestionRefused` for a question that is empty or too long."""
    if not question.strip():
        raise QuestionRefused("the question is empty; write what you want to know")
    if len(question) > MAX_QUESTION:
        raise QuestionRefused(
            f"the question has {len(question):,} characters, at most {MAX_QUESTION:,} are taken; put the "
            "long text into a file of the documents' folder and ask about it"
        )


async def open_corpus(docs: Sequence[Path], runs: Path) -> FolderCorpus:
    """The documents with their index, which is kept beside the runs and only brought up to date."""
    roots = [path.absolute() for path in docs]
    name = hashlib.sha256("\0".join(str(root) for root in roots).encode("utf-8", "replace"))
    index = runs / ".index" / f"{name.hexdigest()[:16]}.db"
    return await FolderCorpus.open(roots, index)


async def _work(
    live: LiveRun,
    corpus: FolderCorpus,
    options: ResearchOptions,
    models: Mapping[str, Sequence[Model]],
    then: Callable[["ResearchJob"], Awaitable[RunResult]],
) -> RunResult:
    """Do something with a run that is open, and close everything whatever happens."""
    from .job import ResearchJob

    try:
        live.run.files.given = corpus.files()
        team = research_team(corpus, await corpus.sources(), models, file_tools=options.file_tools)
        runner = AsyncRunner(live.run, team, live.run.meter)
        names = sorted({chain[0].name for chain in models.values()})
        skipped = corpus.report.skipped
        job = ResearchJob(live, runner, corpus, options.rounds, names, skipped)
        _tell_reading(live, corpus.report)
        return await then(job)
    finally:
        await asyncio.shield(_close(live, corpus, models))


async def _walk(job: "ResearchJob") -> RunResult:
    """Walk the graph from its beginning; what the log holds finished costs nothing."""
    from langsmith import tracing_context

    from .graph import ResearchGraph

    if await job.unanswered():
        return await job.follow_up()
    # Without a model nothing leaves the machine, whatever tracing LangChain's variables switch on.
    with tracing_context(enabled=False) if job.mode == "extractive" else nullcontext():
        await ResearchGraph(job).build().ainvoke({}, {"recursion_limit": 1000})
    return await job.result()


async def _close(
    live: LiveRun, corpus: FolderCorpus, models: Mapping[str, Sequence[Model]]
) -> None:
    await live.close()
    await corpus.close()
    for model in {id(model): model for chain in models.values() for model in chain}.values():
        await model.close()


def _tell_reading(live: LiveRun, report: IndexReport) -> None:
    """Say in the log, and to whoever watches, which files were read and which were not."""
    skipped = [{"source": file.source, "reason": file.reason} for file in report.skipped]
    if live.ended is None:  # looking at a finished run again adds nothing to it
        live.run.log.append("", Noticed("documents", {"files": report.files, "skipped": skipped}))
    words = f"{report.files} files, {report.indexed} new or changed, {len(skipped)} skipped"
    live.run.emit(StageStarted("read", words))


def _resolve(options: ResearchOptions) -> dict[str, tuple[Model, ...]]:
    chains = {role: options.models.chain(role) for role in ROLES}
    return {role: resolve_chain(chain, base_url=options.base_url) for role, chain in chains.items()}


def _names(chain: Chain) -> list[str]:
    given = chain if isinstance(chain, Sequence) and not isinstance(chain, str) else [chain]
    return [value if isinstance(value, str) else value.name for value in given]
