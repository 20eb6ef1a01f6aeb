"""Measure policies over recorded runs: each probe asked on its own of what each policy left."""

from collections.abc import Iterator, Mapping, Sequence

from ..results import Record
from .policies import Policy
from .probes import Probe, extract_probes, flatten
from .searcher import Fetched, Searcher
from .trajectory import Message, Trajectory, cut_at

CUTS = (0.5, 0.75, 0.9)
"""Shares of a run's messages at which it is cut; never the end, whose diff repeats the answers."""


def measure(
    trajectories: Sequence[Trajectory],
    policies: Mapping[str, Policy],
    cuts: Sequence[float] = CUTS,
) -> Iterator[Record]:
    """Records of every probe under every policy, read as `present` and as `reachable`.

    A probe that full history lacks would be a fault of its extraction: its records are invalid.
    """
    for trajectory in trajectories:
        for cut in cuts:
            messages = cut_at(trajectory, cut)
            head = trajectory.head
            probes = extract_probes(messages, head) if len(messages) > head else []
            if probes:
                yield from _measure_cut(trajectory, cut, messages, probes, policies)


def _measure_cut(
    trajectory: Trajectory,
    cut: float,
    messages: Sequence[Message],
    probes: Sequence[Probe],
    policies: Mapping[str, Policy],
) -> Iterator[Record]:
    searcher = Searcher(messages)
    fetched = [searcher.fetch(probe) for probe in probes]
    whole = flatten("\n".join(message.text for message in messages))
    total = sum(message.tokens for message in messages)
    for name, policy in policies.items():
        kept = policy(messages, trajectory.head)
        text = flatten("\n".join(message.text for message in kept))
        figures = {
            "share_kept": share_of(kept, messages),
            "prefix_kept": _prefix(messages, kept) / total,
        }
        for probe, found in zip(probes, fetched, strict=True):
            present = _holds(probe, text)
            base = probe_record(trajectory, cut, probe, name).model_copy(
                update={
                    "passed": present,
                    "state": "valid" if _holds(probe, whole) else "invalid",
                    "failure": "" if present else "not present",
                    "figures": figures,
                }
            )
            yield base
            yield base.model_copy(update=_reached(present, found))


def probe_record(trajectory: Trajectory, cut: float, probe: Probe, policy: str) -> Record:
    """The record of a probe under a policy, as it stands before it is read."""
    return Record(
        suite="replay",
        sample=f"{trajectory.format}/{trajectory.id}@{cut:g}/{probe.kind}/{probe.question}",
        cluster=f"{trajectory.format}/{trajectory.task}",
        family=probe.kind,
        policy=policy,
        reading="present",
        passed=False,
        trigger=cut,
        window=3 * trajectory.tokens,
        evidence=" | ".join(probe.answers)[:200],
    )


def share_of(kept: Sequence[Message], messages: Sequence[Message]) -> float:
    """The share of the tokens that is kept."""
    return sum(message.tokens for message in kept) / sum(message.tokens for message in messages)


def _reached(present: bool, found: Fetched) -> dict[str, object]:
    reached = present or found.found
    cost = {"extra_calls": 0.0, "extra_tokens": 0.0}
    if not present:
        cost = {"extra_calls": float(found.calls), "extra_tokens": float(found.tokens)}
    return {
        "reading": "reachable",
        "passed": reached,
        "failure": "" if reached else "looked and missed",
        "figures": cost,
    }


def _holds(probe: Probe, flat: str) -> bool:
    return all(flatten(answer) in flat for answer in probe.answers)


def _prefix(messages: Sequence[Message], kept: Sequence[Message]) -> int:
    """Tokens of the unchanged beginning, which a provider's cache would still hold."""
    tokens = 0
    for before, after in zip(messages, kept, strict=False):
        if before is not after:
            break
        tokens += before.tokens
    return tokens
