import io

from rich.console import Console
from tests.evaluation.runs import done, failed, spec

from gramme.report.live_table import LiveTable

SPECS = [spec(method, r) for method in ("[red]", "majority") for r in range(4)]


def screen(**options):
    return Console(file=io.StringIO(), width=120, height=20, highlight=False, **options)


def test_progress_rate_time_left_and_failures():
    live = LiveTable(screen(), left=lambda: 75.0)
    live.start(SPECS, 3, 2)
    assert live.line() == "0 of 8 runs, about 75 s left"
    live.add(done(SPECS[0], 0.5))
    live.add(done(SPECS[1], 0.7))
    live.add(failed(SPECS[4]))
    assert live.line().startswith("3 of 8 runs, ")
    assert "per minute" in live.line()
    assert live.words().endswith("1 failed")
    assert live.line().endswith(", 1 failed, about 75 s left")
    ended = LiveTable(screen(), left=lambda: 75.0)
    ended.start(SPECS[:1], 0, 1)
    ended.add(done(SPECS[0]))
    assert " left" not in ended.line()
    shown = screen()
    shown.print(live.render())
    text = shown.file.getvalue()
    assert "[red]" in text
    assert "2/4" in text
    assert "60.0" in text


def test_a_terminal_is_redrawn_and_a_log_is_told_what_there_is_to_do():
    for terminal in (True, False):
        console = screen(force_terminal=terminal)
        with LiveTable(console) as live:
            live.start(SPECS, 3, 2)
            live.add(done(SPECS[0]))
        text = console.file.getvalue()
        assert "8 runs to do, 3 are done already; 2 at a time" in text
        assert ("1 of 8 runs" in text) is terminal
        assert ("\x1b[" in text) is terminal


def test_quiet_is_silent_and_a_small_screen_is_not_overfilled():
    console = screen(force_terminal=True)
    with LiveTable(console, wanted=False) as live:
        live.start(SPECS, 0, 1)
        live.add(done(SPECS[0]))
    assert console.file.getvalue() == ""
    many = [spec(f"method {number}", dataset=f"data {number}") for number in range(50)]
    live = LiveTable(screen())
    live.start(many, 0, 1)
    live.add(done(many[0]))
    shown = screen()
    shown.print(live.render())
    assert len(shown.file.getvalue().splitlines()) <= 20
