"""Probes answered by a model: each on its own, from what one policy left of a cut run.

Every probe is asked of the whole history too. What a model cannot answer from everything says nothing
about a policy, so the records carry `full_failed`.
"""

from collections.abc import Sequence
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
from .probes import Probe
from .trajectory import Message, Trajectory
from .treating import CutRun, Treatments, cut_run

QUESTION = (
    "A question about what happened above. Answer with the exact value, verbatim, and nothing else; do not "
    f"call a tool. When nothing above shows it, answer: {NOT_FOUND}\n\n{{question}}"
)
_NOT_RUN = "(the recording was cut here)"


FULL = "full"


@dataclass(frozen=True, slots=True)
class Asked:
    """One probe of one cut run."""

    run: CutRun
    probe: Probe


def ask_probes(
    trajectories: Sequence[Trajectory],
    treatments: Treatments,
    cuts: Sequence[float],
    out: Path,
    options: ModelOptions,
    model: EvalModel,
) -> Ran:
    """Ask every probe under every policy, and under `full`. Raises as `launch` does."""
    names = tuple(dict.fromkeys((FULL, *treatments.names)))

    async def run_one(asked: Asked) -> list[Record]:
        left = await treatments.left(asked.run)
        records: list[Record] = []
        for name in names:
            what = left.get(name)
            kept = what.messages if what else asked.run.messages
            told = await _answered(asked, name, kept, model)
            if what and what.why:
                told = [r.model_copy(update={"state": "invalid", "why": what.why}) for r in told]
            records += told
        lost = next(r for r in records if r.policy == FULL)
        flag = {"full_failed": 1.0 - lost.success}
        return [r.model_copy(update={"figures": r.figures | flag}) for r in records]

    samples = [
        Sample(asked, tuple(_blank(asked, name, model.name) for name in names))
        for trajectory in trajectories
        for cut in cuts
        for asked in _probes(cut_run(trajectory, cut))
    ]
    return launch(samples, run_one, out, options, model)


def _probes(run: CutRun) -> list[Asked]:
    return [Asked(run, probe) for probe in run.probes]


def _blank(asked: Asked, policy: str, model: str) -> Record:
    record = probe_record(asked.run.trajectory, asked.run.cut, asked.probe, policy)
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
        "figures": {"share_kept": share_of(kept, asked.run.messages)},
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
