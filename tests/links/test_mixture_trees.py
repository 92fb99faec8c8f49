"""Trees as arrays predict what scikit-learn's model does."""

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from gramme.links.mixture import Trees


def test_arrays_predict_what_the_model_predicts():
    random = np.random.default_rng(0)
    rows = random.normal(size=(400, 5))
    linked = rows[:, 0] * rows[:, 1] + 0.3 * random.normal(size=400) > 0
    model = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(rows, linked)
    fresh = random.normal(size=(200, 5))
    np.testing.assert_allclose(
        Trees._of(model).log_odds(fresh), model.decision_function(fresh), atol=1e-9
    )


def test_the_same_seed_gives_the_same_trees():
    random = np.random.default_rng(1)
    rows = random.normal(size=(300, 4))
    linked = rows[:, 0] > 0
    one, other = Trees.fitted(rows, linked, 3), Trees.fitted(rows, linked, 3)
    assert (one.value == other.value).all()
    assert ((one.log_odds(rows) > 0) == linked).mean() > 0.95
