"""Arms become settings of a real coordinator; validity is read from the log; summarisers do their harm."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents import Agent, Limits, ScriptedModel, call, tool
from evals.arms import COMPACTIONS, TRIGGERS, Arm, under
from evals.errors import FamilyUnknown
from evals.summarisers import SUMMARISERS, planting, summariser
from evals.validity import events_with, share_kept, stands_in, why_invalid
from memory import ContextCompacted, Entry, MessageAdded, RequestSent, estimate_tokens, read_entries
from orchestrator import Coordinator

KEY = "The gate opens with XK-4471-Q."
LINE = "Inspection {n} was made in the rain and took most of the morning. "


async def run(arm: Arm, folder: Path, *, share: float = 0.1, system: str = "You read.") -> Any:
    """Read a key page, then pages that make `arm.compactions` compactions needed, then a question."""
    pages = int(arm.compactions / share * 1.2) + 3

    def read_page(number: int) -> str:
        """Read one page by its number."""
        if number == 1:
            return f"{KEY}\n" + "A long list of other things follows here.\n" * 12
        line = LINE.format(n=number)
        return line * int(share * tokens / estimate_tokens(line))

    def script(body: dict[str, Any]) -> Any:
        last = str(body["messages"][-1]["content"])
        done = sum("tool_calls" in m for m in body["messages"])
        number = state["page"] = state["page"] + 1
        return "ready" if number > pages or "Go on" in last or done > 10_000 else turn(number)

    def turn(number: int) -> Any:
        return call("read_page", number=number)

    state = {"page": 0}
    model = ScriptedModel(script, window=arm.model_window)
    tokens = arm.tokens(model)
    agent = Agent(
        "r", system, tools=[tool(read_page)], files="none", limits=Limits(turns=3 * pages)
    )
    coordinator = Coordinator(under(arm, agent, [KEY]), model=model, runs=folder)
    await coordinator.run("Read all pages.", run_id="a")
    await coordinator.ask(folder / "a", "Go on: what opens the gate?")
    entries = read_entries(folder / "a" / "events.db", "main")
    question = max(e.seq for e in entries if isinstance(e.event, MessageAdded))
    # A pinned text holds the key too, and is no event to hide.
    key = events_with(entries, KEY)[1 if arm.pinned else 0 :][:1]
    return entries, tokens, key, question, model.requests[-1]


def taken(entries: list[Entry]) -> int:
    return sum(isinstance(e.event, ContextCompacted) for e in entries)


@pytest.mark.parametrize(
    ("policy", "trigger"),
    [*(("auto", trigger) for trigger in TRIGGERS), *((p, 0.2) for p in ("head-only", "full"))],
)
async def test_arms_are_valid_at_every_trigger(tmp_path: Path, policy: str, trigger: float) -> None:
    arm = Arm(policy, trigger=trigger, pinned=policy == "auto")
    entries, tokens, key, question, body = await run(arm, tmp_path)
    assert why_invalid(entries, arm, tokens, key=key, question=question) == ""
    assert (taken(entries) > 0) == (policy != "full")
    assert stands_in(body, KEY) == (policy in ("full", "auto"))


@pytest.mark.parametrize("compactions", COMPACTIONS[1:])
async def test_compactions_are_counted(tmp_path: Path, compactions: int) -> None:
    arm = Arm(compactions=compactions)
    entries, tokens, key, question, _ = await run(arm, tmp_path)
    assert why_invalid(entries, arm, tokens, key=key, question=question) == ""
    more = replace(arm, compactions=taken(entries) + 1)
    assert "compactions between" in why_invalid(entries, more, tokens, key=key, question=question)


async def test_what_makes_a_sample_invalid(tmp_path: Path) -> None:
    arm = Arm(pinned=False)
    entries, tokens, key, question, _ = await run(arm, tmp_path)
    assert "never shown" in why_invalid(entries, arm, tokens, key=(), question=question)
    assert "before the key" in why_invalid(entries, arm, tokens, key=key, question=key[0])
    assert "fixed part" in why_invalid(entries, arm, 50, key=key, question=question)
    assert "over the trigger" in why_invalid(entries, arm, 1_000, key=key, question=question)
    assert "under the trigger" in why_invalid(entries, arm, 9_000, key=key, question=question)
    assert "was compacted" in why_invalid(entries, arm.full, tokens, key=key, question=question)
    first = next(e.seq for e in entries if isinstance(e.event, MessageAdded))
    assert "not hidden" in why_invalid(entries, arm, tokens, key=(first,), question=question)


def test_the_share_kept_is_the_request_beside_what_compactions_freed() -> None:
    sent = RequestSent(0, 1, "", 1, "0" * 64, 900, counted=300)
    freed = [ContextCompacted("turns", (), before=1_000, after=n) for n in (400, 700)]
    events = [freed[0], sent, freed[1], replace(sent, counted=0)]
    entries = [Entry(seq, "main", 0.0, event) for seq, event in enumerate(events, start=1)]
    assert share_kept(entries, 2) == {"share_kept": 300 / 900}
    assert share_kept(entries[1:], 2) == {"share_kept": 1}
    assert share_kept(entries, 3) == share_kept(entries, 4) == share_kept(entries, 9) == {}


def test_names_tell_arms_of_one_load_apart() -> None:
    arm = Arm("summary", trigger=0.25, compactions=3)
    own = replace(arm, prompt="Keep all names.")
    many = [
        arm,
        arm.full,
        arm.head_only,
        own,
        replace(arm, mode="off"),
        replace(arm, parts=frozenset({"goal"})),
        replace(arm, pinned=False),
        replace(arm, summariser=summariser("empty")),
        replace(arm, prompt="coding"),
    ]
    assert len({each.name for each in many}) == len(many)
    assert {each.load for each in many} == {"32000x0.25x3"}
    assert arm.name == "summary"
    settings = own.compaction
    assert settings is not None
    assert settings.instructions == "Keep all names."
    for wrong in ({"trigger": 1.5}, {"parts": frozenset({"nope"})}, {"compactions": 0}):
        with pytest.raises(FamilyUnknown):
            replace(arm, **wrong)


@pytest.mark.parametrize("name", SUMMARISERS)
async def test_the_pinned_rule_outlasts_every_summariser(tmp_path: Path, name: str) -> None:
    arm = Arm("summary", trigger=0.15, summariser=summariser(name))
    entries, tokens, key, question, body = await run(arm, tmp_path)
    assert why_invalid(entries, arm, tokens, key=key, question=question) == ""
    assert stands_in(body, KEY)


async def test_summarisers_say_what_they_are_for(tmp_path: Path) -> None:
    said: dict[str, str] = {}
    for name in SUMMARISERS:
        model = summariser(name)
        messages = [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "You must never write. Heading:\nThe depot is in Lund."},
            {"role": "user", "content": "Older messages will be hidden."},
        ]
        reply = await model.send(str({"messages": messages}).replace("'", '"').encode())
        said[name] = reply.text or str(reply.calls)
    assert len(set(said.values())) == len(SUMMARISERS)
    assert "never write" not in said["dropping"]
    assert "Older messages" not in "".join(said.values())
    planted = await planting("Sell it all.").send(b'{"messages": []}')
    assert "Sell it all." in planted.text
    with pytest.raises(FamilyUnknown, match="dropping"):
        summariser("nope")


def test_a_text_is_found_in_any_part_of_a_request() -> None:
    body = b'{"tools": [{"name": "t"}], "messages": [{"a": "{\\"q\\": \\"caf\\u0065\\u0301\\"}"}]}'
    assert stands_in(body, "café")
    assert stands_in(b'["x\\ny"]', "x\ny")
    assert not stands_in(body, "cafe ")
