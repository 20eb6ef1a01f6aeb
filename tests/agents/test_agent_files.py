"""Agents from Markdown files: what a file says is what the agent is, and whatever is wrong is named."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents import Agent, AgentDefinitionError, Limits, load_agent, load_agents, tool

WHOLE = """---
# A comment.
name: reader
description: >-
  Reads what it is
  asked for: all of it.
tools: [search, read_page]
model:
  - openai:LARGE
  - extractive
limits:
  turns: 12
  tokens: 100_000
  seconds: 2.5
  depth: 0
---

You read.

---

Then you answer.
"""


@tool
def search(query: str) -> str:
    """Search."""
    return query


def read_page(page: int) -> str:
    """Read a page."""
    return str(page)


@tool
def delete_all() -> str:
    """Delete everything."""
    return "gone"


TOOLS = [search, read_page, delete_all]


@pytest.fixture
def write(tmp_path: Path):
    def made(text: str | bytes, name: str = "reader.md") -> Path:
        data = text if isinstance(text, bytes) else text.encode()
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return made


def minimal(head: str = "name: reader", prompt: str = "You read.") -> str:
    return f"---\n{head}\n---\n{prompt}\n"


@pytest.mark.parametrize("form", ["plain", "windows", "marked"])
def test_a_file_says_all_of_an_agent(write, form):
    text = {"windows": WHOLE.replace("\n", "\r\n"), "marked": "\ufeff" + WHOLE}.get(form, WHOLE)
    agent = load_agent(write(text), TOOLS)
    assert (agent.name, agent.description) == ("reader", "Reads what it is asked for: all of it.")
    assert agent.instructions == "You read.\n\n---\n\nThen you answer."
    assert list(agent.toolbox()) == ["search", "read_page"]
    assert agent.model == ["openai:LARGE", "extractive"]
    assert agent.limits == Limits(turns=12, tokens=100_000, seconds=2.5, depth=0)


def test_what_a_file_leaves_out_is_as_for_any_agent_and_it_gets_no_tool(write):
    assert load_agent(write(minimal()), TOOLS) == Agent("reader", "You read.", tools=[])
    # What YAML would make a truth value of is a word all the same.
    assert load_agent(write(minimal("name: no\nmodel: extractive"))).model == "extractive"
    assert load_agent(write(minimal("name: no"))).name == "no"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: front matter is missing"),
        ("You read.", "line 1: front matter is missing"),
        ("---\nname: reader\nYou read.", "line 1: front matter is missing"),
        ("\n---\nname: a\n---\nx", "line 1: front matter is missing"),
        ("---\n---\nYou read.", "line 1: front matter is no list of keys"),
        (minimal("- a\n- b"), "line 2: front matter is no list of keys"),
        (minimal("description: x"), "line 1: there is no 'name'"),
        (minimal("name:"), "line 2: 'name' is no text, or empty"),
        (minimal("name: [a]"), "line 2: 'name' is no text"),
        (minimal("name: a b"), "line 2: name 'a b': use letters"),
        (minimal('name: "a\\e[31m"'), "use letters"),
        (minimal("name: ../up"), "line 2: name '../up'"),
        (minimal("name: " + "x" * 65), "at most 64"),
        (
            minimal("name: a\ntemperature: 1"),
            "line 3: unknown key 'temperature'; the keys are: name,",
        ),
        (minimal("name: a\n<<: {tools: [search]}"), "line 3: unknown key '<<'"),
        (minimal("name: a\nname: b"), "line 3: the key 'name' stands twice"),
        (
            minimal("name: a\ntools: search"),
            "line 3: 'tools' is no list: write it as [first, second]",
        ),
        (
            minimal("name: a\ntools:\n- search\n- shell"),
            "line 5: there is no tool 'shell'; the tools",
        ),
        (minimal("name: a\ntools: [{a: b}]"), "line 3: 'tools' is no text"),
        (minimal("name: a\nmodel: []"), "line 3: 'model' is an empty list"),
        (minimal("name: a\nmodel: {a: b}"), "line 3: 'model' is no list"),
        (minimal("name: a\nlimits: 3"), "line 3: 'limits' is no list of keys"),
        (
            minimal("name: a\nlimits:\n  minutes: 3"),
            "line 4: unknown key 'minutes'; the keys are: turns",
        ),
        (
            minimal("name: a\nlimits:\n  turns: many"),
            "line 4: limit 'turns' is 'many': write a whole",
        ),
        (minimal("name: a\nlimits:\n  turns: 1.5"), "write a whole number"),
        (minimal("name: a\nlimits:\n  turns: 0"), "line 4: limit 'turns' is 0"),
        (minimal("name: a\nlimits:\n  seconds: -1"), "limit 'seconds' is '-1': write a number"),
        (minimal("name: a\nlimits:\n  seconds: .inf"), "write a number"),
        (minimal("name: a\nlimits:\n  tokens: " + "9" * 400), "write a whole number"),
        (minimal("name: a\nlimits:\n  prices: {}"), "unknown key 'prices'"),
        (minimal("name: &x a\ndescription: *x"), "line 2: anchors and aliases are not taken"),
        (minimal("name: a: b"), "line 2: it is not YAML: mapping values are not allowed here"),
        (minimal("name: 'a"), "it is not YAML"),
        (minimal("name: a\x00b"), "it is not YAML"),
        (minimal("tools: " + "[" * 5_000), "it is not YAML"),
        (minimal("name: a\ndescription: " + "x" * 20_000), "has more than 16,384 characters"),
        (minimal(prompt=" \n"), "line 3: there is no text below the front matter"),
        (b"---\nname: a\n---\nYou \xff read.", "line 4: it is not UTF-8 text"),
        ("---\nname: a\n---\n" + "x" * 300_000, "has more than 262,144 bytes"),
    ],
)
def test_what_is_wrong_is_named_with_file_line_and_what_to_do(write, text, said):
    path = write(text)
    with pytest.raises(AgentDefinitionError) as raised:
        load_agent(path, TOOLS)
    assert said in str(raised.value)
    assert repr(str(path)) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_that_cannot_be_read_is_told_and_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.md")
    for name, said in (
        ("absent.md", "cannot be read"),
        ("pipe.md", "no regular"),
        ("", "no regular"),
    ):
        with pytest.raises(AgentDefinitionError, match=said):
            load_agent(tmp_path / name)
    with pytest.raises(AgentDefinitionError, match="cannot be read"):
        load_agent("a\0b.md")


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: minimal(text).encode()))
def test_any_bytes_are_an_agent_or_one_error(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any.md"
    path.write_bytes(data)
    try:
        agent = load_agent(path, TOOLS)
    except AgentDefinitionError:
        return
    assert agent.name
    assert agent.instructions


def test_no_object_is_made_of_what_a_file_says(write, tmp_path):
    harm = tmp_path / "harm"
    path = write(minimal(f"name: !!python/object/apply:os.mkdir ['{harm}']"))
    with pytest.raises(AgentDefinitionError):
        load_agent(path)
    assert not harm.exists()


def test_a_folder_gives_its_agents_by_name(write, tmp_path):
    write(minimal("name: second"), "b.md")
    write(minimal("name: first\ntools: [search]"), "a.md")
    write("not an agent", "notes.txt")
    (tmp_path / "below").mkdir()
    write("not an agent", "below/c.md")
    assert list(load_agents(tmp_path, TOOLS)) == ["first", "second"]
    write(minimal("name: first"), "z.md")
    with pytest.raises(AgentDefinitionError, match=r"a\.md' and .*z\.md' are both called 'first'"):
        load_agents(tmp_path, TOOLS)


def test_a_folder_without_agents_is_told(tmp_path):
    with pytest.raises(AgentDefinitionError, match="no agent file"):
        load_agents(tmp_path)
    with pytest.raises(AgentDefinitionError, match="no agent file"):
        load_agents(tmp_path / "absent")
