"""CPU seconds from the shell's prompt to the first word: ``gramme --help`` and commands that need no model.

Each command runs several times in a process of its own; the least CPU time, user and system, counts. An empty Python
and one that imports numpy stand beside them to compare with.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys

COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "python -c 'import numpy'": ["-c", "import numpy"],
    "import gramme": ["-c", "import gramme"],
    "gramme --help": ["-m", "gramme", "--help"],
    "gramme fit --help": ["-m", "gramme", "fit", "--help"],
    "gramme methods": ["-m", "gramme", "methods"],
    "gramme datasets list": ["-m", "gramme", "datasets", "list"],
    "gramme info balance_scale": ["-m", "gramme", "info", "balance_scale"],
}


def cpu_seconds(arguments: list[str]) -> float:
    """User and system seconds of a process with these arguments for Python."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3, help="runs per command")
    repeats = parser.parse_args().repeats
    print(f"{'command':<28}{'CPU seconds':>12}{'times numpy':>13}")
    numpy = None
    for name, arguments in COMMANDS.items():
        seconds = min(cpu_seconds(arguments) for _ in range(repeats))
        numpy = seconds if "numpy" in name else numpy
        ratio = "" if numpy is None else f"{seconds / numpy:.1f}"
        print(f"{name:<28}{seconds:>12.2f}{ratio:>13}")


if __name__ == "__main__":
    main()
