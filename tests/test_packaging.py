"""What `make dist` builds: a wheel and an sdist that hold what they must, and install into an empty environment.

`GRAMME_DIST` names a folder with both, as `make dist` does; without it they are built here, which takes seconds.
"""

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

from gramme._version import __version__

pytest.importorskip("build")
pytest.importorskip("hatchling")

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "gramme"


def output(*command: object, **more: object) -> str:
    """What a command prints; it must end with 0."""
    words = [str(one) for one in command]
    ended = subprocess.run(words, capture_output=True, text=True, check=False, **more)
    assert ended.returncode == 0, f"{command}\n{ended.stdout}\n{ended.stderr}"
    return ended.stdout


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel, made from the sdist, and the sdist."""
    if "GRAMME_DIST" in os.environ:
        return Path(os.environ["GRAMME_DIST"]).resolve()
    folder = tmp_path_factory.mktemp("dist")
    output(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    return folder


@pytest.fixture(scope="session")
def wheel(dist: Path) -> Path:
    (found,) = dist.glob("*.whl")
    return found


@pytest.fixture(scope="session")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty virtual environment with the wheel; what it depends on is lent by the one the tests run in."""
    place = tmp_path_factory.mktemp("empty") / "venv"
    output(sys.executable, "-m", "venv", "--without-pip", place)
    python = place / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    output(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel)
    (packages,) = (place / "lib").glob("python*/site-packages")
    # a path alone: .pth files in the lending folder, and with them the working copy, do not count
    (packages / "lent.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return place


def installed(environment: Path, *words: object, folder: Path) -> str:
    """What a program of the environment prints, away from the working copy."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return output(environment / "bin" / str(words[0]), *words[1:], cwd=folder, env=inherited)


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    mine = {
        f"gramme/{path.relative_to(PACKAGE).as_posix()}"
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if not name.startswith(f"gramme-{__version__}.dist-info/")} == mine
    assert {"gramme/py.typed", "gramme/cli/topics/files.txt"} <= mine


def test_the_metadata_say_version_licence_needs_and_command(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    about = f"gramme-{__version__}.dist-info"
    metadata = archive.read(f"{about}/METADATA").decode()
    for line in (
        f"Version: {__version__}",
        "License-Expression: BSD-3-Clause",
        "Requires-Python: <3.14,>=3.11",
        "Requires-Dist: torch<3,>=2.5",
        "Provides-Extra: pyg",
    ):
        assert f"\n{line}\n" in metadata
    assert "gramme = gramme.cli:main" in archive.read(f"{about}/entry_points.txt").decode()
    assert f"{about}/licenses/LICENSE" in archive.namelist()


def test_the_version_stands_in_one_place(dist: Path) -> None:
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f'"{__version__}"' not in (ROOT / "pyproject.toml").read_text()
    assert {path.name for path in dist.iterdir() if path.suffix in (".whl", ".gz")} == {
        f"gramme-{__version__}.tar.gz",
        f"gramme-{__version__}-py3-none-any.whl",
    }


def test_the_sdist_has_what_a_packager_needs(dist: Path) -> None:
    (path,) = dist.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {"README.md", "LICENSE", "CONTRIBUTING.md", "SECURITY.md", "Makefile", "constraints.txt"}
    assert wanted | {"src/gramme/py.typed", "tests/test_architecture.py", "docs/index.md"} <= names
    assert not [name for name in names if name.startswith(("build/", ".venv", "dist/"))]


def test_the_index_would_take_them(dist: Path) -> None:
    pytest.importorskip("twine")
    files = [path for path in dist.iterdir() if path.suffix in (".whl", ".gz")]
    output(sys.executable, "-m", "twine", "check", "--strict", *files)


def test_installed_it_runs(environment: Path, tmp_path: Path) -> None:
    where = installed(environment, "python", "-c", "import gramme; print(gramme.__file__)", folder=tmp_path)
    assert Path(where.strip()).is_relative_to(environment)
    assert installed(environment, "gramme", "--version", folder=tmp_path).strip() == __version__
    again = installed(environment, "python", "-m", "gramme", "--version", folder=tmp_path)
    assert again.strip() == __version__
    assert "sheet per layer" in installed(environment, "gramme", "help", "files", folder=tmp_path)
    assert "625" in installed(environment, "gramme", "info", "balance_scale", folder=tmp_path)


@pytest.mark.slow
def test_installed_the_demo_runs(environment: Path, tmp_path: Path) -> None:
    shown = installed(environment, "gramme", "demo", folder=tmp_path)
    assert "accuracy" in shown
    assert (tmp_path / "gramme-demo" / "report.html").is_file()
