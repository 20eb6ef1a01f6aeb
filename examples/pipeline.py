"""A pipeline with dependencies: each step starts when those before it have ended, and reads them.

    python examples/pipeline.py

    collector -> checker -> writer
         \\__________________/

One `delegate` call names all steps. `depends_on` gives the order, and hands the conclusions of those
steps over. Steps that depend on nothing would run at the same time. Without a key: each script does
what a model would do.
"""

import json
import re
from pathlib import Path

from pydantic import BaseModel

from undrift import Agent, Coordinator, ScriptedModel, call

DOCS = Path(__file__).resolve().parent.parent / "docs"


class Links(BaseModel):
    """Hand back a list of links."""

    links: list[str]


def find_links() -> list[str]:
    """The links from pages of the documentation to other pages of it."""
    pages = (path.read_text() for path in DOCS.glob("*.md"))
    return sorted({link for page in pages for link in re.findall(r"\]\(([\w-]+\.md)", page)})


def broken(links: list[str]) -> list[str]:
    """Those of the links that lead nowhere."""
    pages = {path.name for path in DOCS.glob("*.md")}
    return [link for link in links if link not in pages]


def newest(body) -> str:
    """The newest result of a tool in a request."""
    return [m["content"] for m in body["messages"] if m["role"] == "tool"][-1]


def handed(body) -> list[list[str]]:
    """The links of the steps before, which stand at the end of a step's task."""
    earlier = json.loads(body["messages"][1]["content"].rpartition("\n")[2])
    return [step["conclusion"].get("links", []) for step in earlier]


def conclude(body):
    """Hand back what the tool returned."""
    return call("conclude", links=json.loads(newest(body)))


def write(body):
    """Sum up what both steps handed over."""
    found, wrong = handed(body)
    return f"{len(found)} pages are linked to, {len(wrong)} of them are missing. {' '.join(wrong)}"


def last(body):
    """The lead's answer: what the last step wrote."""
    return json.loads(newest(body))[-1]["text"]


steps = [
    {"agent": "collector", "task": "Collect the links."},
    {"agent": "checker", "task": "Check each link.", "depends_on": [1]},
    {"agent": "writer", "task": "Report in one sentence.", "depends_on": [1, 2]},
]
lead = ScriptedModel([call("delegate", tasks=steps), last])
collect = ScriptedModel([call("find_links"), conclude])
check = ScriptedModel([lambda body: call("broken", links=handed(body)[0]), conclude])

pipeline = Coordinator(
    Agent("lead", "Send the steps out in order, then hand on the report.", model=lead),
    subagents=[
        Agent("collector", "Collect.", model=collect, tools=[find_links], output_type=Links),
        Agent("checker", "Check.", model=check, tools=[broken], output_type=Links),
        Agent("writer", "Write.", model=ScriptedModel([write])),
    ],
)


def main() -> None:
    """Run the pipeline and print its report."""
    result = pipeline.run_sync("Are the links between the pages of the documentation right?")
    print(f"{result.text.strip()} ({result.status})")


if __name__ == "__main__":
    main()
