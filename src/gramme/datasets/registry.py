"""All datasets by name, and the functions users call: load, names, info, download, official_split."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gramme._plugins import Registry
from gramme._progress import part
from gramme.errors import DataError, did_you_mean
from gramme.graph import MultilayerGraph

from .files import provide, whereabouts
from .recipes import countries, hetero, lexicon, multiplex, packages, planetoid, synthetic, uci
from .record import DataFile, Dataset, DatasetInfo, Split

# What makes each graph, and, where the source has one, its split; in the order in which datasets are listed.
_RECIPES: dict[str, tuple[Callable[..., Any], ...]] = {
    "vickers_chan": (multiplex.build_vickers_chan,),
    "congress_votes": (uci.build_congress_votes,),
    "congress_votes_leaky": (uci.build_leaky,),
    "leskovec_ng": (multiplex.build_leskovec_ng,),
    "ckm_social": (multiplex.build_ckm_social,),
    "mammography": (uci.build_mammography,),
    "balance_scale": (uci.build_balance_scale,),
    "reinnovation": (countries.build_reinnovation,),
    "wordnet": (lexicon.build_wordnet,),
    "debian": (packages.build_debian,),
    "cora": (planetoid.build_cora, planetoid.split_cora),
    "acm3025": (hetero.build_acm3025, hetero.split_acm3025),
    "acm_heco": (hetero.heco_builder("acm_heco", "paper", "author", "subject"), hetero.split_heco),
    "dblp_heco": (hetero.heco_builder("dblp_heco", "author", "author", "venue", "term"), hetero.split_heco),
    "multiple_features": (hetero.build_multiple_features,),
    "wine": (uci.build_wine,),
    "digits": (uci.build_digits,),
    "synthetic": (synthetic.build_synthetic,),
    "synthetic_table": (synthetic.build_synthetic_table,),
    "synthetic_coupled": (synthetic.build_synthetic_coupled,),
    "synthetic_kinds": (synthetic.build_synthetic_kinds,),
}


def _datasets() -> Iterator[Dataset]:
    records = tomllib.loads(Path(__file__).with_name("records.toml").read_text(encoding="utf-8"))
    for name, functions in _RECIPES.items():
        attributes_of_node = {"nodes": None, "layers": None, "classes": None} | records[name]
        attributes_of_node["files"] = tuple(DataFile(**file) for file in attributes_of_node.get("files", ()))
        yield Dataset(DatasetInfo(name, **attributes_of_node), *functions)


REGISTRY: Registry[Dataset] = Registry(_datasets(), lambda each: each.info.name, "gramme.datasets", Dataset)


def names() -> list[str]:
    """The names of all datasets.

    >>> "balance_scale" in names()
    True
    """
    return list(REGISTRY)


def info(name: str) -> DatasetInfo:
    """What is known about a dataset: its size, recipe, citation, licence, caveats, files and options.

    >>> record = info("balance_scale")
    >>> record.nodes, record.layers, record.classes, record.embedded
    (625, 4, 3, True)
    """
    return _dataset(name).info


def load(name: str, **options: Any) -> MultilayerGraph:
    """A dataset as a multi-layered graph.

    Files are looked for in ``$GRAMME_DATA/<name>/``, then in the cache, and are downloaded where neither has them.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    **options
        What ``info(name).options`` lists.

    Examples
    --------
    >>> load("balance_scale")
    MultilayerGraph('balance_scale', 625 nodes, 4 layers: left_weight 5 groups, ..., 3 classes on 625 nodes)
    >>> load("synthetic", nodes=50, random_state=1).num_nodes
    50
    """
    dataset = _dataset(name)
    _check_options(name, dataset.build, options)
    return dataset.build(_paths(dataset), **options)


def download(name: str) -> list[Path]:
    """Make sure that the files of a dataset are on this machine, and say where.

    >>> download("balance_scale")
    []
    """
    return list(_paths(_dataset(name)).values())


def where(name: str) -> str:
    """Where a dataset is now: embedded, the folder of its files, or what is left to do.

    >>> where("balance_scale")
    'embedded'
    """
    record = _dataset(name).info
    if record.embedded:
        return "embedded"
    return whereabouts(record.files) if record.files else "bring your own file"


def official_split(name: str, **options: Any) -> Split:
    """The training, validation and test nodes that a dataset's source publishes, as positions.

    Parameters
    ----------
    name : str
        A dataset with such a split; others raise :class:`~gramme.DataError`.
    **options
        Which one, for datasets with several: ``official_split("dblp_heco", per_class=20)``.

    Returns
    -------
    dict of str to array of int
        The keys are ``train``, ``validation`` and ``test``.
    """
    dataset = _dataset(name)
    if dataset.split is None:
        have = ", ".join(each for each, known_dataset in REGISTRY.items() if known_dataset.split is not None)
        raise DataError(f"the source of {name!r} has no split of its own; {have} have one")
    _check_options(name, dataset.split, options)
    return dataset.split(_paths(dataset), **options)


def _dataset(name: str) -> Dataset:
    if name not in REGISTRY:
        raise DataError(f"there is no dataset {name!r}; {did_you_mean(str(name), REGISTRY)}")
    return REGISTRY[name]


def _paths(dataset: Dataset) -> dict[str, Path]:
    path_by_name, files = {}, dataset.info.files
    total = max(1, sum(file.size for file in files))
    for file in files:
        with part("", file.size / total):
            path_by_name[file.name] = provide(file)
    return path_by_name


def _check_options(name: str, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
    known_options = list(inspect.signature(function).parameters)[1:]
    for option in options:
        if option not in known_options:
            hint = did_you_mean(option, known_options) if known_options else "it has none"
            raise DataError(f"the dataset {name!r} has no option {option!r}; {hint}")
