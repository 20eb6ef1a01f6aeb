"""A scripted model that looks at the files below `/inputs` before it answers."""

from typing import Any

from .chat_server import Say, Step
from .research_script import answer, wanted

LOOKS: list[tuple[str, dict[str, Any]]] = [
    ("ls", {"path": "/inputs"}),
    ("glob", {"pattern": "/inputs/**/*.html"}),
    ("grep", {"text": "Works", "path": "/inputs"}),
    ("read_file", {"path": "/inputs/red.md"}),
    ("read_file", {"path": "/inputs/link.md"}),
    ("write_file", {"path": "/inputs/red.md", "content": "x"}),
]


def looks(body: dict[str, Any]) -> Step:
    """A good researcher who looks at the files first; the rest of the team as it is."""
    return reads(body) if wanted(body) == "Conclusion" and not _has_looked(body) else answer(body)


def reads(body: dict[str, Any]) -> Step:
    """An agent that looks at the files and says that it has."""
    return Say("I have looked.") if _has_looked(body) else Say(calls=LOOKS)


def _has_looked(body: dict[str, Any]) -> bool:
    return any(m["role"] == "tool" for m in body["messages"])
