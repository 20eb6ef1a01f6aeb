"""Applying replacements to the items that a model sees: pure, so that any request can be made again."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import groupby

from .blocks import Block, Text, ToolCall
from .codec import Item
from .events import MessageAdded, ReplyReceived, ToolReturned
from .replacing import Replacement


def replace_items(
    items: Sequence[Item],
    replacements: Sequence[Replacement],
    positions: Iterator[int],
    *,
    live: int = 0,
) -> list[Item]:
    """The items as they look afterwards; each span's text gets the next of `positions`.

    What is not listed whole stays: a reply whose results are not all listed, and the reply at position
    `live`, whose results are still to come.
    """
    shown = list(items)
    for is_span, some in groupby(replacements, lambda each: each.kind == "span"):
        if is_span:
            for each in some:
                shown = _hide(shown, each, next(positions), live)
        else:
            shown = _shortened(shown, some)
    return shown


def exchanges(items: Sequence[Item]) -> Iterator[list[Item]]:
    """The items in groups that must stay together: a reply with its results, or one message."""
    group: list[Item] = []
    for item in items:
        if isinstance(item.event, ToolReturned) and group:
            group.append(item)
            continue
        if group:
            yield group
        group = [item]
    if group:
        yield group


def _hide(items: list[Item], each: Replacement, seq: int, live: int) -> list[Item]:
    hidden, kept = set(each.hidden), list[Item]()
    placed = False
    for group in exchanges(items):
        if group[0].seq == live or not all(item.seq in hidden for item in group):
            kept += group
            continue
        if not placed and each.text:
            kept.append(Item(seq, MessageAdded((Text(each.text),), "framework")))
        placed = True
    return kept


def _shortened(items: list[Item], replacements: Iterable[Replacement]) -> list[Item]:
    """Items changed where they stand, in one pass whatever the number of replacements."""
    changes: dict[int, list[Replacement]] = {}
    for each in replacements:
        for seq in each.hidden:
            changes.setdefault(seq, []).append(each)
    return [reduce(_shorter, changes.get(item.seq, ()), item) for item in items]


def _shorter(item: Item, each: Replacement) -> Item:
    match item.event:
        case ToolReturned() as event if each.kind == "result":
            if each.call in ("", event.call_id):
                return replace(item, event=replace(event, content=(Text(each.text),)))
        case ReplyReceived() as event if each.kind == "arguments":
            content = tuple(_call(block, each) for block in event.content)
            return replace(item, event=replace(event, content=content))
        case MessageAdded() as event if each.kind == "message":
            return replace(item, event=replace(event, content=(Text(each.text),)))
        case _:
            pass
    return item


def _call(block: Block, each: Replacement) -> Block:
    if isinstance(block, ToolCall) and each.call in ("", block.id):
        return replace(block, arguments=each.text)
    return block
