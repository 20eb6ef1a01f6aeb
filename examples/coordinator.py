r"""A coordinator with subagents: the lead's model decides who does what.

    python examples/coordinator.py

            lead
           /    \
      counter   reader     at the same time, each in a context of its own

The replies are written down here, so that it runs without a key. With model="openai:MODEL" in place of
the three scripts a model decides, and nothing else changes.
"""

import json
from pathlib import Path

from undrift import Agent, Coordinator, ScriptedModel, call

PROJECT = Path(__file__).resolve().parent.parent


def count_lines() -> int:
    """How many lines of Python the examples have."""
    return sum(len(path.read_text().splitlines()) for path in PROJECT.glob("examples/*.py"))


def count_words() -> int:
    """How many words the documentation has."""
    return sum(len(path.read_text().split()) for path in PROJECT.glob("docs/*.md"))


def newest(body):
    """The newest result of a tool in a request."""
    return [m["content"] for m in body["messages"] if m["role"] == "tool"][-1]


def answer(body):
    """Answer from what the two handed back: a JSON list, in the order of the tasks."""
    lines, words = (child["text"] for child in json.loads(newest(body)))
    return f"The examples have {lines} lines of Python, the documentation has {words} words."


lead = ScriptedModel(
    [
        call(
            "delegate",
            tasks=[
                {"agent": "counter", "task": "How many lines do the examples have?"},
                {"agent": "reader", "task": "How many words does the documentation have?"},
            ],
        ),
        answer,
    ]
)
counter = ScriptedModel([call("count_lines"), newest])
reader = ScriptedModel([call("count_words"), newest])

coordinator = Coordinator(
    Agent("lead", "Delegate what needs facts, then answer in one sentence.", model=lead),
    subagents=[
        Agent("counter", "Count what you are asked for.", model=counter, tools=[count_lines]),
        Agent("reader", "Read what you are asked for.", model=reader, tools=[count_words]),
    ],
)


def main() -> None:
    """Ask, and print the answer."""
    result = coordinator.run_sync("How large is this project?")
    print(f"{result.text} ({result.status})")


if __name__ == "__main__":
    main()
