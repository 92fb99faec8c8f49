"""What several realisations of a method would gain by running as one batched program.

    GRAMME_DATA=... python benchmarks/bench_batched_realisations.py [--datasets a,b] [--realisations 4]

The members of an ensemble are trained as one program, and members may learn from different labels, so the members of
several realisations could be, too. A fit with four times the members costs what four batched realisations would; it is
compared with four fits one after the other, in CPU time of one thread, for the default of 8 members and for a single
one. "One program" holds all members at once, as realisations of an experiment would be batched; "in batches" splits
them where the cache is full, as a fit does.

The benchmark runner batches realisations only if this gains at least 1.2 on small data with the default settings.
"""

import argparse
from collections.abc import Callable

from measure import Comparison, cpu_seconds, header, milliseconds

from gramme import datasets
from gramme.methods import GrammeFusion, GrammeSG
from gramme.methods.attention import members as batches

IN_BATCHES = batches.MAX_BATCH_NUMBERS
ONE_PROGRAM = 1 << 40
TARGET = 1.2


def fits(kind: type, graph: object, members: int) -> Callable[[], object]:
    return lambda: kind(ensemble=members, random_state=0, progress=False).fit(graph)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", default="vickers_chan,ckm_social,balance_scale")
    parser.add_argument("--realisations", type=int, default=4)
    options = parser.parse_args()
    count = options.realisations
    print(header())
    for name in options.datasets.split(","):
        graph = datasets.load(name)
        for kind in (GrammeFusion, GrammeSG):
            for members in (8, 1):
                single = count * cpu_seconds(fits(kind, graph, members), repeats=2)
                for words, size in (("in batches", IN_BATCHES), ("one program", ONE_PROGRAM)):
                    batches.MAX_BATCH_NUMBERS = size
                    batched = cpu_seconds(fits(kind, graph, count * members), repeats=2, warm_up=0)
                    batches.MAX_BATCH_NUMBERS = IN_BATCHES
                    what = f"{name} {kind.__name__}, members {members} x {count}, {words}"
                    times = milliseconds(batched), milliseconds(single)
                    print(Comparison(what, *times, single / batched, TARGET), flush=True)


if __name__ == "__main__":
    main()
