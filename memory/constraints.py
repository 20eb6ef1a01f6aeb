"""Constraints that a user wrote, found by code: sentences that command or forbid, in several languages."""

import re

_WORDS = (
    r"must|must not|mustn't|never|always|only|do not|don't|should not|shouldn't|at most|at least|no more than"
    r"|before you|ask (?:me )?before|without asking|make sure|required?|forbidden|not allowed"
    r"|keep .{1,40} unchanged"
    r"|muss|müssen|darf nicht|dürfen nicht|nie|niemals|immer|nur|höchstens|mindestens|keinesfalls"
    r"|ne .{1,30} (?:pas|jamais)|jamais|toujours|doit|doivent|seulement|au plus|au moins"
    r"|nunca|siempre|debe|deben|solo|sólo|como máximo|al menos|no (?:debes|hagas|uses)"
    r"|mai|sempre|deve|devono|soltanto|al massimo|никогда|всегда|нельзя|должен|должны|только"
    r"|không được|không bao giờ|luôn|phải|chỉ được|tối đa|ít nhất|đừng"
)
_MARK = re.compile(rf"\b(?:{_WORDS})\b", re.IGNORECASE)
_CJK = re.compile(
    "必须|不得|不要|不能|禁止|只能|总是|永远|至多|最多|至少|务必|必ず|絶対|してはいけない|しないで|禁止|のみ|以内"
    "|하지 마|금지|반드시|항상|절대|최대|만 사용"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=\S)|(?<=[。！？])|\n+")
LONGEST = 400
"""Characters; a longer sentence is more likely a document than a rule."""


def find_constraints(text: str) -> list[str]:
    """The sentences of a user's text that read as rules, verbatim and in order, each once."""
    sentences = (part.strip().lstrip("-*• ") for part in _SENTENCE.split(text))
    return list(
        dict.fromkeys(
            sentence
            for sentence in sentences
            if 3 < len(sentence) <= LONGEST
            and not sentence.endswith("?")
            and (_MARK.search(sentence) or _CJK.search(sentence))
        )
    )
