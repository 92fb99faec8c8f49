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
_MAX_NAME_LENGTH = 100  # no name of a column that means something is longer
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
    text = unicodedata.normalize("NFKD", name.strip().strip('"')[:_MAX_NAME_LENGTH].lower())
    text = "".join(letter for letter in text if not unicodedata.combining(letter))
    text = text.translate(_LETTERS)
    text = re.sub(r"\(.*\)\Z", "", text)
    if ":" in text:
        text = text.rpartition(":")[2]
    return re.sub(r"[\s_.-]+", "", text)


def repeated_role(names: Sequence[str]) -> tuple[str, str, str] | None:
    """The role that two columns could both have, and their names; None if each role has one column at most."""
    words = [plain_word(name) for name in names]
    ends = [word for pair in _ENDS if set(pair) <= set(words) for word in pair][:2]
    for role, known in (("end", ends), ("layer", _LAYER[:1]), ("weight", _WEIGHT[:1])):
        for word in known:
            alike = [name for name, met in zip(names, words, strict=True) if met == word]
            if len(alike) > 1:
                return role, alike[0], alike[1]
    return None


def edge_header(names: Sequence[str], ends: tuple[int, int] | None = None) -> EdgeHeader | None:
    """Which column is what in a list of edges; None if no two columns are the ends of one, and none are given."""
    words = [plain_word(name) for name in names]
    if ends is None:
        called = next(((a, b) for a, b in _ENDS if words.count(a) == 1 and words.count(b) == 1), None)
        if called is None:
            return None
        ends = (words.index(called[0]), words.index(called[1]))
    found = EdgeHeader(*ends)
    taken = {found.source, found.target}
    for role, known in (("layer", _LAYER), ("weight", _WEIGHT)):
        place = next((words.index(word) for word in known if words.count(word) == 1), None)
        if place is not None and place not in taken:
            setattr(found, role, place)
            taken.add(place)
    if words.count("type") == 1 and words.index("type") not in taken - {found.layer}:
        found.direction = words.index("type")
        taken.add(found.direction)
    pair = next(((a, b) for a, b in _BETWEEN if a in words and b in words), None)
    if pair is not None:
        found.between = (words.index(pair[0]), words.index(pair[1]))
        taken.update(found.between)
    found.others = [place for place in range(len(words)) if place not in taken]
    own = {"source", "target", "layer", "weight", "source_layer", "target_layer"}
    found.usual = {names[place].strip().lower() for place in taken} <= own
    return found


def find_header(names: Sequence[str], path: Path, options: ReadOptions) -> EdgeHeader | None:
    """Which column is what: as the user says, else by their names; None if no two columns are the ends of an edge."""
    named = options.named_columns
    columns = [name.strip() for name in names]
    places: dict[str, int] = {}
    for part, (option, column) in named.items():
        if columns.count(column) != 1:
            hint = (
                f"it has {columns.count(column)} of that name" if column in columns else (did_you_mean(column, columns))
            )
            shown = setting(option, column, option="layer_column" if option == "layer" else option)
            raise DataError(f"{path}: there is no column {column!r} for {shown}; {hint}")
        places[part] = columns.index(column)
    both_named = {"source", "target"} <= places.keys()
    found = edge_header(names, (places["source"], places["target"]) if both_named else None)
    if not named:
        repeated = None if found is None else repeated_role(names)
        if repeated is not None:
            role, first, second = repeated
            raise FileFormatError(
                f"the columns {first.strip()!r} and {second.strip()!r} could both be the {role} of an edge; rename one",
                file=path,
            )
        return found
    if found is None:
        wanted = f"{setting('source')} and {setting('target_column')}"
        raise DataError(f"{path}: name the columns of both ends of an edge, with {wanted}")
    for part in ("source", "target", "weight", "layer"):
        if part in places:
            setattr(found, part, places[part])
        elif getattr(found, part) in places.values():
            if part in ("source", "target"):
                raise DataError(
                    f"{path}: the column {columns[getattr(found, part)]!r} would be the {part} too; name that as well"
                )
            setattr(found, part, None)
    if found.direction in places.values():
        found.direction = None
    found.between = found.between if "layer" not in places else None
    used = {found.source, found.target, found.weight, found.layer, found.direction, *(found.between or ())}
    if found.source == found.target:
        raise DataError(f"{path}: the column {columns[found.source]!r} cannot be both ends of an edge")
    found.others = [place for place in range(len(columns)) if place not in used]
    found.usual = False
    return found
