"""What was found out about a model at an endpoint, once, for everybody who uses it.

Servers say "OpenAI-compatible" and mean different things. Each finding is drawn from a refusal or from
a reply, changes the bytes of later requests, is told to the log, and is never undone twice: so a
request is made again a few times at most.
"""

import re
from dataclasses import dataclass, field
from typing import Literal

from memory import JsonObject

from .base import Reply
from .failures import Failure

Notice = tuple[str, JsonObject]

_REASONING = re.compile(r"reasoning(?!.?effort)|thinking", re.IGNORECASE)
_WANTED = re.compile(
    r"\b(must|should|needs?|has|have|required?) (to )?be "
    r"(passed|sent|included|provided|present|returned|kept)|missing|is required|expected",
    re.IGNORECASE,
)
_TOOLS_REFUSED = re.compile(
    r"not support(ed|ing)?\b.{0,40}\b(tool|function)|support tool use"
    r"|\b(tools?|function.?call\w*|tool.?(use|call\w*|choice))\b.{0,60}"
    r"\b(not (be )?(supported|permitted|allowed)|unsupported|requires? --)"
    r"|(unknown|unexpected|unrecogni[sz]ed|unsupported|extra)\b.{0,60}\btools?\b",
    re.IGNORECASE | re.DOTALL,
)
_FORMAT_REFUSED = re.compile(r"response_format|json_schema|guided|grammar|schema", re.IGNORECASE)
_UNSUPPORTED = re.compile(
    r"unsupported|not support|unknown|unexpected|unrecogni[sz]ed|not permitted|not allowed|extra",
    re.IGNORECASE,
)
_RENAMED = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
_LOOKS_LIKE_CALL = re.compile(
    r"<\|?/?(tool_call|tool_calls|function_call|function=|tool▁call|python_tag|invoke)"
    r"|\[TOOL_CALLS\]|<｜tool"
    r'|\{\s*"(name|tool|tool_name|function|action)"\s*:\s*"[^"]+"\s*,\s*'
    r'"(arguments|parameters|args|input|action_input|params)"\s*:',
    re.IGNORECASE,
)


def looks_like_call(text: str) -> bool:
    """True for text in which a model tried to call a tool in a form of its own."""
    return _LOOKS_LIKE_CALL.search(text) is not None


@dataclass(slots=True)
class Findings:
    """One model at one endpoint."""

    version: int = 0
    """Counts the findings; requests made before the newest one may be refused."""
    tools: Literal["native", "schema"] = "native"
    tools_settled: bool = False
    """True once a native call was seen, or once both modes were tried."""
    reasoning: Literal["omit", "return"] = "omit"
    unsupported: dict[str, str] = field(default_factory=dict[str, str])
    """Settings that were refused, with the name to use instead, `""` for none."""
    asked_server: bool = False
    """True once a llama.cpp server was asked what its chat template can do."""
    _changes: set[str] = field(default_factory=set[str])

    def settle(self, settings: JsonObject) -> JsonObject:
        """The settings without what this server refuses."""
        found: JsonObject = {}
        for key, value in settings.items():
            name = key
            while name in self.unsupported:
                name = self.unsupported[name]
            if name:
                found[name] = value
        return found

    def learn(self, failure: Failure, settings: JsonObject) -> Notice | None:
        """What a refusal teaches, `None` when nothing new."""
        if failure.status not in (400, 404, 415, 422, 500, 501):
            return None
        if failure.kind == "overflow":
            return None
        words = failure.message
        return (
            self._learn_reasoning(words)
            or self._learn_tools(words)
            or (self._learn_settings(words, settings) if failure.status < 500 else None)
        )

    def learn_from(self, reply: Reply) -> Notice | None:
        """What a reply to a request that offered native tools teaches, `None` when nothing new."""
        if reply.calls:
            self.tools_settled = True
        elif not self.tools_settled and looks_like_call(reply.text):
            return self.use_schema("the reply holds a tool call as plain text")
        return None

    def use_schema(self, because: str) -> Notice | None:
        """Go over to tool choice by JSON schema; not possible twice."""
        return self._tool_mode("schema", because)

    def _learn_reasoning(self, words: str) -> Notice | None:
        if not _REASONING.search(words):
            return None
        wanted = _WANTED.search(words) is not None
        if wanted != (self.reasoning == "return"):
            return self._reasoning("return" if wanted else "omit", words)
        return None

    def _reasoning(self, policy: Literal["omit", "return"], because: str) -> Notice | None:
        if not self._change(f"reasoning {policy}"):
            return None
        self.reasoning = policy
        return "reasoning_policy", {"policy": policy, "because": because}

    def _learn_tools(self, words: str) -> Notice | None:
        if self.tools == "native" and _TOOLS_REFUSED.search(words):
            return self._tool_mode("schema", words)
        if self.tools == "schema" and _FORMAT_REFUSED.search(words):
            return self._tool_mode("native", words)
        return None

    def _tool_mode(self, mode: Literal["native", "schema"], because: str) -> Notice | None:
        if not self._change(f"tools {mode}"):
            return None
        self.tools, self.tools_settled = mode, mode == "native"
        return "tool_mode", {"mode": mode, "because": because}

    def _learn_settings(self, words: str, settings: JsonObject) -> Notice | None:
        if not _UNSUPPORTED.search(words):
            return None
        for key in ("stream_options", "max_tokens", "max_completion_tokens", "temperature"):
            if key in settings and re.search(rf"\b{key}\b", words):
                if not self._change(f"setting {key}"):
                    return None
                other = _RENAMED.get(key, "")
                self.unsupported[key] = "" if other in self.unsupported else other
                return "setting_refused", {"setting": key, "because": words}
        return None

    def _change(self, what: str) -> bool:
        """True the first time something is found out."""
        if what in self._changes:
            return False
        self._changes.add(what)
        self.version += 1
        return True
