"""Methods by their names, and the names of the room."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gramme import DataError, GrammeFusion, GrammeSG, methods
from gramme.methods import METHODS, Majority, Method, NodeClassifier, method, names


def test_names_lead_to_methods():
    for name in names():
        assert method(name).name == name
        assert issubclass(method(name).estimator, NodeClassifier)
        assert method(name).about
    own = [one for one in METHODS.values() if one.preset is None]
    assert len({one.estimator.__name__ for one in own}) == len(own)


def test_every_method_can_be_made_without_arguments():
    for one in METHODS.values():
        assert one.create().get_params() is not None


@pytest.mark.parametrize("preset", ["paper", "authors"])
@pytest.mark.parametrize("kind", [GrammeFusion, GrammeSG])
def test_presets_are_methods_with_the_settings_of_the_class(kind, preset):
    name = {GrammeFusion: "gramme-fusion", GrammeSG: "gramme-sg"}[kind]
    made, asked = method(f"{name}-{preset}").create(ensemble=3), getattr(kind, preset)(ensemble=3)
    assert type(made) is kind
    assert made.get_params() == asked.get_params()
    assert made.get_params() | {"ensemble": 1} == kind(**kind.presets[preset]).get_params()
    assert kind().get_params() != asked.get_params()


def test_an_unknown_name_gets_a_hint():
    with pytest.raises(DataError, match="no method 'gramme-fusoin'; did you mean 'gramme-fusion'"):
        method("gramme-fusoin")


def test_a_method_of_ones_own_is_a_class():
    assert Method("mine", Majority, "what it does").estimator is Majority


def test_every_class_can_be_imported_from_the_room():
    for one in METHODS.values():
        assert getattr(methods, one.estimator.__name__) is one.estimator
    for name in methods.__all__:
        assert getattr(methods, name) is not None
        assert name in dir(methods)
    assert not hasattr(methods, "nonsense")


def test_type_checkers_see_the_classes_that_are_imported_on_first_use():
    tree = ast.parse(Path(methods.__file__).read_text(encoding="utf-8"))
    for_checkers = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name for node in for_checkers.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen <= set(methods.__all__)
    assert {one.estimator.__name__ for one in METHODS.values()} <= seen


PACKAGE = {
    "shared_votes.py": """
from dataclasses import dataclass
import numpy as np
from gramme.methods import NodeClassifier
from gramme.methods.params import RandomSeed

@dataclass(kw_only=True, eq=False, repr=False)
class SharedVotes(NodeClassifier):
    random_state: RandomSeed = None

    def _fit(self, graph, known, seed):
        votes = np.ones((graph.num_nodes, len(known.classes)))
        start = np.zeros_like(votes)
        start[known.nodes, known.codes] = known.weights
        for layer in graph.layers.values():
            votes += layer.neighbour_sums(start)
        return votes / votes.sum(axis=1, keepdims=True)
""",
    "shared_votes-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: shared-votes\nVersion: 1.0\n",
    "shared_votes-1.0.dist-info/entry_points.txt": (
        "[gramme.methods]\nshared-votes = shared_votes:SharedVotes\nmajority = shared_votes:SharedVotes\n"
    ),
}


def test_methods_of_installed_packages_are_listed_fitted_and_compared(tmp_path):
    for name, text in PACKAGE.items():
        path = tmp_path / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    places = os.pathsep.join([str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")])

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "gramme", *words]
        environment = os.environ | {"PYTHONPATH": places, "COLUMNS": "200"}
        return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)

    listed = run("methods")
    assert "from the package shared-votes" in listed.stdout
    assert "names a method 'majority', which gramme has already" in listed.stderr
    fitted = run("fit", "synthetic:nodes=60", "--method", "shared-votes", "--out", "fit")
    assert fitted.returncode == 0, fitted.stderr
    compared = run(
        *("benchmark", "--datasets", "synthetic:nodes=60", "--methods", "shared-votes,majority"),
        *("--repeats", "2", "--train", "30", "--jobs", "1", "--out", "runs"),
    )
    assert compared.returncode == 0, compared.stderr
    assert "shared-votes" in compared.stdout


def test_a_method_of_a_package_that_cannot_be_loaded_is_named():
    broken = Method("votes", "json.NoSuchClass", "", package="shared-votes")
    with pytest.raises(DataError, match="the method votes of the package shared-votes cannot be loaded"):
        _ = broken.estimator
