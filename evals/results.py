"""Results: one record a line, one sample under one policy a record; the schema is the classes below.

A results file is JSON lines in UTF-8, appended to and never rewritten, so that an eval that was cut off
keeps what it measured. A line that cannot be read is kept where it is and told, never guessed at.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .errors import ResultsDamaged

FORMAT = 1
"""Version of the records. Fields may be added with defaults; anything else raises it."""
State = Literal["valid", "invalid", "missing"]
LONGEST_ANSWER = 4_000
Reading = Literal["present", "reachable", "answered", "passed", "judged"]
Key = tuple[str, str, str, str]
"""Sample, policy, model and reading: what a record is of."""
PLANNED = "planned.jsonl"
"""Beside the results: the records that an eval owes, as they stand while they have no result."""
NO_RESULT = "no result"
"""Failure of a sample that raised, took too long, or whose model did not answer."""
STALE = "stale"
"""Failure of a sample whose request is not in the cassette: it was recorded for another version."""


class Record(BaseModel):
    """What came of one sample under one policy, by one reading."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    format: Literal[1] = FORMAT
    suite: Literal["goal-drift", "needle-recovery", "replay", "goal-success"]
    sample: str
    """Name of the sample without its policy: two records of one name and reading are a pair."""
    cluster: str
    """The independent unit it belongs to: a trajectory, or a seed."""
    family: str
    """Family of a generated sample, kind of a probe."""
    policy: str
    """What was done to the context: `full`, `latest-20`, `undrift`..."""
    model: str = ""
    """Name of the model or scripted policy that answered, `""` when nothing was asked."""
    scripted: bool = True
    """True when no language model took part: the figure is about plumbing, not behaviour."""
    reading: Reading = "passed"
    """`present` in the context, `reachable` by search, `answered` by a model, `passed` the scorer, or
    `judged` by a model."""
    passed: bool
    state: State = "valid"
    """`invalid`: the sample did not test what it should. `missing`: it has no result. Both count as
    failures in the headline."""
    failure: str = ""
    """The kind of failure in fixed words, `""` when passed."""
    why: str = ""
    """Reason of a failure or of a state other than `valid`, for readers."""
    window: int = 0
    """Tokens of the declared window, 0 when there is none."""
    trigger: float = 0.0
    """Share of the window at which compaction starts, or of the run at which replay cuts it."""
    seed: int = 0
    figures: dict[str, float] = Field(default_factory=dict[str, float])
    """Further numbers: `tokens_kept`, `share_kept`, `extra_calls`, `extra_tokens`..."""
    evidence: str = ""
    """What the reading looked at: the question and expected value of a probe, or the request's hash."""
    question: str = ""
    """What was asked, where a model was asked in words."""
    expected: tuple[str, ...] = ()
    """All that the answer has to hold, where it is scored by its words."""
    answer: str | None = None
    """What was answered, up to `LONGEST_ANSWER` characters; `None` when nothing was, or it is not kept."""
    judge: str = ""
    """Name of the model whose verdict this is, `""` when code judged; its reason is in `why`."""
    run: str = ""
    """Folder of the run beside the results, `""` when it was not kept."""
    request: int = 0
    """Position in the run's log of the request that was judged, 0 for none."""

    @property
    def success(self) -> float:
        """1.0 for a valid sample that passed, else 0.0."""
        return float(self.passed and self.state == "valid")

    @property
    def pair(self) -> tuple[str, str]:
        """What two records share that answer the same question."""
        return self.sample, self.reading

    @property
    def key(self) -> Key:
        """What the record is of; a later one of the same key stands in for a missing one."""
        return self.sample, self.policy, self.model, self.reading


@dataclass(frozen=True, slots=True)
class BrokenLine:
    """A line that is no record."""

    number: int
    """From 1."""
    text: str
    """Its first 200 characters."""
    why: str


@dataclass(frozen=True, slots=True)
class Results:
    """What a results file holds."""

    records: tuple[Record, ...]
    broken: tuple[BrokenLine, ...] = ()
    """Lines that could not be read, for example the last one of an eval that was killed."""

    def of_policy(self, policy: str) -> "Results":
        """Only the records of one policy. Raises `ResultsDamaged` when there is none."""
        found = tuple(record for record in self.records if record.policy == policy)
        if not found:
            known = sorted({record.policy for record in self.records})
            raise ResultsDamaged(f"no record has the policy {policy!r}; there are: {known}")
        return Results(found, self.broken)


def read_results(path: Path, *, planned: bool = True) -> Results:
    """Read a results file, half-written lines marked; what was planned beside it and has no record yet is
    missing, unless `planned` is off.

    Raises `ResultsDamaged` when the file is absent, of a later format, or has not one readable line.
    """
    try:
        records, broken = _read_lines(path)
    except OSError as error:
        raise ResultsDamaged(f"no results at {str(path)!r}: {error.strerror}") from error
    found = list(_newest(records))
    plan = path.with_name(PLANNED)
    if planned and path.name == "results.jsonl" and plan.exists():
        keys = {record.key for record in found}
        found += [record for record in _read_lines(plan)[0] if record.key not in keys]
    if not found:
        raise ResultsDamaged(
            f"{str(path)!r} holds no readable record ({len(broken)} broken lines); "
            "give a results.jsonl that `undrift eval` wrote"
        )
    return Results(tuple(found), tuple(broken))


def _read_lines(path: Path) -> tuple[list[Record], list[BrokenLine]]:
    records: list[Record] = []
    broken: list[BrokenLine] = []
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if not line.strip():
            continue
        text = line.decode(errors="replace")
        try:
            records.append(_record(text, f"{path}:{number}"))
        except ValidationError as error:
            fault = error.errors()[0]
            why = f"{'.'.join(map(str, fault['loc'])) or 'line'}: {fault['msg']}"
            broken.append(BrokenLine(number, text[:200], why))
    return records, broken


def _newest(records: Sequence[Record]) -> Iterator[Record]:
    """The records without those missing ones that a later run of the same sample has replaced."""
    last = {record.key: place for place, record in enumerate(records)}
    for place, record in enumerate(records):
        if record.state != "missing" or last[record.key] == place:
            yield record


def _record(text: str, where: str) -> Record:
    try:
        version = json.loads(text).get("format", FORMAT)
    except (ValueError, AttributeError, RecursionError):
        version = FORMAT
    if isinstance(version, int) and version > FORMAT:
        raise ResultsDamaged(
            f"{where}: format {version!r} is of a later version; this one reads {FORMAT}"
        )
    return Record.model_validate_json(text)


def append_results(path: Path, records: Iterable[Record]) -> int:
    """Append records, each line whole; a half-written last line is closed first. Returns how many."""
    path.parent.mkdir(parents=True, exist_ok=True)
    number = 0
    with path.open("ab+") as file:
        if file.tell():
            file.seek(-1, 2)
            if file.read(1) != b"\n":
                file.write(b"\n")
        for record in records:
            file.write(record.model_dump_json().encode() + b"\n")
            number += 1
    return number


def results_path(path: Path) -> Path:
    """The results file that a user means: the file itself, or `results.jsonl` in a folder."""
    return path / "results.jsonl" if path.is_dir() else path
