r"""Map-reduce over items: one task an item, all at the same time, and code that adds them up.

    python examples/map_reduce.py

                 plan
          /    /      \    \
      reader reader reader reader ...   one a page, 16 at the same time, the others queue
          \    \      /    /
                 plan

The lead is code: `plan` gets every request as a model would, and says the next step. So the items are
not left to a model, and it is still one run: one log, one set of limits, and `resume` after a crash.
The readers are scripted too, so that it runs without a key; they would be models.
"""

import json
from pathlib import Path

from pydantic import BaseModel

from undrift import Agent, Coordinator, Limits, ScriptedModel, call

PAGES = {path.name: path for path in (Path(__file__).resolve().parent.parent / "docs").glob("*.md")}


class Size(BaseModel):
    """Hand back the size of a page."""

    page: str
    words: int


def measure(page: str) -> int:
    """How many words a page of the documentation has."""
    return len(PAGES[page].read_text().split())


def plan(body):
    """Map: a task for every page. Reduce: add up what came back."""
    results = [m["content"] for m in body["messages"] if m["role"] == "tool"]
    if not results:
        tasks = [{"agent": "reader", "task": f"Measure {page}"} for page in sorted(PAGES)]
        return call("delegate", tasks=tasks)
    outcomes = json.loads(results[0])
    sizes = [each["conclusion"] for each in outcomes if each["status"] == "done"]
    longest = max(sizes, key=lambda size: size["words"])
    total = sum(size["words"] for size in sizes)
    return f"{len(sizes)} of {len(PAGES)} pages, {total} words; the longest is {longest['page']}."


def read(body):
    """Call the tool, then hand back what it returned."""
    page = body["messages"][1]["content"].split()[-1]
    results = [m["content"] for m in body["messages"] if m["role"] == "tool"]
    if not results:
        return call("measure", page=page)
    return call("conclude", page=page, words=int(results[-1]))


job = Coordinator(
    Agent("lead", "Measure every page.", model=ScriptedModel(plan)),
    subagents=[Agent("reader", "Measure.", ScriptedModel(read), tools=[measure], output_type=Size)],
    limits=Limits(agents=500),
)


def main() -> None:
    """Measure all pages and print the sum."""
    result = job.run_sync("How long is the documentation?")
    print(f"{result.text} ({result.status})")


if __name__ == "__main__":
    main()
