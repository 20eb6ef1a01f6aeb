"""Needle tasks: pages to read, then a question about one line of them.

The question comes as a follow-up, so that nobody knows it while reading. Everything is drawn from a seed,
which is the name of the task; a task whose value leaks into anything but its own line is refused.
"""

import unicodedata
from dataclasses import dataclass, replace
from random import Random

from ..errors import EvalError, FamilyUnknown
from ..statistics import seed_of
from .values import KINDS, look_alike, value_of
from .wording import LANGUAGES, NOT_FOUND, Wording

FAMILIES = ("identifier", "look-alike", "overwritten", "absent", "position", "decomposed")
PAGES = 6
LINES = 8
"""Facts on a page; each is followed by a sentence of prose."""
SYSTEM = (
    "You keep the records of some depots. Read the pages one after another with read_page. When you are "
    "asked for something, answer by the tool answer with the exact value and nothing else, the newest one "
    f"when it was changed; answer {NOT_FOUND!r} when no page says it."
)


@dataclass(frozen=True, slots=True)
class NeedleTask:
    """One task."""

    name: str
    """Family, language and seed; also what its seed is made from."""
    family: str
    language: str
    seed: int
    pages: tuple[str, ...]
    question: str
    expected: str
    """The exact answer."""
    tracked: str
    """What must not stand in a request for the arm to test anything, `""` for an absent needle."""
    wrong: tuple[tuple[str, str], ...] = ()
    """Wrong answers of which the kind is known: the value and the name of the failure."""

    @property
    def goal(self) -> str:
        """The first message."""
        return f"There are {len(self.pages)} pages. Begin with page 1, and say ready after the last one."


@dataclass(frozen=True, slots=True)
class _Fact:
    name: str
    label: str
    value: str


def needle_task(family: str, language: str, seed: int) -> NeedleTask:
    """The task of a family, a language and a seed; the same arguments give the same task.

    Raises `FamilyUnknown` for a family or language that is none.
    """
    if family not in FAMILIES:
        raise FamilyUnknown(
            f"no needle family is called {family!r}; there are: {', '.join(FAMILIES)}"
        )
    if language not in LANGUAGES:
        raise FamilyUnknown(f"no language {language!r}; there are: {', '.join(LANGUAGES)}")
    name = f"needle-recovery/{family}/{language}/{seed}"
    random, words = Random(seed_of(name)), LANGUAGES[language]
    kinds = list(KINDS)
    kind = kinds[seed % len(kinds)]
    entity, label = random.choice(words.names), random.choice(words.labels)
    needle = _Fact(entity, label, value_of(kind, random))
    pages = _filler(words, needle, kind, random)
    task = _placed(family, words, needle, pages, random)
    task = replace(task, name=name, language=language, seed=seed)
    _check(task)
    return task


def swapped(task: NeedleTask, value: str | None) -> NeedleTask:
    """The task with another needle, or with none: the right answer must follow."""
    line = next(x for page in task.pages for x in page.splitlines() if task.expected in x)
    other = line.replace(task.expected, value) if value else ""
    pages = tuple(page.replace(line, other) for page in task.pages)
    return replace(task, pages=pages, expected=value or NOT_FOUND, tracked=value or "")


def _placed(
    family: str, words: Wording, needle: _Fact, pages: list[list[str]], random: Random
) -> NeedleTask:
    line = words.line.format(name=needle.name, label=needle.label, value=needle.value)
    question = words.question.format(name=needle.name, label=needle.label)
    wrong: list[tuple[str, str]] = []
    expected = tracked = needle.value
    place = random.randrange(PAGES)
    if family == "absent":
        expected, tracked, line = NOT_FOUND, "", ""
    elif family == "position":
        place = random.randrange(5) * (PAGES - 1) // 4
    elif family == "look-alike":
        wrong = _add_look_alikes(words, needle, pages, random)
    elif family == "overwritten":
        place = random.randrange(PAGES // 2, PAGES)
        old = look_alike(needle.value, random)
        pages[random.randrange(PAGES // 2)].insert(0, line.replace(needle.value, old))
        wrong = [(old, "stale value")]
    if line:
        pages[place].insert(random.randrange(1, len(pages[place])), line)
    text = tuple("\n".join(page) for page in pages)
    if family == "decomposed":
        text = tuple(unicodedata.normalize("NFD", page) for page in text)
    return NeedleTask("", family, "", 0, text, question, expected, tracked, tuple(wrong))


def _filler(words: Wording, needle: _Fact, kind: str, random: Random) -> list[list[str]]:
    """Pages of other facts; none is of the needle's name and label together."""
    pairs = [
        (n, x) for n in words.names for x in words.labels if (n, x) != (needle.name, needle.label)
    ]
    random.shuffle(pairs)
    others = [other for other in KINDS if other != kind]
    pages: list[list[str]] = []
    for page in range(PAGES):
        lines: list[str] = []
        for row in range(LINES):
            number = page * LINES + row
            name, label = pairs[number % len(pairs)]
            if number < len(pairs):
                value = value_of(others[number % len(others)], random)
                lines.append(words.line.format(name=name, label=label, value=value))
            lines.append(words.prose.format(number=number + 1))
        pages.append(lines)
    return pages


def _add_look_alikes(
    words: Wording, needle: _Fact, pages: list[list[str]], random: Random
) -> list[tuple[str, str]]:
    """The same label of other names with nearly the same value."""
    wrong: list[tuple[str, str]] = []
    for name in random.sample([name for name in words.names if name != needle.name], 3):
        value = look_alike(needle.value, random)
        fact = words.line.format(name=name, label=needle.label, value=value)
        pages[random.randrange(PAGES)].insert(0, fact)
        wrong.append((value, "near miss"))
    return wrong


def _check(task: NeedleTask) -> None:
    """Refuse a task whose value stands anywhere but on one line."""
    around = "\n".join((SYSTEM, task.goal, task.question, task.name))
    times = sum(page.count(task.tracked) for page in task.pages) if task.tracked else 1
    if times != 1 or (task.tracked and task.tracked in around):
        raise EvalError(f"{task.name}: the needle {task.tracked!r} leaks; it stands {times} times")
