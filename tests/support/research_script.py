"""A scripted model that does research well: plans, searches, quotes, writes; and ways to break it.

`answer(body)` looks at the output type that a request asks for, as a model would, and returns the next
step. `Fault` wraps it: some requests get something else in place of the answer.
"""

import json
from collections.abc import Callable
from typing import Any

from .chat_server import Say, Step

TOPICS = ("red", "green", "blue", "black", "white")
DOCS = {
    f"{topic}.md": f"# The {topic} valve\n\nThe {topic} valve opens at {number} degrees. "
    f"It was built in {1950 + number} by the {topic.title()} Works.\n"
    for number, topic in enumerate(TOPICS, 11)
}
QUESTION = "At what temperature do the five valves open?"


def wanted(body: dict[str, Any]) -> str:
    """The name of the output type that the request asks for, `""` for plain text."""
    for tool in body.get("tools") or ():
        function = tool["function"]
        if function["name"] == "conclude":
            return str(function["parameters"]["title"])
    return ""


def task(body: dict[str, Any]) -> str:
    """The first user message."""
    return str(next(m["content"] for m in body["messages"] if m["role"] == "user"))


def answer(body: dict[str, Any]) -> Step:
    """The next step of a good researcher, planner, reviewer or writer."""
    kind = wanted(body)
    if kind == "Plan":
        questions = [
            {"id": f"q{n}", "question": f"When does the {t} valve open?"}
            for n, t in enumerate(TOPICS, 1)
        ]
        return conclude(title="Five valves", questions=questions)
    if kind == "Conclusion":
        return _research(body)
    if kind == "Gaps":
        return conclude(questions=[])
    if kind == "Draft":
        return _write(body)
    return Say("The valves open between 11 and 15 degrees.")


def conclude(**output: Any) -> Say:
    """A call of the tool that ends an agent's work."""
    return Say(calls=[("conclude", output)])


def _research(body: dict[str, Any]) -> Say:
    found = [
        m["content"]
        for m in body["messages"]
        if m["role"] == "tool" and '"passages"' in m["content"]
    ]
    if not found:
        return Say(
            calls=[("search", {"query": task(body).split("\n")[0], "limit": 3})], reasoning="look"
        )
    passage = json.loads(found[-1])["passages"][0]
    quote = next(s for s in passage["text"].split(". ") if "opens" in s).split("\n")[-1]
    citation = {"evidence": passage["evidence"], "quote": quote}
    finding = {"claim": quote, "citations": [citation], "confidence": "high"}
    return conclude(answer=quote, findings=[finding])


def _write(body: dict[str, Any]) -> Say:
    sections = []
    for section in json.loads(task(body))["sections"]:
        cited = [
            {"text": f"{f['citations'][0]['quote']}.", "evidence": [f["citations"][0]["evidence"]]}
            for f in section["findings"]
        ]
        sections.append({"question": section["id"], "sentences": cited})
    return conclude(summary=[], sections=sections)


class Fault:
    """Gives `step` to the first `times` requests that `when` picks, the good answer to the others."""

    def __init__(
        self, step: Step, times: int = 1, when: Callable[[dict[str, Any]], bool] | None = None
    ) -> None:
        self.step, self.left = step, times
        self.when = when or (lambda body: wanted(body) == "Conclusion")

    def __call__(self, body: dict[str, Any]) -> Step:
        if self.left and self.when(body):
            self.left -= 1
            return self.step
        return answer(body)
