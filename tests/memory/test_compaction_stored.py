"""Names of stored results stay in view through compactions, in one bounded line."""

import re
from collections.abc import Iterable
from hashlib import sha256

import pytest

from agents import ChatCodec
from filesystem import ArtifactRef
from memory import (
    ConfigSet,
    ContentOffloaded,
    Goal,
    MemoryEventLog,
    MessageAdded,
    ReplyReceived,
    Stored,
    Summarising,
    Text,
    Thread,
    ToolCall,
    ToolReturned,
    Usage,
    View,
    plain_text,
    proposed,
    strategy_named,
)

PATH = re.compile(r"artifacts/[0-9a-f]{16}\.txt")


def ref(number: int) -> ArtifactRef:
    digest = sha256(str(number).encode()).hexdigest()
    return ArtifactRef(digest, 90_000, 900, "text/plain", "read")


def thread_of(steps: int) -> Thread:
    """A thread in which every result was stored; the second one only later."""
    thread = Thread(MemoryEventLog(), "main")
    codec = ChatCodec()
    config = ConfigSet("m", codec.name, codec.version, dict(codec.options), "You work.", (), {})
    thread.configure(config, codec)
    thread.append(MessageAdded((Text("Read all."),)))
    for number in range(steps):
        call = ToolCall(f"c{number}", "read", "{}")
        thread.append(ReplyReceived((call,), "tool_calls", Usage(), "m", {}))
        shown = Stored(
            f"[{ref(number).path}: 90,000 bytes]\n{'line of a preview ' * 300}", ref(number)
        )
        late = number == 1
        entry = thread.append(
            ToolReturned(call.id, "read", (Text("x " * 3_000) if late else shown,))
        )
        if late:
            thread.append(ContentOffloaded(entry.seq, (shown,)))
    return thread


def goal_of(thread: Thread, view: View, share: float) -> Goal:
    return Goal(int(view.total * share), 10 * view.total, stored=dict(thread.context.stored))


def names(paths: Iterable[str]) -> set[str]:
    return {path.lstrip("/") for path in paths}


def text_of(view: View) -> str:
    return "\n".join(plain_text(item.event.content) for item in view.items)


def test_the_context_knows_each_stored_result_by_its_newest_event() -> None:
    thread = thread_of(3)
    stored = dict(thread.context.stored)
    assert list(stored) == [ref(n).path for n in range(3)]
    call = ToolCall("again", "read", "{}")
    thread.append(ReplyReceived((call,), "tool_calls", Usage(), "m", {}))
    again = thread.append(ToolReturned("again", "read", (Stored("the same", ref(0)),)))
    assert list(thread.context.stored) == [ref(n).path for n in (1, 2, 0)]
    assert thread.context.stored[ref(0).path] == again.seq


@pytest.mark.parametrize("name", ["turns", "summary", "reset", "latest-n", "micro", "auto"])
async def test_every_strategy_leaves_the_names_in_view(name: str) -> None:
    thread = thread_of(8)
    view = thread.view()
    goal = goal_of(thread, view, 0.6)
    made = await proposed(strategy_named(name, Summarising()), view, goal)
    assert made is not None
    after = view.apply(made.replacements)
    assert after.total <= goal.target
    assert set(PATH.findall(text_of(after))) == names(goal.stored)
    again = await proposed(strategy_named(name, Summarising()), view, goal)
    assert made == again


async def test_names_outlive_the_text_that_held_them() -> None:
    thread = thread_of(8)
    view = thread.view()
    goal = goal_of(thread, view, 0.6)
    turns = await proposed(strategy_named("turns", Summarising()), view, goal)
    assert turns is not None
    after = view.apply(turns.replacements)
    reset = await strategy_named("reset", Summarising()).propose(after, goal)
    assert reset is not None
    assert len(set(PATH.findall(text_of(after.apply(reset.replacements))))) < 8, "reset forgets"
    kept = await proposed(strategy_named("reset", Summarising()), after, goal, forced=True)
    assert kept is not None
    assert set(PATH.findall(text_of(after.apply(kept.replacements)))) == names(goal.stored)


async def test_the_line_is_bounded_and_names_the_newest() -> None:
    thread = thread_of(60)
    view = thread.view()
    goal = goal_of(thread, view, 0.2)
    made = await proposed(strategy_named("reset", Summarising()), view, goal)
    assert made is not None
    (text,) = [each.text for each in made.replacements if each.text]
    line = next(line for line in text.splitlines() if line.startswith("Stored results"))
    assert PATH.findall(line) == [ref(n).path[1:] for n in range(39, 59)]
    assert line.endswith("; 39 older ones are beside them")
    assert text.splitlines()[-1] == "</compacted>", "inside the frame"
    tight = goal_of(thread, view, (view.groups[-1].tokens + 300) / view.total)
    made = await proposed(strategy_named("reset", Summarising()), view, tight)
    assert made is not None
    assert 1 <= len(PATH.findall(made.replacements[0].text)) < 20
    assert view.apply(made.replacements).total <= tight.target


async def test_who_has_no_tool_to_read_them_is_not_told_their_names() -> None:
    view = thread_of(8).view()
    made = await proposed(
        strategy_named("reset", Summarising()), view, Goal(view.total // 2, 10 * view.total)
    )
    assert made is not None
    assert not PATH.search(made.replacements[0].text)
