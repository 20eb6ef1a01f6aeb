"""`doctor`: what it looks at, and that it never shows a value."""

import http.server
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from orchestrator.cli import checks
from orchestrator.cli.app import app


@pytest.fixture
def url() -> Iterator[str]:
    """A server that answers 401 to everything."""

    class Refusing(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(401)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in checks.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_a_working_installation(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-value")
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 0, result.stdout
    assert "secret-value" not in result.output
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["ok", "OPENAI_API_KEY", "set"] in lines
    assert ["note", "ANTHROPIC_API_KEY", "not", "set"] in lines
    for name in ("Python", "langgraph", "typer", "SQLite"):
        assert any(line[:2] == ["ok", name] for line in lines), name
    assert list(here.iterdir()) == []


def test_a_server_that_answers_is_reachable_whatever_it_says(here: Path, url: str) -> None:
    result = CliRunner().invoke(app, ["doctor", "--base-url", url, "--json"])
    assert result.exit_code == 0, result.stdout
    found = {each["name"]: each for each in json.loads(result.stdout)["checks"]}
    assert found["base URL"]["state"] == "ok"
    assert "status 401" in found["base URL"]["found"]


def test_a_server_that_does_not_answer_is_code_1_and_its_password_is_not_shown(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://user:hidden-word@127.0.0.1:9/v1")
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 1
    assert "'http://127.0.0.1:9/v1' gives no answer" in result.stdout
    assert "hidden-word" not in result.output


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_runs_folder_without_rights_is_broken(here: Path) -> None:
    (here / "locked").mkdir(mode=0o500)
    assert checks.runs_folder(here / "locked" / "runs").state == "broken"


def test_a_runs_folder_that_is_a_file_is_broken(here: Path) -> None:
    (here / "taken").write_text("a file")
    found = checks.runs_folder(here / "taken" / "runs")
    assert found.state == "broken"
    assert "--out" in found.found


def test_packages_of_another_distribution_are_noticed(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "memory").mkdir()
    (here / "memory" / "__init__.py").write_text("")
    assert checks.own_packages().state == "ok"
    monkeypatch.syspath_prepend(str(here))
    monkeypatch.delitem(__import__("sys").modules, "memory")
    assert checks.own_packages().state == "broken"
