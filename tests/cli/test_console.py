import warnings

from gramme.cli.console import complain, note, warnings_as_notes
from gramme.errors import GrammeWarning


def test_messages_go_to_standard_error_as_they_are(capsys):
    complain("[bold]not markup[/] of the user's")
    note("[red]nor this")
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Error: [bold]not markup[/] of the user's" in printed.err
    assert "Note: [red]nor this" in printed.err


def test_warnings_become_notes_without_a_path(capsys):
    with warnings_as_notes():
        for _ in range(2):
            warnings.warn("of ours", GrammeWarning, stacklevel=1)
        warnings.warn_explicit("of\ntheirs", UserWarning, "/x/site-packages/sklearn/a.py", 3)
        warnings.warn("of Python's", UserWarning, stacklevel=1)
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "Note: of ours",
        "Note: sklearn warns: of theirs",
        "Note: Python warns: of Python's",
    ]


def test_silence(capsys):
    with warnings_as_notes(silent=True):
        warnings.warn("of ours", GrammeWarning, stacklevel=1)
        warnings.warn("of another", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == ""
