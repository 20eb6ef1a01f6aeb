"""Which weights the tests' llama.cpp server takes; no server is needed to know it."""

from pathlib import Path

import pytest
from support.llama import VARIABLE, weights


def test_a_variable_names_the_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    packaged = weights()
    named = tmp_path / "larger.gguf"
    named.touch()
    monkeypatch.setenv(VARIABLE, str(named))
    assert weights() == named != packaged


def test_weights_that_are_not_there_are_an_error_and_no_skip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "absent.gguf"))
    with pytest.raises(FileNotFoundError, match=r"UNDRIFT_LLAMA_MODEL is '.*absent.gguf', which"):
        weights()
