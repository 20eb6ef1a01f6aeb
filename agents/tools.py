"""Tools: typed Python functions that a model may call.

The JSON schema is made once from the signature; arguments are checked before the function runs. A tool
may be async or sync (then it runs in a thread) and may take a `ToolContext` as its first parameter.
"""

import inspect
import types
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from memory import Image, JsonObject, ResultBlock, Text, Unknown, dumps, loads

from .errors import AgentDefinitionError, ToolError
from .threads import in_thread


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may know about the call it serves."""

    run_id: str
    thread: str
    """The agent's thread in the log."""
    agent: str
    """The agent's name."""
    call_id: str
    deps: Any
    """What the user passed as `deps`, `None` when nothing was."""
    cancelled: Callable[[], bool]
    """True once the call should stop; a sync tool that loops should ask."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A function with the schema that a model sees."""

    name: str
    description: str
    parameters: JsonObject
    """JSON schema of the arguments object."""
    arguments: type[BaseModel]
    """Checks the arguments."""
    function: Callable[..., Any]
    wants_context: bool = False
    """True when the function's first parameter is a `ToolContext`."""
    seconds: float | None = None
    """Time limit of one call, `None` for the agent's `tool_seconds`."""
    repeatable: bool | Literal["ask"] = False
    """What becomes of a call that a crash cut off: True makes it again, `"ask"` puts it before a person,
    False records it as unknown."""
    approval: bool | Callable[[JsonObject], bool] = False
    """Whether a person must allow a call before it is made; a predicate gets its checked arguments."""
    exempt: bool = False
    """True when its results stay as they are: never offloaded, however large (they bound themselves)."""

    def spec(self) -> JsonObject:
        """What goes into a request: name, description, parameters."""
        return {"name": self.name, "description": self.description, "parameters": self.parameters}

    def check(self, arguments: str) -> BaseModel:
        """Read a model's argument text. Raises `ToolError` saying what is wrong and what to send."""
        try:
            data = loads(arguments or "{}")
        except ValueError as error:
            raise ToolError(
                f"The arguments of {self.name!r} are not valid JSON ({error}). Send one JSON object "
                f"with the keys: {self._keys()}."
            ) from error
        try:
            return self.arguments.model_validate(data)
        except ValidationError as error:
            raise ToolError(
                f"Wrong arguments for {self.name!r}: {validation_text(error)}. Expected keys: "
                f"{self._keys()}. Call it again with these corrected."
            ) from error

    async def call(self, arguments: BaseModel, context: ToolContext) -> tuple[ResultBlock, ...]:
        """Run the function; what it raises is raised. What it yields must be taken by `value`."""
        return result_blocks(await self.value(arguments, context))

    async def value(self, arguments: BaseModel, context: ToolContext) -> Any:
        """What the function returns: a value, or the chunks of a result that it yields.

        What it raises is raised. Sync functions run in a thread.
        """
        given = {name: getattr(arguments, name) for name in type(arguments).model_fields}
        first = (context,) if self.wants_context else ()
        if inspect.isasyncgenfunction(self.function):
            return self.function(*first, **given)
        if inspect.iscoroutinefunction(self.function):
            value = await self.function(*first, **given)
        else:
            value = await in_thread(self.function, *first, **given)
            if inspect.isawaitable(value):
                value = await value
        return value

    def _keys(self) -> str:
        required = set(self.parameters.get("required", ()))
        properties = self.parameters.get("properties", {})
        if not properties:
            return "none"
        return ", ".join(
            f"{name} ({shape.get('type', 'see schema')}{'' if name in required else ', optional'})"
            for name, shape in properties.items()
        )


def validation_text(error: ValidationError) -> str:
    """A pydantic error in one line: place and reason of at most five faults."""
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    lines = [
        f"{'.'.join(str(part) for part in fault['loc']) or 'arguments'}: {fault['msg']}"
        for fault in faults[:5]
    ]
    more = f" (and {len(faults) - 5} more)" if len(faults) > 5 else ""
    return "; ".join(lines) + more


def tool(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    description: str | None = None,
    seconds: float | None = None,
    repeatable: bool | Literal["ask"] = False,
    approval: bool | Callable[[JsonObject], bool] = False,
    exempt: bool = False,
) -> Any:
    """Make a `Tool` of a typed function, as `@tool`, `@tool(...)` or `tool(function, ...)`.

    `name` and `description` default to the function's name and docstring; the rest are fields of
    `Tool`. Raises `AgentDefinitionError` for a parameter without a type or a missing description.
    """

    def make(target: Callable[..., Any]) -> Tool:
        made = _build(target, name, description)
        return replace(
            made, seconds=seconds, repeatable=repeatable, approval=approval, exempt=exempt
        )

    return make if function is None else make(function)


def as_tool(value: "Tool | Callable[..., Any]") -> Tool:
    """A `Tool` as it is, a function as `tool(function)`."""
    return value if isinstance(value, Tool) else _build(value, None, None)


def _build(function: Callable[..., Any], name: str | None, description: str | None) -> Tool:
    name = name or getattr(function, "__name__", "")
    if not callable(function) or not name:
        raise AgentDefinitionError(
            f"{function!r} is no tool; give a typed function, or tool(function, name=...) for one without "
            "a name"
        )
    text = description or inspect.getdoc(function) or ""
    if not text:
        raise AgentDefinitionError(
            f"tool {name!r} has no description; give the function a docstring that says what it does"
        )
    shape = _shape(function, name)
    return Tool(name, text, shape.schema, shape.arguments, function, shape.wants_context)


@dataclass(frozen=True, slots=True)
class _Shape:
    """What a function's signature says."""

    arguments: type[BaseModel]
    schema: JsonObject
    wants_context: bool


_shapes: dict[Any, _Shape] = {}
_MOST_SHAPES = 512


def _shape(function: Callable[..., Any], name: str) -> _Shape:
    """The shape of a function, made once for all closures of one definition: pydantic takes milliseconds
    for it, and the framework's own tools are closures over each thread."""
    try:
        annotations = tuple(function.__annotations__.items())
        key = (function.__code__, name, annotations, repr(function.__defaults__))
        hash(key)
    except (AttributeError, TypeError):
        return _made(function, name)
    shape = _shapes.get(key)
    if shape is None:
        if len(_shapes) >= _MOST_SHAPES:
            _shapes.clear()
        shape = _shapes[key] = _made(function, name)
    return shape


def _made(function: Callable[..., Any], name: str) -> _Shape:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    wants_context = False
    for position, parameter in enumerate(inspect.signature(function).parameters.values()):
        if position == 0 and _is_context(hints.get(parameter.name)):
            wants_context = True
            continue
        if parameter.name not in hints or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            raise AgentDefinitionError(
                f"parameter {parameter.name!r} of tool {name!r} needs a type and must not be *args or "
                "**kwargs; the model's schema is made from it"
            )
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], default)
    model = create_model(f"{name}_arguments", __config__=ConfigDict(extra="forbid"), **fields)
    return _Shape(model, schema_of(model), wants_context)


def _is_context(hint: Any) -> bool:
    if get_origin(hint) in (Union, types.UnionType):
        return any(_is_context(part) for part in get_args(hint))
    return hint is ToolContext


def schema_of(model: type[BaseModel]) -> JsonObject:
    """The JSON schema of a pydantic model, without titles of fields: they only cost tokens."""
    return _untitled(model.model_json_schema())


def _untitled(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: _untitled(value)
            for key, value in schema.items()
            if not (key == "title" and isinstance(value, str))
        }
    if isinstance(schema, list):
        return [_untitled(part) for part in schema]
    return schema


def result_blocks(value: Any) -> tuple[ResultBlock, ...]:
    """What a tool returned, as blocks: text stays text, blocks stay blocks, the rest becomes JSON.

    Raises for an `Unknown` whose data is no JSON: no log could keep it.
    """
    if value is None:
        return (Text("(no output)"),)
    if isinstance(value, str):
        return (Text(value),)
    if _is_block(value):
        return (value,)
    if isinstance(value, tuple | list) and value and all(_is_block(part) for part in value):
        return tuple(value)
    if isinstance(value, BaseModel):
        return (Text(value.model_dump_json()),)
    try:
        return (Text(dumps(value).decode()),)
    except (TypeError, ValueError):
        return (Text(str(value)),)


def _is_block(value: Any) -> bool:
    if isinstance(value, Unknown):
        dumps(value.data)
    return isinstance(value, Text | Image | Unknown)


AnyTool = Tool | Callable[..., Any] | Callable[..., Awaitable[Any]]
