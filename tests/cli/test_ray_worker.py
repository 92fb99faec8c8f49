"""The actor of a Ray cluster runs the program of a worker, and loads nothing of it."""

import subprocess
import sys

from gramme.cli.ray_worker import RayWorker

PROGRAM = """#!/bin/sh
echo "$*" > {folder}/said
echo "$RANK $HOME" >> {folder}/said
cat "$GRAMME_JOB" >> {folder}/said
exit 7
"""


def test_it_runs_the_program_with_its_job_and_hands_over_how_it_ended(tmp_path, monkeypatch):
    program = tmp_path / "python"
    program.write_text(PROGRAM.format(folder=tmp_path))
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setenv("HOME", "here")
    assert RayWorker().run('{"seed": 3}', "GRAMME_JOB", {"RANK": "1"}) == 7
    said = (tmp_path / "said").read_text().splitlines()
    assert said == ["-m gramme.cli.parts_fit", "1 here", '{"seed": 3}']


def test_it_loads_nothing_that_takes_long():
    code = "import sys, gramme.cli.ray_worker; sys.exit(bool({'torch', 'numpy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
