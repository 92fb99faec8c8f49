from gramme.io.notes import gathered, tell


def test_what_is_told_inside_is_gathered_once():
    with gathered() as notes:
        tell("one")
        tell("two", doubt=True)
        tell("one")
    assert notes.all == ["one", "two"]
    assert notes.doubts == ["two"]


def test_an_inner_gathering_tells_the_outer_one():
    with gathered() as outer:
        with gathered() as inner:
            tell("deep")
        tell("later")
    assert inner is outer
    assert outer.all == ["deep", "later"]


def test_outside_nothing_is_gathered():
    tell("to nobody")
    with gathered() as notes:
        pass
    tell("too late")
    assert notes.all == []
