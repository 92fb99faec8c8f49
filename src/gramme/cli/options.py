"""The options that say how to read DATA: declared once, taken by every command that reads any.

A command is decorated with :func:`takes_reading_options` and has a parameter ``read``; on the command line the fields
of :class:`Reading` stand in its place. This file imports nothing heavy, so ``gramme --help`` is quick; ``data.py`` and
``table.py`` act on them.
"""

from __future__ import annotations

import functools
import inspect
import json
import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from gramme.errors import DataError, did_you_mean

if TYPE_CHECKING:
    from gramme.methods import Method, NodeClassifier


# ``--set key=value``: parameters of a method from text, with type checks and a hint for a mistyped name.

MAX_WHOLE_NUMBER = 1_000_000_000
"""No number of epochs, columns or members may be larger: torch could not even compute the memory it would take."""


def make_model(method: Method, settings: Iterable[str], **fixed: Any) -> NodeClassifier:
    """A method with the parameters the user set; ``fixed`` ones are passed where the method knows them."""
    known = method.create().get_params()
    return method.create(**set_parameters(method.name, known, settings, **fixed))


def set_parameters(method: str, known: Mapping[str, Any], settings: Iterable[str], **fixed: Any) -> dict[str, Any]:
    """The parameters that the user set, checked against the method's own parameters, and the ``fixed`` ones."""
    chosen = {name: value for name, value in fixed.items() if name in known}
    for setting in settings:
        name, sign, text = setting.partition("=")
        name = name.strip()
        if not sign:
            raise DataError(f"--set {setting!r}: write it as name=value")
        if name not in known:
            raise DataError(f"{method} has no parameter {name!r}; {did_you_mean(name, known)}")
        chosen[name] = value_from_text(f"--set {name}={text.strip()}", name, text.strip(), known[name])
    return chosen


def value_from_text(said: str, name: str, text: str, default: Any) -> Any:
    """A value from text, of the kind the default has; who takes it checks the range. Errors quote what was said."""
    try:
        value = json.loads(text.lower() if text.lower() in ("true", "false") else text)
    except ValueError:
        value = None if text.lower() == "none" else text
    if isinstance(default, bool):
        fits = isinstance(value, bool)
    elif isinstance(default, (int, float)):
        fits = isinstance(value, (int, float, dict)) and not isinstance(value, bool)
        if isinstance(default, int) and isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and value > MAX_WHOLE_NUMBER and not isinstance(value, bool):
            raise DataError(f"{said}: {name} can be {MAX_WHOLE_NUMBER:,} at most")
    else:
        value = text if isinstance(default, str) and not isinstance(value, str) else value
        fits = True
    if not fits:
        kind = {bool: "true or false", int: "a whole number", float: "a number"}[type(default)]
        raise DataError(f"{said}: {name} must be {kind}")
    return value


Data = Annotated[
    list[str], typer.Argument(help="A file, several with a layer each, a folder of such, or the name of a dataset.")
]
OutFolder = Annotated[Path, typer.Option("--out", help="Folder to write the results to.", show_default=False)]
Layers = Annotated[list[str] | None, typer.Option("--layer", help="Use this layer only; may be repeated.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same result.")]
RawCsv = Annotated[
    bool, typer.Option("--raw-csv", help="Write CSV cells as they are, also those that a spreadsheet runs as formulas.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an earlier result.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print a JSON object for scripts.")]
Coverage = Annotated[
    str | None,
    typer.Option(
        "--coverage",
        help="Also give every node a set of classes that holds the true one this often, like 90%.",
        show_default=False,
    ),
]
CoverageByClass = Annotated[
    bool, typer.Option("--coverage-by-class", help="Reach --coverage in every class separately.")
]
_FILES = "Reading"
_TABLES = "Tables and attributes of nodes"
_KINDS = "Several kinds of node"


def _option(*names: str, help: str, panel: str = _FILES, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


_table, _kind = functools.partial(_option, panel=_TABLES), functools.partial(_option, panel=_KINDS)


@dataclass
class Reading:
    """What was said on the command line about reading DATA."""

    labels: Annotated[
        Path | None, _option("--labels", help="File of labels: a list, rows of node and label, or a table.")
    ] = None
    labels_format: Annotated[str | None, _option("--labels-format", help="What that file is: list or pairs.")] = None
    label: Annotated[str | None, _option("--label", help="The column or attribute of nodes that is the label.")] = None
    source_format: Annotated[str | None, _option("--from", help="Format of the file where its name says none.")] = None
    no_header: Annotated[bool, _option("--no-header", help="The first line of a list of edges is an edge already.")] = (
        False
    )
    source_column: Annotated[str | None, _option("--source", help="The column with the first node of an edge.")] = None
    target_column: Annotated[
        str | None, _option("--target-column", help="The column with the second node of an edge.")
    ] = None
    weight: Annotated[str | None, _option("--weight", help="The column with weights.")] = None
    layer_column: Annotated[
        str | None, _option("--layer-column", help="The column that names the layer of an edge.")
    ] = None
    edge_features: Annotated[
        list[str] | None, _option("--edge-features", help="Columns or attributes that are features of the edges.")
    ] = None
    directed: Annotated[
        bool | None,
        _option(
            "--directed/--undirected",
            help="Whether edges have a direction, whatever the file says.",
            show_default=False,
        ),
    ] = None
    encoding: Annotated[str, _option("--encoding", help="Encoding of text files, where it is not to be guessed.")] = (
        "auto"
    )
    missing: Annotated[
        list[str] | None, _option("--missing", help="Further labels or cells that mean 'not known', like 99.")
    ] = None
    keep_na: Annotated[bool, _option("--keep-na", help="NA, NaN, null, ? and . are values, not 'not known'.")] = False
    label_bins: Annotated[
        int | None, _option("--label-bins", help="Cut labels that are numbers into classes of equal size.")
    ] = None
    label_edges: Annotated[
        str | None, _option("--label-edges", help="Cut labels that are numbers at these, like 20,50,80.")
    ] = None
    label_kind: Annotated[
        str | None, _option("--label-kind", help="What labels that are numbers mean: class or number.")
    ] = None
    relation: Annotated[
        list[str] | None,
        _kind(
            "--relation", help="Pairs of two kinds of node, like paper:author=pa.csv; may be repeated, needs no DATA."
        ),
    ] = None
    target_kind: Annotated[
        str | None, _kind("--target", help="The kind to label, with --relation or a table of relations.")
    ] = None
    path: Annotated[
        list[str] | None,
        _kind("--path", help="A way from that kind to another that is a layer, like author-paper-venue."),
    ] = None
    is_table: Annotated[
        bool, _table("--table", help="DATA is a table with a row per person or thing (CSV, TSV, Excel or Parquet).")
    ] = False
    id: Annotated[str | None, _table("--id", help="The column with the names of the rows.")] = None
    columns: Annotated[
        list[str] | None, _table("--columns", help="The columns to use, like age,city; all if not given.")
    ] = None
    features: Annotated[list[str] | None, _table("--features", help="Columns of --labels that are features.")] = None
    layers_from: Annotated[list[str] | None, _table("--layers-from", help="Columns of --labels that are layers.")] = (
        None
    )
    bins: Annotated[list[str] | None, _table("--bins", help="Cut numbers into groups, like age=5 or age=18:35:65.")] = (
        None
    )
    quantiles: Annotated[
        list[str] | None, _table("--quantiles", help="Cut numbers into groups of equal size, like income=4.")
    ] = None
    knn: Annotated[
        list[str] | None,
        _table("--knn", help="Join each row to those with the nearest numbers, like income=10 or lat+lon=10."),
    ] = None
    split: Annotated[list[str] | None, _table("--split", help="Cells with several values, like 'authors=;'.")] = None
    dates: Annotated[
        list[str] | None, _table("--dates", help="Group dates by decade, year, month or weekday, like joined=month.")
    ] = None
    missing_group: Annotated[bool, _table("--missing-group", help="Rows with a missing value are alike in that.")] = (
        False
    )

    def marks(self) -> list[str]:
        """What --missing names: each text whole, and its parts between commas."""
        return [mark for text in self.missing or () for mark in dict.fromkeys((text, *text.split(",")))]

    def file_options(self) -> dict[str, Any]:
        """The options of :func:`gramme.io.inspect`."""
        return {
            "format": self.source_format,
            "labels": self.labels,
            "labels_format": self.labels_format,
            "label": self.label,
            "header": False if self.no_header else None,
            "source": self.source_column,
            "target_column": self.target_column,
            "weight": self.weight,
            "layer": self.layer_column,
            "directed": self.directed,
            "encoding": self.encoding,
            "missing": tuple(self.marks()),
            "keep_na": self.keep_na,
            "id": self.id,
            "columns": listed(self.columns),
            "features": listed(self.features),
            "layers_from": listed(self.layers_from),
            "edge_features": listed(self.edge_features),
            "label_bins": self.label_bins,
            "label_edges": self.edges(),
            "label_kind": self.label_kind,
        }

    def kinds_options(self) -> dict[str, Any]:
        """The options of :func:`gramme.io.inspect_relations` besides the files."""
        paths = [tuple(part.strip() for part in text.split("-")) for text in self.path or ()]
        if self.target_kind is None:
            raise DataError("--relation needs --target, the kind of node to label")
        said = {key: value for key, value in self.file_options().items() if key != "format"}
        return said | {"target": self.target_kind, "paths": paths or None}

    def relation_files(self) -> dict[tuple[str, ...], str]:
        """What --relation names: kinds, or kinds and a name between them, and the file."""
        found: dict[tuple[str, ...], str] = {}
        for text in self.relation or ():
            kinds, equals, file = text.partition("=")
            key = tuple(part.strip() for part in kinds.split(":"))
            if not equals or not file or len(key) not in (2, 3) or not all(key):
                raise DataError(f"--relation {text}: write it like paper:author=pa.csv, or paper:writes:author=pa.csv")
            if key in found:
                raise DataError(f"--relation {kinds} is named twice; give one a name: a:name:b=FILE")
            found[key] = file
        return found

    def edges(self) -> list[float] | None:
        """What --label-edges names."""
        if self.label_edges is None:
            return None
        try:
            return [float(part) for part in re.split("[,:]", self.label_edges)]
        except ValueError:
            raise DataError(f"--label-edges {self.label_edges}: write it like 20,50,80") from None

    def looking(self) -> Reading:
        """The same for commands that learn nothing: labels that are amounts are shown as they are."""
        said = (self.label_bins, self.label_edges, self.label_kind)
        return self if any(one is not None for one in said) else replace(self, label_kind="class")

    def used(self, *names: str) -> list[str]:
        """Those of the named options (all where none is named) that were given, as the user writes them."""
        return [
            _WRITTEN.get(one.name, f"--{one.name.replace('_', '-')}")
            for one in fields(self)
            if (not names or one.name in names) and getattr(self, one.name) not in (one.default, None, [])
        ]


TABLE_ONLY = ("bins", "quantiles", "knn", "split", "dates", "missing_group")
_WRITTEN = {
    "source_format": "--from",
    "source_column": "--source",
    "directed": "--directed and --undirected",
    "is_table": "--table",
    "target_kind": "--target",
}


def listed(texts: list[str] | None) -> list[str] | None:
    """Names from options that may be repeated and may each hold several with commas between; None if none is.

    >>> listed(["age,city", "income"])
    ['age', 'city', 'income']
    """
    names = [part.strip() for text in texts or () for part in text.split(",") if part.strip()]
    return list(dict.fromkeys(names)) or None


def takes_reading_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of :class:`Reading` as options in the place of its parameter ``read``."""
    hints = get_type_hints(command, include_extras=True)
    said = get_type_hints(Reading, include_extras=True)
    shown = []
    for parameter in inspect.signature(command).parameters.values():
        if hints.get(parameter.name) == Data:
            parameter = parameter.replace(default=None)  # --relation stands in its place
        if parameter.name != "read":
            annotation = hints.get(parameter.name, parameter.annotation)
            kind = inspect.Parameter.KEYWORD_ONLY
            shown.append(parameter.replace(annotation=annotation, kind=kind))
            continue
        shown += [
            inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, annotation=said[one.name], default=one.default)
            for one in fields(Reading)
        ]

    @functools.wraps(command)
    def run(**values: Any) -> None:
        read = Reading(**{one.name: values.pop(one.name) for one in fields(Reading)})
        for name in ("data", "source"):
            if hints.get(name) in (Data, list[str]):
                values[name] = values[name] or []
                check_files(values[name])
        check_files([] if read.labels is None else [str(read.labels)])
        command(**values, read=read)

    run.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in shown}
    return run


def check_files(names: Iterable[str]) -> None:
    """Refuse a name that can only be that of a file and of none that is there, before anything heavy is imported."""
    for name in names:
        if ("." in name or "/" in name) and not set(name) & set(":*?[") and not os.path.lexists(name):
            raise DataError(f"there is no file {name!r}")


# The command that does the same again, for the page of a fit or of a benchmark.

OPTIONS_WITHOUT_EFFECT = ("overwrite", "quiet", "as_json", "force", "jobs", "backend")
"""Options that do not change the result: they say what is printed or replaced, and where the work is done."""


def command_line(context: typer.Context) -> str:
    """The command that was given, for anyone who wants to repeat it."""
    words, arguments = ["gramme", context.info_name or "fit"], []
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE" or name in OPTIONS_WITHOUT_EFFECT:
            continue
        value = context.params[name]
        if parameter.param_type_name == "argument":
            arguments += [str(one) for one in (value if isinstance(value, list | tuple) else [value])]
        elif isinstance(value, bool):
            words.append((parameter.opts if value else parameter.secondary_opts or [""])[0])
        else:
            for one in value if isinstance(value, (list, tuple)) else [value]:
                words += [parameter.opts[0], str(one)]
    if any(one.startswith("-") for one in arguments):  # a name, not an option
        return shlex.join([*words, "--", *arguments])
    return shlex.join([*words[:2], *arguments, *words[2:]])
