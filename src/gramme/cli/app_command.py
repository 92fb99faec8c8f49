"""``gramme app``: opens a project in the browser. Only the options are here; the work is in the other files."""

from __future__ import annotations

import contextlib
import functools
from pathlib import Path

import typer

from gramme.errors import DataError

DEFAULT_FOLDER = "gramme-project"
"""Where a project goes where neither DATA nor --project says it."""


def app(
    data: list[str] = typer.Argument(
        None, help="Files to open, the name of a dataset, or the folder of a project; none to begin on the page."
    ),
    labels: Path | None = typer.Option(
        None, "--labels", help="File of labels: rows of node and label, or a table of nodes."
    ),
    folder: Path | None = typer.Option(None, "--project", help="Folder of the project; named after DATA if not given."),
    port: int | None = typer.Option(
        None, "--port", min=1, max=65535, help="Port to listen on; a free one if not given."
    ),
    browser: bool = typer.Option(True, "--browser/--no-browser", help="Whether to open a browser."),
) -> None:
    """Look at a network, label a few nodes, fit and send the result, on a page on this machine.

    The project is a folder of plain files: data, labels.csv, project.json and results. Nothing leaves this machine.
    """
    from gramme.app.project import PROJECT, Project, copy_in
    from gramme.app.server import open_browser, serving
    from gramme.cli.console import out
    from gramme.cli.data import is_dataset

    data = data or []
    if labels is not None and not data:
        raise DataError("--labels needs DATA, the files or the table that the labels are about")
    is_project = len(data) == 1 and (Path(data[0]) / PROJECT).is_file()
    if is_project:
        if labels is not None or folder is not None:
            raise DataError(f"{data[0]} is a project, which has its own labels; leave out the options")
        folder, data = Path(data[0]), []
    is_dataset_name = len(data) == 1 and not Path(data[0]).exists() and is_dataset(data[0])
    for name in [] if is_dataset_name else data:
        if not Path(name).is_file():
            raise DataError(f"there is no file {name!r}")
    if folder is None:
        folder = Path(f"{Path(data[0]).stem}-project" if data else DEFAULT_FOLDER)
    project = Project(folder)
    try:
        is_new_project = not (project.folder / PROJECT).exists()
        with serving(project, port) as (address, serve):
            if data and is_new_project and is_dataset_name:
                reading_work = functools.partial(project.open_dataset, data[0], practice=False)
                project.in_background(f"Reading {data[0]}", reading_work)
            elif data and is_new_project:
                data_paths = [Path(name) for name in data]
                copy_in(project, [*data_paths, *([labels] if labels is not None else [])])
                label_file_name = labels.name if labels is not None else None
                project.in_background(f"Reading {data[0]}", lambda: project.open_guessed(label_file_name))
            elif not is_new_project:
                project.in_background(f"Opening {project.folder.name}", project.load)
            else:
                project.load()
            out.print(f"Project {project.folder}", markup=False)
            out.print(f"Open {address}", markup=False)
            out.print("Ctrl-C ends it; everything is saved as you go.")
            if browser:
                open_browser(address)
            with contextlib.suppress(KeyboardInterrupt):  # the usual way to end it
                serve()
    finally:
        project.close()
