"""Answers in words: what can be quoted from a request, and a coordinator's turn of delegation."""

import re
from collections.abc import Sequence
from typing import Any, cast

from filesystem import split_sentences
from memory import Block, JsonObject, Text, dumps

from .extractive_plan import split_question
from .extractive_quotes import Found, Quote, choose_quotes, passages_in
from .extractive_request import Answered, Turn, objects
from .scripted import call

_QUOTES = 5
_NOTHING = "Nothing in this request answers it; I can only quote what I am given."
_LISTED = re.compile(r"^- ([\w.-]+):", re.M)
_ONE_OF = re.compile(r"One of: ([\w.-]+)")


def answer_in_words(turn: Turn) -> Block:
    """The best sentences of what came back, else of the task's own text."""
    if delegated := turn.answers("delegate"):
        return Text(_from_conclusions(delegated) or _NOTHING)
    passages = passages_in(turn.answers("search"))
    others = [
        result.text for result in turn.results if result.name != "search" and not result.failed
    ]
    passages += [_as_passage(text) for text in others]
    question, rest = _question_in(turn.task)
    if not turn.results and rest:
        passages.append(_as_passage(rest))
    quotes = choose_quotes(question, passages, _QUOTES)
    failed = [result.text for result in turn.results if result.failed]
    return Text("\n".join(map(_shown, quotes)) or "\n".join([_NOTHING, *failed]))


def delegation(turn: Turn) -> Block:
    """A call of `delegate`: each part of the task to the first agent that the tool names."""
    agent = _first_agent(turn.tools["delegate"])
    parts = split_question(turn.task)
    return call("delegate", tasks=[{"agent": agent, "task": part} for part in parts])


def delegated_conclusion(results: Sequence[Answered]) -> Block:
    """A call of `conclude` that hands on what the subagents found."""
    outputs = [shown.get("conclusion") for result in results for shown in objects(result.data())]
    found = [finding for output in outputs for finding in objects(output, "findings")]
    open_questions = [
        question
        for output in outputs
        if isinstance(output, dict)
        for question in cast(JsonObject, output).get("open_questions") or ()
    ]
    whole = bool(found) and not open_questions
    return call(
        "conclude",
        answer=_from_conclusions(results) or _NOTHING,
        findings=found,
        open_questions=open_questions,
        status="done" if whole else "partial",
    )


def _first_agent(spec: JsonObject) -> str:
    """The first agent in the tool's schema or description, `""` when it names none."""
    schema = dumps(spec.get("parameters") or {}).decode()
    found = _ONE_OF.search(schema) or _LISTED.search(str(spec.get("description", "")))
    return found[1] if found else ""


def _from_conclusions(results: Sequence[Answered]) -> str:
    lines: list[str] = []
    for result in results:
        shown = objects(result.data())
        lines += [_conclusion(each) for each in shown] if shown else [result.text]
    return "\n\n".join(line for line in dict.fromkeys(lines) if line)


def _conclusion(shown: JsonObject) -> str:
    """What one subagent handed back, or why it did not."""
    conclusion: Any = shown.get("conclusion")
    if isinstance(conclusion, dict):
        output = cast(JsonObject, conclusion)
        return str(output.get("answer") or dumps(output).decode())
    if shown.get("text"):
        return str(shown["text"])
    name, status, reason = (str(shown.get(key, "")) for key in ("agent", "status", "reason"))
    return f"{name or 'An agent'} gave no answer: {reason or status}."


def _question_in(task: str) -> tuple[str, str]:
    """(what is asked, the text it is asked about); no text when the task is only a question."""
    sentences = [task[start:end] for start, end in split_sentences(task)]
    if len(sentences) < 3:
        return task, ""
    asked = [at for at, sentence in enumerate(sentences) if sentence.endswith(("?", "？", "؟"))]
    at = asked[-1] if asked else 0
    return sentences[at], "\n\n".join(sentences[:at] + sentences[at + 1 :])


def _as_passage(text: str) -> Found:
    return Found("", "", True, text, 0)


def _shown(quote: Quote) -> str:
    return f"- {quote.tidy}" + (f" [{quote.evidence}]" if quote.evidence else "")
