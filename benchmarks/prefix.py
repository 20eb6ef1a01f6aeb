"""What six ways to lay out a request leave of the prompt cache, over one run.

    python benchmarks/prefix.py [--turns 200] [--window 40]

The same work is done by each: a model that calls `look` with the next number whose result it cannot see,
until it has seen them all or asked as often as `--turns` says. The six are ours (what changes stands in
the tail) and five ways that are known to hurt: the time in the system prompt, a profile of the user in it
that is brought up to date, tools in another order at each turn, a sliding window of the newest messages,
and the history flattened into one text. Printed: bytes sent, bytes that are the same as the beginning of
the request before (what a provider's cache can reuse), the share, and calls made again although they had
been made before.
"""

import argparse
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from agents import ChatCodec
from memory import (
    ConfigSet,
    Item,
    MessageAdded,
    ReplyReceived,
    Text,
    ToolCall,
    ToolReturned,
    Usage,
    common_prefix,
)

SYSTEM = "You are a careful assistant. Use the tools you are given, then answer.\n" + (
    "Work step by step, look at each thing once, and keep the rules of the house.\n" * 20
)
RESULT = "some words about the thing that was looked at, as long as results are; " * 10
TOOLS = tuple(
    {
        "name": name,
        "description": f"The tool to {name} things with, described in a sentence or two.",
        "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
    }
    for name in ("look", "search", "read", "write", "list", "ask")
)
CODEC = ChatCodec()


@dataclass
class State:
    """What has happened so far in one run."""

    turn: int = 0
    events: list[ReplyReceived | ToolReturned] = field(default_factory=list)

    @property
    def status(self) -> str:
        """What changes in every turn: clock and counter."""
        return f"The time is 12:{self.turn // 60:02}:{self.turn % 60:02}. Turn {self.turn}."


Layout = Callable[[State], bytes]
TASK = MessageAdded((Text("Look at everything, from 1 on."),))


def body(
    state: State,
    system: str = SYSTEM,
    tools: tuple = TOOLS,
    tail: str = "",
    last: int | None = None,
) -> bytes:
    """A request as the codec makes it; `last` keeps so many of the newest events."""
    config = ConfigSet("m", "chat", 1, {}, system, tools, {"model": "m"})
    events = state.events if last is None else state.events[-last:]
    items = [Item(0, TASK), *(Item(0, event) for event in events)]
    pieces = [piece for item in items for piece in CODEC.pieces(item)]
    return CODEC.body(CODEC.head(config), pieces, tail)


def profile(state: State) -> str:
    """A profile of the user that is brought up to date every five turns."""
    known = state.turn // 5
    return f"About the user: likes tea; has asked {known * 5} times; mood {'up' if known % 2 else 'down'}."


def flattened(state: State) -> bytes:
    """The history as one user message of text, as frameworks without messages send it."""
    lines = []
    for event in state.events:
        if isinstance(event, ReplyReceived):
            calls = [block for block in event.content if isinstance(block, ToolCall)]
            lines += [f"Assistant called {c.name}({c.arguments})" for c in calls]
        else:
            lines.append(f"Result: {event.content[0].text}")
    config = ConfigSet("m", "chat", 1, {}, SYSTEM, TOOLS, {"model": "m"})
    text = "So far:\n" + "\n".join(lines) + f"\nGo on. {state.status}"
    message = MessageAdded((Text(text),))
    return CODEC.body(CODEC.head(config), CODEC.pieces(Item(0, message)), "")


def layouts(window: int) -> dict[str, Layout]:
    """The arms, ours first."""

    def turned(state: State) -> bytes:
        at = state.turn % len(TOOLS)
        return body(state, tools=TOOLS[at:] + TOOLS[:at], tail=state.status)

    return {
        "ours (tail)": lambda state: body(state, tail=state.status),
        "time in the system prompt": lambda state: body(state, f"{state.status}\n{SYSTEM}"),
        "user profile in it": lambda state: body(
            state, f"{profile(state)}\n{SYSTEM}", tail=state.status
        ),
        "tools re-ordered": turned,
        f"sliding window of {window}": lambda state: body(state, tail=state.status, last=window),
        "flattened text": flattened,
    }


@dataclass
class Spent:
    """What one arm took."""

    turns: int = 0
    sent: int = 0
    reused: int = 0
    repeated: int = 0


def work(layout: Layout, turns: int) -> Spent:
    """Call the next number that is not in sight, until `turns` numbers are, or as many calls were made."""
    state, spent, before, made = State(), Spent(), b"", set[int]()
    for state.turn in range(1, turns + 1):
        request = layout(state)
        spent.turns += 1
        spent.sent += len(request)
        spent.reused += common_prefix(before, request)
        before = request
        seen = {int(n) for n in re.findall(rb"result of (\d+):", request)}
        wanted = next(n for n in range(1, turns + 2) if n not in seen)
        spent.repeated += wanted in made
        made.add(wanted)
        call = ToolCall(f"call_{state.turn}", "look", json.dumps({"n": wanted}))
        state.events.append(ReplyReceived((call,), "tool_calls", Usage(), "m", {}))
        result = Text(f"result of {wanted}: {RESULT}")
        state.events.append(ToolReturned(call.id, "look", (result,)))
    return spent


def main() -> None:
    """Print a line for each arm."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument(
        "--window", type=int, default=40, help="events that the sliding window keeps"
    )
    options = parser.parse_args()
    print(f"{options.turns} turns, results of {len(RESULT)} characters")
    print(f"{'':28} {'sent bytes':>12} {'reused bytes':>13} {'share':>7} {'calls made again':>17}")
    for name, layout in layouts(options.window).items():
        spent = work(layout, options.turns)
        share = spent.reused / spent.sent
        print(
            f"{name:28} {spent.sent:>12,} {spent.reused:>13,} {share:>7.1%} {spent.repeated:>17,}"
        )


if __name__ == "__main__":
    main()
