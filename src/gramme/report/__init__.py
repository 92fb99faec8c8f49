"""What a person gets to see of a result: tables of a fit, written whole or not at all."""

from gramme.report.fit_folder import check_target, fill_fit_folder, write_fit
from gramme.report.tables import embedding_table, layer_table, prediction_table, write_csv

__all__ = [
    "check_target",
    "embedding_table",
    "fill_fit_folder",
    "layer_table",
    "prediction_table",
    "write_csv",
    "write_fit",
]
