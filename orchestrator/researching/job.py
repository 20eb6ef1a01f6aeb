"""One research run at work: its plan, its answers so far, and the files it writes."""

import asyncio
from collections.abc import Sequence

from agents import Emit, Outcome
from filesystem import Search, Skipped
from memory import MessageAdded, ReplyReceived, RunEnded, Status, plain_text

from ..result import RunResult
from ..runs import LiveRun
from ..tasks import Runner, TaskSpec
from .planning import KNOWN
from .render import render_markdown
from .report import Answered, Report, ReportInput, build_report
from .report_parts import Mode
from .shapes import Draft, Plan, SubQuestion

MAIN = "main"
WRITING_SHARE = 0.25
"""Part of the time left that researchers leave for review and writing."""
MAX_TOTAL = 24
"""Sub-questions of one run, all rounds together."""


class ResearchJob:
    """What the research graph's nodes work on."""

    def __init__(
        self,
        live: LiveRun,
        runner: Runner,
        corpus: Search,
        rounds: int,
        models: Sequence[str],
        skipped: Sequence[Skipped],
    ) -> None:
        self.live, self.runner, self.corpus = live, runner, corpus
        self.rounds = rounds
        """Rounds of research at most, the first one included."""
        self.models = models
        """Names of the models that work, for the report."""
        self.skipped = skipped
        """Files among the documents that could not be searched, for the report."""
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

    @property
    def mode(self) -> Mode:
        """`extractive` when no role has a language model."""
        return "extractive" if list(self.models) == ["extractive"] else "model"

    async def submit(self, thread: str, agent: str, task: str) -> Outcome:
        """Have an agent work on a thread; researchers leave some time for the rest."""
        left = self.live.run.meter.time_left()
        seconds = None
        if left is not None:
            share = 1 - WRITING_SHARE if agent == "researcher" else 1.0
            seconds = max(0.01, left * share)
        return await self.runner.submit(TaskSpec(thread, agent, task, MAIN, seconds))

    async def unanswered(self) -> bool:
        """True when a follow-up of an earlier process has no answer yet."""
        events = [entry.event for entry in await self.live.run.log.read("")]
        last = [e for e in events if isinstance(e, MessageAdded | RunEnded)][-1:]
        return bool(last) and isinstance(last[0], MessageAdded)

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
        self.report = await self._build(self.question, self.title, self.in_order(), self.draft)
        await self._save("report.json", self.report.model_dump_json(indent=1) + "\n")
        await self._save("report.md", render_markdown(self.report))

    async def result(self) -> RunResult:
        """End the run with its report."""
        if self.report is None:
            raise RuntimeError("the research graph ended without a report")
        return await self._end(self.report, self.stopped)

    async def follow_up(self, message: str | None = None) -> RunResult:
        """Answer one more question from the same documents, on a thread of its own.

        Without a message it is the newest one of the log, which a crash left without an answer.
        """
        entries = await self.live.run.log.read("")
        asked = [e.event for e in entries if isinstance(e.event, MessageAdded)]
        number = len(asked) + (message is not None)
        if message is None:
            message = plain_text(asked[-1].content)
        else:
            self.live.ask(message)
        question = SubQuestion(id=f"ask-{number}", question=" ".join(message.split()))
        known = f"{question.question}\n\n{KNOWN}\n- It follows up on: {self.question}"
        outcome = await self.submit(question.id, "researcher", known)
        report = await self._build(message, "", [Answered(question, outcome)], None)
        await self._save(f"answer-{number}.md", render_markdown(report))
        return await self._end(report, "")

    async def _build(
        self, question: str, title: str, answered: Sequence[Answered], draft: Draft | None
    ) -> Report:
        given = ReportInput(
            run_id=self.live.run.id,
            question=question,
            title=title,
            answered=answered,
            draft=draft,
            usage=self.live.run.meter.usage,
            mode=self.mode,
            models=self.models,
            problems=self.problems,
            skipped=self.skipped,
        )
        return await build_report(given, self.corpus)

    async def _end(self, report: Report, stopped: str) -> RunResult:
        status: Status = "failed" if stopped else report.status
        reason = stopped or report.reason
        await self.live.end(status, reason)
        text, data = render_markdown(report), report.model_dump(mode="json")
        return self.live.result(status, reason, text, data)

    async def _save(self, name: str, text: str) -> None:
        if self.live.folder is not None:
            await asyncio.to_thread(self.live.folder.write_text, name, text)

    def _save_todo(self) -> None:
        if self.live.folder is None:
            return
        lines = [f"# Goal\n\n{self.question}\n\n# Steps\n"]
        for question in self.questions.values():
            answer = self.answered.get(question.id)
            mark = "x" if answer and answer.outcome.ok else "-" if answer else " "
            lines.append(f"- [{mark}] {question.id}: {question.question}")
        self.live.folder.write_text("todo.md", "\n".join(lines) + "\n")
