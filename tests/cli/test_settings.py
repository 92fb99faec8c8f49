import pytest

from gramme.cli.settings import make_model
from gramme.errors import DataError
from gramme.methods import method

FUSION = method("gramme-fusion")


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("epochs=7", "epochs", 7),
        ("epochs = 7.0", "epochs", 7),
        ("learning_rate=1", "learning_rate", 1),
        ("learning_rate=1e-3", "learning_rate", 0.001),
        ("feed_forward=true", "feed_forward", True),
        ("feed_forward=False", "feed_forward", False),
        ("fuse=end", "fuse", "end"),
        ("fuse=every hop", "fuse", "every hop"),
        ('heads={"a": 1, "b": 2}', "heads", {"a": 1, "b": 2}),
        ("features=both", "features", "both"),
        ("features=none", "features", None),
        ("class_weight=balanced", "class_weight", "balanced"),
    ],
)
def test_text_becomes_a_value_of_the_right_kind(text: str, name: str, value: object) -> None:
    got = make_model(FUSION, [text]).get_params()[name]
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epochs", "write it as name=value"),
        ("epoch=3", "did you mean 'epochs'"),
        ("epochs=many", "epochs must be a whole number"),
        ("learning_rate=fast", "learning_rate must be a number"),
        ("feed_forward=maybe", "feed_forward must be true or false"),
        ("epochs=true", "epochs must be a whole number"),
        ("epochs=1e30", "epochs can be 1,000,000,000 at most"),
    ],
)
def test_a_mistake_says_what_would_be_right(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        make_model(FUSION, [text])


def test_fixed_parameters_go_only_to_methods_that_know_them() -> None:
    model = make_model(FUSION, ["random_state=5"], random_state=1, nonsense=2)
    assert model.get_params()["random_state"] == 5
