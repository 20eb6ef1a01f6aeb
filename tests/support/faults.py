"""The kill matrix: deliberate faults of the product, each put in by replacing one of its own functions, and
the samples that are to notice them."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from support.needles import ARM, answered, task_of
from support.provider_rules import check_chat
from support.tempted import plan_under_a_rule, what_another_was_shown

import agents.looking_back
import agents.reciting
import agents.run_files
import filesystem.matchers
import memory.compaction.gate
import memory.compaction.whole
import memory.history
import memory.offload
import memory.projecting
import memory.recitation
import memory.thread
from evals.arms import Arm
from evals.needles.scripted import Script, opener, searcher
from filesystem import ArtifactFiles, ArtifactStore, Hits, MemoryStore
from memory import Item, Keeper, MessageAdded, Text, View
from memory.compaction import Group

Break = Callable[[pytest.MonkeyPatch], None]
MICRO = Arm("micro", trigger=0.2)


def strict(body: dict[str, Any]) -> Any:
    """A searcher behind a provider that refuses a result without its call."""
    check_chat(json.dumps(body, ensure_ascii=False).encode())
    return searcher(8)(body)


def needle(
    family: str, language: str = "en", script: Script = strict, arm: Arm = ARM
) -> Callable[[], Awaitable[str]]:
    """A needle sample; it says why it failed or is invalid, `""` when it passed."""

    async def run() -> str:
        record = await answered(task_of(family, language, arm=arm), script, arm)
        return record.failure or record.why

    return run


SAMPLES: dict[str, Callable[[], Awaitable[str]]] = {
    "identifier en": needle("identifier"),
    "identifier zh": needle("identifier", "zh"),
    "decomposed vi": needle("decomposed", "vi"),
    "argument ja": needle("argument", "ja"),
    "file-search en": needle("file-search"),
    "preview-cut vi": needle("preview-cut", "vi"),
    "artifact en": needle("artifact"),
    "artifact en, by reference": needle("artifact", script=opener, arm=MICRO),
    "subagent en": needle("subagent"),
    "plan under a rule": plan_under_a_rule,
    "what another was shown": what_another_was_shown,
}
"""By name. Each passes without a fault."""


@dataclass(frozen=True)
class Fault:
    """One fault."""

    put_in: Break
    sample: str
    """The sample that must fail, of `SAMPLES`."""


def _empty_file(patch: pytest.MonkeyPatch) -> None:
    put = ArtifactStore.put

    async def broken(self: ArtifactStore, body: Any, **more: Any) -> Any:
        return await put(self, "", **more)

    patch.setattr(ArtifactStore, "put", broken)


def _wrong_path(patch: pytest.MonkeyPatch) -> None:
    preview = memory.offload.preview

    def broken(ref: Any, body: Any, **more: Any) -> str:
        return preview(ref, body, **more).replace(ref.sha256[:16], "0" * 16)

    patch.setattr(memory.offload, "preview", broken)


def _nothing_found(patch: pytest.MonkeyPatch) -> None:
    async def grep(self: Any, query: Any) -> Hits:
        return Hits((), 0, False)

    patch.setattr(agents.looking_back, "search_events", lambda *given, **more: iter(()))
    patch.setattr(MemoryStore, "grep", grep)
    patch.setattr(ArtifactFiles, "grep", grep)


def _no_preview(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Keeper, "shown", lambda self, ref, body: "[stored]")


def _no_rules(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(agents.reciting, "_pinned", lambda session: ())


def _no_steps(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(memory.recitation, "_step_lines", lambda todo: iter(()))


def _stale_steps(patch: pytest.MonkeyPatch) -> None:
    recite, first = agents.reciting.recite, list[Any]()

    def broken(status: Any, todo: Any, *more: Any) -> str:
        if todo.steps and not first:
            first.append(todo)
        return recite(status, first[0] if first else todo, *more)

    patch.setattr(agents.reciting, "recite", broken)


def _split_calls(patch: pytest.MonkeyPatch) -> None:
    """Replies are hidden and their results are not."""

    def hide(items: list[Item], each: Any, seq: int, live: int) -> list[Item]:
        at = next((n for n, item in enumerate(items) if item.seq in each.hidden), 0)
        kept = [item for item in items if item.seq not in each.hidden]
        if each.text:
            kept.insert(at, Item(seq, MessageAdded((Text(each.text),), "framework")))
        return kept

    def first_seqs(groups: list[Group]) -> tuple[int, ...]:
        return tuple(sorted(group.items[0].seq for group in groups))

    patch.setattr(memory.projecting, "_hide", hide)
    patch.setattr(memory.compaction.whole, "seqs_of", first_seqs)
    patch.setattr(memory.compaction.gate, "_broken", lambda before, after: None)


def _swallowed_turn(patch: pytest.MonkeyPatch) -> None:
    """The newest message of the user and the newest exchange are hidden like all others."""
    patch.setattr(Group, "kept", property(lambda self: self.kind == "pinned"))
    patch.setattr(View, "live", property(lambda self: len(self.groups)))
    patch.setattr(memory.compaction.gate, "_broken", lambda before, after: None)


def _shared_artifacts(patch: pytest.MonkeyPatch) -> None:
    made: dict[Any, ArtifactFiles] = {}

    def of(store: ArtifactStore) -> ArtifactFiles:
        return made.setdefault(store.folder, ArtifactFiles(store))

    patch.setattr(agents.run_files, "ArtifactFiles", of)


def _no_normal_form(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(memory.history, "normalize", lambda form, text: text)
    patch.setattr(filesystem.matchers, "compose", lambda text: text)


class _Quarter:
    """Counts four characters as a token."""

    name, exact = "quarter", False

    def count(self, text: str) -> int:
        return len(text) // 4


def _quarter_counts(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(memory.thread, "best_counter", _Quarter)


FAULTS: dict[str, Fault] = {
    "offload writes an empty file": Fault(_empty_file, "artifact en"),
    "wrong reference path": Fault(_wrong_path, "artifact en, by reference"),
    "search returns nothing": Fault(_nothing_found, "file-search en"),
    "preview omitted": Fault(_no_preview, "artifact en"),
    "pinned rules not restated": Fault(_no_rules, "plan under a rule"),
    "todo not recited": Fault(_no_steps, "plan under a rule"),
    "todo recited but stale": Fault(_stale_steps, "plan under a rule"),
    "call split from its result": Fault(_split_calls, "identifier en"),
    "summary replaces the newest user turn": Fault(_swallowed_turn, "identifier en"),
    "artifacts shared between threads": Fault(_shared_artifacts, "what another was shown"),
    "NFC/NFD mismatch": Fault(_no_normal_form, "decomposed vi"),
    "trigger on chars/4": Fault(_quarter_counts, "identifier zh"),
}
"""By name."""


async def outcome(sample: str, fault: str = "") -> str:
    """What a sample says with a fault put in, or without one."""
    with pytest.MonkeyPatch.context() as patch:
        if fault:
            FAULTS[fault].put_in(patch)
        return await SAMPLES[sample]()
