"""Judging: answers that hand nothing over, told by code: empty, a promise, a pointer, a bare heading.

Only short texts are judged: whoever writes at length says something.
"""

import re

SHORT = 320
"""Characters; a longer text is taken as an answer."""

_MARKUP = re.compile(r"^[#>*\-\s]+|[*_`]+")
_HEADING = re.compile(r"\s*(#{1,6}\s.*|[*_]{2}[^*_]+[*_]{2}:?|[^.!?]{1,80}:)\s*")
_WORD = re.compile(r"\w")
_OPENING = r"(?:(?:ok(?:ay)?|sure|right|great|now|first|next|then|good|alright)[,.!: ]+)*"
_VERBS = (
    "analy[sz]e|begin|check|continue|dig|examine|explore|fetch|find|gather|get|go|have a look|inspect|"
    "investigate|look|open|prepare|proceed|read|review|run|search|see|start|summari[sz]e|take a look|"
    "think|try|verify|work|write"
)
_PROMISE = re.compile(
    rf"{_OPENING}(?:let me|let's|let us|i'?ll|i will|i am going to|i'm going to|i should|i need to)"
    rf"\s+(?:now |first |next |then |also |just |quickly |briefly )*(?:{_VERBS})\b",
    re.IGNORECASE,
)
_NOUN = (
    r"(?:full |complete |final |detailed )*"
    r"(?:report|results?|findings?|answer|summary|analysis|details|conclusion)"
)
_POINTER = re.compile(
    r"\b(?:see|refer to|as (?:stated|described|shown|noted|mentioned|discussed|outlined|provided)|"
    r"(?:provided|listed|given|reported|described|presented|summari[sz]ed)) (?:the )?"
    r"(?:[\w-]+ ){0,2}(?:above|earlier|previously|before)\b"
    rf"|\b{_NOUN} (?:is|are|was|were|has been|have been|can be|may be)\s+(?:\w+ ){{0,3}}"
    r"(?:above\b|(?:in|at|to|under|below) (?:the |my |our )?"
    r"(?:[\w-]+ )?(?:files?|transcript|message|attachment|artifact|[`'\"]?[\w./~-]*[./][\w-]+\b))"
    rf"|\b(?:saved|stored|written|wrote|put|exported) (?:[^.]{{0,60}} )?(?:to|in|into|at|as) "
    r"[`'\"]?[\w./~-]+\.\w{1,5}\b"
    rf"|\A\W*(?:see|refer to) (?:my |the |our )*(?:previous|last|earlier|attached|{_NOUN}|file|transcript)\b",
    re.IGNORECASE,
)


def unusable(text: str) -> str:
    """What is wrong with an answer that says nothing by itself, in words for its author; `""` if nothing."""
    stripped = text.strip()
    if not _WORD.search(stripped):
        return "It is empty."
    if len(stripped) > SHORT:
        return ""
    lines = [line for line in stripped.splitlines() if line.strip()]
    if all(_HEADING.fullmatch(line) for line in lines):
        return "It is only a heading; what belongs under it is missing."
    plain = _MARKUP.sub("", stripped)
    if _PROMISE.match(plain) and _few_sentences(plain):
        return "It says what you are about to do, not what came of it."
    if _POINTER.search(plain) and _few_sentences(plain):
        return "It points at something that your reader cannot see; write the content itself."
    return ""


def _few_sentences(text: str) -> bool:
    return len(re.findall(r"[.!?](?:\s|$)", text)) <= 2
