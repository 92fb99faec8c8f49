import warnings

import pytest

from gramme.cli.console import complain, note, warnings_as_notes
from gramme.errors import GrammeWarning


def test_messages_go_to_standard_error_as_they_are(capsys):
    complain("[bold]not markup[/] of the user's")
    note("[red]nor this")
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Error: [bold]not markup[/] of the user's" in printed.err
    assert "Note: [red]nor this" in printed.err


def test_our_warnings_become_notes_and_others_stay_warnings(capsys):
    def warn_of_both() -> None:
        with warnings_as_notes():
            warnings.warn("of ours", GrammeWarning, stacklevel=1)
            warnings.warn("of ours", GrammeWarning, stacklevel=1)
            warnings.warn("of somebody else", UserWarning, stacklevel=1)

    with pytest.warns(UserWarning, match="of somebody else"):
        warn_of_both()
    assert capsys.readouterr().err.count("Note: of ours") == 1  # once is enough


def test_silence(capsys):
    with warnings_as_notes(silent=True):
        warnings.warn("of ours", GrammeWarning, stacklevel=1)
    assert capsys.readouterr().err == ""
