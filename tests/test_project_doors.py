"""The package is the door: what a module may import of our packages, and by which path.

Which package may import which other one is import-linter's part (`pyproject.toml`); the tests
here look at the form of the import.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
PACKAGES = ("undrift", "filesystem", "memory", "agents", "orchestrator", "evals")


def wrong_imports(source: str, package: str | None) -> list[str]:
    """Imports in `source` that pass by a door; `package` is the one it belongs to, or None."""
    return [
        f"line {line}: {module}"
        for line, module, names in absolute_imports(ast.parse(source))
        if (root := module.partition(".")[0]) in PACKAGES
        and (root == package or module != root or any(name.startswith("_") for name in names))
    ]


def absolute_imports(tree: ast.AST) -> Iterator[tuple[int, str, list[str]]]:
    """Line, module and imported names, for `import`, `from` and `import_module("...")`."""
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                for alias in node.names:
                    yield node.lineno, alias.name, []
            case ast.ImportFrom(level=0, module=str(module)):
                yield node.lineno, module, [alias.name for alias in node.names]
            case ast.Call(
                func=ast.Name(id="import_module") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(module)), *_],
            ) if not module.startswith("."):
                yield node.lineno, module, []
            case _:
                pass


def modules(package: str) -> list[Path]:
    return sorted((PROJECT / package).rglob("*.py"))


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_go_through_the_door(package: str) -> None:
    assert modules(package), f"{package} holds no module"
    wrong = {
        path.relative_to(PROJECT).as_posix(): found
        for path in modules(package)
        if (found := wrong_imports(path.read_text(), package))
    }
    assert wrong == {}


def test_users_code_imports_the_facade_alone() -> None:
    """Examples, README and docs show what a user may rely on: `from undrift import ...`."""
    shown = {
        path.relative_to(PROJECT).as_posix(): path.read_text()
        for path in sorted((PROJECT / "examples").rglob("*.py"))
    }
    for page in (PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))):
        blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
        shown |= {
            f"{page.relative_to(PROJECT)} block {n}": code for n, code in enumerate(blocks, 1)
        }
    wrong = {
        where: roots
        for where, code in shown.items()
        if (
            roots := {module for _, module, _ in absolute_imports(ast.parse(code))}
            & {*PACKAGES[1:]}
        )
        or wrong_imports(code, None)
    }
    assert wrong == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_shares_its_name_with_a_public_name(package: str) -> None:
    """`from memory import recite` must never give the module where the function was meant."""
    folder = PROJECT / package
    inside = {path.stem for path in folder.glob("*.py")} | {
        path.parent.name for path in folder.glob("*/__init__.py")
    }
    public = set(__import__(package).__all__)
    assert inside & public == set()


@pytest.mark.parametrize(
    ("source", "is_wrong"),
    [
        ("from memory import EventLog", False),
        ("import memory", False),
        ("from .blocks import Text", False),
        ("from ..errors import Refused", False),
        ("import agentscope", False),
        ("from memory.log import EventLog", True),
        ("import memory.log", True),
        ("from memory import _pieces", True),
        ("from agents.loop import turn", True),
        ("from agents import Agent", True),
        ("def f():\n    from memory.log import EventLog", True),
        ("import_module('memory.log')", True),
        ("importlib.import_module('memory')", False),
        ("import_module('.log', __name__)", False),
    ],
)
def test_a_wrong_import_is_told_from_a_right_one(source: str, is_wrong: bool) -> None:
    """Seen from a module of `agents`."""
    assert bool(wrong_imports(source, "agents")) is is_wrong
