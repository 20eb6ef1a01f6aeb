"""A LangGraph graph of your own: our agents as some of its nodes, its state and its edges yours.

    python examples/own_graph.py

    START -> triage --- figure ---> counter ---+
                  \\--- text -----> reader ----+-> sign -> END

`compile()` makes a LangGraph graph of an agent with its subagents. A node calls it with `task` and
takes `answer` and `status` from what comes back. `sign` is plain Python. Without a key: scripted models.
"""

import asyncio
from pathlib import Path
from typing import TypedDict

from langgraph.graph import END, START, StateGraph

from undrift import Agent, Coordinator, ScriptedModel, call

DOCS = Path(__file__).resolve().parent.parent / "docs"


class State(TypedDict, total=False):
    """What your graph carries."""

    question: str
    kind: str
    answer: str
    signed: str


def count_pages() -> int:
    """How many pages the documentation has."""
    return len(list(DOCS.glob("*.md")))


def first_line(page: str) -> str:
    """The title of a page of the documentation."""
    pages = {path.stem: path for path in DOCS.glob("*.md")}
    return pages[page].read_text().splitlines()[0].strip("# ")


def newest(body):
    """The newest result of a tool in a request."""
    return [m["content"] for m in body["messages"] if m["role"] == "tool"][-1]


def node(agent: Agent, key: str):
    """A node that has an agent work on the question and keeps its answer under `key`."""
    graph = Coordinator(agent).compile()

    async def work(state: State) -> State:
        done = await graph.ainvoke({"task": state["question"]})
        return {key: done["answer"]} if done["status"] == "done" else {key: done["status"]}

    return work


async def sign(state: State) -> State:
    """A node that is no agent."""
    return {"signed": f"{state['question']} {state['answer']} ({state['kind']})"}


triage = ScriptedModel(lambda body: "figure" if "many" in str(body["messages"]) else "text")
counter = ScriptedModel([call("count_pages"), newest])
reader = ScriptedModel([call("first_line", page="guarantees"), newest])

graph = StateGraph(State)
graph.add_node("triage", node(Agent("triage", "Say figure or text.", model=triage), "kind"))
graph.add_node("counter", node(Agent("counter", "Count.", counter, [count_pages]), "answer"))
graph.add_node("reader", node(Agent("reader", "Read.", reader, [first_line]), "answer"))
graph.add_node("sign", sign)
graph.add_edge(START, "triage")
graph.add_conditional_edges(
    "triage", lambda state: state["kind"], {"figure": "counter", "text": "reader"}
)
graph.add_edge("counter", "sign")
graph.add_edge("reader", "sign")
graph.add_edge("sign", END)
app = graph.compile()


async def main() -> None:
    """Ask both kinds of question and print the answers."""
    for question in ("How many pages are there?", "What is the page of promises called?"):
        print((await app.ainvoke({"question": question}))["signed"])


if __name__ == "__main__":
    asyncio.run(main())
