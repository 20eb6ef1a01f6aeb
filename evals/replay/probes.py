"""Probes: questions about a recorded run whose answers are in it, extracted by code, without a model.

Nothing here is shared with any compaction, so that a compaction cannot be good at its own exam; a test
checks the imports. A probe whose answer stands in the head, in its own question, or is shorter than
four characters proves nothing and is dropped.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .edits_seen import Command, commands_of, file_edits
from .service_probes import service_probes
from .trajectory import Message

SHORTEST = 4
"""Characters of the shortest answer."""
EACH = 3
"""Most probes of one kind that a cut run gives."""
_LONGEST = 300
_ERROR = re.compile(r"^.*?\b([A-Z]\w*(?:Error|Exception)\b: \S.*)$", re.MULTILINE)
_TESTS = re.compile(
    r"\b(\d+ (?:passed|failed)(?:, \d+ \w+)*|Ran \d+ tests? in|FAILED \((?:failures|errors)=\d+[^)]*\))"
)
_RETURN_CODE = re.compile(r"<returncode>(-?\d+)</returncode>|exit code (\d+)")


@dataclass(frozen=True, slots=True)
class Probe:
    """One question about a run."""

    kind: str
    """The family: `file changed`, `k-th command`..."""
    question: str
    """As a user would ask it; the searcher knows these words and nothing else."""
    answers: tuple[str, ...]
    """Each of them has to be there."""

    def held_by(self, text: str) -> bool:
        """Whether every answer stands in a text, white space aside."""
        flat = flatten(text)
        return all(flatten(answer) in flat for answer in self.answers)


def flatten(text: str) -> str:
    """A text with every run of white space as one blank."""
    return " ".join(text.split())


def extract_probes(messages: Sequence[Message], head: int) -> list[Probe]:
    """The probes of a cut run whose first `head` messages are kept by every policy."""
    commands = commands_of(messages)
    found = [
        *_edits(messages, commands),
        *_kth_commands(commands),
        *_errors(messages),
        *_failing(commands),
        *_tests(messages),
        *service_probes(messages, Probe),
    ]
    return _worth_asking(found, "\n".join(message.text for message in messages[:head]))


def _worth_asking(probes: Iterable[Probe], head: str) -> list[Probe]:
    kept: list[Probe] = []
    seen: set[tuple[str, str]] = set()
    counts: dict[str, int] = {}
    head = flatten(head)
    for probe in probes:
        key = (probe.kind, probe.question)
        told = any(
            flatten(a) in head or flatten(a) in flatten(probe.question) for a in probe.answers
        )
        short = any(len(flatten(answer)) < SHORTEST for answer in probe.answers)
        if key in seen or told or short or counts.get(probe.kind, 0) >= EACH:
            continue
        seen.add(key)
        counts[probe.kind] = counts.get(probe.kind, 0) + 1
        kept.append(probe)
    return kept


def _edits(messages: Sequence[Message], commands: Sequence[Command]) -> Iterable[Probe]:
    edits = file_edits(messages, commands)
    changed = list(dict.fromkeys(edit.path for edit in edits if not edit.created))
    created = list(dict.fromkeys(edit.path for edit in edits if edit.created))
    if edits:
        yield Probe(
            "first edit", "Which file did the agent edit or create first?", (edits[0].path,)
        )
    for kind, paths in (("file changed", changed), ("file created", created)):
        for number, path in enumerate(paths, start=1):
            verb = kind.removeprefix("file ")
            yield Probe(kind, f"Which file was {verb} as number {number}?", (path,))


def _kth_commands(commands: Sequence[Command]) -> Iterable[Probe]:
    for place in (1, 5, 15):
        if place < len(commands):
            yield _command_probe(
                "k-th command", f"What was command number {place}?", commands[place - 1]
            )
    if commands:
        yield _command_probe(
            "last command", "What was the last command that was run?", commands[-1]
        )


def _failing(commands: Sequence[Command]) -> Iterable[Probe]:
    for command in commands:
        code = _RETURN_CODE.search(command.result)
        if code and (code.group(1) or code.group(2)) not in ("0", None):
            question = "What was the first command that failed with an exit code other than 0?"
            yield _command_probe("first failing command", question, command)
            return


def _command_probe(kind: str, question: str, command: Command) -> Probe:
    first = next((line for line in command.text.splitlines() if line.strip()), "")
    return Probe(kind, question, (first.strip()[:_LONGEST],))


def _errors(messages: Sequence[Message]) -> Iterable[Probe]:
    for message in messages:
        found = _ERROR.search(message.text) if message.role == "tool" else None
        if found:
            answer = found.group(1).strip()[:_LONGEST]
            yield Probe(
                "first error", "What was the first error message that a tool showed?", (answer,)
            )
            return


def _tests(messages: Sequence[Message]) -> Iterable[Probe]:
    found = [
        match.group(1)
        for message in messages
        if message.role == "tool"
        for match in _TESTS.finditer(message.text)
    ]
    if found:
        yield Probe(
            "first test count", "What did the first test run report as its count?", (found[0],)
        )
        yield Probe(
            "last test count", "What did the last test run report as its count?", (found[-1],)
        )
