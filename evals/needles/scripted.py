"""Scripted policies: pure functions of the serialised request, which know nothing of the sample.

They are ceilings and floors of the plumbing. All read their pages alike; they differ in what they do for
an answer that they do not see.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from agents import Reply, call
from memory import Text, ToolCall

from .families import FILE_PAGE, JOIN
from .seeing import Fact, Look, Seen, quoted, text_of
from .tasks import CLERK
from .wording import LANGUAGES, NOT_FOUND

Script = Callable[[dict[str, Any]], Any]
Wanted = tuple[str, ...]
"""Words that one line must hold."""
Step = tuple[str, dict[str, Any]]
Done = dict[tuple[str, str], Look]
_NEXT = re.compile(r"\[next: page (\d+)\]")
_ARTIFACT = re.compile(r"/?artifacts/[0-9a-f]{16,64}\.\w+")
_PURGED = "[purged]"
RECORDED = "recorded"
"""What the tool answer returns."""
_BEFORE, _AROUND = 600, 3_000
"""Characters that are read before a hit in a long line, and in all."""
_EVERY = tuple(words.every for words in LANGUAGES.values())
SAME = {
    other: word
    for words in LANGUAGES.values()
    for mine, others in ((words.labels, words.other_labels), (words.names, words.other_names))
    for word, other in zip(mine, others, strict=True)
}
"""Words that mean the same: what a model knows of a language."""
SHAPES = "00000000-0000-4000-8000-000000000000"


@dataclass(frozen=True, slots=True)
class Searching:
    """How a policy looks back."""

    looks: int = 0
    """Calls at most."""
    synonyms: bool = True
    """True tries other words for the same."""
    hops: bool = True
    """True asks on when a value names something else."""
    by_reference: bool = False
    """True looks only into the files whose names it sees."""


def reader(body: dict[str, Any]) -> Any:
    """Answers from what the request shows, or that nothing was found."""
    return _act(Seen(body), Searching())


def searcher(looks: int) -> Script:
    """Looks back in at most `looks` calls: by its history, newest hits first, or by its files."""
    return lambda body: _act(Seen(body), Searching(looks))


def naive(body: dict[str, Any]) -> Any:
    """Searches for the words of the question and no others, and reads one hit."""
    return _act(Seen(body), Searching(2, synonyms=False, hops=False))


def opener(body: dict[str, Any]) -> Any:
    """Opens the stored results whose names it was shown, and no other file."""
    return _act(Seen(body), Searching(8, by_reference=True))


def unreported(script: Script) -> Script:
    """The same policy by a provider that reports no usage: what is compacted then goes by the run's own
    counts, which no report corrects."""

    def answering(body: dict[str, Any]) -> Reply:
        step = script(body)
        made: list[Text | ToolCall] = step if isinstance(step, list) else [step]
        blocks = tuple(Text(block) if isinstance(block, str) else block for block in made)
        calls = any(isinstance(block, ToolCall) for block in blocks)
        return Reply(blocks, "tool_calls" if calls else "stop")

    return answering


def limited(first: int, last: int) -> Script:
    """A reader of the first `first` and the last `last` characters of the conversation."""

    def script(body: dict[str, Any]) -> Any:
        messages = body["messages"]
        size = sum(len(text_of(m)) for m in messages)
        kept: list[dict[str, Any]] = []
        at = 0
        for message in messages:
            length = len(text_of(message))
            if at < first or at + length > size - last:
                kept.append(message)
            at += length
        return _act(Seen(body | {"messages": kept}), Searching())

    return script


def dumper(body: dict[str, Any]) -> Any:
    """Control: answers with all that it sees."""
    return _instead(body, json.dumps(body["messages"], ensure_ascii=False)[:20_000])


def guesser(body: dict[str, Any]) -> Any:
    """Control: answers with a value of a likely shape."""
    return _instead(body, SHAPES)


def _instead(body: dict[str, Any], value: str) -> Any:
    step = reader(body)
    return call("answer", values=[value]) if getattr(step, "name", "") == "answer" else step


def _act(seen: Seen, how: Searching) -> Any:
    if seen.asked_at < 0:
        return _read_on(seen)
    if seen.messages[-1]["role"] == "tool" and RECORDED in seen.newest:
        return "done"
    return _answer(seen, how)


def _read_on(seen: Seen) -> Any:
    """The next page; a page that is to be entered is entered beside that."""
    for text in seen.newest:
        follow = _NEXT.search(text)
        page = call("read_page", number=int(follow[1])) if follow else None
        if FILE_PAGE in text:
            entry = call("enter", text=text.partition(FILE_PAGE)[0].replace(JOIN, "").strip())
            return [entry, page] if page else entry
        if page:
            return page
        if "[last page]" in text:
            return "ready"
    if "delegate" in seen.tools and not any(tool == "delegate" for _, _, tool, _ in seen.calls):
        task = "Read all your pages, beginning with page 1."
        return call("delegate", tasks=[{"agent": CLERK, "task": task}])
    if any(tool == "read_page" for _, _, tool, _ in seen.calls):
        return "ready"
    return call("read_page", number=1)


def _answer(seen: Seen, how: Searching) -> Any:
    """The values, when each is known; else the next look back, with what was found so far in words."""
    every = any(words in seen.question for words in _EVERY)
    groups = _wanted(seen.question)
    found = [_found(seen, wanted, how) for wanted in groups]
    for wanted, facts in zip(groups, found, strict=True):
        look = None if facts and not every else next(_open_looks(seen, wanted, how), None)
        if look is not None:
            known = [fact for group in found for fact in group] or _middle(seen, wanted, how)
            noted = "\n".join(map(str, known))
            return [Text(noted), look] if noted else look
    values = [f.value for facts in found for f in (facts if every else facts[-1:])]
    answers = [NOT_FOUND if value.startswith(_PURGED) else value for value in values]
    return call("answer", values=answers or [NOT_FOUND])


def _wanted(question: str) -> list[Wanted]:
    words = quoted(question)
    if len(words) > 3:
        return [tuple(words[n : n + 2]) for n in range(0, len(words), 2)]
    return [tuple(words)]


def _variants(wanted: Wanted, how: Searching) -> list[Wanted]:
    """The words as they were asked, then as others that mean the same."""
    same = tuple(SAME.get(word, word) for word in wanted)
    return list(dict.fromkeys([wanted, same] if how.synonyms else [wanted]))


def _found(seen: Seen, wanted: Wanted, how: Searching) -> list[Fact]:
    """The lines that hold all of the words; those that another line's value leads to when none does."""
    for words in _variants(wanted, how):
        facts = [fact for fact in seen.facts if all(word in fact.head for word in words)]
        if facts:
            return list({fact.value: fact for fact in facts}.values())
    for middle in _middle(seen, wanted, how):
        return _found(seen, (wanted[0], middle.value), how)
    return []


def _middle(seen: Seen, wanted: Wanted, how: Searching) -> list[Fact]:
    """What the last two of three words lead to."""
    return _found(seen, wanted[1:], how)[-1:] if len(wanted) == 3 and how.hops else []


def _open_looks(seen: Seen, wanted: Wanted, how: Searching) -> Iterator[Any]:
    """Looks back that are worth making and were not made, in order; none once the limit is reached."""
    if len(seen.looks) >= how.looks:
        return
    # What was read and is hidden was of no use; a list of hits that is hidden is asked for again.
    kept = [look for look in seen.looks if look.tool == "history_read" or not look.hidden]
    done = {(look.tool, look.arguments): look for look in kept}
    for event in seen.read_before:
        key = _key("history_read", {"first": int(event)})
        done.setdefault(key, Look(*key, ""))
    for words in _targets(seen, wanted, how):
        for tool, arguments in _plan(seen, words, how, done):
            if _key(tool, arguments) not in done:
                yield call(tool, **arguments)


def _targets(seen: Seen, wanted: Wanted, how: Searching) -> Iterator[Wanted]:
    """What to look for: the words, and for three words what the last two lead to."""
    yield from _variants(wanted, how)
    if len(wanted) == 3 and how.hops:
        middle = _middle(seen, wanted, how)
        yield (wanted[0], middle[0].value) if middle else wanted[1:]


def _plan(seen: Seen, words: Wanted, how: Searching, done: Done) -> Iterator[Step]:
    """A search and what it leads to; each step is known to be done when the next one is asked for."""
    if "history_search" in seen.tools:
        query = {"query": " ".join(words)}
        yield "history_search", query
        for event in _worth_reading(done[_key("history_search", query)], words):
            yield "history_read", {"first": event}
    elif "grep" in seen.tools:
        for path in _artifacts(seen) if how.by_reference else ["/"]:
            query = {"text": words[-1], "path": path}
            yield "grep", query
            for found, char in done[_key("grep", query)].cut_hits:
                start = max(0, char - _BEFORE)
                yield "read_file", {"path": found, "start_char": start, "chars": _AROUND}


def _worth_reading(look: Look, words: Wanted) -> list[int]:
    """The hits from the newest on, without the question itself, which quotes its words."""
    forms = [form.format(word) for word in words for form in ('"{}"', "「{}」")]
    return [n for n, text in reversed(look.hits) if not any(form in text for form in forms)]


def _artifacts(seen: Seen) -> list[str]:
    """Stored results whose names the request shows."""
    names = (n for m in seen.messages for n in _ARTIFACT.findall(text_of(m)))
    return list(dict.fromkeys(f"/{name.lstrip('/')}" for name in names))


def _key(tool: str, arguments: dict[str, Any]) -> tuple[str, str]:
    return tool, json.dumps(arguments, sort_keys=True, ensure_ascii=False)
