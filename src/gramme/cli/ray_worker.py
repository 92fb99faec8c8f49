"""One process of a fit on a Ray cluster: it starts the same program as on one machine, and imports nothing of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

from gramme._files import scratch_folder
from gramme._runtime import PARENT, TORCH_LOG_LEVEL


class RayWorker:
    """An actor that runs the program of a worker on the machine where Ray has put it."""

    def host(self) -> str:
        """The address that others reach this machine at."""
        import ray

        address: str = ray.util.get_node_ip_address()
        return address

    def run(self, job: str, variable: str, environment: Mapping[str, str]) -> int:
        """Do this process's share of a job, whose file an environment variable names; returns its exit code."""
        with scratch_folder("job") as scratch:
            path = scratch / "job.json"
            path.write_text(job, encoding="utf-8")
            one = subprocess.Popen(
                [sys.executable, "-m", "gramme.cli.parts_fit"],
                env={**TORCH_LOG_LEVEL, **os.environ, **environment, variable: str(path), PARENT: str(os.getpid())},
            )
            try:
                return one.wait()
            finally:
                one.kill()
