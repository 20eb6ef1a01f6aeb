"""Gathering: what a parent reads of its children's outcomes, together, within the room that it has."""

from collections import Counter as Tally
from collections.abc import Sequence

from agents import CAP, Outcome, Session, fits, fitted, longest_answer, shown, size_of
from filesystem import StorageFailed
from memory import JsonObject, dumps

LEAST = 120
"""Tokens a child below which all of them become one index with a line each."""
SPARE = 0.05
"""Of the window, for the tail and for what estimates miss."""
FRAME = 8
"""Tokens of brackets and commas around one child's object."""
LINE_CHARS = 160


def cap_for(session: Session, children: int) -> int:
    """Tokens of one child's conclusion: 2,000, or its share of the room that the parent has left."""
    session.configure()
    window = session.window
    room = (
        window
        - min(longest_answer(session), window // 2)
        - session.thread.tokens
        - int(window * SPARE)
    )
    return max(0, min(CAP, room // max(1, children)))


async def handed(session: Session, outcomes: Sequence[Outcome], cap: int) -> str:
    """The result of one delegation as JSON: one object a task, in the order of the tasks.

    What is cut is stored whole first. Where there is no room for a sentence a child, an index is handed
    over in place of them.
    """
    if cap < LEAST:
        return dumps(await _index(session, outcomes, cap * len(outcomes))).decode()
    counter = session.thread.counter
    parts: list[JsonObject] = []
    for outcome in outcomes:
        if fits(shown(outcome), cap - FRAME, counter):
            parts.append(shown(outcome))
            continue
        full = await _stored(session, outcome) or f"the transcript of thread {outcome.thread}"
        parts.append(fitted(outcome, cap - FRAME, counter, full))
    return dumps(parts).decode()


async def _index(session: Session, outcomes: Sequence[Outcome], room: int) -> JsonObject:
    """A line a child, in an artifact; what is handed over counts them and says where it is."""
    lines: list[str] = []
    for outcome in outcomes:
        where = await _stored(session, outcome) or f"the transcript of thread {outcome.thread}"
        said = str(outcome.output.get("answer", "")) or outcome.text or outcome.reason
        line = " ".join(said.split())[:LINE_CHARS]
        lines.append(f"{outcome.thread} {outcome.agent} {outcome.status}: {line} -> {where}")
    index: JsonObject = {
        "children": len(outcomes),
        "by_status": dict(Tally(outcome.status for outcome in outcomes)),
    }
    path = await _put(session, "\n".join(lines) + "\n", "index of conclusions")
    if path:
        return index | {
            "index": path,
            "note": "too little room for each; a line each is in the index",
        }
    index |= {"note": "too little room for each; the first ones follow", "lines": []}
    for line in lines:
        index["lines"].append(line)
        if size_of(index, session.thread.counter) > room:
            index["lines"].pop()
            break
    return index


async def _stored(session: Session, outcome: Outcome) -> str:
    text = dumps(shown(outcome)).decode()
    return await _put(session, text, f"conclusion of {outcome.thread}")


async def _put(session: Session, text: str, origin: str) -> str:
    """Path of the stored text, which the parent may read; `""` when it could not be stored."""
    try:
        ref = await session.run.artifacts.put(text, origin=origin)
    except StorageFailed:
        return ""
    session.files.artifacts.grant(ref)
    return ref.path
