"""`benchmarks/replay.py` as it is called: a table for each group, or a reason why there is none."""

import os
import subprocess
import sys
from pathlib import Path

from test_replay_ours import long_run, write

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "replay.py"


def call(data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *arguments]
    env = os.environ | {"UNDRIFT_TEST_DATA": str(data), "PYTHONPATH": str(SCRIPT.parents[1])}
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False)


def test_the_table_has_each_policy_with_what_it_kept(tmp_path: Path) -> None:
    folder = tmp_path / "trajectories"
    folder.mkdir()
    write(folder / "run.json", long_run())
    (folder / "broken.json").write_text("[")
    wanted = ("auto@30", "micro-3", "random=auto@30", "retry", "none")
    done = call(tmp_path, *(f"--policy={name}" for name in wanted))
    assert done.returncode == 0, done.stderr
    assert "1 files or runs were rejected by name" in done.stdout
    group = done.stdout.partition("with room for 30 %: 1 runs")[2].partition("\n\n")[0]
    rows = {words[0]: words[1:] for line in group.splitlines()[2:] if (words := line.split())}
    kept = {name: float(row[0].rstrip("%")) for name, row in rows.items()}
    present = {name: float(row[1].rstrip("%")) for name, row in rows.items()}
    assert set(rows) == set(wanted)
    assert kept["random=auto@30"] <= kept["auto@30"] <= 33 < kept["none"] == 100
    assert present["none"] == 100
    assert present["auto@30"] > present["random=auto@30"]
    assert (present["retry"], rows["retry"][4]) == (0, rows["retry"][5]), "nothing was taken"


def test_without_recorded_runs_it_says_what_to_set(tmp_path: Path) -> None:
    done = call(tmp_path / "absent")
    assert (done.returncode, "set UNDRIFT_TEST_DATA" in done.stderr) == (2, True)
