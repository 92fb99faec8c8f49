"""A school class: from an edge file to who probably joins what, and who is listened to.

Twenty-four pupils were asked three questions: whom do you call a friend, whom do you ask for advice, with whom do you
work? Ten of them have said which club they will join next year, music or sport. This script

1. writes the answers as files, the way they often come: rows ``layer source target``, with the names of layers and
   pupils beside them, and the known labels as rows of pupil and club;
2. reads them back, and fits;
3. prints who probably joins what, which question tells most, and who is listened to among the friends;
4. writes predictions, layers and attention as tables.

    python examples/school_class.py [FOLDER]

The class is made up: pupils who will join the same club are friends more often, advice has little to do with clubs, and
work has nothing. Put your own three files in the place of ``write_files`` to use it for your class.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import gramme

PUPILS = [
    "Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gina", "Hugo",
    "Ines", "Jan", "Kira", "Leo", "Mia", "Nils", "Olga", "Paul",
    "Ruth", "Sami", "Tara", "Udo", "Vera", "Will", "Xenia", "Yann",
]  # fmt: skip
CLUBS = {name: "music" if place % 2 == 0 else "sport" for place, name in enumerate(PUPILS)}
ASKED = PUPILS[:10]
# How much more often two pupils of the same club are joined, and how many each one names.
QUESTIONS = {"friends": (8.0, 4), "advice": (2.0, 3), "work": (1.0, 3)}


def write_files(folder: Path) -> Path:
    """Make up the answers and write them as files; the path of the edge file."""
    random = np.random.default_rng(3)
    number = {name: place for place, name in enumerate(PUPILS, start=1)}
    rows = []
    for layer, (preference, count) in enumerate(QUESTIONS.values(), start=1):
        for name in PUPILS:
            others = [other for other in PUPILS if other != name]
            odds = np.array([preference if CLUBS[o] == CLUBS[name] else 1.0 for o in others])
            named = random.choice(others, size=count, replace=False, p=odds / odds.sum())
            rows += [f"{layer} {number[name]} {number[other]}" for other in named]
    edges = folder / "class_multiplex.edges"
    edges.write_text("\n".join(rows) + "\n")
    layers = [f"{place} {name}" for place, name in enumerate(QUESTIONS, start=1)]
    (folder / "class_layers.txt").write_text("\n".join(["layerID layerLabel", *layers]) + "\n")
    pupils = [f"{place} {name}" for name, place in number.items()]
    (folder / "class_nodes.txt").write_text("\n".join(["nodeID nodeLabel", *pupils]) + "\n")
    known = [f"{name},{CLUBS[name]}" for name in ASKED]
    (folder / "class.labels").write_text("\n".join(known) + "\n")
    return edges


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    edges = write_files(folder)

    # From here on it is what you would do with files of your own. Naming somebody has a direction.
    graph = gramme.read(edges, labels=folder / "class.labels", directed=True)
    print(graph)

    model = gramme.GrammeAuto(random_state=0).fit(graph)

    predictions = pd.DataFrame(
        {
            "pupil": graph.nodes,
            "said": graph.labels,
            "predicted": model.predict(),
            "probability": model.predict_proba().max(axis=1).round(2),
        }
    )
    unknown = predictions[predictions["said"].isna()].drop(columns="said")
    print("\nThe pupils who have not said, the surest first:")
    print(unknown.sort_values("probability", ascending=False).to_string(index=False))

    importance = model.layer_importance_.sort_values(ascending=False)
    print("\nWhat the predictions rely on (shares of 1):")
    print(importance.round(2).to_string())

    # One number per pupil, the same for everybody who listens to that pupil.
    attention = model.node_attention("friends").sort_values(ascending=False)
    print("\nListened to most among friends:", ", ".join(map(str, attention.index[:5])))

    # Only because the class is made up do we know how it ends.
    right = [CLUBS[row.pupil] == row.predicted for row in unknown.itertuples()]
    print(f"\n{sum(right)} of {len(right)} predictions come true in this made-up class.")

    predictions.to_csv(folder / "predictions.csv", index=False)
    importance.rename_axis("layer").to_csv(folder / "layers.csv")
    attention.rename_axis("pupil").rename("attention").to_csv(folder / "attention.csv")
    print(f"Written to {folder}: predictions.csv, layers.csv, attention.csv")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="school-class-")))
