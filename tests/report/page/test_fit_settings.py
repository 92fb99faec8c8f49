import shlex

from gramme.report.page.fit_settings import command, settings_section


def data(**config):
    layer = {"name": "<b>advice</b>", "present": 3, "groups": None, "edges": 2}
    return {"config": config, "graph": {"layers": [layer]}}


def test_the_command_as_it_was_given_goes_before_one_made_up():
    given = {"command": "gramme fit 'my x' --out y --seed 2", "data": "z"}
    assert command(given) == "gramme fit 'my x' --out y-again --seed 2", "y is there already"
    assert command({"command": ["gramme", "fit", "a b"]}) == "gramme fit 'a b'"
    words = shlex.split(command({"data": "my file.csv", "holdout": "20%", "seed": 0}))
    assert words == shlex.split("gramme fit 'my file.csv' --holdout 20% --seed 0 --out result")


def test_settings_versions_layers_and_citation():
    text = settings_section(
        data(method="gat", parameters={"depth": 2}, versions={"gramme": "1.0"}, training_labels=7)
    )
    assert "Made with gramme 1.0." in text
    assert "training labels" in text
    assert "<bdi>2</bdi>" in text
    assert "doi:10.1109/TNNLS.2019.2948797" in text
    assert "&lt;b&gt;advice" in text
    assert "<b>advice" not in text


def test_what_is_not_known_is_left_out():
    text = settings_section(data())
    assert "Made with" not in text
    assert "Parameters of the method" not in text


def test_what_was_found_out_while_reading():
    notes = ["6 labels read as unknown: NA", "<i>.csv: read as Windows-1252"]
    text = settings_section(data(reading=notes))
    assert "<h3>How the data were read</h3><ul><li>6 labels read as unknown: NA</li>" in text
    assert "&lt;i&gt;.csv" in text
    assert "How the data were read" not in settings_section(data(reading=[]))


def test_a_budget_by_the_clock_is_no_promise_of_the_same_result():
    plain = settings_section(data(versions={"gramme": "1.0"}, parameters={"budget": None}))
    assert "The same seed, data and versions give the same result." in plain
    timed = settings_section(data(versions={"gramme": "1.0"}, parameters={"budget": "<1m"}))
    assert "in the budget of &lt;1m depends on how fast and how busy the machine is" in timed
    assert "where that is the same" in timed
