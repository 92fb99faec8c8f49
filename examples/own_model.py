"""A model of your own: weighted attention inside a hand-written torch network and training loop.

A firm has two sites. Who mails whom is a list of edges, who was in which project a list of memberships. For a third of
the staff the site is known. This script

1. makes both relations up and turns each into a structure: no estimator, no graph object is needed for that;
2. defines a network as one would with PyTorch Geometric: attention in each relation, a sum, a linear classifier;
3. trains it in a plain loop with Adam, and stops on some of the known labels;
4. prints how well it does and how much each head counts, and writes the predictions.

    python examples/own_model.py [FOLDER]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gramme import MembershipLayer
from gramme.nn import WeightedAttention, structure

PEOPLE, PROJECTS = 300, 60


def made_up() -> tuple[Tensor, Tensor, MembershipLayer]:
    """Sites, mails as an edge_index, and projects: people of one site are joined more often."""
    random = np.random.default_rng(0)
    site = random.integers(0, 2, PEOPLE)
    source, target = random.integers(0, PEOPLE, (2, 6000))
    kept = random.random(6000) < np.where(site[source] == site[target], 0.8, 0.1)
    mails = torch.from_numpy(np.stack([source[kept], target[kept]]))
    home = random.integers(0, 2, PROJECTS)
    person, project = random.integers(0, PEOPLE, 3000), random.integers(0, PROJECTS, 3000)
    joins = random.random(3000) < np.where(site[person] == home[project], 0.8, 0.1)
    return torch.from_numpy(site), mails, MembershipLayer(PEOPLE, person[joins], project[joins])


class SiteModel(nn.Module):
    """Attention over mails and over projects, added up, and a linear classifier."""

    def __init__(self, in_dim: int, hidden_dim: int) -> None:
        super().__init__()
        self.mails = WeightedAttention(in_dim, hidden_dim, heads=2)
        self.projects = WeightedAttention(in_dim, hidden_dim, heads=2, attention_dropout=0.2)
        self.classifier = nn.Linear(hidden_dim, 2)

    def forward(self, features: Tensor, mails: nn.Module, projects: nn.Module) -> Tensor:
        hidden = self.mails(features, mails) + self.projects(features, projects)
        scores: Tensor = self.classifier(F.dropout(hidden, 0.2, self.training))
        return scores


def main(folder: Path) -> None:
    torch.manual_seed(0)
    site, mails, projects = made_up()
    # An edge_index as in PyTorch Geometric, and groups, whose implied edges are never built.
    structures = structure(mails, num_nodes=PEOPLE), structure(projects)
    features = torch.randn(PEOPLE, 64)  # nothing is known about the people: random features do
    order = torch.randperm(PEOPLE)
    training, stopping, unknown = order[:80], order[80:100], order[100:]

    model = SiteModel(64, 16)
    print(model)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.005)
    best, kept = float("inf"), model.state_dict()
    for epoch in range(1, 61):
        model.train()
        optimiser.zero_grad()
        loss = F.cross_entropy(model(features, *structures)[training], site[training])
        loss.backward()
        optimiser.step()
        model.eval()
        with torch.no_grad():
            scores = model(features, *structures)
        held_out = F.cross_entropy(scores[stopping], site[stopping]).item()
        if held_out < best:
            best = held_out
            kept = {name: value.clone() for name, value in model.state_dict().items()}
        if epoch % 20 == 0:
            print(f"epoch {epoch}: loss {loss.item():.3f}, held out {held_out:.3f}")
    model.load_state_dict(kept)

    with torch.no_grad():
        probabilities = model(features, *structures).softmax(1)
    predicted = probabilities.argmax(1)
    shares = model.projects.head_factors().tolist()
    print("\nThe heads over projects count", ", ".join(f"{share:.2f}" for share in shares))
    right = (predicted == site)[unknown].float().mean().item()
    print(f"{right:.0%} of the people whose site was not known are placed right.")

    folder.mkdir(parents=True, exist_ok=True)
    pd.DataFrame({"person": range(PEOPLE), "predicted": predicted, "probability": probabilities.amax(1)}).to_csv(
        folder / "predictions.csv", index=False
    )
    print(f"Written to {folder}: predictions.csv")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="own-model-")))
