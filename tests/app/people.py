"""Small data as people have it: two files of ties with a table of people, and a table of answers."""

from __future__ import annotations

import csv
import random
from pathlib import Path

FIRST = ("Ann", "Bo", "Cy", "Dee", "Eli", "Fay", "Gus", "Hal", "Ida", "Jo", "Kim", "Lou")
LAST = ("Ash", "Bell", "Cole", "Day", "Eve")
TEAMS = ("Blue", "Green", "Red")
HOSTILE = ("<img src=x onerror=alert(1)>", "'\"`${1}</script>", "=1+1", "​bidi\u202e", "名前")


def team_of(place: int) -> str:
    return TEAMS[place % 3]


def write_office(folder: Path, *, labelled: int = 9, names: list[str] | None = None) -> list[Path]:
    """Sixty colleagues of three teams: whom they ask, whom they lunch with, and who they are."""
    names = names or [f"{first} {last}" for first in FIRST for last in LAST]
    made = []
    for file, inside, across, seed in (("advice", 0.25, 0.02, 1), ("lunch", 0.3, 0.03, 2)):
        chance = random.Random(seed)
        rows = [
            (names[i], names[j])
            for i in range(len(names))
            for j in range(i)
            if chance.random() < (inside if team_of(i) == team_of(j) else across)
        ]
        made.append(_write(folder / f"{file}.csv", [("from", "to"), *rows]))
    chance = random.Random(3)
    people = [
        (name, str(chance.randrange(20, 65)), chance.choice("fm"), team_of(i) if i < labelled else "")
        for i, name in enumerate(names)
    ]
    made.append(_write(folder / "people.csv", [("name", "age", "gender", "team"), *people]))
    return made


def write_votes(folder: Path, *, labelled: int = 0) -> Path:
    """Eighty members of two parties and what they voted on eight questions."""
    chance = random.Random(5)
    rows = []
    for i in range(80):
        party = "left" if i % 2 else "right"
        votes = ["yes" if (chance.random() < 0.85) == (party == "left") else "no" for _ in range(8)]
        rows.append((f"member {i}", *votes, party if i < labelled else ""))
    header = ("member", *(f"vote {k}" for k in range(1, 9)), "party")
    return _write(folder / "votes.csv", [header, *rows])


def _write(path: Path, rows: list[tuple[str, ...]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path
