"""Fixtures and settings that every test shares.

Sockets: the pytest options in `pyproject.toml` let a test connect to loopback alone, and
`test_project_network.py` fails when that is lost. Time: no test may assert one, so hypothesis
has no deadline.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from support.llama import llama_server  # noqa: F401 - a fixture for every test

PROJECT = Path(__file__).resolve().parent.parent

settings.register_profile("dev", deadline=None)
# The same examples on every CI run: a red build can be repeated, and a new example never
# turns an unrelated change red.
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The user's state folder, which holds the key that marks runs, is one of the tests' own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session")
def project() -> Path:
    """The project's folder."""
    return PROJECT


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of recorded runs and research sets; the test is skipped where it is absent.

    `UNDRIFT_TEST_DATA` names it; without it, `../shared/data` beside the project.
    """
    named = os.environ.get("UNDRIFT_TEST_DATA")
    folder = Path(named) if named else PROJECT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no test data at {str(folder)!r}: set UNDRIFT_TEST_DATA to its folder")
    return folder
