"""The researcher's tools: search a corpus, and read more of one source."""

from collections.abc import Sequence

from agents import Tool, ToolError, retrieval_span, tool
from filesystem import Search
from memory import JsonObject

MAX_HITS = 20
READ_LINES = 120
"""Lines that one `read_source` call shows at most."""
READ_CHARACTERS = 20_000
"""Characters that it shows at most; of a longer line the beginning."""


def search_tools(corpus: Search) -> list[Tool]:
    """`search` and `read_source` over a corpus. Both only read, so a crash may repeat them."""

    async def search(query: str, limit: int = 8) -> JsonObject:
        """Find passages. Returns JSON: passages with evidence id, source, place and text, best first.

        `confident` is false when the documents probably do not answer this query.
        """
        if not query.strip():
            raise ToolError("The query is empty. Give a few words that the answer would contain.")
        with retrieval_span("documents", query):
            found = await corpus.search(query, max(1, min(limit, MAX_HITS)))
        return {
            "query": query,
            "confident": found.confident,
            "passages": [
                {
                    "evidence": hit.passage.id,
                    "source": hit.passage.source,
                    "place": hit.passage.place,
                    "heading": hit.passage.heading,
                    "status": hit.passage.status,
                    "text": hit.passage.text,
                }
                for hit in found.hits
            ],
        }

    async def read_source(source: str, line: int = 1) -> JsonObject:
        """Read a document found by `search`, 120 lines from `line` on (from 1)."""
        text = await corpus.text(source)
        if text is None:
            raise ToolError(
                f"There is no source {source!r}. Use a `source` that `search` returned."
            )
        lines = text.split("\n")
        start = max(1, line)
        if start > len(lines):
            raise ToolError(f"{source!r} has {len(lines)} lines. Give a line up to that.")
        shown = _fitting(lines[start - 1 : start - 1 + READ_LINES])
        following = start + len(shown)
        call = f"read_source(source={source!r}, line={following})"
        return {
            "source": source,
            "lines": f"{start}-{following - 1} of {len(lines)}",
            "text": "\n".join(shown),
            "next": call if following <= len(lines) else "",
        }

    # Their results are bounded: they stay as they are.
    return [tool(f, repeatable=True, exempt=True) for f in (search, read_source)]


def _fitting(lines: Sequence[str]) -> list[str]:
    """The first lines that have room together, one at least: the next call goes on right behind them."""
    shown: list[str] = []
    room = READ_CHARACTERS
    for line in lines:
        if shown and len(line) >= room:
            break
        shown.append(line[:READ_CHARACTERS])
        room -= len(line) + 1
    return shown
