"""The two walks in CONTRIBUTING are true: what they name is called, in their order, and each room is entered once."""

import re
import sys
from pathlib import Path

import pytest

import gramme
from gramme.cli.app import main
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods import GrammeFusion

PACKAGE = Path(gramme.__file__).parent
GUIDE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text("utf-8")


def walk(title):
    """Each step of a walk: its number and the functions it names, as (file, name)."""
    text = GUIDE.split(f"### A walk through `{title}`")[1].split("\n#")[0]
    steps = re.split(r"^\d\. ", text, flags=re.MULTILINE)[1:]
    named = re.compile(r"`([\w/]+\.py)`\s+`(\w+(?:\.\w+)?)`")
    return [(step, named.findall(step)) for step in steps]


class Calls:
    """The package's functions that are called within it, each where it is called first, and who calls which room."""

    def __init__(self):
        self.first = {}
        self.doors = []

    def __enter__(self):
        sys.setprofile(self.note)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)

    def note(self, frame, event, _):
        if event != "call":
            return
        here = self.place(frame)
        if here is None:
            return
        self.first.setdefault((here, frame.f_code.co_qualname), len(self.first))
        outer = frame.f_back
        while outer is not None and self.place(outer) is None:
            outer = outer.f_back
        if outer is not None:
            rooms = self.place(outer).split("/")[0], here.split("/")[0]
            self.doors.append((*rooms, frame.f_code.co_qualname))

    @staticmethod
    def place(frame):
        name = frame.f_code.co_filename
        return name[len(str(PACKAGE)) + 1 :] if name.startswith(str(PACKAGE)) else None

    def order(self, file, name):
        """When a function, or a class's constructor, was called first; None if never."""
        return min(
            (
                when
                for (place, called), when in self.first.items()
                if place == file and called in (name, f"{name}.__init__", f"{name}.__new__")
            ),
            default=None,
        )


def test_the_walk_of_gramme_fit(tmp_path):
    edges = tmp_path / "small.csv"
    edges.write_text("layer,source,target\n" + "".join(f"l,n{i},n{i + 1}\n" for i in range(11)))
    labels = tmp_path / "labels.csv"
    labels.write_text("node,label\n" + "".join(f"n{i},{'ab'[i > 5]}\n" for i in range(11)))
    command = ["fit", str(edges), "--labels", str(labels), "--method", "majority"]
    with Calls() as calls, pytest.raises(SystemExit) as end:
        main([*command, "--holdout", "40%", "--out", str(tmp_path / "out")])
    assert end.value.code == 0
    named = [place for _, places in walk("gramme fit FILE") for place in places]
    times = {place: calls.order(*place) for place in named}
    assert len(times) >= 9
    assert None not in times.values(), times
    assert list(times.values()) == sorted(times.values()), times
    entered = [name for outer, inner, name in calls.doors if (outer, inner) == ("cli", "evaluation")]
    assert [name for name in entered if name.isidentifier()] == ["fit_with_estimate"]


def test_the_walk_of_an_attention_model():
    ring = list(range(8))
    layers = {"ring": EdgeLayer(8, ring, [*ring[1:], 0]), "team": MembershipLayer(8, ring, [0, 0, 0, 0, 1, 1, 1, 1])}
    graph = MultilayerGraph(layers, labels=[*"aabb", None, None, None, None])
    with Calls() as calls:
        GrammeFusion(epochs=1, ensemble=1, random_state=0).fit(graph)
        GrammeFusion(epochs=1, ensemble=1, attention_dropout=0.5, random_state=0).fit(graph)
    steps = walk("GrammeFusion().fit(graph)")
    rooms = [re.match(r"`(\w+)`:", step)[1] for step, _ in steps]
    assert rooms == ["methods", "training", "nn", "ops"]
    for room, (_, places) in zip(rooms, steps, strict=True):
        times = {place: calls.order(f"{room}/{place[0]}", place[1]) for place in places}
        assert None not in times.values(), times
        if room in ("methods", "training"):
            assert list(times.values()) == sorted(times.values()), times
    entered = [name for outer, inner, name in calls.doors if (outer, inner) == ("methods", "training")]
    assert [name for name in entered if name.isidentifier()] == ["train_ensemble"] * 2  # two fits
