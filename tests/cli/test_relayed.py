"""What the first of several processes tells, and what the command that started it makes of it."""

from pathlib import Path

from gramme._progress import part
from gramme.cli.heartbeat import expect, listening
from gramme.cli.relayed import NoteReader, note_beside, noted


class Heard:
    """Whoever is told what the reader finds."""

    def __init__(self) -> None:
        self.plans: list[float] = []
        self.places: list[tuple[str, float]] = []

    def expect(self, seconds: float) -> None:
        self.plans.append(seconds)

    def tell(self, what: str, done: float, until: float) -> None:
        self.places.append((what, round(done, 3)))


def test_plan_and_progress_reach_the_command(tmp_path: Path) -> None:
    path = note_beside(tmp_path / "result")
    reader, heard = NoteReader(path), Heard()
    with listening(heard):
        reader.look()
        assert heard.plans == heard.places == [], "nothing is noted yet"
    with noted(path):
        expect(40)
        with part("Fitting", 0.5), listening(heard):
            reader.look()
            reader.look()
        with part("Writing", 0.5), listening(heard):
            reader.look()
    assert heard.plans == [40], "a plan is passed on once"
    assert heard.places == [("Fitting", 0.0), ("Writing", 0.5)]


def test_half_a_note_and_a_folder_that_is_gone_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    path.write_text('{"plans": 1, "sec')
    heard = Heard()
    with listening(heard):
        NoteReader(path).look()
    assert heard.plans == []
    with noted(tmp_path / "gone" / "progress.json"), part("Fitting", 1.0):
        expect(3)
