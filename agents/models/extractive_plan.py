"""Planning without a model: the explicit parts of a question become questions of their own."""

import re

from filesystem import split_sentences
from memory import JsonObject

from .extractive_subject import (
    add_subject,
    names_in,
    opens_with_order,
    points_back,
    subject_of,
    tidied,
)

MOST_QUESTIONS = 8
_READ = 20_000  # characters of a question that are read
_LONGEST = 1_000  # characters of one sub-question
_TITLE_WORDS, _TITLE_LENGTH = 12, 120
_ITEM = re.compile(r"^[ \t]*(?:[-*+•‣▪◦–]|\(?\d{1,2}[.)、]|\(?[a-z][.)])[ \t]+(?=\S)", re.M)
# Words about the form of the answer; a sentence that asks nothing and holds one is no question.
_FORM = re.compile(
    r"\b(?:cit(?:e|ing|ations?)|sources?|referenc(?:e|es|ing)|specific|concise|brief|short|words?|bullets?|"
    r"tables?|markdown|format|quote|quotes|quoting|tone|language|english|pages?|paragraphs?|thorough|"
    r"precise|detailed|zitier\w*|quellen|citez|fuentes)\b|引用|注明|出典|请用|格式",
    re.I,
)
_ASKING = (
    r"(?:what|when|why|how|who|where|which|wann|wie|warum|wer|wo|welche[rsn]?|comment|pourquoi|quand|"
    r"quel(?:le)?s?|cómo|cuándo|qué|quién)"
)
_OPENS_ASKING = re.compile(
    rf"(?:{_ASKING}|is|are|was|were|does|do|did|can|could|should|will)\b", re.I
)
# "... and how does it", "... and its price"; a lone "and why" is no question of its own.
_AND_ASKS = re.compile(
    rf",?\s+(?:and|und|et|y)\s+(?={_ASKING}(?:\s+\S+){{2}}|(?:its|their)\s)", re.I
)
# After an order commas part as well: "explain X, its limits, and how to use it".
_COMMA_ASKS = re.compile(
    rf"(?:,(?:\s+(?:and|und|et|y))?|\s+(?:and|und|et|y))\s+(?=(?:{_ASKING}|its|their)\s)", re.I
)
# Within such a list of questions a comma parts too, but not after "When evaluating X, ...".
_THEN_ASKS = re.compile(r",\s+(?=(?:how|what|why)\s)", re.I)
_OPENS_CLAUSE = re.compile(r"(?:when|where|if|while)\b", re.I)
_ENDS_ASKING = ("?", "？", "؟")
_SEMICOLON = re.compile(r"\s*[;；؛]\s*")
_COLON = re.compile(r"\s*(?::\s+|：\s*)")
_COMMA = re.compile(r"\s*[,，、]\s*(?:(?:and|und|et|y)\s+)?")
_AND = re.compile(r"\s+(?:and|und|et|y|&)\s+", re.I)


def plan_for(question: str) -> JsonObject:
    """The arguments of `conclude` for a plan: a title, and one to eight questions complete in themselves."""
    question = question.strip()[:_READ]
    return {
        "title": title_of(question),
        "questions": [
            {"id": f"q{number}", "question": part, "depends_on": []}
            for number, part in enumerate(_fitting(split_question(question)), 1)
        ],
    }


def split_question(question: str) -> list[str]:
    """The explicit parts of a question, each with the subject it needs; the question itself when simple."""
    first, *items = _ITEM.split(question)
    if len(items) > 1:
        subject = subject_of(first)
        lines = [tidied(item.strip().splitlines()[0]) for item in items]
        parts = [add_subject(line, subject) for line in lines]
    else:
        parts = _from_prose(" ".join(question.split()))
    unique = dict.fromkeys(part for part in parts if any(map(str.isalnum, part)))
    return list(unique) or [question]


def search_parts(question: str) -> list[str]:
    """What to search for: the question, and each of the things that it lists, with its subject."""
    lead, _, listed = _colon_list(question)
    things = [part for thing in _COMMA.split(listed) for part in _AND.split(thing)]
    things = [tidied(thing, "?？؟") for thing in things if any(map(str.isalnum, thing))]
    if len(things) < 2:
        return [question]
    return [question, *(f"{subject_of(lead)} {thing}" for thing in things[:4])]


def title_of(question: str) -> str:
    """A title of at most 12 words."""
    parts = _ITEM.split(question.strip().split("\n\n", 1)[0])
    first = next((" ".join(part.split()) for part in parts if part.strip()), "")[:_LONGEST]
    spans = split_sentences(first)
    first = first[spans[0][0] : spans[0][1]] if spans else first
    lead, _, listed = _colon_list(first)
    start = opens_with_order(lead)
    told = lead[start:] if listed and start < len(lead) else first
    words = tidied(told, "?？؟").split()
    title = " ".join(words[:_TITLE_WORDS])[:_TITLE_LENGTH]
    title += "..." if len(words) > _TITLE_WORDS else ""
    return title[:1].upper() + title[1:] or "Report"


def _from_prose(text: str) -> list[str]:
    parts: list[str] = []
    for sentence in _asking_sentences(text):
        first, *others = _parts_of(sentence)
        if parts and points_back(first):
            first = add_subject(first, subject_of(parts[0]))
        elif parts and not names_in(first):
            first = add_subject(first, ", ".join(names_in(parts[0])[:1]))
        parts += [first, *others]
    return parts


def _asking_sentences(text: str) -> list[str]:
    """The sentences that ask something; a statement goes with the question after it, as its context."""
    asking: list[str] = []
    context = ""
    sentences = [text[start:end] for start, end in split_sentences(text)]
    for sentence in sentences:
        asks = sentence.endswith(_ENDS_ASKING)
        if not asks and not _colon_list(sentence)[2] and _FORM.search(sentence):
            continue
        context = f"{context} {sentence}".strip()
        if asks or opens_with_order(sentence) or _colon_list(sentence)[2]:
            asking.append(context)
            context = ""
    return asking or [context or text]


def _parts_of(sentence: str) -> list[str]:
    lead, mark, listed = _colon_list(sentence)
    things = _things(listed, mark)
    if mark == ";" or (
        things and (opens_with_order(lead) or len(listed.split()) >= 2 * len(things))
    ):
        subject = subject_of(lead)
        named = "" if subject else ", ".join(names_in(listed)[:1])
        return [add_subject(thing, subject or named, always=bool(subject)) for thing in things]
    parts = [tidied(part) for part in _SEMICOLON.split(sentence) if part.strip()]
    if len(parts) < 2 or any(part.count('"') % 2 for part in parts):
        return _questions_joined(sentence)
    return [parts[0], *(add_subject(part, subject_of(parts[0])) for part in parts[1:])]


def _things(listed: str, mark: str) -> list[str]:
    """The things in a list; "a, b and c" are three, "a and b, c and d" two."""
    if not mark:
        return []
    things = [tidied(part) for part in (_SEMICOLON if mark == ";" else _COMMA).split(listed)]
    things = [thing for thing in things if thing]
    if mark == "," and not any(_AND.search(thing) for thing in things[:-1]):
        things[-1:] = _AND.split(things[-1], maxsplit=1)
    return things


def _colon_list(sentence: str) -> tuple[str, str, str]:
    """(lead, ";" or ",", list) of "lead: a; b" or "lead: a, b and c"; no mark and no list elsewhere."""
    pieces = _COLON.split(sentence.strip(), maxsplit=1)
    if len(pieces) == 2 and len(pieces[0].split()) <= 25:
        lead, listed = pieces[0], tidied(pieces[1])
        if _SEMICOLON.search(listed):
            return lead, ";", listed
        if _COMMA.search(listed) or _AND.search(listed):
            return lead, ",", listed
    return sentence, "", ""


def _questions_joined(sentence: str) -> list[str]:
    """Take "What is X and how does Y work?" apart, unless a half would not say what "it" is."""
    ordered = opens_with_order(sentence)
    if not ordered and not _OPENS_ASKING.match(sentence):
        return [sentence]
    first, *others = (_COMMA_ASKS if ordered else _AND_ASKS).split(sentence)
    if others and not ordered and not _OPENS_CLAUSE.match(first):
        first, *listed = _THEN_ASKS.split(first)
        others = listed + others
    subject = subject_of(first)
    clear = ordered or names_in(first) or " " not in subject
    if not clear and any(points_back(part) for part in others):
        return [sentence]
    if not others:
        return [first]
    mark = "?" if sentence.endswith("?") else ""
    wholes = [add_subject(tidied(part, "?"), subject if clear else "") for part in others]
    return [part[:1].upper() + part[1:] + mark for part in [tidied(first), *wholes]]


def _fitting(parts: list[str]) -> list[str]:
    """At most eight parts: neighbours are joined evenly when there are more."""
    if len(parts) > MOST_QUESTIONS:
        size = -(-len(parts) // MOST_QUESTIONS)
        parts = ["; ".join(parts[at : at + size]) for at in range(0, len(parts), size)]
    return [part[:_LONGEST] for part in parts]
