"""``gramme datasets``: which datasets there are, what is known about each, and getting their files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table

import gramme
from gramme._progress import part
from gramme._text import escape, json_text

from .console import messages, out, warnings_as_notes
from .help import epilog
from .progress import saying

if TYPE_CHECKING:
    from gramme.datasets.record import DatasetInfo

app = typer.Typer(help="The datasets: list them, read about one, get its files.", invoke_without_command=True)
AS_JSON = typer.Option(False, "--json", help="Print JSON instead.")


@app.callback()
def default(context: typer.Context) -> None:
    """The datasets: list them, read about one, get its files."""
    if context.invoked_subcommand is None:
        list_(as_json=False)


@app.command("list", epilog=epilog("datasets list"))
def list_(as_json: bool = AS_JSON) -> None:
    """All datasets, their sizes and where they are now."""
    with warnings_as_notes():
        dataset_rows = [(gramme.datasets.info(name), gramme.datasets.where(name)) for name in gramme.datasets.names()]
    if as_json:
        _print_json([record.as_dict() | {"where": where} for record, where in dataset_rows])
        return
    dataset_table = Table("name", box=None, pad_edge=False, header_style="bold")
    for column in ("nodes", "layers", "classes"):
        dataset_table.add_column(column, justify="right")
    dataset_table.add_column("what")
    dataset_table.add_column("where", overflow="fold")
    for record, where in dataset_rows:
        sizes = (_number(size) for size in (record.nodes, record.layers, record.classes))
        dataset_table.add_row(record.name, *sizes, escape(record.description), escape(where))
    out.print(dataset_table, soft_wrap=False)


@app.command(epilog=epilog("datasets info"))
def info(name: str = typer.Argument(help="A dataset, see gramme datasets list."), as_json: bool = AS_JSON) -> None:
    """Everything known about a dataset: recipe, citation, licence, caveats, files, options."""
    dataset_info = gramme.datasets.info(name)
    with warnings_as_notes():
        data_place = gramme.datasets.where(name)
    if as_json:
        _print_json(dataset_info.as_dict() | {"where": data_place})
        return
    sizes = (_number(size) for size in (dataset_info.nodes, dataset_info.layers, dataset_info.classes))
    shown_facts = {
        "size": "{} nodes, {} layers, {} classes".format(*sizes),
        "what": dataset_info.description,
        "recipe": dataset_info.recipe,
        "caveat": dataset_info.caveat,
        "citation": dataset_info.citation,
        "licence": dataset_info.licence,
        "where": data_place,
        "options": "\n".join(f"{key}: {meaning}" for key, meaning in dataset_info.options.items()),
        "use": _with_options(dataset_info),
        "files": "\n".join(
            f"{file.folder}/{file.name}, {file.size:,} bytes\n  sha256 {file.sha256}\n"
            f"  {file.address or 'no public address'}"
            for file in dataset_info.files
        ),
    }
    out.print(f"[bold]{escape(dataset_info.title)}[/] ({escape(dataset_info.name)})\n")
    fact_table = Table.grid(padding=(0, 2))
    fact_table.add_column()
    fact_table.add_column(overflow="fold")
    for fact, text in shown_facts.items():
        if text:
            fact_table.add_row(f"[bold]{fact}[/]", escape(text))
    out.print(fact_table, soft_wrap=False)


@app.command(epilog=epilog("datasets download"))
def download(names: list[str] = typer.Argument(help="One or more datasets, or all.")) -> None:
    """Get the files of datasets that are not on this machine yet."""
    dataset_names = _with_files() if names == ["all"] else names
    for name in dataset_names:
        # a misspelled name ends the command before anything is downloaded
        gramme.datasets.info(name)
    for name in dataset_names:
        with (
            warnings_as_notes(),
            saying(None, silent=messages.is_terminal),  # a bar of its own is shown there
            part(f"Downloading {name}", 1 / len(dataset_names)),
        ):
            paths = gramme.datasets.download(name)
        folder_names = ", ".join(dict.fromkeys(str(path.parent) for path in paths))
        messages.print(f"{escape(name)}: {escape(folder_names or gramme.datasets.where(name))}")


def _with_files() -> list[str]:
    """The datasets whose files are here or can be downloaded."""
    return [
        name
        for name in gramme.datasets.names()
        if gramme.datasets.info(name).files and gramme.datasets.where(name) != "missing, not downloadable"
    ]


def _with_options(record: DatasetInfo) -> str:
    """How a command is told an option of the dataset, if it has any."""
    if not record.options:
        return ""
    option = next(iter(record.options))
    return f"{record.name}:{option}=VALUE wherever a command takes DATA"


def _number(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def _print_json(value: Any) -> None:
    typer.echo(json_text(value, indent=2))
