"""The options that commands share, declared once: how to read DATA, and where and how to write the result.

A command is decorated with :func:`takes_options`. Where it has a parameter whose type is a dataclass, such as
:class:`Reading`, the fields of that stand on the command line in its place. This file imports nothing heavy, so that
``gramme --help`` is quick.
"""

# ruff: noqa: RUF009  # `option` makes a field

from __future__ import annotations

import dataclasses
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


def make_model(method: Method, settings: Iterable[str], **fixed: Any) -> NodeClassifier:
    """A method with the parameters the user set; ``fixed`` ones are passed where the method knows them."""
    return method.create(**set_parameters(method.name, method.create().get_params(), settings, **fixed))


def set_parameters(method: str, known: Mapping[str, Any], settings: Iterable[str], **fixed: Any) -> dict[str, Any]:
    """The parameters that the user set, checked against the method's own parameters, and the ``fixed`` ones."""
    chosen_parameters = {name: value for name, value in fixed.items() if name in known}
    for setting in settings:
        name, equals_sign, text = (word.strip() for word in setting.partition("="))
        if not equals_sign:
            raise DataError(f"--set {setting!r}: write it as name=value")
        if name not in known:
            raise DataError(f"{method} has no parameter {name!r}; {did_you_mean(name, known)}")
        chosen_parameters[name] = value_from_text(f"--set {name}={text}", name, text, known[name])
    return chosen_parameters


def value_from_text(option: str, name: str, text: str, default: Any) -> Any:
    """A value from text, of the kind the default has; who takes it checks the range. Errors quote the ``option``."""
    try:
        value = json.loads(text.lower() if text.lower() in ("true", "false") else text)
    except ValueError:
        value = None if text.lower() == "none" else text
    if isinstance(default, int) and isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise DataError(f"{option}: {name} must be true or false")
    elif isinstance(default, (int, float)):
        if not isinstance(value, (int, float, dict)) or isinstance(value, bool):
            raise DataError(f"{option}: {name} must be a {'whole ' if isinstance(default, int) else ''}number")
        if isinstance(value, int) and value > 1_000_000_000:  # torch could not even compute the memory it would take
            raise DataError(f"{option}: {name} can be {1_000_000_000:,} at most")
    elif isinstance(default, str) and not isinstance(value, str):
        return text
    return value


Data = Annotated[
    list[str], typer.Argument(help="A file, several with a layer each, a folder of such, or the name of a dataset.")
]
Layers = Annotated[list[str] | None, typer.Option("--layer", help="Use this layer only; may be repeated.")]
OverwriteFile = Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")]


def option(help: str, *names: str, panel: str | None = None, default: Any = None, **more: Any) -> Any:
    """A field of a dataclass that is an option; it is named after the field where no name is given."""
    more = {"show_default": default not in (None, "")} | more | {"help": help, "rich_help_panel": panel}
    value: Any = {"default_factory": list} if default == [] else {"default": default}
    return dataclasses.field(**value, metadata={"names": names, "more": more})


RAW_CSV = "Write CSV cells as they are, also those that a spreadsheet runs as formulas."


@dataclass(frozen=True)
class Sets:
    """The sets of classes that are wanted."""

    coverage: str | None = option("Also give every node a set of classes that holds the true one this often, like 90%.")
    coverage_by_class: bool = option("Reach --coverage in every class separately.", default=False)


@dataclass(frozen=True)
class Output:
    """Where a command writes its result, and what it prints."""

    folder: Path | None = option("Folder to write the results to.", "--out")
    seed: int = option("The same seed gives the same result.", default=0, min=0)
    raw_csv: bool = option(RAW_CSV, default=False)
    overwrite: bool = option("Replace an earlier result.", default=False)
    quiet: bool = option("Print nothing but errors.", default=False)
    as_json: bool = option("Print a JSON object for scripts.", "--json", default=False)

    @property
    def target(self) -> Path:
        """The folder, which has to be named."""
        if self.folder is None:
            raise DataError("name with --out the folder to write the results to")
        return self.folder


_reading = functools.partial(option, panel="Reading")
_kinds = functools.partial(option, panel="Several kinds of node")
_table = functools.partial(option, panel="Tables and attributes of nodes")


@dataclass
class Reading:
    """How to read DATA."""

    labels: Path | None = _reading("File of labels: a list, rows of node and label, or a table.")
    labels_format: str | None = _reading("What that file is: list or pairs.")
    label: str | None = _reading("The column or attribute of nodes that is the label.")
    source_format: str | None = _reading("Format of the file where its name says none.", "--from")
    no_header: bool = _reading("The first line of a list of edges is an edge already.", default=False)
    source_column: str | None = _reading("The column with the first node of an edge.", "--source")
    target_column: str | None = _reading("The column with the second node of an edge.")
    weight: str | None = _reading("The column with weights.")
    layer_column: str | None = _reading("The column that names the layer of an edge.")
    edge_features: list[str] | None = _reading("Columns or attributes that are features of the edges.")
    directed: bool | None = _reading(
        "Whether edges have a direction, whatever the file says.", "--directed/--undirected", show_default=False
    )
    encoding: str = _reading("Encoding of text files, where it is not to be guessed.", default="auto")
    missing: list[str] | None = _reading("Further labels or cells that mean 'not known', like 99.")
    keep_na: bool = _reading("NA, NaN, null, ? and . are values, not 'not known'.", default=False)
    label_bins: int | None = _reading("Cut labels that are numbers into classes of equal size.")
    label_edges: str | None = _reading("Cut labels that are numbers at these, like 20,50,80.")
    label_kind: str | None = _reading("What labels that are numbers mean: class or number.")
    relation: list[str] | None = _kinds(
        "Pairs of two kinds of node, like paper:author=pa.csv; may be repeated, needs no DATA."
    )
    target_kind: str | None = _kinds("The kind to label, with --relation or a table of relations.", "--target")
    path: list[str] | None = _kinds("A way from that kind to another that is a layer, like author-paper-venue.")
    is_table: bool = _table(
        "DATA is a table with a row per person or thing (CSV, TSV, Excel or Parquet).", "--table", default=False
    )
    id: str | None = _table("The column with the names of the rows.")
    columns: list[str] | None = _table("The columns to use, like age,city; all if not given.")
    features: list[str] | None = _table("Columns of --labels that are features.")
    layers_from: list[str] | None = _table("Columns of --labels that are layers.")
    bins: list[str] | None = _table("Cut numbers into groups, like age=5 or age=18:35:65.")
    quantiles: list[str] | None = _table("Cut numbers into groups of equal size, like income=4.")
    knn: list[str] | None = _table("Join each row to those with the nearest numbers, like income=10 or lat+lon=10.")
    split: list[str] | None = _table("Cells with several values, like 'authors=;'.")
    dates: list[str] | None = _table("Group dates by decade, year, month or weekday, like joined=month.")
    missing_group: bool = _table("Rows with a missing value are alike in that.", default=False)

    def marks(self) -> list[str]:
        """What --missing names: each text whole, and its parts between commas."""
        return [mark for text in self.missing or () for mark in dict.fromkeys((text, *text.split(",")))]

    def label_options(self) -> dict[str, Any]:
        """How a file of labels is read."""
        names = ("labels_format", "encoding", "keep_na", "label_bins", "label_kind")
        return {name: getattr(self, name) for name in names} | {
            "missing": tuple(self.marks()),
            "label_edges": self.edges(),
        }

    def file_options(self) -> dict[str, Any]:
        """The options of :func:`gramme.io.inspect`."""
        list_options = ("columns", "features", "layers_from", "edge_features")
        plain_options = ("labels", "label", "target_column", "weight", "directed", "id")
        return (
            self.label_options()
            | {name: getattr(self, name) for name in plain_options}
            | {name: listed(getattr(self, name)) for name in list_options}
            | {"format": self.source_format, "header": False if self.no_header else None}
            | {"source": self.source_column, "layer": self.layer_column}
        )

    def kinds_options(self) -> dict[str, Any]:
        """The options of :func:`gramme.io.inspect_relations` besides the files."""
        if self.target_kind is None:
            raise DataError("--relation needs --target, the kind of node to label")
        paths = [tuple(part.strip() for part in text.split("-")) for text in self.path or ()]
        options = {key: value for key, value in self.file_options().items() if key != "format"}
        return options | {"target": self.target_kind, "paths": paths or None}

    def relation_files(self) -> dict[tuple[str, ...], str]:
        """What --relation names: kinds, or kinds and a name between them, and the file."""
        file_by_kinds: dict[tuple[str, ...], str] = {}
        for text in self.relation or ():
            kinds_text, equals, file = text.partition("=")
            kind_names = tuple(part.strip() for part in kinds_text.split(":"))
            if not equals or not file or len(kind_names) not in (2, 3) or not all(kind_names):
                raise DataError(f"--relation {text}: write it like paper:author=pa.csv, or paper:writes:author=pa.csv")
            if kind_names in file_by_kinds:
                raise DataError(f"--relation {kinds_text} is named twice; give one a name: a:name:b=FILE")
            file_by_kinds[kind_names] = file
        return file_by_kinds

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
        cut = (self.label_bins, self.label_edges, self.label_kind)
        return self if any(option is not None for option in cut) else replace(self, label_kind="class")

    def used(self, *names: str) -> list[str]:
        """Those of the named options (all where none is named) that were given, as the user writes them."""
        return [
            _names(field)[0].replace("/", " and ")
            for field in fields(self)
            if (not names or field.name in names) and getattr(self, field.name) not in (field.default, None, [])
        ]


TABLE_ONLY = ("bins", "quantiles", "knn", "split", "dates", "missing_group")


def listed(texts: list[str] | None) -> list[str] | None:
    """Names from options that may be repeated and may each hold several with commas between; None if none is.

    >>> listed(["age,city", "income"])
    ['age', 'city', 'income']
    """
    return list(dict.fromkeys(part.strip() for text in texts or () for part in text.split(",") if part.strip())) or None


def words_of(text: str, option: str) -> list[str]:
    """Words with commas between them, at least one."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise DataError(f"{option} names nothing")
    return words


def _names(field: dataclasses.Field[Any]) -> tuple[str, ...]:
    return field.metadata["names"] or (f"--{field.name.replace('_', '-')}",)


def takes_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of each parameter that is a dataclass in the place of that parameter."""
    type_hints = get_type_hints(command, include_extras=True)
    option_groups: dict[str, Any] = {name: hint for name, hint in type_hints.items() if dataclasses.is_dataclass(hint)}
    shown_parameters = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name not in option_groups:
            # --relation may stand in the place of DATA
            default_value = None if type_hints.get(parameter.name) == Data else parameter.default
            annotation = type_hints.get(parameter.name, parameter.annotation)
            keyword = inspect.Parameter.KEYWORD_ONLY
            shown_parameters.append(parameter.replace(annotation=annotation, kind=keyword, default=default_value))
            continue
        field_types = get_type_hints(option_groups[parameter.name])
        for field in fields(option_groups[parameter.name]):
            annotation = Annotated[field_types[field.name], typer.Option(*_names(field), **field.metadata["more"])]
            default_value = [] if field.default is dataclasses.MISSING else field.default
            keyword = inspect.Parameter.KEYWORD_ONLY
            shown_parameters.append(
                inspect.Parameter(field.name, keyword, annotation=annotation, default=default_value)
            )

    @functools.wraps(command)
    def run(**values: Any) -> None:
        for name, group in option_groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        for name in ("data", "source"):
            if type_hints.get(name) in (Data, list[str]):
                values[name] = values[name] or []
                check_files(values[name])
        read = values.get("read")
        check_files([] if read is None or read.labels is None else [str(read.labels)])
        command(**values)

    run.__signature__ = inspect.Signature(shown_parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in shown_parameters}
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
    command_words, arguments = ["gramme", context.info_name or "fit"], []
    for parameter in context.command.params:
        name = parameter.name or ""
        value_source = context.get_parameter_source(name)
        if value_source is None or value_source.name != "COMMANDLINE" or name in OPTIONS_WITHOUT_EFFECT:
            continue
        given_value = context.params[name]
        if parameter.param_type_name == "argument":
            arguments += [
                str(word) for word in (given_value if isinstance(given_value, list | tuple) else [given_value])
            ]
        elif isinstance(given_value, bool):
            command_words.append((parameter.opts if given_value else parameter.secondary_opts or [""])[0])
        else:
            for word in given_value if isinstance(given_value, (list, tuple)) else [given_value]:
                command_words += [parameter.opts[0], str(word)]
    if any(word.startswith("-") for word in arguments):  # a name, not an option
        return shlex.join([*command_words, "--", *arguments])
    return shlex.join([*command_words[:2], *arguments, *command_words[2:]])
