"""Answers in words, scored by code: strictly, so that neither a flood of text nor a guess passes."""

from collections.abc import Sequence

NOT_FOUND = "not found"
"""What a model is asked to say when nothing shows the answer."""
ROOM = 80
"""Characters that an answer may have beside what it has to hold: a sentence around it, no more."""
TOO_LONG = "too long"


def score_answer(expected: Sequence[str], answer: str) -> str:
    """The kind of failure of an answer, `""` when it is right.

    All of `expected` must stand in it, white space aside, with at most 80 characters more. To say that
    there is nothing is `abstained`; any other wrong answer is `invented answer`, a confident one.
    """
    flat = _flat(answer)
    if not flat:
        return "no answer"
    if flat.casefold().strip(" .!'\"`*") == NOT_FOUND:
        return "abstained"
    wanted = [_flat(part) for part in expected]
    if not all(part in flat for part in wanted):
        return "invented answer"
    return TOO_LONG if len(flat) > sum(map(len, wanted)) + ROOM else ""


def _flat(text: str) -> str:
    return " ".join(text.split())
