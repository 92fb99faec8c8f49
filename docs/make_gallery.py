"""Draw the pictures of the gallery anew: python docs/make_gallery.py [FOLDER].

Embedded data and the tables of docs/reproduction only, so that it runs anywhere, in about a minute. The pictures are
stored with few colours to keep them small.
"""

import io
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from PIL import Image
from sklearn.datasets import load_diabetes

import gramme
from gramme.methods import OneHotLogistic
from gramme.plots import plot_results

DOCS = Path(__file__).parent
COLOURS = 96


def save(folder: Path, name: str, ax) -> None:
    """Write the figure of some axes as a small PNG."""
    figure = np.ravel(ax)[0].figure
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=90)
    plt.close(figure)
    picture = Image.open(buffer).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    picture.save(folder / f"{name}.png", optimize=True)
    size = (folder / f"{name}.png").stat().st_size
    print(f"{folder / name}.png, {size / 1000:.0f} kB")


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    g = gramme.datasets.load("synthetic", nodes=120, signal=[0.75, 0.5, 0.0], degree=5, random_state=2)
    y = g.labels.copy()
    y[np.arange(120) % 3 != 0] = None
    save(folder, "network", g.replace(labels=y).plot(by_layer=True))
    fusion = gramme.GrammeFusion(ensemble=4, epochs=60, random_state=0).fit(g, y)
    save(folder, "predicted", g.plot(layer="layer 1", colour=fusion.predict_proba().max(axis=1)))
    save(folder, "embedding", fusion.plot_embedding())
    save(folder, "layers", fusion.plot_layers())
    save(folder, "history", fusion.plot_history())

    rooms = gramme.datasets.load("wine")
    save(folder, "groups", rooms.plot(layer=next(iter(rooms.layers)), names=False))
    scale = gramme.datasets.load("balance_scale")
    some = scale.labels.copy()
    some[np.random.default_rng(0).random(625) < 0.7] = None
    model = OneHotLogistic(random_state=0).fit(scale, some)
    people, progress = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    people["sex"] = people["sex"].astype(str)
    some = progress.where(np.arange(len(progress)) % 2 == 0)
    numbers = gramme.GrammeRegressor(ingredients=["propagation", "groups-ridge", "walks-ridge"], random_state=0).fit(
        gramme.MultilayerGraph.from_table(people), some.to_numpy()
    )
    save(folder, "numbers", numbers.plot_predictions())
    save(folder, "ingredients", numbers.plot_ingredients())
    save(folder, "confusion", model.plot_confusion())
    save(folder, "reliability", model.plot_reliability(scale.labels))

    results = pd.read_csv(DOCS / "reproduction" / "results.csv")
    chosen = ["gramme-auto", "gramme-fusion-paper", "label-propagation", "one-hot-logistic", "line"]
    made = plot_results(results, methods=chosen)
    save(folder, "results", made)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "figures" / "gallery")
