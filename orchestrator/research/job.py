"""One research run at work: its plan, its answers so far, and the files it writes."""

import asyncio
from collections.abc import Sequence

from agents import Emit, Outcome
from filesystem import Search
from memory import ReplyReceived

from ..runner import Runner, TaskSpec
from ..runs import LiveRun
from .render import render_markdown
from .report import Answered, Report, ReportInput, build_report
from .shapes import Draft, Plan, SubQuestion

MAIN = "main"
WRITING_SHARE = 0.25
"""Part of the time left that researchers leave for review and writing."""
MAX_TOTAL = 24
"""Sub-questions of one run, all rounds together."""


class ResearchJob:
    """What the research graph's nodes work on."""

    def __init__(
        self, live: LiveRun, runner: Runner, corpus: Search, rounds: int, models: Sequence[str]
    ) -> None:
        self.live, self.runner, self.corpus = live, runner, corpus
        self.rounds = rounds
        """Rounds of research at most, the first one included."""
        self.models = models
        """Names of the models that work, for the report."""
        self.question = live.started.task
        self.title = ""
        self.questions: dict[str, SubQuestion] = {}
        """By id, in the order of the plan."""
        self.answered: dict[str, Answered] = {}
        self.draft: Draft | None = None
        self.problems: list[str] = []
        """What went wrong outside the researchers, for the report's gaps."""
        self.stopped = ""
        """Why the run cannot go on, `""` while it can."""
        self.report: Report | None = None

    @property
    def emit(self) -> Emit:
        """Where progress goes."""
        return self.live.run.emit

    async def submit(self, thread: str, agent: str, task: str) -> Outcome:
        """Have an agent work on a thread; researchers leave some time for the rest."""
        left = self.live.run.meter.time_left()
        seconds = None
        if left is not None:
            share = 1 - WRITING_SHARE if agent == "researcher" else 1.0
            seconds = max(0.01, left * share)
        return await self.runner.submit(TaskSpec(thread, agent, task, MAIN, seconds))

    async def replied(self, thread: str) -> bool:
        """True when a model has answered at least once on this thread."""
        entries = await self.live.run.log.read(thread)
        return any(isinstance(entry.event, ReplyReceived) for entry in entries)

    def take_plan(self, plan: Plan) -> None:
        """Start with these questions."""
        self.title = plan.title
        self.add_questions(plan)

    def add_questions(self, plan: Plan) -> None:
        """Go on with more questions, up to the limit of the run, and save the plan."""
        for question in plan.questions[: max(0, MAX_TOTAL - len(self.questions))]:
            self.questions[question.id] = question
        self._save_todo()

    def take_answer(self, answer: Answered) -> None:
        """Keep what a researcher handed back, and save the plan."""
        self.answered[answer.question.id] = answer
        self._save_todo()

    def in_order(self) -> list[Answered]:
        """The answers in the order of the plan, whichever came first."""
        return [self.answered[name] for name in self.questions if name in self.answered]

    async def places(self) -> dict[str, tuple[str, str]]:
        """Source and place of every passage that a finding cites."""
        ids = {
            citation.evidence
            for item in self.answered.values()
            if item.outcome.conclusion
            for finding in item.outcome.conclusion.findings
            for citation in finding.citations
        }
        found: dict[str, tuple[str, str]] = {}
        for evidence in sorted(ids):
            passage = await self.corpus.passage(evidence)
            if passage is not None:
                found[evidence] = (passage.source, passage.place)
        return found

    async def write_report(self) -> None:
        """Build, check and save the report; the files are whole or the old ones."""
        meter = self.live.run.meter
        self.report = await build_report(
            ReportInput(
                run_id=self.live.run.id,
                question=self.question,
                title=self.title,
                answered=self.in_order(),
                draft=self.draft,
                usage=meter.usage,
                mode="extractive" if list(self.models) == ["extractive"] else "model",
                models=self.models,
                problems=self.problems,
            ),
            self.corpus,
        )
        if self.live.folder is not None:
            markdown, data = render_markdown(self.report), self.report.model_dump_json(indent=1)
            await asyncio.to_thread(self.live.folder.write_text, "report.json", data + "\n")
            await asyncio.to_thread(self.live.folder.write_text, "report.md", markdown)

    def _save_todo(self) -> None:
        if self.live.folder is None:
            return
        lines = [f"# Goal\n\n{self.question}\n\n# Steps\n"]
        for question in self.questions.values():
            answer = self.answered.get(question.id)
            mark = "x" if answer and answer.outcome.ok else "-" if answer else " "
            lines.append(f"- [{mark}] {question.id}: {question.question}")
        self.live.folder.write_text("todo.md", "\n".join(lines) + "\n")
