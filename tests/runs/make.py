"""The golden run: one finished run per released version is kept and must stay readable and replayable.

    python tests/runs/make.py

writes `tests/runs/VERSION/` anew for the version in `pyproject.toml`: done once, at a release; the folders
of earlier versions are never written again. `tests/orchestrator/test_golden_runs.py` replays them all.
"""

import asyncio
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.golden_run import RUNS, TASK, team

KEPT = ("run.json", "events.db", "usage.json", "transcripts")
"""What is kept of a run folder."""


def main() -> None:
    """Write the golden run of this version."""
    project = tomllib.loads((RUNS.parents[1] / "pyproject.toml").read_text())["project"]
    with tempfile.TemporaryDirectory() as folder:
        result = asyncio.run(team(Path(folder)).run(TASK, run_id="golden"))
        assert result.folder is not None
        target = RUNS / project["version"]
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for name in KEPT:
            source = result.folder / name
            copy = shutil.copytree if source.is_dir() else shutil.copyfile
            copy(source, target / name)
    print(f"wrote {target}")


if __name__ == "__main__":
    main()
