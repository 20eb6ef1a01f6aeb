"""Strategies that shorten results and arguments where they stand: `micro`, `arguments`, `noise`, `query`,
and `clip` for the newest results when nothing else is left to shorten."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from ..blocks import Reasoning, ToolCall, plain_text
from ..codec import Item
from ..encoding import dumps, loads
from ..events import ReplyReceived, ToolReturned
from ..replacing import Replacement
from .describing import IDENTIFIER, OUTCOME, calls_of, escaped, one_line, result_line
from .proposing import Goal, Proposal, proposal
from .values import filled, is_structured
from .view import View, results_of

KEEP = 5
"""Newest results that stay whole, if the target allows. Of 3, 5 and 10 in the recorded coding runs."""
LEAST_CHARS = 300
"""What is shorter is not worth a line in its place."""
_HIT = re.compile(r"^\s*(?:[-*\d.)\]]+\s*)?(https?://\S+|(?:[\w.-]+/)*[\w.-]+\.\w{1,8})(?::|\s|$)")


def placed_results(view: View, keep: int) -> Iterator[tuple[Item, ToolReturned, int]]:
    """Results older than the newest `keep`, with the place of their group, oldest first."""
    found = [
        (item, event, place)
        for place, group in enumerate(view.groups)
        if view.open_reply not in group.seqs
        for item, event in results_of(group)
    ]
    live = sum(place >= view.live for _, _, place in found)
    yield from found[: max(0, len(found) - max(keep, live))]


def old_results(view: View, keep: int) -> Iterator[tuple[Item, ToolReturned]]:
    """Results older than the newest `keep`, oldest first."""
    return ((item, event) for item, event, _ in placed_results(view, keep))


def _result(item: Item, event: ToolReturned, text: str) -> Replacement:
    return Replacement((item.seq,), text, "result", event.call_id)


@dataclass(frozen=True, slots=True)
class Micro:
    """Old tool results become one line that keeps pass or fail, counts and a reference."""

    keep: int = KEEP
    name: str = "micro"

    async def propose(self, view: View, goal: Goal) -> Proposal | None:
        """One line for each result that is old and long; fewer stay whole where the target needs it.

        Lines of structured results have as many of their values as the target leaves room for.
        """
        old: list[tuple[Item, ToolReturned]] = []
        made: list[Replacement] = []
        lines: dict[int, str] = {}
        for keep in range(self.keep, 0, -1):
            old = [pair for pair in old_results(view, keep) if _is_long(pair[1])]
            for item, event in old:
                lines[id(item)] = lines.get(id(item)) or result_line(event, item.seq)
            made = [_result(item, event, lines[id(item)]) for item, event in old]
            if view.apply(made).total <= goal.target:
                break
        rich = [pair for pair in old if is_structured(plain_text(pair[1].content))]

        def wide(room: int) -> list[Replacement]:
            longer = {id(i): result_line(event, i.seq, room=room) for i, event in rich}
            return [_result(i, event, longer.get(id(i), lines[id(i)])) for i, event in old]

        return proposal(self.name, filled(view, goal, made, wide) if rich else made)


def _is_long(event: ToolReturned) -> bool:
    return len(plain_text(event.content)) > LEAST_CHARS


@dataclass(frozen=True, slots=True)
class Arguments:
    """Old large call arguments keep their short values; long ones become a size and a reference."""

    keep: int = KEEP
    """Newest steps whose arguments stay whole."""
    name: str = "arguments"

    async def propose(self, view: View, goal: Goal) -> Proposal | None:
        """Shorter arguments for calls with values over 300 characters; signed reasoning keeps its calls."""
        steps = [group for group in view.groups[: view.live] if calls_of(group)]
        made: list[Replacement] = []
        for group in steps[: max(0, len(steps) - self.keep + 1)]:
            item = group.items[0]
            assert isinstance(item.event, ReplyReceived)
            signed = any(
                isinstance(block, Reasoning) and block.data for block in item.event.content
            )
            for call in () if signed else calls_of(group):
                if text := _shorter(call, item.seq):
                    made.append(Replacement((item.seq,), text, "arguments", call.id))
        return proposal(self.name, made)


def _shorter(call: ToolCall, seq: int) -> str:
    try:
        data: Any = loads(call.arguments or "{}")
    except ValueError:
        return ""
    if not isinstance(data, dict) or len(call.arguments) <= LEAST_CHARS:
        return ""
    short = {key: _value(value, seq) for key, value in cast(dict[str, Any], data).items()}
    text = dumps(short).decode("utf-8", "replace")
    return text if len(text) < len(call.arguments) - 50 else ""


def _value(value: Any, seq: int) -> Any:
    text = value if isinstance(value, str) else dumps(value).decode("utf-8", "replace")
    if len(text) <= LEAST_CHARS:
        return value
    lines = f"{len(text):,} characters, {text.count(chr(10)) + 1:,} lines"
    return f"{one_line(text, 120)} [{lines}; whole in event {seq}]"


@dataclass(frozen=True, slots=True)
class Noise:
    """Hits that were never opened and lines that were seen before are left out of old results."""

    keep: int = KEEP
    name: str = "noise"

    async def propose(self, view: View, goal: Goal) -> Proposal | None:
        """Old results without their noise, where that leaves a fifth out."""
        used = _later_words(view)
        seen: Counter[str] = Counter()
        made: list[Replacement] = []
        for item, event, place in placed_results(view, self.keep):
            text = plain_text(event.content)
            if len(text) <= LEAST_CHARS:
                continue
            lines = text.splitlines()
            kept = [line for line in lines if not _is_noise(line, seen, used[place])]
            seen.update(line.strip() for line in lines)
            short = "\n".join(kept)
            if len(short) < 0.8 * len(text):
                gone = len(lines) - len(kept)
                note = f"[{gone:,} of {len(lines):,} lines left out: blank, seen before, or never opened; "
                made.append(_result(item, event, f"{short}\n{note}whole in event {item.seq}]"))
        return proposal(self.name, made)


def _later_words(view: View) -> list[str]:
    """For each group, what the agent itself wrote after it."""
    words: list[str] = []
    text = ""
    for group in reversed(view.groups):
        words.append(text)
        event = group.items[0].event
        if isinstance(event, ReplyReceived):
            calls = " ".join(call.arguments for call in calls_of(group))
            text = f"{plain_text(event.content)} {calls} {text}"
    return words[::-1]


def _is_noise(line: str, seen: Counter[str], later: str) -> bool:
    stripped = line.strip()
    if not stripped:
        return True
    if OUTCOME.search(stripped):
        return False
    if len(stripped) > 20 and seen[stripped] >= 2:
        return True
    hit = _HIT.match(stripped)
    return bool(hit and hit.group(1) not in later)


@dataclass(frozen=True, slots=True)
class Query:
    """Old results become the sentences that fit the plan's open question best, with source marks."""

    keep: int = KEEP
    sentences: int = 4
    """Of each result."""
    name: str = "query"

    async def propose(self, view: View, goal: Goal) -> Proposal | None:
        """Sentences picked without a model; `None` while nobody said what matters."""
        from filesystem import pick_sentences

        if not goal.question:
            return None
        made: list[Replacement] = []
        for item, event in old_results(view, self.keep):
            text = plain_text(event.content)
            if len(text) <= LEAST_CHARS:
                continue
            picked = sorted(
                pick_sentences(goal.question, [text], self.sentences), key=lambda p: p.start
            )
            lines = [
                f"- {one_line(p.sentence, 400)} (event {item.seq}, character {p.start})"
                for p in picked
            ]
            body = "\n".join([result_line(event, item.seq, 3), *lines])
            if len(body) < len(text):
                made.append(_result(item, event, body))
        return proposal(self.name, made)


@dataclass(frozen=True, slots=True)
class Clip:
    """Results of the newest steps keep beginning and end: for what does not fit by itself."""

    name: str = "clip"

    async def propose(self, view: View, goal: Goal) -> Proposal | None:
        """The largest results first cut to an even share of what the target leaves."""
        if view.total <= goal.enough:
            return None
        results = [pair for group in view.groups for pair in results_of(group)]
        sizes = {id(i): t for i, t in zip(view.items, view.tokens, strict=True)}
        others = view.total - sum(sizes[id(item)] for item, _ in results)
        share = max(200, (goal.target - others) // max(1, len(results)))
        made: list[Replacement] = []
        for item, event in results:
            text = plain_text(event.content)
            most = int(len(text) * share / max(1, sizes[id(item)]) * 0.7)
            if sizes[id(item)] > share and len(text) > most + LEAST_CHARS:
                head, end = text[: most * 2 // 3], text[-(most // 3 or 1) :]
                names = ", ".join(IDENTIFIER.findall(text[most * 2 // 3 : -(most // 3 or 1)])[:3])
                left = f"{len(text) - most:,} characters are left out; names {names or 'nothing'}"
                note = f"[... {left}; whole in event"
                made.append(_result(item, event, escaped(f"{head}\n{note} {item.seq}]\n{end}")))
        return proposal(self.name, made)
