"""DATA on the command line: a file of any known format or, if there is no such file, a dataset."""

from __future__ import annotations

from dataclasses import dataclass, replace
from glob import glob
from inspect import signature
from pathlib import Path
from typing import Any

from gramme import datasets
from gramme.datasets.registry import REGISTRY
from gramme.errors import DataError, NoEdgesError, did_you_mean
from gramme.graph import MultilayerGraph
from gramme.io import ReadReport, inspect, inspect_relations
from gramme.io.api import is_address
from gramme.io.headers import edge_header
from gramme.io.plain_table import ENDINGS, header_of
from gramme.io.source import gathered

from .console import note
from .options import TABLE_ONLY, Reading, value_from_text
from .progress import reading
from .table import open_table, open_table_again


# A dataset as one word of the command line, with its options: ``acm_heco:view=relations``.
def is_dataset(word: str) -> bool:
    """Whether a word names a dataset, perhaps with options."""
    return word.partition(":")[0] in REGISTRY


def load_dataset(word: str) -> MultilayerGraph:
    """The graph of a dataset's name and, after colons, its options; the name of an only option may be left out."""
    dataset_name, *option_texts = word.split(":")
    return datasets.load(dataset_name, **_options(dataset_name, option_texts))


def _options(name: str, texts: list[str]) -> dict[str, Any]:
    accepted_parameters = signature(REGISTRY[name].build).parameters
    known_options = {option: accepted_parameters[option].default for option in datasets.info(name).options}
    chosen_options: dict[str, Any] = {}
    for text in texts:
        option, equals_sign, option_text = text.partition("=")
        if not equals_sign and len(known_options) == 1:
            option, option_text = next(iter(known_options)), text
        elif not equals_sign:
            example_option = next(iter(known_options), None)
            hint = "it has none" if example_option is None else f"write it like {name}:{example_option}=VALUE"
            raise DataError(f"{text!r} is not an option of the dataset {name!r}; {hint}")
        if option not in known_options:
            hint = did_you_mean(option, known_options) if known_options else "it has none"
            raise DataError(f"the dataset {name!r} has no option {option!r}; {hint}")
        if option in chosen_options:
            raise DataError(f"the option {option!r} of the dataset {name!r} is named twice")
        quoted_option = f"{name}:{option}={option_text}"
        chosen_options[option] = value_from_text(quoted_option, option, option_text.strip(), known_options[option])
        if isinstance(chosen_options[option], dict):
            raise DataError(f"{quoted_option}: {option} must be a single value")
    return chosen_options


@dataclass(frozen=True)
class Opened:
    """DATA after reading: the graph, the report of the reading, and how a table became layers."""

    graph: MultilayerGraph
    report: ReadReport | None = None
    table: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()

    def described(self, label: str | None) -> dict[str, Any]:
        """What the settings of a fit note of the data: how a table became layers, the notes, the name of the label."""
        label_name = label or (self.table or {}).get("label")
        noted_facts = {"table": self.table, "reading": list(self.notes), "label": label_name}
        return {key: value for key, value in noted_facts.items() if value}


def open_data(names: str | list[str], read: Reading, *, needs_label: bool = True, quiet: bool = True) -> Opened:
    """Read a table, which may have to have a column of labels, files of edges or, without such a file, a dataset.

    Unless ``quiet``, the notes from reading are printed.
    """
    names = [names] if isinstance(names, str) else names
    relation_files = [] if not read.relation else list(read.relation_files().values())
    with reading([*names, *relation_files, *([] if read.labels is None else [str(read.labels)])]):
        opened = _open_data(names, read, needs_label)
    for sentence in () if quiet else opened.notes:
        note(sentence)
    return opened


def _open_data(names: list[str], read: Reading, needs_label: bool) -> Opened:
    if read.relation or read.target_kind is not None or read.path:
        return _open_relations(names, read)
    if not names:
        raise DataError("name DATA: a file, several with a layer each, or a dataset")
    if read.is_table and len(names) > 1 and read.labels is None:
        # a table beside files of edges describes their nodes
        *names, table_name = names
        read = replace(read, is_table=False, labels=Path(table_name))
    if read.is_table:
        return _open_table(_single(names, "--table"), read, needs_label)
    table_options = read.used(*TABLE_ONLY)
    if table_options:
        raise DataError(f"{', '.join(table_options)} can be said about a table only; add --table")
    if len(names) > 1 or _is_file(names[0]):
        for name in names:
            if not _is_file(name):
                raise _no_file(name)
        try:
            graph, report = inspect(names if len(names) > 1 else names[0], **read.file_options())
        except NoEdgesError as error:
            table_hint = None if read.source_format or read.no_header else _table_hint(names, error, read)
            if table_hint is None:
                raise
            raise DataError(table_hint) from error
        return Opened(graph, report, notes=report.notes)
    name = names[0]
    if not is_dataset(name):
        raise _no_file(name)
    given_options = [one for one in read.used() if one != "--label-kind"]
    if given_options:
        raise DataError(f"{name!r} is a dataset, which comes complete; leave out {', '.join(given_options)}")
    return Opened(load_dataset(name))


def _open_relations(names: list[str], read: Reading) -> Opened:
    """The graph of --relation, or of a table of relations with --target."""
    refused_options = read.used("is_table", "source_format", *TABLE_ONLY)
    if refused_options:
        raise DataError(f"{refused_options[0]} cannot go with several kinds of node")
    if names and read.relation:
        raise DataError(f"--relation names the files; leave out {names[0]!r}")
    if not names and not read.relation:
        raise DataError("--target needs --relation, or a table of relations as DATA")
    relation_files: Any = read.relation_files() if read.relation else _single(names, "--target")
    graph, report = inspect_relations(relation_files, **read.kinds_options())
    return Opened(graph, report, notes=report.notes)


def _is_file(name: str) -> bool:
    """Whether a name is a file, a folder, a pattern that matches some, or an address."""
    try:
        return is_address(name) or Path(name).exists() or bool(glob(name))  # noqa: PTH207
    except (OSError, ValueError):
        return False


def _no_file(name: str) -> DataError:
    dataset_names = list(datasets.names())
    if is_dataset(name):
        return DataError(f"{name!r} is a dataset, which cannot be one of several files")
    looks_like_file = "." in name or "/" in name or "\\" in name
    hint = "" if looks_like_file else f"; datasets: {did_you_mean(name, dataset_names)}"
    return DataError(f"there is no file {name!r}{hint}")


def _single(names: list[str], option: str) -> str:
    if len(names) > 1:
        raise DataError(f"{option} is about one file, and {len(names)} are named")
    return names[0]


def _open_table(name: str, read: Reading, needs_label: bool) -> Opened:
    table_path = Path(name)
    if not table_path.exists():
        hint = "; a dataset is not a table: leave out --table" if is_dataset(name) else ""
        raise DataError(f"there is no file {name!r}{hint}")
    edges_only = ("source_column", "target_column", "weight", "layer_column", "edge_features")
    for option in read.used("source_format", "directed", "no_header", "features", "layers_from", *edges_only):
        raise DataError(f"{option} cannot go with --table, which has rows and no edges")
    with gathered() as notes:
        graph, table_record = open_table(table_path, read, needs_label=needs_label)
    return Opened(graph, table=table_record, notes=tuple(notes.all))


def open_again(names: str | list[str], record: dict[str, Any] | None, read: Reading) -> Opened:
    """Read DATA for a model that was fitted before; as a table if the model was fitted on one."""
    names = [names] if isinstance(names, str) else names
    table_path = Path(names[0]) if len(names) == 1 else None
    if (
        record is None
        or read.source_format
        or table_path is None
        or not (table_path.name.lower().endswith(ENDINGS) and table_path.exists())
    ):
        return open_data(names, read, quiet=False)
    if read.label is not None:
        raise DataError("leave out --label: the model knows which column of the table it was")
    with reading(names), gathered() as notes:
        graph = open_table_again(table_path, record, replace(read, is_table=True))
    for sentence in notes.all:
        note(sentence)
    return Opened(graph, table=record, notes=tuple(notes.all))


def _table_hint(names: list[str], error: NoEdgesError, read: Reading) -> str | None:
    """What to say where a file that was read as edges is evidently a table of persons or things."""
    path = Path(error.file)
    if not path.name.lower().endswith(ENDINGS):
        return None
    try:
        column_names = header_of(path, read.encoding)
    except (DataError, OSError):
        return None
    if len(column_names) < 2 or edge_header(column_names) is not None:
        return None
    shown_columns = ", ".join(one or "(without a name)" for one in column_names[:8]) + (
        ", ..." if len(column_names) > 8 else ""
    )
    advice_text = (
        "add --table --label COLUMN to gramme fit"
        if names == [error.file]
        else f"leave it out of the files and add --labels {path} --label COLUMN"
    )
    return (
        f"{path} is not a list of edges: it has no columns source and target (or from and to, ego and alter, ...). If "
        f"every row of it is a person or a thing and its columns say something about them, {advice_text}; "
        f"columns: {shown_columns}. If two of these are the ends of edges, name them with --source and "
        "--target-column; if "
        "its first line is an edge already, add --no-header; a matrix of numbers, --from matrix"
    )
