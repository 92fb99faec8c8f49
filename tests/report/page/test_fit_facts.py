import shlex

from tests.report.page.graphs import HOSTILE, section

from gramme.report.page.fit_facts import command, data_name, same_data

layers_section, settings_section = section("fit", "layers"), section("fit", "settings")
page_title, summary, training_section = section("fit", "title"), section("fit", "summary"), section("fit", "training")


def data_fit_settings(**config):
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
        data_fit_settings(method="gat", parameters={"depth": 2}, versions={"gramme": "1.0"}, training_labels=7)
    )
    assert "Made with gramme 1.0." in text
    assert "training labels" in text
    assert "<bdi>2</bdi>" in text
    assert "doi:10.1109/TNNLS.2019.2948797" in text
    assert "&lt;b&gt;advice" in text
    assert "<b>advice" not in text


def test_what_is_not_known_is_left_out():
    text = settings_section(data_fit_settings())
    assert "Made with" not in text
    assert "Parameters of the method" not in text


def test_what_was_found_out_while_reading():
    notes = ["6 labels read as unknown: NA", "<i>.csv: read as Windows-1252"]
    text = settings_section(data_fit_settings(reading=notes))
    assert "<h3>How the data were read</h3><ul><li>6 labels read as unknown: NA</li>" in text
    assert "&lt;i&gt;.csv" in text
    assert "How the data were read" not in settings_section(data_fit_settings(reading=[]))


def test_a_budget_by_the_clock_is_no_promise_of_the_same_result():
    plain = settings_section(data_fit_settings(versions={"gramme": "1.0"}, parameters={"budget": None}))
    assert "The same seed, data and versions give the same result." in plain
    timed = settings_section(data_fit_settings(versions={"gramme": "1.0"}, parameters={"budget": "<1m"}))
    assert "in the budget of &lt;1m depends on how fast and how busy the machine is" in timed
    assert "where that is the same" in timed


def data(**changes):
    layers = [{"name": f"layer {number}"} for number in range(6)]
    return {
        "config": {"method": "gat", "data": "school.csv"},
        "method": "GAT",
        "graph": {"nodes": 30, "layers": layers, "name": "school"},
        "labels": {"learned": 10, "classes": ["boy", "girl"]},
        "estimate": {"kind": "none"},
    } | changes


def test_the_summary_counts_what_was_learned_and_predicted():
    text = summary(data())
    assert "<strong>10</strong> of 30 nodes" in text
    assert "6 layers" in text
    assert "and 2 more" in text
    assert "the other 20 nodes" in text
    everybody = data(labels={"learned": 30, "classes": ["boy"]})
    assert "all of them, which had labels already" in summary(everybody)


def test_the_title_names_method_and_data():
    assert page_title(data()).startswith("gat on school")
    assert page_title(data(config={})) == "GAT on school"


def test_only_files_and_folders_that_are_there_go_by_their_name_alone(tmp_path):
    (tmp_path / "votes.csv").touch()
    (tmp_path / "club v1.2").mkdir()
    assert data_name(tmp_path / "votes.csv") == "votes"
    assert data_name(str(tmp_path / "club v1.2")) == "club v1.2"
    for text in [*HOSTILE, "calls/2024", "balance v1.2", "a\\b.csv"]:
        assert data_name(text) == text


def test_layers_are_sorted_and_their_spread_is_said():
    layers = {"layer": ["a", "b"], "importance": [0.25, 0.75], "spread": [0.125, None]}
    text = layers_section(data(layers=layers, members=8))
    assert text.index(">b<") < text.index(">a<")
    assert "25.0 %" in text
    assert "± 12.5 %" in text


def test_many_layers_are_folded_away():
    names = [f"layer {number}" for number in range(23)]
    layers = {"layer": names, "importance": [1 / len(names)] * len(names)}
    assert "3 further layers" in layers_section(data(layers=layers))


def test_a_method_that_cannot_tell_layers_apart_says_so():
    assert "treats all layers as one" in layers_section(data())
    assert "&lt;script&gt;" in layers_section(data(explanation=HOSTILE[0]))


def test_training_draws_losses_and_accuracies_apart_and_skips_gaps():
    history = {"epoch": [1, 2, 3], "loss": [1.0, None, 0.5], "train_accuracy": [0.5, 0.6, 0.7]}
    text = training_section(data(history=history))
    assert text.count("<figure>") == 2
    assert "over the epochs of training" in text
    assert training_section(data()) == ""
    assert training_section(data(history={"epoch": [1], "loss": [None]})) == ""


def test_shares_that_add_up_to_nothing_are_not_said_to_add_up_to_everything() -> None:
    data = {"layers": {"layer": ["e", "f"], "importance": [0.0, 0.0]}}
    assert "The predictions rest on no layer" in layers_section(data)
    data = {"layers": {"layer": ["e", "f"], "importance": [0.75, 0.25]}}
    assert "the shares add up to 100 %" in layers_section(data)


MADE_OF = {
    "ingredient": ["gramme-fusion", "spectral-logistic"],
    "weight": [0.012, 0.988],
    "accuracy": [0.433, float("nan")],
    "log_loss": [1.042, 0.013],
    "what_it_is": ["attention within each layer", "a linear model of where walks lead"],
}


def test_the_ingredients_are_told_in_the_units_and_words_of_the_sentence_above():
    text = layers_section(data(ingredients=MADE_OF))
    assert "<td>98.8 %</td><td>–</td><td>0.013</td><td>a linear model of where walks lead</td>" in text
    assert "had not learned from their labels" in text


def test_curves_of_a_mixture_say_whose_they_are():
    history = {"epoch": [1, 2, 3], "loss": [1.0, 0.9, 0.8], "accuracy": [0.3, 0.4, 0.45]}
    alone = training_section(data(history=history))
    assert "attention alone" not in alone
    mixed = training_section(data(history=history, ingredients=MADE_OF))
    assert "about attention alone, which has 1.2 % of the mixture" in mixed
    none = {"ingredient": ["spectral-logistic"], "weight": [1.0]}
    assert "attention alone" not in training_section(data(history=history, ingredients=none))


def test_classes_that_count_alike_are_said_to():
    assert "counts alike" not in summary(data())
    weighed = data(config={"method": "gat", "class_weight": "balanced"})
    assert "Every class counts alike, however rare" in summary(weighed)


def test_another_command_reads_the_data_in_the_same_way() -> None:
    given = "gramme ask ties.csv --labels people.csv --id name --features age --layer-column kind --out ask"
    assert (
        same_data({"config": {"command": given}}, "fit", "--out y") == "gramme fit ties.csv --layer-column kind --out y"
    )
    given = "gramme groups t.csv --table --id name --count 3 --out groups"
    assert same_data({"config": {"command": given}}, "ask", "--out y") == "gramme ask t.csv --table --id name --out y"
