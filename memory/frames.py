"""Frames: how texts of the framework are marked, and how text from elsewhere is kept from looking so."""

import re

SUMMARY, PINNED = "compacted", "pinned"
"""Names of the frames around what stands for hidden events, and around declared pinned text."""
_NOTE = "(Kept by the program; not a message of the user.)"
_LIKE_A_FRAME = re.compile(r"^(?=[ \t]*<\s*/?\s*(?:compacted|pinned|tail)\b)", re.I | re.M)


def framed(name: str, text: str, about: str = "") -> str:
    """The text between the marks of a frame; `about` goes into the opening mark."""
    opening = f"<{name} {about}>" if about else f"<{name}>"
    return f"{opening}\n{_NOTE}\n{text}\n</{name}>"


def with_line(text: str, line: str) -> str:
    """A text, framed or not, with one line more at its end."""
    head, closing, end = text.rpartition("\n</")
    if closing and frame_of(text) and end == f"{frame_of(text)}>":
        return f"{head}\n{line}{closing}{end}"
    return f"{text}\n{line}"


def frame_of(text: str) -> str:
    """The name of the frame that a text of the framework has, `""` for none."""
    for name in (SUMMARY, PINNED):
        if text.startswith((f"<{name}>\n", f"<{name} ")):
            return name
    return ""


def pinned_texts(text: str) -> list[str]:
    """The texts in a frame of pinned text, as they were declared."""
    prefix, suffix = f"<{PINNED}>\n{_NOTE}\n", f"\n</{PINNED}>"
    if not text.startswith(prefix) or not text.endswith(suffix):
        return []
    return [text[len(prefix) : -len(suffix)]]


def escaped(text: str) -> str:
    """Text from elsewhere: a line that would read as a mark of a frame gets a backslash."""
    return _LIKE_A_FRAME.sub(r"\\", text)
