"""JSON bytes: the way round what the fast encoder refuses writes the same as the fast one."""

import json
import math

import pytest

from memory.encoding import dumps, wire


@pytest.mark.parametrize("write", [dumps, wire])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_null_beside_anything(write, number):
    def strict(word):
        raise AssertionError(word)

    for beside in (1, 1 << 70, "\ud800"):
        assert json.loads(write({"a": number, "b": beside}), parse_constant=strict)["a"] is None
