"""``gramme report``: one HTML page about a fit or about a benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gramme._progress import part
from gramme._text import escape
from gramme.errors import DataError

from .console import check_new_file, check_not_read, out, warnings_as_notes
from .options import OverwriteFile, Reading, takes_options

SQLITE = b"SQLite format 3\x00"
"""How the file of a benchmark's ledger begins."""


@takes_options
def report(
    source: Annotated[
        Path, typer.Argument(help="A folder of gramme fit, or the ledger of gramme benchmark (.sqlite).")
    ],
    target: Path = typer.Option(..., "--out", help="HTML file to write."),
    data: str | None = typer.Option(None, "--data", help="The data of the fit, to make its page from the model anew."),
    overwrite: OverwriteFile = False,
    *,
    read: Reading,
) -> None:
    """Write one HTML page that opens offline: about a fit, or about all runs of a benchmark.

    The page of a fit is made from the one in its folder. With --data it is made from the model and the data it was
    fitted on, which works even if the page is gone.
    """
    check_new_file(target, "report.html", overwrite=overwrite)
    if not source.exists():
        raise DataError(f"there is no folder or ledger {str(source)!r}")
    if _is_ledger(source):
        if data is not None:
            raise DataError("--data is for the page of a fit; a ledger holds all that its page needs")
        check_not_read(target, [source])
        from gramme.evaluation.ledger import ledger_task
        from gramme.report.page.benchmark_page import benchmark_page, link_benchmark_page

        task_name = ledger_task(source)
        if task_name == "ask":
            raise DataError(
                f"{source} is a ledger of gramme benchmark --task ask, which has no page; "
                f"gramme results {source} shows it"
            )
        page_text = link_benchmark_page(source) if task_name == "links" else benchmark_page(source)
    elif data is not None:
        from gramme.methods import load
        from gramme.report.page.again import page_from_model

        from .data import open_again
        from .fit_steps import table_record

        fit_folder = source if source.is_dir() else source.parent
        model_path = fit_folder / "model.safetensors"
        check_not_read(target, [model_path, data], read)
        with warnings_as_notes():
            model = load(model_path)
            opened_data = open_again(data, table_record(model_path), read)
            with part("Making the page", 1.0):
                page_text = page_from_model(fit_folder, model, opened_data.graph)
    else:
        page_text = _from_page(source)
    from gramme.io.atomic import write_files

    write_files({target: page_text}, overwrite=overwrite)
    out.print(escape(f"open {target}"))


def _is_ledger(source: Path) -> bool:
    if not source.is_file():
        return False
    with source.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def _from_page(source: Path) -> str:
    from gramme.report.page.again import page_from_page

    page_path = source if source.suffix == ".html" else source / "report.html"
    if page_path.is_file():
        return page_from_page(page_path)
    if source.is_dir() and (source / "model.safetensors").is_file():
        raise DataError(
            f"{source} has no report.html to go by; say --data DATA, the data it was fitted on, to make it anew"
        )
    raise DataError(f"{source} is neither a folder of gramme fit nor a ledger of gramme benchmark (an sqlite file)")
