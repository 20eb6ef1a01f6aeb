"""The gate: each reason for which a proposal is refused, and a history that grows while one is made."""

from typing import Any

import pytest
from support.provider_rules import check_chat

from agents import (
    Agent,
    Compaction,
    Limits,
    Meter,
    Run,
    ScriptedModel,
    Session,
    call,
    open_session,
)
from memory import (
    CompactionRejected,
    CompactionStarted,
    ContextCompacted,
    Goal,
    MemoryEventLog,
    MessageAdded,
    Proposal,
    Rejection,
    Replacement,
    ReplyReceived,
    Text,
    View,
    judge,
)

PINNED = "Answer in French."


async def look(number: int) -> str:
    """Look at something."""
    return f"look {number}\n" + "some output of a tool\n" * 100


def play(body: dict[str, Any]) -> Any:
    if "Older messages of this" in str(body["messages"][-1]["content"]):
        return ""
    return call("look", number=len(body["messages"]))


async def session_after(turns: int, **compaction: Any) -> Session:
    model = ScriptedModel(play, window=64_000)
    agent = Agent(
        "a",
        "You work.",
        tools=[look],
        rules=(PINNED,),
        limits=Limits(turns=99),
        compaction=Compaction(**compaction),
    )
    run = Run("r", MemoryEventLog(), Meter(Limits()))
    session = await open_session(run, agent, "Look at all.", thread="main", models=[model])
    for _ in range(turns):
        await agent.turn(session)
    return session


def span_of(session: Session, first: int, last: int, text: str = "") -> Replacement:
    """The items from place `first` to `last` behind a text."""
    seqs = {item.seq for item in session.thread.context.items[first : last + 1]}
    return Replacement(tuple(sorted(seqs)), text)


async def verdict(session: Session, *made: Replacement, **given: Any) -> View | Rejection:
    view = session.thread.view()
    goal = Goal(given.pop("target", view.total), 64_000)
    return judge(view, Proposal("test", made), goal, [PINNED], **given)


async def test_each_reason_has_its_word() -> None:
    session = await session_after(6)
    items = session.thread.context.items
    pinned, user = items[0], items[1]
    step = span_of(session, 2, 3)
    cases = {
        "nothing": (),
        "range": (Replacement((999,), ""),),
        "newest": (Replacement((user.seq,), "gone"),),
        "grew": (span_of(session, 2, 3, "y " * 9_000),),
        "pinned": (step, Replacement((pinned.seq,), "Answer in German.", "message")),
    }
    for reason, made in cases.items():
        said = await verdict(session, *made, forced=True)
        assert isinstance(said, Rejection), reason
        assert said.reason == reason
    small = await verdict(session, Replacement((items[3].seq,), "y " * 250, "result"))
    assert isinstance(small, Rejection)
    assert small.reason == "small"
    missed = await verdict(session, step, target=500, forced=True)
    assert isinstance(missed, Rejection)
    assert missed.reason == "target"
    taken = await verdict(session, step, forced=True)
    assert isinstance(taken, View)


async def test_a_reply_is_never_hidden_without_its_results() -> None:
    session = await session_after(4)
    items = session.thread.context.items
    reply = next(i for i in items if isinstance(i.event, ReplyReceived))
    said = await verdict(session, Replacement((reply.seq,), "gone"), forced=True)
    assert isinstance(said, Rejection)
    assert said.reason == "grew"  # nothing was hidden


class Slow:
    """A strategy during whose work something else happens to the thread."""

    name = "slow"

    def __init__(self, session: Session, meanwhile: Any) -> None:
        self.session, self.meanwhile = session, meanwhile

    async def propose(self, view: View, goal: Goal) -> Proposal:
        made = span_of(self.session, 2, 5, "four items")
        self.meanwhile(self.session)
        return Proposal(self.name, (made,))


def hides_the_same(session: Session) -> None:
    session.thread.append(ContextCompacted("other", (span_of(session, 2, 5, "by another"),)))


def says_more(session: Session) -> None:
    session.thread.append(MessageAdded((Text("Mind the cache of node-7."),)))


async def test_the_range_is_checked_again_after_the_proposal_was_made() -> None:
    session = await session_after(6)
    session.compaction = Compaction(Slow(session, hides_the_same))
    said = await session.compact()
    assert isinstance(said, Rejection)
    assert said.reason == "range"
    kinds = [type(e.event) for e in await session.run.log.read("main")]
    assert kinds[-3:] == [CompactionStarted, ContextCompacted, CompactionRejected]


async def test_words_of_the_user_that_come_during_a_summary_are_the_newest_afterwards() -> None:
    session = await session_after(6)
    session.compaction = Compaction(Slow(session, says_more))
    assert isinstance(await session.compact(), ContextCompacted)
    session.compaction = Compaction()
    await session.agent.turn(session)
    model = session.model
    assert isinstance(model, ScriptedModel)
    texts = [str(m["content"]) for m in check_chat(model.requests[-1])]
    assert texts.index("four items") < texts.index("Mind the cache of node-7.")


@pytest.mark.parametrize("strategy", ["auto", "summary"])
async def test_the_trigger_moves_while_a_session_is_at_work(strategy: str) -> None:
    session = await session_after(8, strategy=strategy)
    before = session.thread.tokens
    session.compaction = Compaction(strategy, trigger=before / 64_000 * 0.9)
    await session.agent.turn(session)
    entries = await session.run.log.read("main")
    started = [e.event for e in entries if isinstance(e.event, CompactionStarted)]
    assert [event.trigger for event in started] == ["size"]
    assert sum(isinstance(e.event, ContextCompacted) for e in entries) == 1
