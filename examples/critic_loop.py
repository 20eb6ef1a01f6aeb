"""A critic loop: one writes, another one criticises, until it is good or the rounds are used up.

    python examples/critic_loop.py

    writer -> critic -> good? -> the text
       ^                  |
       +---- faults ------+        at most ROUNDS times

The lead is code again (see map_reduce.py): a loop that must end is no question for a model. Where code
alone can judge a text, `Agent(check=...)` is enough, and no second agent is needed.
"""

import json
from pathlib import Path

from pydantic import BaseModel

from undrift import Agent, Coordinator, ScriptedModel, call

README = Path(__file__).resolve().parent.parent / "README.md"
ROUNDS, MOST_WORDS = 3, 20


class Verdict(BaseModel):
    """Hand back your verdict on a text."""

    good: bool
    faults: str = ""


def introduction() -> str:
    """The first paragraph of the README."""
    return " ".join(README.read_text().split("\n\n")[1].split())


def loop(body):
    """The next step, from what was handed back so far."""
    results = [m["content"] for m in body["messages"] if m["role"] == "tool"]
    handed = [json.loads(result)[0] for result in results]
    if not handed:
        return task("writer", "Say in one sentence what this project does.")
    if len(handed) % 2:
        return task("critic", f"Judge this text:\n{handed[-1]['text']}")
    draft, verdict = handed[-2]["text"], handed[-1]["conclusion"]
    if verdict["good"] or len(handed) == 2 * ROUNDS:
        return f"{draft} [round {len(handed) // 2}]"
    return task("writer", f"Correct this: {verdict['faults']}\n{draft}")


def task(agent: str, words: str):
    """One task for one agent."""
    return call("delegate", tasks=[{"agent": agent, "task": words}])


def write(body):
    """A writer who says too much at first."""
    asked, _, text = body["messages"][1]["content"].partition("\n")
    if asked.startswith("Correct this"):
        return text.partition(". ")[0] + "."
    results = [m["content"] for m in body["messages"] if m["role"] == "tool"]
    return results[-1] if results else call("introduction")


def judge(body):
    """A critic who counts."""
    words = len(body["messages"][1]["content"].partition("\n")[2].split())
    if words <= MOST_WORDS:
        return call("conclude", good=True)
    return call("conclude", good=False, faults=f"It has {words} words, at most {MOST_WORDS}.")


critic_loop = Coordinator(
    Agent("lead", "Have it written and judged until it is good.", model=ScriptedModel(loop)),
    subagents=[
        Agent("writer", "Write.", model=ScriptedModel(write), tools=[introduction]),
        Agent("critic", "Judge.", model=ScriptedModel(judge), output_type=Verdict),
    ],
)


def main() -> None:
    """Run the loop and print the text that it ended with."""
    result = critic_loop.run_sync("What does this project do?")
    print(f"{result.text} ({result.status})")


if __name__ == "__main__":
    main()
