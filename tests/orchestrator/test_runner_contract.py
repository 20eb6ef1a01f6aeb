"""What every runner promises, run over two: the one of this event loop, and one that shares nothing.

The second one, `ThreadRunner`, stands for a distributed engine. Tasks and outcomes pass as JSON bytes, agents
are found again by their names on the other side, and each task has a thread, an event loop and a log of
its own. A further runner is added to `RUNNERS` and must pass as it is. What agents did is read from files
that their tasks name, so that they may be in another process.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from agents import (
    Agent,
    Conclusion,
    LimitReached,
    Limits,
    Meter,
    Outcome,
    Run,
    ScriptedModel,
    call,
    outcome_from,
    salvaged,
    tool,
)
from memory import MemoryEventLog, Status, ThreadEnded, dumps, loads
from orchestrator import AsyncRunner, Runner, TaskSpec
from orchestrator.subagents import AgentSubagent, Subagent

# The agents, which any runner finds by name. A task's words are the file in which each model call is noted.


@tool
async def look() -> str:
    """Look at something."""
    return "fact 7"


def script(kind: str) -> Callable[[Any], Any]:
    async def play(body: Any) -> Any:
        noted = next(m["content"] for m in body["messages"] if m["role"] == "user").split()[0]
        with Path(noted).open("a") as file:
            file.write(kind + "\n")
        if not any(m["role"] == "tool" for m in body["messages"]) or kind == "endless":
            return call("look")
        match kind:
            case "raises":
                raise RuntimeError("on purpose")
            case "cancels":
                raise asyncio.CancelledError
            case "hangs":
                await asyncio.sleep(3600)
            case "slow":
                await asyncio.sleep(0.3)
            case _:
                pass
        return call("conclude", answer=f"The answer of {kind}.", open_questions=["Why?"])

    return play


def team() -> dict[str, Subagent]:
    kinds = ("good", "raises", "cancels", "hangs", "slow", "endless")
    return {
        kind: AgentSubagent(
            Agent(kind, "Work.", tools=[look], output_type=Conclusion),
            [ScriptedModel(script(kind))],
        )
        for kind in kinds
    }


# The runners.


@contextlib.asynccontextmanager
async def in_this_loop(limits: Limits) -> AsyncIterator[Runner]:
    run = Run("r1", MemoryEventLog(), Meter(limits))
    runner = AsyncRunner(run, team(), run.meter)
    yield runner
    await runner.close()


class ThreadRunner:
    """A thread for each task; nothing but JSON bytes goes in and comes out."""

    def __init__(self, limits: Limits) -> None:
        self._limits, self._pool = limits, ThreadPoolExecutor(8)
        self._ended: dict[str, bytes] = {}
        self._jobs: dict[str, tuple[Job, asyncio.Future[bytes]]] = {}
        self._stopped: set[str] = set()
        self._agents = 0

    async def submit(self, spec: TaskSpec) -> Outcome:
        if spec.thread not in self._ended:
            self._ended[spec.thread] = await self._work(spec)
        done = loads(self._ended[spec.thread])
        end = ThreadEnded(done["status"], done["reason"], done["result"])
        return outcome_from(end, spec.thread, spec.agent, spec.task)

    async def results(self, specs: Iterable[TaskSpec]) -> AsyncIterator[Outcome]:
        tasks = [asyncio.create_task(self.submit(spec)) for spec in specs]
        try:
            for done in asyncio.as_completed(tasks):
                yield await done
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def cancel(self, thread: str) -> int:
        self._stopped.add(thread)
        at_work = [job for name, job in self._jobs.items() if _below(name, thread)]
        for job, _ in at_work:
            job.stop()
        await asyncio.gather(*(running for _, running in at_work))
        return len(at_work)

    async def close(self) -> None:
        await self.cancel("")
        self._pool.shutdown()

    async def _work(self, spec: TaskSpec) -> bytes:
        if any(_below(spec.thread, root) for root in self._stopped):
            return packed("cancelled", "it was cancelled before it began")
        if self._agents == self._limits.agents:
            return packed("limit", f"the limit of {self._agents} agents is reached")
        self._agents += 1
        job = Job(dumps(spec.to_json()), self._limits)
        running = asyncio.get_running_loop().run_in_executor(self._pool, job.run)
        self._jobs[spec.thread] = job, running
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            job.stop()
            await asyncio.wait({running})
            raise
        finally:
            del self._jobs[spec.thread]


class Job:
    """One task on the other side, which knows its bytes and the agents' names."""

    def __init__(self, body: bytes, limits: Limits) -> None:
        self._body, self._limits = body, limits
        self._stop: Callable[[], object] | None = None
        self._stopped = False

    def run(self) -> bytes:
        return asyncio.run(self._run())

    def stop(self) -> None:
        self._stopped = True
        if self._stop:
            self._stop()

    async def _run(self) -> bytes:
        loop, task = asyncio.get_running_loop(), asyncio.ensure_future(self._done())
        self._stop = lambda: loop.call_soon_threadsafe(task.cancel)
        if self._stopped:
            task.cancel()
        await asyncio.wait({task})
        self._stop = None
        return task.result()

    async def _done(self) -> bytes:
        spec = TaskSpec.from_json(loads(self._body))
        run = Run("r1", MemoryEventLog(), Meter(self._limits))
        status: Status = "failed"
        try:
            subagent = team().get(spec.agent)
            if subagent is None:
                return packed("failed", f"no agent {spec.agent!r}; there are: {', '.join(team())}")
            async with asyncio.timeout(spec.seconds):
                outcome = await subagent.work(run, spec, spec.meter(run.meter))
            return packed(outcome.status, outcome.reason, outcome.event().result)
        except TimeoutError:
            status, reason = "timed_out", "its time was up"
        except asyncio.CancelledError:
            status, reason = "cancelled", "it was cancelled"
        except LimitReached as error:
            status, reason = "limit", str(error)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
        outcome = Outcome(spec.thread, spec.agent, spec.task, status, reason)
        return packed(status, reason, (await salvaged(run.log, outcome)).event().result)


def packed(status: Status, reason: str, result: dict[str, Any] | None = None) -> bytes:
    return dumps({"status": status, "reason": reason, "result": result or {}})


def _below(thread: str, root: str) -> bool:
    return not root or thread == root or thread.startswith(root + ".")


@contextlib.asynccontextmanager
async def in_threads(limits: Limits) -> AsyncIterator[Runner]:
    runner = ThreadRunner(limits)
    yield runner
    await runner.close()


Open = Callable[[Limits], AbstractAsyncContextManager[Runner]]
RUNNERS: list[Open] = [in_this_loop, in_threads]


@pytest.fixture(params=RUNNERS, ids=lambda opened: opened.__name__)
def opened(request: pytest.FixtureRequest) -> Open:
    return request.param


@pytest.fixture
def noted(tmp_path: Path) -> Path:
    """Where agents note their model calls."""
    return tmp_path / "calls"


# The contract.


def spec(noted: Path, agent: str, number: int = 1, **more: Any) -> TaskSpec:
    """A task as it comes out of JSON text: a runner gets nothing else."""
    made = TaskSpec(f"main.1-{number}", agent, f"{noted} is your file.", "main", **more)
    return TaskSpec.from_json(loads(dumps(made.to_json())))


def calls(noted: Path) -> int:
    return len(noted.read_text().splitlines()) if noted.exists() else 0


async def called(noted: Path, times: int) -> None:
    """Wait until the agents have made so many model calls."""
    while calls(noted) < times:
        await asyncio.sleep(0.01)


async def test_an_outcome_names_its_task_and_holds_the_conclusion(opened, noted):
    async with opened(Limits()) as runner:
        task = spec(noted, "good")
        outcome = await runner.submit(task)
        assert (outcome.thread, outcome.agent, outcome.task) == (task.thread, "good", task.task)
        assert (outcome.status, outcome.reason) == ("done", "")
        assert outcome.conclusion
        assert outcome.conclusion.answer == "The answer of good."
        assert outcome.conclusion.open_questions == ["Why?"]


async def test_a_thread_that_has_ended_gives_its_outcome_again_at_no_cost(opened, noted):
    async with opened(Limits()) as runner:
        for agent, number in (("good", 1), ("raises", 2)):
            first = await runner.submit(spec(noted, agent, number))
            before = calls(noted)
            assert await runner.submit(spec(noted, agent, number)) == first
            assert calls(noted) == before


@pytest.mark.parametrize(
    ("agent", "status", "reason"),
    [
        ("raises", "failed", "on purpose"),
        ("cancels", "cancelled", "cancelled"),
        ("hangs", "timed_out", "time"),
        ("endless", "limit", "3 model calls"),
    ],
)
async def test_whatever_a_child_does_is_an_outcome_with_what_it_had_found(
    opened, noted, agent, status, reason
):
    limits = {"hangs": {"seconds": 0.3}, "endless": {"model_calls": 3}}.get(agent, {})
    async with opened(Limits()) as runner:
        bad, good = await asyncio.gather(
            runner.submit(spec(noted, agent, 1, **limits)), runner.submit(spec(noted, "good", 2))
        )
        assert (bad.status, good.status) == (status, "done")
        assert reason in bad.reason
        assert "fact 7" in bad.text


async def test_a_name_that_resolves_to_no_agent_is_an_outcome_that_lists_the_names(opened, noted):
    async with opened(Limits()) as runner:
        outcome = await runner.submit(spec(noted, "nobody"))
        assert outcome.status == "failed"
        assert "'nobody'" in outcome.reason
        assert "good, raises" in outcome.reason


async def test_results_come_as_they_finish_and_each_once(opened, noted):
    specs = [spec(noted, "slow", 1), spec(noted, "good", 2), spec(noted, "raises", 3)]
    async with opened(Limits()) as runner:
        threads = [outcome.thread async for outcome in runner.results(specs)]
        assert sorted(threads) == ["main.1-1", "main.1-2", "main.1-3"]
        assert threads[-1] == "main.1-1"
        assert [outcome async for outcome in runner.results([])] == []


async def test_closing_the_results_early_stops_the_others_and_records_nothing_of_them(
    opened, noted, tmp_path
):
    async with opened(Limits()) as runner:
        results = runner.results([spec(noted, "good", 1), spec(tmp_path / "other", "slow", 2)])
        assert (await anext(results)).thread == "main.1-1"
        await results.aclose()
        before = calls(tmp_path / "other")
        await asyncio.sleep(0.4)  # longer than the slow one takes
        assert calls(tmp_path / "other") == before
        again = await runner.submit(spec(tmp_path / "other", "slow", 2))
        assert again.status == "done"


async def test_one_is_cancelled_with_all_below_it_and_its_siblings_go_on(opened, noted, tmp_path):
    async with opened(Limits()) as runner:
        below = TaskSpec("main.1-1.1-1", "hangs", f"{noted}", "main.1-1")
        near = TaskSpec("main.1-10", "slow", f"{tmp_path / 'near'}", "main")
        specs = [spec(noted, "hangs", 1), below, near]
        running = [asyncio.create_task(runner.submit(each)) for each in specs]
        await called(noted, 4)
        assert await runner.cancel("main.1-1") == 2
        outcomes = await asyncio.gather(*running)
        assert [outcome.status for outcome in outcomes] == ["cancelled", "cancelled", "done"]
        assert "fact 7" in outcomes[0].text
        assert calls(noted) == 4
        assert await runner.cancel("main.1-1") == 0


async def test_a_thread_cancelled_before_it_began_makes_no_call(opened, noted):
    async with opened(Limits()) as runner:
        assert await runner.cancel("main.1-1") == 0
        assert (await runner.submit(spec(noted, "good"))).status == "cancelled"
        assert calls(noted) == 0


async def test_a_cancelled_caller_stops_its_child_and_a_resume_does_it_again(opened, noted):
    async with opened(Limits()) as runner:
        running = asyncio.create_task(runner.submit(spec(noted, "slow")))
        await called(noted, 2)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        before = calls(noted)
        await asyncio.sleep(0.4)
        assert calls(noted) == before
        assert (await runner.submit(spec(noted, "slow"))).status == "done"


async def test_close_ends_all_as_cancelled_and_what_comes_later_too(opened, noted):
    async with opened(Limits()) as runner:
        running = asyncio.create_task(runner.submit(spec(noted, "hangs")))
        await called(noted, 2)
        await runner.close()
        await runner.close()
        assert (await running).status == "cancelled"
        assert (await runner.submit(spec(noted, "good", 2))).status == "cancelled"
        assert calls(noted) == 2


async def test_agents_beyond_the_limit_are_refused_with_an_outcome(opened, noted):
    async with opened(Limits(agents=2)) as runner:
        outcomes = [await runner.submit(spec(noted, "good", number)) for number in (1, 2, 3)]
        assert [outcome.status for outcome in outcomes] == ["done", "done", "limit"]
        assert "2 agents" in outcomes[2].reason


async def test_nothing_is_left_at_work(opened, noted):
    before = asyncio.all_tasks()
    async with opened(Limits()) as runner:
        specs = [spec(noted, "hangs", 1, seconds=0.2), spec(noted, "cancels", 2)]
        assert len([outcome async for outcome in runner.results(specs)]) == 2
    await asyncio.sleep(0)
    assert asyncio.all_tasks() <= before
