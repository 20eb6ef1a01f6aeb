"""A coordinator with one researcher as a LangGraph graph, for LangGraph's own tools to load.

    python examples/research_graph.py "How are citations checked?" docs

`langgraph.json` names `graph` in this file. Without a model name in UNDRIFT_MODEL the extractive model
does the work: no key, no network.
"""

import asyncio
import os
import sys
from pathlib import Path

from undrift import Agent, Conclusion, Coordinator, FolderCorpus, tool

DOCS = Path(__file__).resolve().parent.parent / "docs"


def team(docs: Path = DOCS) -> Coordinator:
    """A lead that delegates to a researcher who searches `docs`."""
    opened: list[FolderCorpus] = []

    @tool(repeatable=True)
    async def search(query: str, limit: int = 8) -> dict[str, object]:
        """Find passages in the documents."""
        if not opened:
            opened.append(await FolderCorpus.open([docs], Path("runs") / ".index" / "example.db"))
        found = await opened[0].search(query, limit)
        passages = [
            {
                "evidence": hit.passage.id,
                "source": hit.passage.source,
                "place": hit.passage.place,
                "heading": hit.passage.heading,
                "status": hit.passage.status,
                "text": hit.passage.text,
            }
            for hit in found.hits
        ]
        return {"query": query, "confident": found.confident, "passages": passages}

    researcher = Agent(
        "researcher",
        "Answer one question from the documents. Search, quote exactly, then conclude.",
        tools=[search],
        output_type=Conclusion,
        description="Answers one question from the documents, with exact quotes.",
    )
    lead = Agent("lead", "Delegate each part of the question, then answer from the conclusions.")
    model = os.environ.get("UNDRIFT_MODEL", "extractive")
    return Coordinator(lead, [researcher], model=model)


graph = team().compile()


async def main() -> None:
    """Answer one question and print it."""
    question = sys.argv[1] if len(sys.argv) > 1 else "How are citations checked?"
    docs = Path(sys.argv[2]) if len(sys.argv) > 2 else DOCS
    print((await team(docs).run(question)).text)


if __name__ == "__main__":
    asyncio.run(main())
