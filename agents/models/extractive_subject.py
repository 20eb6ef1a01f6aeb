"""What a question is about, so that a part of it can be asked on its own."""

import re

_ORDER = re.compile(
    r"(?:please\s+|can you\s+|could you\s+|i need\s+|i want\s+)*"
    r"(?:write|give|prepare|produce|create|draft|compile|provide|make|summari[sz]e|research|"
    r"investigate|analy[sz]e|describe|explain|tell|compare|assess|evaluate|review|report|outline|list)\b"
    r"(?:\s+(?:me|us|up))?(?:\s+(?-i:an?|the|some|short|detailed)\b)*\s*",
    re.I,
)
_ABOUT = re.compile(r"\b(?:on|about|of|for|regarding|concerning|into|über|zu|sur|sobre)\s+", re.I)
# Chinese and Japanese, which are written without spaces: "a report about X", "X is", "what is X".
_ABOUT_UNSPACED = re.compile(r"(?:关于|關於|有关)(.+?)的?(?:报告|報告|简报|分析|概述|总结)")
_TOPIC_UNSPACED = re.compile(r"(.+?)(?:について|とは|は|是|的)")
_SHORT_UNSPACED = 10  # characters of a question that leaves its subject to the one before
_POINTS_BACK = re.compile(
    r"\b(?:it|its|they|their|them|he|his|she|her|this|these|those|such)\b|[它其](?:们|的)?|それ|その",
    re.I,
)
_NAME = re.compile(
    r"[\"“«「『](.+?)[\"”»」』]"
    r"|(?<!^)(?<![.?!:]\s)\b((?:[A-Z][\w&.+-]*\w|[A-Z]{2,})(?:\s+(?:[A-Z][\w&.+-]*|\d+))*)"
)
# Words that tell nothing about the matter of a question.
_IDLE_WORDS = (
    "who whom whose what when where which why how is are was were does do did can could should will "
    "would a an the of in on for to and or has have had be been with by at from as it its there please "
    "tell me i you we us my your our about give explain describe much many happens"
)
_IDLE = frozenset(_IDLE_WORDS.split())
_SUBJECT_WORDS = 8
_OPENING = 5  # words of a question in which "it" means something said before
_READ = 1_000  # characters in which a subject is looked for
_EDGE = " \t\r\n。．,，;；:："


def tidied(text: str, also: str = "") -> str:
    """The text without punctuation at its ends; the stop of an abbreviation ("B.V.") stays."""
    text = text.strip(_EDGE + also)
    last = text.rsplit(maxsplit=1)[-1] if text else ""
    if text.endswith(".") and "." not in last[:-1]:
        text = text.rstrip("." + _EDGE + also)
    return text


def opens_with_order(text: str) -> int:
    """Where the matter begins after "write a", "please explain the"; 0 when the text gives no order."""
    match = _ORDER.match(text)
    return match.end() if match else 0


def names_in(text: str) -> list[str]:
    """Names inside a sentence: words in capitals after the first one, or in quotation marks."""
    names = (name for pair in _NAME.findall(text[:_READ]) for name in pair)
    return list(dict.fromkeys(name for name in names if name and name != "I"))


def points_back(text: str) -> bool:
    """True when the text opens with "it" or "their" for what was said before.

    Further on such a word mostly means something in the text itself: "the context when it grows".
    """
    if len(text) <= _SHORT_UNSPACED and not text.isascii() and " " not in text:
        return True
    return _POINTS_BACK.search(" ".join(text.split()[:_OPENING])) is not None


def subject_of(lead: str) -> str:
    """The words after "brief on"; else a few words that ask nothing; else the names, else what tells."""
    lead = tidied(lead[:_READ], "?？؟")
    if start := opens_with_order(lead):
        about = _ABOUT.search(lead, start)
        return lead[about.end() if about else start :]
    if match := _ABOUT_UNSPACED.search(lead) or _TOPIC_UNSPACED.match(lead):
        return match[1]
    words = re.findall(r"[\w'-]+", lead)
    telling = [word for word in words if word.lower() not in _IDLE]
    if len(words) <= _SUBJECT_WORDS and telling[:1] == words[:1]:
        return lead
    return ", ".join(names_in(lead)[:2]) or " ".join(telling[:_SUBJECT_WORDS])


def add_subject(part: str, subject: str, always: bool = False) -> str:
    """The part with the subject before it; without `always` only when it does not name it itself."""
    if not subject or not part:
        return part
    if not always:
        words = [word for word in re.findall(r"\w+", subject.lower()) if word not in _IDLE]
        own = set(re.findall(r"\w+", part.lower()))
        if any(word in own or (not word.isascii() and word in part) for word in words):
            return part
    return f"{subject}: {part}"


def broader(question: str) -> str:
    """The question in fewer, wider words: without its subject, else only the words that tell something."""
    _, colon, asked = question.partition(": ")
    words = re.findall(r"[\w'-]+", asked if colon else question)
    telling = [word for word in words if word.lower() not in _IDLE and not word.isdigit()]
    return " ".join(telling[:_SUBJECT_WORDS])
