"""Needle tasks: pages to read, then a question about a line of them.

The question comes as a follow-up, so that nobody knows it while reading. Everything is drawn from a seed,
which is the name of the task; a task whose value leaks into anything but its own line is refused.
"""

from dataclasses import dataclass, replace
from random import Random

from ..errors import EvalError, FamilyUnknown
from ..statistics import seed_of
from .drafting import PAGES, Draft, Shape
from .families import FAMILIES, JOIN, Family
from .wording import LANGUAGES, NOT_FOUND

SYSTEM = (
    "You keep the records of some depots. Read your pages one after another with read_page, and say ready "
    "after the last one. When you are asked for something, look it up again where you no longer see it, "
    "and answer by the tool answer with the exact values and nothing else, the newest one when it was "
    f"changed; answer [{NOT_FOUND!r}] when no page says it, or when it was purged."
)
CLERK = "clerk"
"""Name of the subagent."""


@dataclass(frozen=True, slots=True)
class NeedleTask:
    """One task."""

    name: str
    """Family, language, load and seed; also what its seed is made from."""
    family: str
    language: str
    seed: int
    pages: tuple[str, ...]
    question: str
    expected: tuple[str, ...]
    """The exact answer."""
    tracked: tuple[str, ...]
    """What must not stand in a request for an arm to test anything; empty for an absent needle."""
    wrong: tuple[tuple[str, str], ...] = ()
    """Wrong values of which the kind is known: the value and the name of the failure."""

    @property
    def traits(self) -> Family:
        """What its family is like."""
        return FAMILIES[self.family]

    @property
    def own_pages(self) -> tuple[str, ...]:
        """Pages that the agent reads which is asked."""
        return self.pages[PAGES:] if self.traits.child else self.pages

    @property
    def clerk_pages(self) -> tuple[str, ...]:
        """Pages that a subagent reads."""
        return self.pages[:PAGES] if self.traits.child else ()

    @property
    def goal(self) -> str:
        """The first message."""
        first = (
            f"First delegate to {CLERK} the task to read its pages. " if self.clerk_pages else ""
        )
        return f"{first}Your pages begin with page 1."


def needle_task(
    family: str, language: str, seed: int, load: str, shape: Shape, *, value: str | None = None
) -> NeedleTask:
    """The task of a family, a language, a seed and a load; the same arguments give the same task.

    `value` takes the needle's place and changes nothing else. Raises `FamilyUnknown` for a family or
    language that is none.
    """
    if family not in FAMILIES:
        raise FamilyUnknown(
            f"no needle family is called {family!r}; there are: {', '.join(FAMILIES)}"
        )
    if language not in LANGUAGES:
        raise FamilyUnknown(f"no language {language!r}; there are: {', '.join(LANGUAGES)}")
    name, traits = f"needle-recovery/{family}/{language}/{load}/{seed}", FAMILIES[family]
    draft = Draft.begin(LANGUAGES[language], Random(seed_of(name)), seed, shape, value)
    count = {"none": 0, "one": 1, "three": 3}[traits.large]
    draft.large = frozenset(draft.ascending(count))
    draft.dense, draft.wide = traits.dense, traits.wide
    draft.form = "NFD" if traits.decomposed else "NFC"
    draft.fill()
    asked = traits.build(draft)
    task = NeedleTask(
        name,
        family,
        language,
        seed,
        draft.texts(),
        asked.question,
        asked.expected,
        asked.tracked,
        asked.wrong,
    )
    _check(task)
    return replace(task, expected=(NOT_FOUND,)) if traits.purged else task


def without_needle(task: NeedleTask) -> NeedleTask:
    """The task with the lines of its needle left out: the right answer is that there is none."""

    def kept(line: str) -> bool:
        return JOIN not in line and not any(value in line for value in task.tracked)

    pages = tuple("\n".join(filter(kept, page.split("\n"))) for page in task.pages)
    return replace(task, pages=pages, expected=(NOT_FOUND,), tracked=())


def _check(task: NeedleTask) -> None:
    """Refuse a task whose value stands anywhere but on one line, or, when it is to be joined, on none."""
    around = "\n".join((SYSTEM, task.goal, task.question, task.name))
    text = "\n".join(task.pages)
    for value in task.tracked:
        times = text.count(value)
        if times != (JOIN not in text) or value in around:
            raise EvalError(f"{task.name}: the needle {value!r} leaks; it stands {times} times")
