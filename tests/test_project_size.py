"""The ceilings: 300 lines a module, 40 statements a function, 7 arguments, complexity 8.

Ruff counts statements, arguments and complexity; the tests here count lines, hold ruff to the
same numbers, and ask every waiver for its reason.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
PACKAGES = ("undrift", "filesystem", "memory", "agents", "orchestrator", "evals")
MODULE_LINES = 300
FUNCTION_STATEMENTS = 40
FUNCTION_ARGUMENTS = 7
COMPLEXITY = 8

# A waiver names its rule and then says why, as the last lines of this file show.
WAIVER = re.compile(r"#\s*(?:noqa|type:\s*ignore|pyright:\s*ignore)\b.*")
WAIVER_WITH_REASON = re.compile(
    r"#\s*(?:noqa:\s*[A-Z]+\d+(?:,\s*[A-Z]+\d+)*|(?:type|pyright):\s*ignore\[[\w, -]+\])"
    r"\W+(?:\w{1,2}\W+)*[^\W\d]{3,}"
)


def modules() -> Iterator[Path]:
    for package in PACKAGES:
        yield from sorted((PROJECT / package).rglob("*.py"))


def sources() -> Iterator[Path]:
    yield from modules()
    for folder in ("tests", "benchmarks", "examples"):
        yield from sorted((PROJECT / folder).rglob("*.py"))


def name(path: Path) -> str:
    return path.relative_to(PROJECT).as_posix()


def statements(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Statements in the body, nested ones too; the docstring is none."""
    found = sum(isinstance(node, ast.stmt) for node in ast.walk(function)) - 1
    return found - (ast.get_docstring(function) is not None)


def arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Arguments that a caller may give: `self` and `cls` are not."""
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return sum(argument.arg not in ("self", "cls") for argument in given)


def test_modules_fit_their_ceiling() -> None:
    # A test file is a list of cases, which splitting would not make clearer.
    lengths = {
        name(path): len(path.read_text().splitlines())
        for path in sources()
        if not path.is_relative_to(PROJECT / "tests")
    }
    assert {where: lines for where, lines in lengths.items() if lines > MODULE_LINES} == {}


def test_functions_fit_their_ceilings() -> None:
    long: list[str] = []
    for path in modules():
        # A command's options are its arguments, declared as Typer does.
        command_line = path.is_relative_to(PROJECT / "orchestrator" / "cli")
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if statements(node) > FUNCTION_STATEMENTS:
                long.append(
                    f"{name(path)}:{node.lineno} {node.name}: {statements(node)} statements"
                )
            if arguments(node) > FUNCTION_ARGUMENTS and not command_line:
                long.append(f"{name(path)}:{node.lineno} {node.name}: {arguments(node)} arguments")
    assert long == []


def test_ruff_enforces_the_same_ceilings() -> None:
    lint = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["ruff"]["lint"]
    assert lint["mccabe"]["max-complexity"] == COMPLEXITY
    assert lint["pylint"]["max-statements"] == FUNCTION_STATEMENTS
    assert lint["pylint"]["max-args"] == FUNCTION_ARGUMENTS
    assert {"C90", "PL"} <= set(lint["select"])
    ceilings = {"C901", "PLR0913", "PLR0915"}
    assert not ceilings & set(lint["ignore"])
    waived = {folder: ceilings & set(rules) for folder, rules in lint["per-file-ignores"].items()}
    assert {folder for folder, rules in waived.items() if rules} <= {"orchestrator/cli/**"}


def test_every_waiver_gives_its_reason() -> None:
    bare = [
        f"{name(path)}:{number}: {waiver.group()}"
        for path in sources()
        if path != Path(__file__)
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if (waiver := WAIVER.search(line)) and not WAIVER_WITH_REASON.search(line)
    ]
    assert bare == []


@pytest.mark.parametrize(
    ("line", "has_reason"),
    [
        ("x = 1  # noqa", False),
        ("x = 1  # noqa: BLE001", False),
        ("x = 1  # noqa: BLE001 S608", False),
        ("x = 1  # type: ignore[arg-type]", False),
        ("x = 1  # noqa: BLE001 - the boundary of a tool call", True),
        ("x = 1  # noqa: S608, E501: only names of our own tables", True),
        ("x = 1  # pyright: ignore[reportPrivateUsage] - one object, two files", True),
    ],
)
def test_a_reason_is_told_from_none(line: str, has_reason: bool) -> None:
    assert WAIVER.search(line)
    assert bool(WAIVER_WITH_REASON.search(line)) is has_reason
