"""Probes answered by a model: each on its own, from what one policy left of a cut run.

Every probe is asked of the whole history too. What a model cannot answer from everything says nothing
about a policy, so the records carry `full_failed`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory import MessageAdded, MessageEvent, ReplyReceived, Text, ToolReturned, Usage, plain_text

from ..answers import NOT_FOUND, score_answer
from ..launching import launch
from ..models import EvalModel, ask_once
from ..options import ModelOptions
from ..results import LONGEST_ANSWER, Record
from ..running import Ran, Sample
from .measure import probe_record, share_of
from .policies import Policy, full
from .probes import Probe, extract_probes
from .trajectory import Message, Trajectory, cut_at

QUESTION = (
    "A question about what happened above. Answer with the exact value, verbatim, and nothing else; do not "
    f"call a tool. When nothing above shows it, answer: {NOT_FOUND}\n\n{{question}}"
)
_NOT_RUN = "(the recording was cut here)"


@dataclass(frozen=True, slots=True)
class Asked:
    """One probe of one cut run."""

    trajectory: Trajectory
    cut: float
    messages: tuple[Message, ...]
    probe: Probe


def ask_probes(
    trajectories: Sequence[Trajectory],
    policies: Mapping[str, Policy],
    cuts: Sequence[float],
    out: Path,
    options: ModelOptions,
    model: EvalModel,
) -> Ran:
    """Ask every probe under every policy, and under `full`. Raises as `launch` does."""
    policies = {"full": full, **policies}

    async def run_one(asked: Asked) -> list[Record]:
        records: list[Record] = []
        for name, policy in policies.items():
            kept = policy(asked.messages, asked.trajectory.head)
            records += await _answered(asked, name, kept, model)
        lost = next(r for r in records if r.policy == "full")
        flag = {"full_failed": 1.0 - lost.success}
        return [r.model_copy(update={"figures": r.figures | flag}) for r in records]

    samples = [
        Sample(asked, tuple(_blank(asked, name, model.name) for name in policies))
        for trajectory in trajectories
        for cut in cuts
        for asked in _probes(trajectory, cut)
    ]
    return launch(samples, run_one, out, options, model)


def _probes(trajectory: Trajectory, cut: float) -> list[Asked]:
    messages = cut_at(trajectory, cut)
    head = trajectory.head
    found = extract_probes(messages, head) if len(messages) > head else []
    return [Asked(trajectory, cut, messages, probe) for probe in found]


def _blank(asked: Asked, policy: str, model: str) -> Record:
    record = probe_record(asked.trajectory, asked.cut, asked.probe, policy)
    return record.model_copy(
        update={
            "reading": "answered",
            "model": model,
            "scripted": False,
            "question": asked.probe.question,
            "expected": asked.probe.answers,
        }
    )


async def _answered(
    asked: Asked, policy: str, kept: Sequence[Message], model: EvalModel
) -> list[Record]:
    view = model.sample()
    system, events = _shown(kept)
    words = QUESTION.format(question=asked.probe.question)
    answer, failure = None, "no result"
    try:
        reply = await ask_once(view, system, [*events, MessageAdded((Text(words),))])
    except Exception:  # noqa: S110, BLE001 - the boundary: the view knows why, and marks the record
        pass
    else:
        answer = reply.text[:LONGEST_ANSWER]
        failure = score_answer(asked.probe.answers, reply.text)
    update = {
        "answer": answer,
        "failure": failure,
        "passed": not failure,
        "figures": {"share_kept": share_of(kept, asked.messages)},
    }
    return view.mark([_blank(asked, policy, model.name).model_copy(update=update)])


def _shown(messages: Sequence[Message]) -> tuple[str, list[MessageEvent]]:
    """A recorded run as a system prompt and events; calls that the cut left open are closed."""
    system: list[str] = []
    events: list[MessageEvent] = []
    opened: dict[str, str] = {}
    for message in messages:
        if message.role != "tool":
            events += _closed(opened)
        match message.role:
            case "system":
                system.append(plain_text(message.content))
            case "user":
                events.append(MessageAdded(message.content))
            case "assistant":
                events.append(ReplyReceived(message.content, "stop", Usage(), "", {}))
                opened = {call.id: call.name for call in message.calls}
            case "tool":
                events += [
                    ToolReturned(r.call_id, opened.pop(r.call_id, "tool"), r.content)
                    for r in message.results
                ]
    return "\n\n".join(system), [*events, *_closed(opened)]


def _closed(opened: dict[str, str]) -> list[MessageEvent]:
    events: list[MessageEvent] = [
        ToolReturned(call_id, name, (Text(_NOT_RUN),)) for call_id, name in opened.items()
    ]
    opened.clear()
    return events
