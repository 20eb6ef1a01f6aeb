"""Ignore rules: what a folder's own ``.gitignore`` and ``.ignore`` files leave out."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

RULE_FILES = (".gitignore", ".ignore")
"""Names of the files that hold rules, the later one wins."""
_ALWAYS = frozenset({"node_modules", "__pycache__"})
_RUN = frozenset({"run.json", "transcripts"})  # what every run folder holds from its beginning
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a rule file."""

    parts: tuple[str, ...]
    """Shell patterns, one per path segment below ``base``; "**" stands for any number of segments."""
    keep: bool
    """True for a "!" line: what matches is kept after all."""
    folders_only: bool
    """True when the line ends in "/"."""
    base: int
    """How many segments of the path lie above the rule file."""


def is_always_ignored(name: str) -> bool:
    """Tell whether a name is left out whatever the rules say: hidden, generated, an editor's lock."""
    return name.startswith((".", "~$")) or name in _ALWAYS


def is_run(names: Iterable[str]) -> bool:
    """Tell by the names in a folder whether a run was kept there: its reports quote documents."""
    return _RUN.issubset(names)


def parse_rules(text: str, base: int) -> list[Rule]:
    """Read the lines of a rule file that lies ``base`` segments below the root."""
    return [rule for line in text.splitlines() if (rule := _parse_line(line, base))]


def is_ignored(rules: Sequence[Rule], parts: tuple[str, ...], is_folder: bool) -> bool:
    """Tell whether the last matching rule leaves out the path made of ``parts``."""
    for rule in reversed(rules):
        if (is_folder or not rule.folders_only) and _matches(rule.parts, parts[rule.base :]):
            return not rule.keep
    return False


def _parse_line(line: str, base: int) -> Rule | None:
    line = line.strip()
    if not line or line.startswith("#"):
        return None
    keep = line.startswith("!")
    pattern = line[1:] if keep else line
    folders_only = pattern.endswith("/")
    pattern = pattern.rstrip("/")
    anchored = "/" in pattern
    pattern = _ESCAPED.sub(_literal, pattern.lstrip("/")).replace("[^", "[!")
    parts = [part for part in pattern.split("/") if part]
    if not parts:
        return None
    return Rule(tuple(parts if anchored else ["**", *parts]), keep, folders_only, base)


def _literal(match: re.Match[str]) -> str:
    return f"[{match[1]}]" if match[1] in "*?[" else match[1]


def _matches(patterns: Sequence[str], parts: Sequence[str]) -> bool:
    """Match segment by segment, as a set of positions: linear however many "**" there are."""
    positions = {0}
    for pattern in patterns:
        if pattern == "**":
            positions = set(range(min(positions), len(parts) + 1))
        else:
            positions = {
                at + 1 for at in positions if at < len(parts) and fnmatchcase(parts[at], pattern)
            }
        if not positions:
            return False
    return len(parts) in positions
