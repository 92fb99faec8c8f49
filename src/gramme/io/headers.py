"""What the columns of a list of edges are called: in gramme, Gephi, Neo4j, igraph, UCINET and several languages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from gramme._text import setting
from gramme.errors import DataError, FileFormatError, did_you_mean

from .parsed import ReadOptions

# Both ends together, since "from" or "a" alone may be anything; the first pair that is there counts.
_ENDS = (
    ("source", "target"), ("from", "to"), ("sourceid", "targetid"), ("startid", "endid"), ("ego", "alter"),
    ("node1", "node2"), ("nodeid1", "nodeid2"), ("i", "j"), ("u", "v"), ("src", "dst"), ("src", "dest"),
    ("sender", "receiver"), ("fromid", "toid"), ("fromnodeid", "tonodeid"), ("fromnode", "tonode"),
    ("sourcenode", "targetnode"),
    ("start", "end"), ("startnode", "endnode"), ("head", "tail"), ("actor1", "actor2"), ("person1", "person2"),
    ("persona", "personb"), ("nodea", "nodeb"), ("actora", "actorb"),
    ("id1", "id2"), ("user1", "user2"), ("v1", "v2"), ("vertex1", "vertex2"), ("name1", "name2"),
    ("nominator", "nominee"), ("citing", "cited"), ("follower", "followee"), ("origin", "destination"),
    ("quelle", "ziel"), ("von", "nach"), ("von", "zu"), ("knoten1", "knoten2"), ("person1id", "person2id"),
    ("source", "cible"), ("de", "vers"), ("origine", "destination"), ("noeud1", "noeud2"),
    ("origen", "destino"), ("desde", "hasta"), ("nodo1", "nodo2"), ("origem", "destino"), ("de", "para"),
    ("de", "a"), ("da", "a"), ("sorgente", "destinazione"), ("origine", "destinazione"),
    ("van", "naar"), ("bron", "doel"), ("fran", "till"), ("zrodlo", "cel"), ("от", "к"), ("источник", "цель"),
    ("源", "目标"), ("起点", "终点"), ("始点", "終点"),
)  # fmt: skip
_LAYER = (
    "layer", "relation", "relationtype", "relationship", "relationshiptype", "edgetype", "linktype", "tietype",
    "type", "schicht", "ebene", "beziehung", "couche", "capa", "relacion", "relazione", "relacao", "relatie",
)  # fmt: skip
_WEIGHT = ("weight", "weights", "edgeweight", "strength", "gewicht", "poids", "peso", "gewichtung")
_BETWEEN = (("sourcelayer", "targetlayer"), ("fromlayer", "tolayer"), ("layer1", "layer2"))
# Letters that Unicode does not take apart into a letter and an accent.
_LETTERS = str.maketrans({"ł": "l", "ø": "o", "œ": "oe", "æ": "ae", "ß": "ss"})
#: What Gephi calls the direction of an edge in its column Type.
DIRECTIONS = {"directed": True, "undirected": False, "mutual": False}


@dataclass
class EdgeHeader:
    """Where the parts of an edge stand; None for those that are not there."""

    source: int
    target: int
    layer: int | None = None
    weight: int | None = None
    direction: int | None = None  # a column that may hold Gephi's Directed and Undirected
    between: tuple[int, int] | None = None  # two columns that name the layers of both ends
    others: list[int] = field(default_factory=list)  # columns that are none of these
    usual: bool = True  # whether all names are gramme's own, so that nothing need be said


@lru_cache(maxsize=4096)
def plain_word(name: str) -> str:
    """A name of a column in small letters without spaces, accents, and Neo4j's colon and type."""
    # no name of a column that means something is longer
    plain_text = unicodedata.normalize("NFKD", name.strip().strip('"')[:100].lower())
    plain_text = "".join(letter for letter in plain_text if not unicodedata.combining(letter))
    plain_text = plain_text.translate(_LETTERS)
    plain_text = re.sub(r"\(.*\)\Z", "", plain_text)
    if ":" in plain_text:
        plain_text = plain_text.rpartition(":")[2]
    return re.sub(r"[\s_.-]+", "", plain_text)


def repeated_role(names: Sequence[str]) -> tuple[str, str, str] | None:
    """The role that two columns could both have, and their names; None if each role has one column at most."""
    header_words = [plain_word(column_name) for column_name in names]
    end_words = [word for pair in _ENDS if set(pair) <= set(header_words) for word in pair][:2]
    for column_role, role_words in (("end", end_words), ("layer", _LAYER[:1]), ("weight", _WEIGHT[:1])):
        for word in role_words:
            alike = [column_name for column_name, met in zip(names, header_words, strict=True) if met == word]
            if len(alike) > 1:
                return column_role, alike[0], alike[1]
    return None


def edge_header(names: Sequence[str], ends: tuple[int, int] | None = None) -> EdgeHeader | None:
    """Which column is what in a list of edges; None if no two columns are the ends of one, and none are given."""
    header_words = [plain_word(column_name) for column_name in names]
    if ends is None:
        called = next(((a, b) for a, b in _ENDS if header_words.count(a) == 1 and header_words.count(b) == 1), None)
        if called is None:
            return None
        ends = (header_words.index(called[0]), header_words.index(called[1]))
    edge_columns = EdgeHeader(*ends)
    taken = {edge_columns.source, edge_columns.target}
    for column_role, role_words in (("layer", _LAYER), ("weight", _WEIGHT)):
        column_index = next((header_words.index(word) for word in role_words if header_words.count(word) == 1), None)
        if column_index is not None and column_index not in taken:
            setattr(edge_columns, column_role, column_index)
            taken.add(column_index)
    if header_words.count("type") == 1 and header_words.index("type") not in taken - {edge_columns.layer}:
        edge_columns.direction = header_words.index("type")
        taken.add(edge_columns.direction)
    pair = next(((a, b) for a, b in _BETWEEN if a in header_words and b in header_words), None)
    if pair is not None:
        edge_columns.between = (header_words.index(pair[0]), header_words.index(pair[1]))
        taken.update(edge_columns.between)
    edge_columns.others = [place for place in range(len(header_words)) if place not in taken]
    own = {"source", "target", "layer", "weight", "source_layer", "target_layer"}
    edge_columns.usual = {names[place].strip().lower() for place in taken} <= own
    return edge_columns


def find_header(names: Sequence[str], path: Path, options: ReadOptions) -> EdgeHeader | None:
    """Which column is what: as the user says, else by their names; None if no two columns are the ends of an edge."""
    named = options.named_columns
    table_columns = [column_name.strip() for column_name in names]
    places: dict[str, int] = {}
    for part, (option, column) in named.items():
        if table_columns.count(column) != 1:
            hint = (
                f"it has {table_columns.count(column)} of that name"
                if column in table_columns
                else (did_you_mean(column, table_columns))
            )
            shown = setting(option, column, option="layer_column" if option == "layer" else option)
            raise DataError(f"{path}: there is no column {column!r} for {shown}; {hint}")
        places[part] = table_columns.index(column)
    both_named = {"source", "target"} <= places.keys()
    edge_columns = edge_header(names, (places["source"], places["target"]) if both_named else None)
    if not named:
        repeated = None if edge_columns is None else repeated_role(names)
        if repeated is not None:
            column_role, first, second = repeated
            raise FileFormatError(
                f"the columns {first.strip()!r} and {second.strip()!r} could both be the {column_role} of an edge; "
                "rename one",
                file=path,
            )
        return edge_columns
    if edge_columns is None:
        wanted_options = f"{setting('source')} and {setting('target_column')}"
        raise DataError(f"{path}: name the columns of both ends of an edge, with {wanted_options}")
    for part in ("source", "target", "weight", "layer"):
        if part in places:
            setattr(edge_columns, part, places[part])
        elif getattr(edge_columns, part) in places.values():
            if part in ("source", "target"):
                raise DataError(
                    f"{path}: the column {table_columns[getattr(edge_columns, part)]!r} would be the {part} too; "
                    "name that as well"
                )
            setattr(edge_columns, part, None)
    if edge_columns.direction in places.values():
        edge_columns.direction = None
    edge_columns.between = edge_columns.between if "layer" not in places else None
    used = {
        edge_columns.source,
        edge_columns.target,
        edge_columns.weight,
        edge_columns.layer,
        edge_columns.direction,
        *(edge_columns.between or ()),
    }
    if edge_columns.source == edge_columns.target:
        raise DataError(f"{path}: the column {table_columns[edge_columns.source]!r} cannot be both ends of an edge")
    edge_columns.others = [column_index for column_index in range(len(table_columns)) if column_index not in used]
    edge_columns.usual = False
    return edge_columns
