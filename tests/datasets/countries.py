"""A table of made-up countries, for the dataset whose table the user brings."""

import numpy as np
import pandas as pd

from gramme.datasets.recipes.countries import PILLARS

COUNTRIES = 20


def table(seed=0):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"Country": [f"Country {n}" for n in range(COUNTRIES)]})
    frame["Stage of development"] = [1 + n % 3 for n in range(COUNTRIES)]
    for pillar in PILLARS:
        frame[pillar] = random.uniform(1, 7, COUNTRIES).round(2)
    return frame


def variant_headers(frame):
    """Spelled as reports do, with other columns between."""
    frame = frame.rename(columns={"Country": "Country/Economy", "Stage of development": "Stage"})
    numbered = {}
    for number, pillar in enumerate(PILLARS, start=1):
        title = pillar.capitalize().replace("Labor", "Labour").replace(" and ", " & ")
        numbered[pillar] = f"{number}{'st' if number == 1 else 'th'} pillar: {title}, 1-7 (best)"
    frame = frame.rename(columns=numbered)
    frame.insert(1, "ISO code", "XXX")
    return frame
