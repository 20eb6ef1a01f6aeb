"""Settings that cannot be used are refused where they are written, in one sentence."""

import math
from functools import partial

import pytest

from agents import Agent, AgentDefinitionError, Compaction, Limits, tool


def twice(number: int) -> int:
    """Double a number."""
    return 2 * number


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Limits(tokens=-1), "'tokens' is a number from 0, not -1"),
        (lambda: Limits(turns=0), "'turns' is a number from 1, not 0"),
        (lambda: Limits(seconds="5"), "'seconds' is a number from 0, not '5'"),
        (lambda: Limits(cost=math.nan), "'cost' is a number from 0, not nan"),
        (lambda: Limits(parallel_tools=0), "'parallel_tools' is a number from 1"),
        (lambda: Limits(parallel_agents=None), "'parallel_agents' is a number from 1, not None"),
        (lambda: Agent("a", "x", files="write"), "files is one of auto, none, read, all"),
        (lambda: Agent("a", "x", sees="all"), "sees is one of none, text, fork, not 'all'"),
        (
            lambda: Agent("a", "x", output_type=dict),
            "a class of pydantic's BaseModel, not <class 'dict'>",
        ),
        (lambda: Agent("a", "x", tools=["search"]).toolbox(), "'search' is no tool"),
        (lambda: Agent("a", "x", tools=[partial(twice, 2)]).toolbox(), "without a name"),
        (lambda: Compaction(strategy="nope"), "no compaction strategy 'nope'; there are: auto"),
    ],
)
def test_what_cannot_be_used_is_refused(make, words):
    with pytest.raises(AgentDefinitionError) as refused:
        make()
    assert words in str(refused.value)


def test_a_function_without_a_name_gets_one():
    assert Agent("a", "x", tools=[tool(twice, name="double")]).toolbox().keys() == {"double"}
