"""Agents from Markdown files: front matter says what an agent is, the text below it is its prompt.

A file is data, never code: its tools are names among those that the caller hands over, and whatever is not
expected in it is an error that names file, line and key.
"""

import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from .agent import Agent
from .errors import AgentDefinitionError
from .limits import Limits
from .tools import AnyTool, Tool, as_tool

KEYS = ("name", "description", "tools", "model", "limits")
LIMITS = tuple(field.name for field in fields(Limits) if field.name != "prices")
WHOLE = tuple(name for name in LIMITS if name not in ("cost", "seconds", "tool_seconds"))
FROM_ZERO = ("agents", "depth", "tool_calls")
MOST_BYTES = 256 * 1024
"""Of a file; a longer prompt leaves no room for work."""
MOST_HEAD = 16 * 1024
"""Characters of front matter."""
_FENCE = re.compile(r"^---[ \t]*$", re.MULTILINE)
_NAME = re.compile(r"\w[\w.-]{0,63}")
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?")


def load_agent(path: Path | str, tools: Iterable[AnyTool] = ()) -> Agent:
    """The agent of a Markdown file; of `tools` it gets those that the file names, and no other.

    Raises `AgentDefinitionError` for a file that cannot be read or is not as `docs/agent-graphs.md` says.
    """
    return _Reader(Path(path), {tool.name: tool for tool in map(as_tool, tools)}).agent()


def load_agents(folder: Path | str, tools: Iterable[AnyTool] = ()) -> dict[str, Agent]:
    """The agents of all `*.md` files of a folder (not of those below it) by name, in the files' order.

    Raises `AgentDefinitionError` as `load_agent` does, for two agents of one name, and for none at all.
    """
    known = [as_tool(tool) for tool in tools]
    found: dict[str, Path] = {}
    agents: dict[str, Agent] = {}
    for path in sorted(Path(folder).glob("*.md")):
        agent = load_agent(path, known)
        if agent.name in found:
            raise AgentDefinitionError(
                f"{str(found[agent.name])!r} and {str(path)!r} are both called {agent.name!r}: rename one"
            )
        found[agent.name], agents[agent.name] = path, agent
    if not agents:
        raise AgentDefinitionError(f"there is no agent file (*.md) in {str(folder)!r}")
    return agents


class _Reader:
    """Reads one file."""

    def __init__(self, path: Path, tools: Mapping[str, Tool]) -> None:
        self._path, self._tools = path, tools

    def agent(self) -> Agent:
        head, prompt = self._parts(self._text())
        keys = self._mapping(self._parsed(head), KEYS, "")
        if "name" not in keys:
            raise self._wrong(1, "there is no 'name': add a line such as 'name: reader'")
        name = self._words(keys["name"], "name")
        if not _NAME.fullmatch(name):
            raise self._wrong(
                _line(keys["name"]),
                f"name {name!r}: use letters, digits, '_', '-' and '.', at most 64",
            )
        description = keys.get("description")
        return Agent(
            name,
            prompt,
            model=self._model(keys.get("model")),
            tools=[self._tool(node) for node in self._list(keys.get("tools"), "tools")],
            description=self._words(description, "description") if description else "",
            limits=self._limits(keys.get("limits")),
        )

    def _wrong(self, line: int, words: str) -> AgentDefinitionError:
        return AgentDefinitionError(f"agent file {str(self._path)!r}, line {line}: {words}")

    def _text(self) -> str:
        try:
            if not stat.S_ISREG(self._path.stat().st_mode):  # a pipe would be waited for
                raise AgentDefinitionError(f"agent file {str(self._path)!r} is no regular file")
            with self._path.open("rb") as file:
                data = file.read(MOST_BYTES + 1)
        except (OSError, ValueError) as error:
            raise AgentDefinitionError(
                f"agent file {str(self._path)!r} cannot be read: {error}"
            ) from error
        if len(data) > MOST_BYTES:
            raise AgentDefinitionError(
                f"agent file {str(self._path)!r} has more than {MOST_BYTES:,} bytes: shorten the prompt"
            )
        try:
            return data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise self._wrong(line, "it is not UTF-8 text: save it as UTF-8") from error

    def _parts(self, text: str) -> tuple[str, str]:
        """Front matter, with its lines where they stand in the file, and prompt."""
        first = _FENCE.match(text)
        end = _FENCE.search(text, first.end()) if first else None
        if first is None or end is None:
            raise self._wrong(
                1,
                "front matter is missing: begin with a line '---', the keys, and another line '---'",
            )
        if end.start() > MOST_HEAD:
            raise self._wrong(1, f"front matter has more than {MOST_HEAD:,} characters: shorten it")
        prompt = text[end.end() :].strip()
        if not prompt:
            line = text.count("\n", 0, end.start()) + 1
            raise self._wrong(
                line, "there is no text below the front matter: write the prompt there"
            )
        return text[first.end() : end.start()], prompt

    def _parsed(self, head: str) -> Any:
        """The front matter as YAML nodes: nothing in it is made into an object."""
        import yaml

        try:
            for event in yaml.parse(head, yaml.SafeLoader):
                if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                    raise self._wrong(
                        event.start_mark.line + 1, "anchors and aliases are not taken: write it out"
                    )
            return yaml.compose(head, yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = mark.line + 1 if mark else 1
            raise self._wrong(line, f"it is not YAML: {error.problem or error.context}") from error
        except (yaml.YAMLError, RecursionError) as error:
            words = str(error).partition("\n")[0]
            raise self._wrong(1, f"it is not YAML: {words}") from error

    def _mapping(self, node: Any, known: Iterable[str], where: str) -> dict[str, Any]:
        """The nodes of a mapping by key; keys that are not known, or stand twice, are refused."""
        names = ", ".join(known)
        if getattr(node, "id", "") != "mapping":
            what = f"{where!r} is" if where else "front matter is"
            raise self._wrong(_line(node), f"{what} no list of keys; the keys are: {names}")
        found: dict[str, Any] = {}
        for key_node, value in node.value:
            key = self._words(key_node, "a key")
            if key not in known:
                raise self._wrong(_line(key_node), f"unknown key {key!r}; the keys are: {names}")
            if key in found:
                raise self._wrong(_line(key_node), f"the key {key!r} stands twice: take one out")
            found[key] = value
        return found

    def _words(self, node: Any, key: str) -> str:
        """A text as it is written: `no` and `1.0` are words here."""
        words = node.value.strip() if getattr(node, "id", "") == "scalar" else ""
        if not words:
            raise self._wrong(
                _line(node), f"{key!r} is no text, or empty: write a word or a sentence"
            )
        return " ".join(words.split())

    def _list(self, node: Any, key: str) -> list[Any]:
        if node is None:
            return []
        if getattr(node, "id", "") != "sequence":
            raise self._wrong(_line(node), f"{key!r} is no list: write it as [first, second]")
        return node.value

    def _tool(self, node: Any) -> Tool:
        name = self._words(node, "tools")
        if name not in self._tools:
            known = ", ".join(self._tools) or "none"
            raise self._wrong(
                _line(node), f"there is no tool {name!r}; the tools that were handed over: {known}"
            )
        return self._tools[name]

    def _model(self, node: Any) -> list[str] | str | None:
        if node is None:
            return None
        if getattr(node, "id", "") == "scalar":
            return self._words(node, "model")
        chain = [self._words(part, "model") for part in self._list(node, "model")]
        if not chain:
            raise self._wrong(
                _line(node), "'model' is an empty list: name a model, or leave it out"
            )
        return chain

    def _limits(self, node: Any) -> Limits:
        if node is None:
            return Limits()
        given = self._mapping(node, LIMITS, "limits")
        numbers: dict[str, Any] = {key: self._number(value, key) for key, value in given.items()}
        return Limits(**numbers)

    def _number(self, node: Any, key: str) -> int | float:
        text = self._words(node, key).replace("_", "")
        whole = key in WHOLE
        if not _NUMBER.fullmatch(text) or (whole and "." in text):
            kind = "a whole number" if whole else "a number"
            raise self._wrong(_line(node), f"limit {key!r} is {text!r}: write {kind}")
        value = int(text) if whole else float(text)
        if not value and key not in FROM_ZERO:
            raise self._wrong(_line(node), f"limit {key!r} is 0: write a number above it")
        return value


def _line(node: Any) -> int:
    """The line of a node in the file: front matter is cut out behind the first fence, in its line."""
    return node.start_mark.line + 1 if node is not None else 1
