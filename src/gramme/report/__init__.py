"""What a person sees of a result: tables, figures, pages and folders, written whole or not at all."""

from .result_folders import check_target, fill_fit_folder
from .tables import embedding_table, layer_table, prediction_table, write_csv

__all__ = ["check_target", "embedding_table", "fill_fit_folder", "layer_table", "prediction_table", "write_csv"]
