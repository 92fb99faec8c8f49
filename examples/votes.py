"""Votes: a table with a row per member of a parliament becomes a graph with a layer per vote.

A hundred and fifty members voted yes or no on eight bills, or were absent. Of every other one we know the party.
Members who voted alike on a bill are neighbours in that bill's layer; who was absent is in no group there. This script

1. makes up such a table and writes it as CSV;
2. turns it into a graph, one layer per column;
3. sets some of the known parties aside, fits on the others, and says how far to trust the result;
4. prints which votes the predictions rely on, and who is hardest to tell;
5. writes the predictions.

    python examples/votes.py [FOLDER] [house-votes-84.data]

The second argument is the real record of the US House of 1984 as the UCI repository has it, to be used instead of the
made-up one: the party first, then 16 votes, y, n or ?.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import gramme
from gramme.evaluation import hold_out

MEMBERS, KNOWN_EVERY, SET_ASIDE = 150, 2, 0.4
# For each bill, the share of yes in the one party and in the other: the first divide, the last do not.
BILLS = {
    "school fees": (0.9, 0.15),
    "wage law": (0.15, 0.85),
    "border": (0.25, 0.8),
    "taxes": (0.7, 0.3),
    "defence": (0.4, 0.7),
    "harbour": (0.6, 0.5),
    "water": (0.5, 0.5),
    "archive": (0.8, 0.8),
}


def made_up() -> pd.DataFrame:
    """A row per member: name, party, and yes, no or nothing for each bill."""
    random = np.random.default_rng(0)
    party = random.choice(["left", "right"], MEMBERS)
    table = pd.DataFrame({"member": [f"member {i + 1}" for i in range(MEMBERS)], "party": party})
    for bill, (left, right) in BILLS.items():
        yes = random.random(MEMBERS) < np.where(party == "left", left, right)
        votes = np.where(yes, "yes", "no").astype(object)
        votes[random.random(MEMBERS) < 0.1] = None  # absent
        table[bill] = votes
    return table


def real(path: Path) -> pd.DataFrame:
    """The record of 1984 in the same form."""
    table = pd.read_csv(path, header=None, na_values="?")
    table.columns = ["party", *(f"vote {number}" for number in range(1, table.shape[1]))]
    table.insert(0, "member", [f"member {i + 1}" for i in range(len(table))])
    return table


def main(folder: Path, source: Path | None = None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    table = made_up() if source is None else real(source)
    truth = table["party"].copy()
    table.loc[np.arange(len(table)) % KNOWN_EVERY != 0, "party"] = None
    table.to_csv(folder / "votes.csv", index=False)

    # From here on it is what you would do with a table of your own.
    graph = gramme.MultilayerGraph.from_table(table, label="party", id="member", name="votes")
    known = sum(label is not None for label in graph.labels)
    print(f"{graph.num_nodes} members, {graph.num_layers} votes, the party of {known} is known.")

    # Labels set aside before anything is learned give an honest number, and an interval to go with it.
    split = hold_out(graph.labels, SET_ASIDE, random_state=0)
    model = gramme.GrammeAuto(random_state=0).fit(graph, split.train)
    print(f"\nWhat the predictions rest on:\n{model.explanation_}")

    accuracy, (low, high) = split.accuracy(model.predict())
    print(
        f"\nOf the {split.held_out.size} known parties that were set aside {accuracy:.0%} are predicted rightly "
        f"(95 % interval {low:.0%} to {high:.0%})."
    )

    importance = model.layer_importance_.sort_values(ascending=False)
    print("\nThe votes that tell most (shares of 1):")
    print(importance.head(4).round(2).to_string())

    probability = model.predict_proba().max(axis=1)
    predictions = pd.DataFrame(
        {
            "member": graph.nodes,
            "known": graph.labels,
            "predicted": model.predict(),
            "probability": probability.round(3),
        }
    )
    unknown = predictions["known"].isna()
    print("\nHardest to tell:")
    hardest = predictions[unknown].nsmallest(4, "probability")
    print(hardest[["member", "predicted", "probability"]].to_string(index=False))

    right = (predictions["predicted"] == truth.to_numpy())[unknown].mean()
    print(f"\nIn truth, {right:.0%} of the parties that were hidden are predicted rightly.")

    predictions.to_csv(folder / "predictions.csv", index=False)
    importance.rename_axis("vote").to_csv(folder / "layers.csv")
    print(f"Written to {folder}: votes.csv, predictions.csv, layers.csv")
    command = f"gramme fit {folder / 'votes.csv'} --table --label party --id member"
    print(f"The same with a page to send: {command} --out {folder / 'result'}")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(
        Path(arguments[0] if arguments else tempfile.mkdtemp(prefix="votes-")),
        Path(arguments[1]) if len(arguments) > 1 else None,
    )
