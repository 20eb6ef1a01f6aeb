"""What each package offers is pinned in `snapshots/public_names.txt`.

A public name is a promise, so adding or taking one shows in the diff. After a wanted change:
`make snapshots`, which runs this file as a program.
"""

import importlib
import inspect
from pathlib import Path
from types import ModuleType

import pytest

SNAPSHOT = Path(__file__).resolve().parent / "snapshots" / "public_names.txt"
PACKAGES = ("undrift", "filesystem", "memory", "agents", "orchestrator", "evals")


def render() -> str:
    """The snapshot's text: a heading per package, then its names, sorted, one a line."""
    return "\n".join(
        "\n".join([f"[{package}]", *sorted(importlib.import_module(package).__all__), ""])
        for package in PACKAGES
    )


def test_public_names_are_the_pinned_ones() -> None:
    pinned = SNAPSHOT.read_text() if SNAPSHOT.exists() else ""
    assert render() == pinned, "public names changed: if wanted, `make snapshots` and read the diff"


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_exist_once_and_are_documented(package: str) -> None:
    module = importlib.import_module(package)
    assert len(set(module.__all__)) == len(module.__all__)
    undocumented = [
        name
        for name in module.__all__
        if (inspect.isclass(value := getattr(module, name)) or inspect.isroutine(value))
        and not inspect.getdoc(value)
    ]
    assert undocumented == []


@pytest.mark.parametrize("package", PACKAGES)
def test_nothing_of_ours_is_public_by_accident(package: str) -> None:
    """A name without underscore at the door is in `__all__`, or it is a module."""
    module = importlib.import_module(package)
    public = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and not isinstance(value, ModuleType)
        and str(getattr(value, "__module__", "")).partition(".")[0] in PACKAGES
    }
    assert public - set(module.__all__) == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_the_door_says_what_the_package_is(package: str) -> None:
    """Three to five sentences: what it is, the one idea, where to start reading."""
    doc = importlib.import_module(package).__doc__ or ""
    sentences = [part for part in doc.replace("\n", " ").split(". ") if part.strip()]
    assert 3 <= len(sentences) <= 5, doc


if __name__ == "__main__":
    SNAPSHOT.write_text(render())
