"""Research: from a question and a folder of documents to a report whose quotes are checked.

The one idea: agents hand each other checked data, code decides the order, and the text of the report
cites evidence by id only. Start reading at `entry.py`, then `graph.py`.
"""

from .entry import (
    MAX_QUESTION,
    ResearchOptions,
    ask_research,
    check_question,
    open_corpus,
    research,
    resume_research,
)

__all__ = [
    "MAX_QUESTION",
    "ResearchOptions",
    "ask_research",
    "check_question",
    "open_corpus",
    "research",
    "resume_research",
]
