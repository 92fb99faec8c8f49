"""The job that every process of a fit gets."""

import pytest

from gramme.cli.parts_fit import FitJob, check_method
from gramme.errors import DataError
from gramme.methods.registry import METHODS_IN_PARTS, method


def test_a_job_comes_back_from_its_file(tmp_path):
    job = FitJob("parts", "out", "gramme-sg", ["epochs=3"], seed=7, holdout=0.2, described={"a": 1})
    assert FitJob.read(job.written(tmp_path / "job.json")) == job


def test_only_methods_that_can_be_fitted_together():
    for name in METHODS_IN_PARTS:
        check_method(name)
        assert method(name).name == name
    with pytest.raises(DataError, match="rgcn is fitted by one process"):
        check_method("rgcn")
