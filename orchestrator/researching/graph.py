"""The research graph: `plan -> research (one Send a question) -> review -> ... -> write -> verify`.

Every agent works on a thread with a fixed name, and the runner answers for a thread that the log holds
finished. So a resumed run walks the same graph again, pays for nothing twice, and goes on where it was.
"""

from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from agents import Outcome, StageStarted

from .job import ResearchJob
from .planning import ready, research_task, review_task, tidy_plan, writing_task
from .report import Answered
from .shapes import Draft, Gaps, Plan, SubQuestion


class ResearchState(TypedDict, total=False):
    """Counters only; plan and conclusions are in the log and in the job."""

    round: int
    """1 for the plan's questions, one more for each review that found gaps."""


class QuestionState(TypedDict):
    """What one `Send` carries."""

    question: str
    """Id of the sub-question."""


class ResearchGraph:
    """The nodes, as methods; `build` wires them."""

    def __init__(self, job: ResearchJob) -> None:
        self.job = job

    def build(self) -> Any:
        """The compiled graph."""
        graph = StateGraph(ResearchState)
        graph.add_node("plan", self.plan)
        graph.add_node("research", self.research)
        graph.add_node("collect", self.collect)
        graph.add_node("review", self.review)
        graph.add_node("write", self.write)
        graph.add_node("verify", self.verify)
        graph.add_edge(START, "plan")
        graph.add_conditional_edges("plan", self.after_plan, ["research", "verify"])
        graph.add_edge("research", "collect")
        graph.add_conditional_edges("collect", self.after_collect, ["research", "review"])
        graph.add_conditional_edges("review", self.after_review, ["research", "write"])
        graph.add_edge("write", "verify")
        graph.add_edge("verify", END)
        return graph.compile(name="research")

    async def plan(self, state: ResearchState) -> ResearchState:
        """Break the question up; one question as it stands when the planner has no usable answer."""
        job = self.job
        job.emit(StageStarted("plan"))
        outcome = await job.submit("plan", "planner", job.question)
        plan = outcome.read(Plan)
        if plan is None:
            job.problems.append(f"planner {outcome.status}: {outcome.reason}")
            if not await job.replied("plan"):
                job.stopped = outcome.reason
            plan = Plan(title="", questions=[SubQuestion(id="q1", question=job.question)])
        job.take_plan(tidy_plan(plan))
        return {"round": 1}

    async def research(self, state: QuestionState) -> ResearchState:
        """One researcher on one question; whatever happens is a result."""
        job = self.job
        question = job.questions[state["question"]]
        outcome = await job.submit(question.id, "researcher", research_task(question, job.answered))
        job.take_answer(Answered(question, outcome))
        return {}

    async def collect(self, state: ResearchState) -> ResearchState:
        """Wait for all questions that were sent out together."""
        return {}

    async def review(self, state: ResearchState) -> ResearchState:
        """Ask what is still missing, while rounds are left."""
        job, number = self.job, state.get("round", 1)
        if number >= job.rounds:
            return {}
        job.emit(StageStarted("review"))
        task = review_task(job.question, number, job.in_order())
        outcome = await job.submit(f"review-{number}", "reviewer", task)
        gaps = outcome.read(Gaps)
        if gaps is not None and gaps.questions:
            job.add_questions(
                tidy_plan(Plan(title="", questions=gaps.questions), f"r{number + 1}q")
            )
        return {"round": number + 1}

    async def write(self, state: ResearchState) -> ResearchState:
        """Have the text written from the findings; without a writer the findings are the text."""
        job = self.job
        job.emit(StageStarted("write"))
        if any(item.outcome.conclusion for item in job.answered.values()):
            places = await job.places()
            task = writing_task(job.question, job.title, job.in_order(), places)
            outcome: Outcome = await job.submit("write", "writer", task)
            job.draft = outcome.read(Draft)
            if job.draft is None:
                job.problems.append(f"writer {outcome.status}: {outcome.reason}")
        return {}

    async def verify(self, state: ResearchState) -> ResearchState:
        """Check every quote, id and number, and write the report."""
        self.job.emit(StageStarted("verify"))
        await self.job.write_report()
        return {}

    def after_plan(self, state: ResearchState) -> list[Send] | str:
        """The first questions, or straight to the end when no model answers at all."""
        return "verify" if self.job.stopped else self._sends() or "verify"

    def after_collect(self, state: ResearchState) -> list[Send] | str:
        """The questions that waited for these answers, then the review."""
        return self._sends() or "review"

    def after_review(self, state: ResearchState) -> list[Send] | str:
        """The questions of the review, or the writing."""
        return self._sends() or "write"

    def _sends(self) -> list[Send]:
        job = self.job
        waiting = ready(list(job.questions.values()), job.answered)
        return [Send("research", QuestionState(question=question.id)) for question in waiting]
