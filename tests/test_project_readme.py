"""The examples of README and docs run, as a reader would run them, with no network and no API key.

A fenced block is run when the line above it is `<!-- run -->`; Python and shell blocks can be marked.
Each runs in an empty folder that holds copies of the project's documents and examples.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
MARKED = re.compile(r"^<!-- run -->\n```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
MARK = re.compile(r"^<!-- run -->$", re.MULTILINE)

# A child process is out of pytest-socket's reach: this takes its place there.
LOOPBACK_ONLY = """
import socket
connect = socket.socket.connect
def guarded(self, address):
    if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
        raise OSError(f"this example tried to reach {address!r}: README examples need no network")
    return connect(self, address)
socket.socket.connect = guarded
"""


PAGES = (PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md")))


def examples() -> list[tuple[str, str, str]]:
    """(name, language, code) of every marked block."""
    return [
        (f"{page.name}-{number}", language, code)
        for page in PAGES
        for number, (language, code) in enumerate(MARKED.findall(page.read_text()), 1)
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A clone as a reader has it, and beside it the guard of its child processes."""
    clone, guard = tmp_path / "clone", tmp_path / "guard"
    guard.mkdir()
    (guard / "sitecustomize.py").write_text(LOOPBACK_ONLY)
    clone.mkdir()
    for name in ("docs", "examples"):
        shutil.copytree(PROJECT / name, clone / name)
    shutil.copy(PROJECT / "README.md", clone)
    return clone


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    bin_folder = str(Path(sys.executable).parent)
    environment = {
        "PATH": os.pathsep.join([bin_folder, "/usr/local/bin", "/usr/bin", "/bin"]),
        "PYTHONPATH": str(folder.parent / "guard"),
        "HOME": str(folder.parent),
        "LANG": "C.UTF-8",
    }
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )


def test_every_mark_belongs_to_an_example() -> None:
    marks = sum(len(MARK.findall(page.read_text())) for page in PAGES)
    assert len(examples()) == marks
    in_readme = {language for name, language, _ in examples() if name.startswith("README")}
    assert in_readme == {"python", "sh"}


def test_an_example_cannot_reach_the_network(folder: Path) -> None:
    reach = "import socket; socket.create_connection(('192.0.2.1', 9), timeout=1)"
    done = run([sys.executable, "-c", reach], folder)
    assert done.returncode != 0
    assert "README examples need no network" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "code"),
    [pytest.param(language, code, id=name) for name, language, code in examples()],
)
def test_an_example_runs(language: str, code: str, folder: Path) -> None:
    interpreter = {"python": [sys.executable, "-c"], "sh": ["bash", "-euc"]}[language]
    done = run([*interpreter, code], folder)
    assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"
    assert done.stdout.strip(), "an example shows something"


@pytest.mark.slow
def test_the_demo_ends_with_a_report_of_verified_citations(folder: Path) -> None:
    """The question of `make demo` over the documents of `make demo`."""
    makefile = (PROJECT / "Makefile").read_text()
    asked = re.search(r"^QUESTION \?= (.+)$", makefile, re.MULTILINE)
    assert asked
    assert '"$$QUESTION" --docs docs --out runs' in makefile
    command = ["undrift", "research", asked[1], "--docs", "docs", "--out", "runs", "--quiet"]
    done = run(command, folder)
    assert done.returncode == 0, done.stderr
    (report,) = (folder / "runs").glob("*/report.json")
    citations = json.loads(report.read_text())["citations"]
    verified = [
        citation
        for citation in citations
        if citation["quotes"] and all(quote["verified"] for quote in citation["quotes"])
    ]
    assert len(verified) >= 8
    assert len(verified) == len(citations)
