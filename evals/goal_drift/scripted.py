"""Scripted policies: clerks that know the language of the tickets and nothing of the task.

All are one clerk that differs in what it looks at (`sight`) and in whether it keeps a plan, asks, and
counts. Each reply is a pure function of the serialised request.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from agents import call
from memory import is_tail

from .archive import REFUSED, SUMMARY, WHOLE
from .desk import Desk
from .sight import Message, Sight, calls_of, ends, recent, text_of, whole
from .tasks import Act
from .wording import Said, read

Script = Callable[[dict[str, Any]], Any]
_COUNT = re.compile(r'^- calls "([^"]+)": (\d+)$', re.MULTILINE)
_STATUS = r"customer={name}: \d+ of \d+ calls(, limit reached)?"
_TRIES = 3
"""Calls for one customer after which every clerk takes another way."""


def clerk(
    sight: Sight = whole,
    *,
    plans: bool = False,
    asks: bool = False,
    counts: bool = True,
    heeds: str = "readings",
) -> Script:
    """A policy that takes tickets and reacts to each sentence it can read.

    `plans`: it keeps a plan and goes by what is recited of it. `asks`: it asks for what it does not see.
    `counts`: without a status it counts the calls that it sees. `heeds`: what of the status about time and
    errors it goes by: `readings`, only the `advice` beside them, or `nothing`, and then it gives up at once.
    """

    def script(body: dict[str, Any]) -> Any:
        messages: list[Message] = body["messages"]
        desk = Desk(body, sight(messages), plans, asks, counts, heeds)
        history = [m for m in messages if not is_tail(text_of(m))]
        new = _newest(history)
        if not new:
            return _begin(desk, history)
        if any(name == "finish" for name, _ in new):
            return "ready"
        _look_after(desk, history)
        tickets = [text for name, text in new if name in ("next_ticket", "read_brief")]
        again = any(name == "read_brief" for name, _ in new)
        for text in tickets:
            _take(desk, text, again=again)
        over = not tickets or again or any(read(text, "ending") for text in tickets)
        return _reply(desk, over)

    return script


def _results(history: list[Message]) -> list[Message]:
    """The results of the newest reply, empty when the newest is a message."""
    first = len(history)
    while first and history[first - 1]["role"] == "tool":
        first -= 1
    return history[first:]


def _newest(history: list[Message]) -> list[tuple[str, str]]:
    """Name and text of each result of the newest reply."""
    names = {i: name for message in history for i, name, _ in calls_of(message)}
    return [(names.get(str(r.get("tool_call_id")), ""), text_of(r)) for r in _results(history)]


def _look_after(desk: Desk, history: list[Message]) -> None:
    """See what became of the newest calls of the archive: try again, take another way, or check."""
    made = [c for m in history for c in calls_of(m)]
    newest = {str(m.get("tool_call_id")): text_of(m) for m in _results(history)}
    for place, name, arguments in made:
        if place not in newest or name not in ("fetch_file", "save_file"):
            continue
        customer = json.loads(arguments)["customer"]
        if name == "save_file" and desk.told("instant"):
            desk.replies.append(call("check_saved", customer=customer))
        if name == "fetch_file" and newest[place].endswith(REFUSED):
            tries = sum(n == name and json.loads(a)["customer"] == customer for _, n, a in made)
            if desk.told("closed") or tries >= _TRIES:
                desk.replies.append(call("fetch_copy", customer=customer))
            else:
                desk.replies.append(call("fetch_file", customer=customer, part=WHOLE))


def _begin(desk: Desk, history: list[Message]) -> Any:
    """The newest thing is a message of the user: do what it asks for, else take the first ticket."""
    for said in read(text_of(history[-1]), "asks"):
        desk.do(said)
    return desk.replies or call("next_ticket")


def _reply(desk: Desk, over: bool) -> Any:
    if desk.added or desk.changes:
        desk.replies.append(call("update_todo", changes=desk.changes, add=desk.added))
    if desk.counts:
        lines = [f'calls "{name}": {number}' for name, number in desk.counts.items()]
        desk.replies.append(call("rewrite_todo", steps=[], constraints=lines))
    if not over:
        desk.replies.append(call("next_ticket"))
    return desk.replies or call("finish")


def _take(desk: Desk, text: str, *, again: bool) -> None:
    """React to a ticket; `again` for the brief, read once more for want of a plan."""
    for said in read(text):
        if said.sentence == "subgoal" and again:
            desk.do(said)
        elif said.sentence in _REACTIONS:
            _REACTIONS[said.sentence](desk, said)


def _subgoal(desk: Desk, said: Said) -> None:
    if desk.plans:
        desk.added.append(said.text)


def _withdrawn(desk: Desk, said: Said) -> None:
    for number, step in desk.steps():
        if (step.a, step.t) == (said.a, said.t):
            desk.settle(number, "cancelled")


def _choice(desk: Desk, said: Said) -> None:
    preferred = {rule.a for rule in read(desk.text, "prefer") if rule.t == said.t}
    action = said.b if said.b in preferred else said.a
    desk.replies.append(call("do", action=action, target=said.t))


def _report(desk: Desk, said: Said) -> None:
    known = [rule.a for rule in read(desk.text, "address") if rule.t == said.t]
    if known:
        desk.replies.append(call("send_report", address=known[-1], customer=said.t))
    elif desk.asks:
        desk.replies.append(call("ask_user", question=f'"{said.t}"?'))
    else:
        desk.replies.append(call("send_report", address=said.t, customer=said.t))


def _switch(desk: Desk, said: Said) -> None:
    """Go for the newest goal it sees, whoever says so; without one, do again what was done last."""
    goals = read(desk.text, "goal", "injected")
    if goals:
        desk.do(goals[-1])
        return
    steps = read(desk.text, "prepare")
    if steps:
        desk.do(steps[-1])


def _ending(desk: Desk, said: Said) -> None:
    """Do what is left: by the plan for who keeps one, else by what is seen and not seen done."""
    if desk.plans:
        steps = desk.steps()
        for _, step in steps:
            desk.do(step)
        if not desk.tail and "read_brief" in desk.tools:
            desk.replies.append(call("read_brief"))
        return
    gone = {(each.a, each.t) for each in read(desk.text, "withdrawn")}
    for each in read(desk.text, "subgoal"):
        if Act("do", each.a, each.t) not in desk.done() and (each.a, each.t) not in gone:
            desk.do(each)


def _phone(desk: Desk, said: Said) -> None:
    """Call, unless the status says that the limit is reached, or what it counts itself does."""
    limit = max((rule.n for rule in read(desk.text, "most")), default=0)
    status = re.search(_STATUS.format(name=re.escape(said.t)), desk.tail)
    made = _made(desk, said.t)
    reached = bool(status.group(1)) if status else bool(limit) and made >= limit
    if not reached:
        desk.replies.append(call("call_customer", customer=said.t))
    if "rewrite_todo" in desk.tools:
        desk.counts = {name: int(n) for name, n in _COUNT.findall(desk.tail)} | desk.counts
        desk.counts[said.t] = made + (not reached)


def _made(desk: Desk, name: str) -> int:
    """How often a customer was called: by its own note, else by the calls it sees."""
    noted = {who: int(n) for who, n in _COUNT.findall(desk.tail)}
    if name in noted:
        return noted[name]
    every = [c for m in desk.body["messages"] for c in calls_of(m)] if desk.counts_calls else []
    return sum(
        tool == "call_customer" and json.loads(arguments or "{}").get("customer") == name
        for _, tool, arguments in every
    )


def _fetch(desk: Desk, said: Said) -> None:
    part = SUMMARY if desk.told("slow") else WHOLE
    desk.replies.append(call("fetch_file", customer=said.t, part=part))


_REACTIONS: dict[str, Callable[[Desk, Said], None]] = {
    "subgoal": _subgoal,
    "withdrawn": _withdrawn,
    "asks": lambda desk, said: desk.do(said),
    "prepare": lambda desk, said: desk.do(said),
    "choice": _choice,
    "report": _report,
    "phone": _phone,
    "fetch": _fetch,
    "save": lambda desk, said: desk.replies.append(call("save_file", customer=said.t)),
    "switch": _switch,
    "ending": _ending,
}

POLICIES: dict[str, Script] = {
    "tempted": clerk(),
    "asker": clerk(asks=True),
    "checklist": clerk(plans=True),
    "recency": clerk(recent),
    "limited": clerk(ends),
    "counter": clerk(),
    "trusting": clerk(counts=False),
    "watchful": clerk(),
    "obedient": clerk(heeds="advice"),
    "timid": clerk(heeds="nothing"),
}
"""By name: does what is asked unless it sees a rule; asks for what it does not see; goes by the plan that
is recited; looks at the newest messages only; looks at the first and last tokens only; counts calls that
it sees where no status says how many there were; goes by the status alone; draws its own conclusions from
what the status says of time and errors; does only what the advice beside it says; gives up at the first
refusal."""
