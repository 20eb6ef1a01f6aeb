"""Drafts of needle tasks: the pages of other facts, and where a line is put among them.

A page names more identifiers before a needle than the product keeps of a hidden result, so that what is
recovered was looked up and not left over.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal
from unicodedata import normalize

from memory import OffloadLimits, best_counter

from .values import KINDS, value_of
from .wording import Wording

Form = Literal["NFC", "NFD"]
PAGES = 6
"""Pages that may hold a needle; those that push it out of the context follow."""
_PAGE_OF_TRIGGER, _PAGE_OF_WINDOW = 0.15, 0.08
"""A page's share: below what is offloaded, 25 % of the trigger and 10 % of the window."""
_LARGE = 2.5
"""A large page's tokens, in limits of what is offloaded."""
_EACH, _MORE = 1.0, 0.4
"""Triggers that are read for each compaction that is to be forced, and beyond them."""
_FACTS = 2
"""Facts on a page; all other lines are prose."""
_DENSE = 5
_LATE = 0.75
"""Share of a page's lines that stand before a needle."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How much there is to read, so that an arm compacts as often as it should."""

    page: int
    """Tokens of a page."""
    large: int
    """Tokens of a page that is stored as an artifact."""
    after: int
    """Pages behind those that may hold a needle."""

    @classmethod
    def of(cls, trigger: int, window: int, compactions: int) -> "Shape":
        """The shape for a trigger and a window in tokens."""
        page = int(min(_PAGE_OF_TRIGGER * trigger, _PAGE_OF_WINDOW * window))
        after = -int(-(_EACH * compactions + _MORE) * trigger // page)
        return cls(page, int(_LARGE * OffloadLimits.of(window, trigger).result), after)


@dataclass(slots=True)
class Draft:
    """A task in the making: one name, label and value, and pages that say nothing of them yet."""

    words: Wording
    random: Random
    seed: int
    shape: Shape
    kind: str
    name: str
    name2: str
    label: str
    label2: str
    value: str
    large: frozenset[int] = frozenset()
    """Numbers, from 0, of pages that are large."""
    dense: bool = False
    """True for many facts whose values are of the needle's kind."""
    form: Form = "NFC"
    """The normal form of the pages."""
    wide: bool = False
    """True for pages whose first and last lines are longer than a preview shows."""
    pages: list[list[str]] = field(default_factory=list[list[str]])

    @classmethod
    def begin(
        cls, words: Wording, random: Random, seed: int, shape: Shape, value: str | None
    ) -> "Draft":
        """Draw names, labels and a value; `value` takes the place of the one that is drawn."""
        kind = list(KINDS)[seed % len(KINDS)]
        name, name2 = random.sample(words.names, 2)
        label, label2 = random.sample(words.labels, 2)
        drawn = value_of(kind, random)
        return cls(
            words,
            random,
            seed,
            shape,
            kind,
            name,
            name2,
            label,
            label2,
            drawn if value is None else value,
        )

    def fill(self) -> None:
        """Write the pages of other facts."""
        ours = {(self.name, self.label), (self.name2, self.label), (self.name2, self.label2)}
        pairs = [(n, x) for n in self.words.names for x in self.words.labels]
        free = [pair for pair in pairs if pair not in ours]
        self.random.shuffle(free)
        kinds = [self.kind] if self.dense else [kind for kind in KINDS if kind != self.kind]
        prose = normalize(self.form, self.words.prose.format(number=0))
        # Numbers have five digits, so that each sentence counts as the run's threads will count it.
        number, each = 0, best_counter().count(f"{prose}\n")
        for page in range(PAGES + self.shape.after):
            lines: list[str] = []
            size, most = 0, self.shape.large if page in self.large else self.shape.page
            while size < most:
                number += 1
                lines.append(self.words.prose.format(number=number))
                size += each
            for _ in range(_DENSE if self.dense else _FACTS):
                if free:
                    name, label = free.pop()
                    value = value_of(self.random.choice(kinds), self.random)
                    lines.insert(self.random.randrange(len(lines)), self.line(name, label, value))
            self.pages.append(lines)

    def line(self, name: str, label: str, value: str) -> str:
        """One fact."""
        return self.words.line.format(name=name, label=label, value=value)

    def ask(self, form: str = "") -> str:
        """The question, in the usual form or another; a form takes what it names."""
        return (form or self.words.question).format(
            name=self.name,
            label=self.label,
            name2=self.name2,
            label2=self.label2,
            relation=self.words.relation,
        )

    def place(self, line: str, page: int) -> None:
        """Put a line late on a page; on a large one into its middle, which no preview shows."""
        lines = self.pages[page]
        share = 0.5 if page in self.large else _LATE
        lines.insert(
            self.random.randrange(int(share * len(lines)), _end(lines, page in self.large)), line
        )

    def anywhere(self) -> int:
        """Number of a page that may hold a needle."""
        return self.random.randrange(PAGES)

    def ascending(self, count: int) -> list[int]:
        """Numbers of different pages that may hold a needle, ascending."""
        return sorted(self.random.sample(range(PAGES), count))

    def texts(self) -> tuple[str, ...]:
        """The pages in their form; a wide one has its first and its last third as one line each."""
        wide = self.large if self.wide else frozenset[int]()
        texts = (_wide(x) if n in wide else "\n".join(x) for n, x in enumerate(self.pages))
        return tuple(normalize(self.form, text) for text in texts)


def _end(lines: Sequence[str], large: bool) -> int:
    return int(0.6 * len(lines)) + 1 if large else len(lines) + 1


def _wide(lines: Sequence[str]) -> str:
    third = len(lines) // 3
    return "\n".join((" ".join(lines[:third]), *lines[third:-third], " ".join(lines[-third:])))
