import pickle

import pytest

from gramme.errors import (
    DataError,
    FileFormatError,
    GrammeError,
    GrammeWarning,
    LossyFormatWarning,
    MissingExtraError,
    did_you_mean,
    import_extra,
)


def test_what_is_caught_by_what():
    assert issubclass(DataError, GrammeError)
    assert issubclass(DataError, ValueError)
    assert issubclass(FileFormatError, DataError)
    assert issubclass(MissingExtraError, ImportError)
    assert issubclass(LossyFormatWarning, GrammeWarning)


def test_a_file_error_names_the_place_and_keeps_it():
    error = FileFormatError("is torn", file="a.csv", line=3)
    assert str(error) == "a.csv, line 3: is torn"
    assert (error.file, error.line, error.problem) == ("a.csv", 3, "is torn")
    assert str(FileFormatError("is torn", file="a.csv")) == "a.csv: is torn"


def test_an_error_of_the_user_can_cross_processes():
    assert str(pickle.loads(pickle.dumps(DataError("what")))) == "what"


def test_a_missing_library_names_the_extra():
    with pytest.raises(MissingExtraError, match=r"to fly needs the package 'no_such'.*gramme\[air\]"):
        import_extra("no_such.part", "air", "to fly")


def test_the_nearest_word_or_all_of_them():
    assert did_you_mean("grpah", ["graph", "layer"]) == "did you mean 'graph'?"
    assert did_you_mean("xyz", ["graph", "layer"]) == "known: graph, layer"
