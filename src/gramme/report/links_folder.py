"""The folder that ``gramme links`` leaves: links, ingredients, model, settings and a page to read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from gramme.links import GrammeLinks
from gramme.report.fit_folder import check_target, versions, write_settings
from gramme.report.output_folder import output_folder
from gramme.report.page.links_page import links_data, render_links
from gramme.report.tables import write_csv


def write_links(
    folder: Path,
    model: GrammeLinks,
    links: pd.DataFrame,
    *,
    config: dict[str, Any],
    overwrite: bool = False,
    raw_csv: bool = False,
) -> list[str]:
    """Write a fitted model, the links it found and their page to a folder; returns the names of the files."""
    check_target(folder, overwrite=overwrite)
    with output_folder(folder, overwrite=overwrite) as place:
        target = place.folder
        write_csv(links, target / "links.csv", raw=raw_csv)
        write_csv(model.ingredients_, target / "ingredients.csv", raw=raw_csv)
        model.save(target / "model.safetensors")
        record = config | {"versions": versions()}
        write_settings(target / "config.json", record)
        page = render_links(links_data(model, links, config=record))
        (target / "report.html").write_text(page, encoding="utf-8")
        files = sorted(path.name for path in target.iterdir())
    return files
