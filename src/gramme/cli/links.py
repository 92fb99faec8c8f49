"""``gramme links``: which links are missing. Only the options are here; the work is in ``links_steps.py``."""

from __future__ import annotations

from pathlib import Path

import typer

from .console import check_not_read, loading, warnings_as_notes
from .options import RAW_CSV, Data, Reading, takes_reading_options


@takes_reading_options
def links(
    context: typer.Context,
    data: Data,
    target: Path = typer.Option(..., "--out", help="Folder to write the results to."),
    layers: list[str] | None = typer.Option(
        None, "--layer", help="Ask about this layer only; may be repeated."
    ),
    top: int = typer.Option(100, "--top", min=1, help="How many candidates to list per layer."),
    node: str | None = typer.Option(None, "--node", help="Candidates for this node alone."),
    pairs: Path | None = typer.Option(
        None,
        "--pairs",
        help="CSV file of pairs to ask about: source,target or layer,source,target.",
    ),
    missing_share: float = typer.Option(
        0.2,
        "--missing-share",
        help="Share of a layer's links that you take to be missing in the data; probabilities hold for it.",
    ),
    seed: int = typer.Option(0, "--seed", min=0, help="The same seed gives the same result."),
    raw_csv: bool = typer.Option(False, "--raw-csv", help=RAW_CSV),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace an earlier result."),
    quiet: bool = typer.Option(False, "--quiet", help="Print nothing but errors."),
    as_json: bool = typer.Option(False, "--json", help="Print a JSON object for scripts."),
    *,
    read: Reading,
) -> None:
    """Say which pairs of nodes of DATA will be, or should be, linked, with a probability and the reason.

    Writes links.csv (layer, source, target, probability, score, why), ingredients.csv, model.safetensors, report.html
    and config.json to the folder. The probability is the chance that the pair is a link, learned from where edges that
    are set aside stand in the list; so the terminal says how many links to expect: "of these 100 pairs expect about 46
    (38 to 55) to be links". The score compares pairs as if links were as frequent as unlinked pairs.
    """
    with loading():
        from . import links_steps
        from .data import open_data

    links_steps.check_target(target, overwrite=overwrite)
    check_not_read(target, [*data, pairs] if pairs else data, read)
    with warnings_as_notes(silent=quiet):
        opened = open_data(data, read, needs_label=False)
        if not quiet:
            opened.tell()
        links_steps.links_of_graph(
            opened.graph,
            target,
            links_steps.LinksRequest(
                layers=layers or None,
                top=top,
                node=node,
                pairs=None if pairs is None else str(pairs),
                missing_share=missing_share,
                seed=seed,
            ),
            described={"data": " ".join(data), "command": links_steps.command_line(context)},
            overwrite=overwrite,
            raw_csv=raw_csv,
            silent=quiet or as_json,
            as_json=as_json,
        )
