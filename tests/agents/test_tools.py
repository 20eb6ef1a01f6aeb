"""Tools: schemas from signatures, checked arguments, results of any type."""

from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from agents import AgentDefinitionError, ToolContext, ToolError, tool
from memory import Image, Text

CONTEXT = ToolContext("run", "main", "a", "c1", {"user": "deps"}, lambda: False)


@tool
async def book(city: str, nights: Annotated[int, Field(ge=1, description="How many")] = 1) -> str:
    """Book a room."""
    return f"{city}: {nights}"


def test_the_schema_comes_from_the_signature():
    assert book.spec() == {
        "name": "book",
        "description": "Book a room.",
        "parameters": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "city": {"type": "string"},
                "nights": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "How many",
                    "default": 1,
                },
            },
            "required": ["city"],
        },
    }


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ('{"city": "Oslo", "nights": 0}', "nights: Input should be greater than or equal to 1"),
        ('{"nights": 2}', "city: Field required"),
        ('{"city": "Oslo", "moon": 1}', "moon: Extra inputs are not permitted"),
        ('{"city": "Os', "not valid JSON"),
        ("[1]", "arguments"),
    ],
)
def test_wrong_arguments_say_what_and_what_to_send(arguments, says):
    with pytest.raises(ToolError) as caught:
        book.check(arguments)
    assert says in str(caught.value)
    assert "city (string), nights (integer, optional)" in str(caught.value)


async def test_no_arguments_at_all_is_an_empty_object():
    @tool
    def now() -> str:
        """Tell the time."""
        return "noon"

    assert await now.call(now.check(""), CONTEXT) == (Text("noon"),)


async def test_a_tool_may_know_its_context_and_may_be_sync():
    @tool
    def who(context: ToolContext, loud: bool = False) -> str:
        """Say who the user is."""
        return context.deps["user"].upper() if loud else context.deps["user"]

    assert "context" not in who.parameters["properties"]
    assert await who.call(who.check('{"loud": true}'), CONTEXT) == (Text("DEPS"),)


class Point(BaseModel):
    x: int


@pytest.mark.parametrize(
    ("value", "blocks"),
    [
        ("text", (Text("text"),)),
        (None, (Text("(no output)"),)),
        ({"a": [1, 2.5, "é"]}, (Text('{"a":[1,2.5,"é"]}'),)),
        ([], (Text("[]"),)),
        (Point(x=1), (Text('{"x":1}'),)),
        (7, (Text("7"),)),
        (Image("image/png", "aGk="), (Image("image/png", "aGk="),)),
        ([Text("a"), Image("image/png", "aGk=")], (Text("a"), Image("image/png", "aGk="))),
        ({1, 2}, (Text("{1, 2}"),)),
    ],
)
async def test_results_of_any_type_become_blocks(value, blocks):
    @tool
    def give() -> object:
        """Give it."""
        return value

    assert await give.call(give.check("{}"), CONTEXT) == blocks


def test_a_tool_that_a_model_could_not_use_is_refused_at_definition():
    def silent(a: int) -> int:
        return a

    with pytest.raises(AgentDefinitionError, match="no description"):
        tool(silent)

    def untyped(a):
        """Does it."""

    with pytest.raises(AgentDefinitionError, match="'a' of tool 'untyped' needs a type"):
        tool(untyped)

    def many(*items: int) -> None:
        """Does it."""

    with pytest.raises(AgentDefinitionError, match="'items'"):
        tool(many)
