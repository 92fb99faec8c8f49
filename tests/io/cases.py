"""What every format must pass: round trips of random graphs, and arbitrary bytes that end in a graph or an error.

A test module of a format derives a class from `FormatCase`; test_registry checks that none is missing.
"""

import contextlib
import random
import signal
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from tests.sizes import sample
from tests.strategies import multilayer_graphs

from gramme.errors import DataError, GrammeError, GrammeWarning, LossyFormatWarning
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.io import FORMATS, inspect, read, write

SECONDS_PER_INPUT = 5
AWKWARD = [
    "#x",
    "--x",
    "%x",
    "*x",
    "a b",
    " a",
    "a ",
    "a,b",
    'q"q',
    '"q"',
    "a;b",
    "a:b",
    "back\\slash",
    "tab\there",
    "NA",
    "nan",
    "None",
    "1",
    "01",
    "1.0",
    "-0",
    "+1",
    "1e5",
    "ü",
    "名前",
    "\u00a0",
    "a\u2028b",
    "&lt;",
    "]]>",
    "\ufeff",
    "node",
    "9" * 40,
]


def sample_graph(**changes: Any) -> MultilayerGraph:
    """A small graph with a bit of everything that most formats hold."""
    parts: dict[str, Any] = {
        "layers": {
            "chat": EdgeLayer(5, [0, 1, 2], [1, 2, 3], [2.0, 0.5, 1e-7]),
            "lunch": EdgeLayer(5, [0], [3]),
            "none": EdgeLayer(5, [], []),
        },
        "nodes": ["Ann", "Bo", "Cy", "Di", "Ed"],
        "labels": ["1", "2", None, "1", None],
        "features": np.arange(10).reshape(5, 2) / 3,
    }
    return MultilayerGraph(**(parts | changes))


@contextlib.contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """An error after so many seconds of CPU, which other processes on the machine do not use up."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"more than {seconds} s for one input")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def clear(folder: Path) -> None:
    """Remove all files: for many tries that is faster than a folder for each, or to overwrite what is there."""
    for path in folder.iterdir():
        path.unlink()


class ReadCase:
    """What every format must pass, read-only ones too: derive from it and set `format` and `examples`."""

    format: ClassVar[str]
    #: Valid files to mutate, by file name; the first is the one to read.
    examples: ClassVar[list[dict[str, bytes]]] = []
    #: Whether the format holds labels.
    labelled: ClassVar[bool] = True
    #: Words that mean something to the parser.
    words: ClassVar[list[bytes]] = []

    @property
    def file_name(self) -> str:
        return "g" + FORMATS[self.format].endings[0]

    # Arbitrary bytes

    def valid_files(self) -> list[dict[str, bytes]]:
        found = list(self.examples)
        if FORMATS[self.format].write is None:
            return found
        with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            folder = Path(name)
            write(sample_graph(), folder / self.file_name, format=self.format)
            main = folder / self.file_name
            files = [main, *(file for file in sorted(folder.iterdir()) if file != main)]
            found.append({file.name: file.read_bytes() for file in files})
        return found

    def check_inputs(self, count: int, seed: int) -> None:
        """Valid files are graphs, an empty one is an error, and what lies between is either, however many are tried."""
        randomness = random.Random(seed)
        valid = self.valid_files()
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for files in valid:
                assert self.accepts(files, Path(folder))
            assert not self.accepts({next(iter(valid[0])): b""}, Path(folder))
            for _ in range(count):
                files = dict(randomness.choice(valid))
                victim = randomness.choice(list(files))
                if randomness.random() < 0.25:
                    victim = next(iter(files))
                    files = {victim: random_bytes(randomness, self.words)}
                else:
                    files[victim] = self.mutated(randomness, files[victim])
                self.accepts(files, Path(folder))

    def mutated(self, randomness: random.Random, data: bytes) -> bytes:
        """A file with something changed; a packed format also changes what is inside."""
        return mutated(randomness, data, self.words)

    def accepts(self, files: dict[str, bytes], folder: Path) -> bool:
        """Whether the files, alone in a folder, make a graph; anything but a GrammeError is a failure."""
        clear(folder)
        for file, data in files.items():
            (folder / file).write_bytes(data)
        try:
            with time_limit(SECONDS_PER_INPUT):
                graph, report = inspect(folder / next(iter(files)), format=self.format)
        except GrammeError:
            return False
        except BaseException:
            print({file: data[:2000] for file, data in files.items()})  # noqa: T201
            raise
        assert isinstance(graph, MultilayerGraph)
        assert report.rows >= 0
        repr(graph)
        return True

    def test_arbitrary_bytes_end_in_a_graph_or_an_error(self):
        self.check_inputs(500, seed=0)

    @pytest.mark.slow
    def test_many_arbitrary_bytes_end_in_a_graph_or_an_error(self):
        self.check_inputs(sample(20_000), seed=1)


class FormatCase(ReadCase):
    """What a format that is written must pass as well; override what it needs."""

    #: What the format holds without a warning, as options of `multilayer_graphs`.
    holds: ClassVar[dict[str, Any]] = {}

    def expected(self, graph: MultilayerGraph) -> MultilayerGraph:
        """The graph as it comes back; by default the same."""
        return graph

    def back(self, graph: MultilayerGraph, folder: Path) -> tuple[MultilayerGraph, list[str]]:
        path = folder / self.file_name
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            write(graph, path, format=self.format)
        lost = [str(each.message) for each in caught if each.category is LossyFormatWarning]
        assert len(lost) == len(caught)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GrammeWarning)
            return read(path, format=self.format), lost

    def test_sample_comes_back(self, tmp_path):
        graph = sample_graph()
        again, _ = self.back(graph, tmp_path)
        assert again.num_nodes == 5
        assert [layer.num_edges for layer in again.layers.values()][:2] == [3, 1]
        assert self.expected(graph) == again

    # Hypothesis wants a test function of its own for every class, hence the inner functions.

    def test_what_it_holds_comes_back_without_a_warning(self, tmp_path):
        @given(graph=multilayer_graphs(**({"kinds": ["edges"], "text_names": True} | self.holds)))
        def check(graph):
            clear(tmp_path)
            try:
                again, lost = self.back(graph, tmp_path)
            except DataError as error:
                self.check_refusal(graph, error)
                return
            if lost:
                self.check_loss(graph, lost)
            else:
                assert again == graph

        check()

    def check_refusal(self, graph: MultilayerGraph, error: DataError) -> None:
        """An error on a graph of `holds`: only names with characters the format has no way to write."""
        assert "cannot hold" in str(error)

    def check_loss(self, graph: MultilayerGraph, lost: list[str]) -> None:
        for message in lost:
            assert any(
                part in message for part in ("rows or columns", "weights are 1", "no node has one", "as unknown")
            ), message

    def test_any_graph_comes_back_or_the_loss_is_named(self, tmp_path):
        @given(graph=multilayer_graphs(weighted_groups=None, couplings=None, layer_features=None))
        def check(graph):
            clear(tmp_path)
            try:
                again, lost = self.back(graph, tmp_path)
            except DataError as error:
                refusal = str(error)
            else:
                refusal = ""
            if refusal:
                assert "npz" in refusal or "cannot" in refusal
                return
            assert lost or again == graph
            assert again.num_nodes == graph.num_nodes or "nodes" in " ".join(lost)

        check()

    def test_what_is_written_is_read(self, tmp_path):
        """Couplings, weights and directions in any mixture: a writer may refuse, a reader of its output may not."""
        path = tmp_path / self.file_name

        @given(graph=multilayer_graphs(kinds=["edges"], text_names=True, couplings=True, labels=False))
        def check(graph):
            clear(tmp_path)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    write(graph, path, format=self.format)
                except DataError:  # a test above says for which graphs
                    return
                warnings.simplefilter("ignore")
                again = read(path, format=self.format)
            assert caught or again == graph

        check()

    @pytest.mark.parametrize("name", AWKWARD)
    def test_awkward_names_come_back(self, tmp_path, name):
        layers = {name: EdgeLayer(3, [0, 1], [1, 2])}
        graph = MultilayerGraph(layers, nodes=["x", name, "y"], labels=[name, "b", None])
        try:
            again, lost = self.back(graph, tmp_path)
        except DataError as error:
            self.check_refusal(graph, error)
            return
        assert lost or again == graph
        unknown = [loss for loss in lost if "it is read as unknown" in loss]
        if name != "\u00a0":  # blank text: some formats quote it, others cannot hold it
            assert bool(unknown) == (self.labelled and name in ("NA", "nan") and bool(lost))
        assert {*lost} - {*unknown} <= {*self.awkward_losses(graph, lost)}

    def awkward_losses(self, graph: MultilayerGraph, lost: list[str]) -> list[str]:
        """The losses that are this format's nature."""
        return []

    @pytest.mark.parametrize("name", ["", "\ud800", "a\x00b", "\x1b"])
    def test_impossible_names_are_refused_or_come_back(self, tmp_path, name):
        graph = MultilayerGraph({"l": EdgeLayer(2, [0], [1])}, nodes=[name, "b"])
        try:
            again, lost = self.back(graph, tmp_path)
        except DataError as error:
            refusal = str(error)
        else:
            refusal = ""
            assert lost or again == graph
        if refusal:
            assert not list(tmp_path.iterdir())
            assert "npz" in refusal

    @pytest.mark.parametrize(
        "graph",
        [
            MultilayerGraph({"l": EdgeLayer(1, [], [])}, nodes=["only"], labels=["1"]),
            MultilayerGraph({"l": EdgeLayer(3, [0], [1])}, nodes=["a", "b", "isolated"]),
            MultilayerGraph({}, nodes=["a", "b"], labels=["1", "2"]),
            MultilayerGraph({"l": EdgeLayer(0, [], [])}, nodes=[]),
            MultilayerGraph({"l": EdgeLayer(2, [], [], nodes=[]), "m": EdgeLayer(2, [0], [1])}, nodes=["a", "b"]),
            MultilayerGraph({"l": EdgeLayer(2, [0], [1])}, nodes=[str(10**30), str(-(10**25))]),
            MultilayerGraph({"l": MembershipLayer.from_values(["x", "x", None])}, nodes=["a", "b", "c"]),
            MultilayerGraph({"l": EdgeLayer(2, [0, 1], [1, 0], directed=True)}, nodes=["a", "b"]),
            MultilayerGraph({"l": EdgeLayer(2, [0], [1])}, nodes=["a", "b"], features=sp.csr_array(np.eye(2))),
        ],
    )
    def test_edges_of_the_possible(self, tmp_path, graph):
        try:
            again, lost = self.back(graph, tmp_path)
        except DataError as error:
            refusal = str(error)
        else:
            refusal = ""
            assert lost or again == graph
        assert not refusal or "cannot be held" in refusal

    def test_a_refused_write_leaves_nothing_behind(self, tmp_path):
        path = tmp_path / self.file_name
        write(sample_graph(), path, format=self.format) if self.format != "authors" else None
        before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
        broken = sample_graph(nodes=["", "b", "c", "d", "e"], layers={"l": EdgeLayer(5, [0], [1])})
        if self.format != "npz":
            with pytest.raises(DataError, match="empty name"):
                write(broken, path, format=self.format)
        assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before

    def test_too_many_implied_edges(self, tmp_path, monkeypatch):
        monkeypatch.setattr("gramme.io.lossy.MAX_IMPLIED_EDGES", 2)
        graph = MultilayerGraph({"l": MembershipLayer.from_values(["x"] * 3)}, nodes=["a", "b", "c"])
        if self.format in ("csv", "tsv", "parquet", "npz"):
            assert self.back(graph, tmp_path)[0] == graph
        else:
            with pytest.raises(DataError, match=r"imply 3 edges.*'csv', 'parquet' and 'npz'"):
                self.back(graph, tmp_path)


COMMON_WORDS = [
    b"0",
    b"1",
    b"01",
    b"-1",
    b"+1",
    b"nan",
    b"inf",
    b"1e999",
    b"99999999999",
    b"9" * 25,
    b"9" * 5000,
    b"\n",
    b"\r\n",
    b"\r",
    b"\t",
    b" ",
    b",",
    b";",
    b'"',
    b'""',
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xc3",
    "ü".encode(),
    b"#",
    b"*",
    b"\\",
]


def random_bytes(randomness: random.Random, words: list[bytes]) -> bytes:
    length = randomness.choice([0, 1, 3, 20, 200, 1000])
    kind = randomness.randrange(3)
    if kind == 0:
        return randomness.randbytes(length)
    if kind == 1:
        return bytes(randomness.choice(b"0123456789 \n\t,.ab") for _ in range(length))
    vocabulary = COMMON_WORDS + words * 2
    return b"".join(randomness.choice(vocabulary) + randomness.choice([b"", b" ", b"\n"]) for _ in range(length // 4))


def mutated(randomness: random.Random, data: bytes, words: list[bytes]) -> bytes:
    vocabulary = COMMON_WORDS + words * 2
    for _ in range(randomness.choice([1, 1, 1, 2, 5])):
        place = randomness.randrange(len(data) + 1)
        end = min(len(data), place + randomness.choice([1, 1, 2, 8, 40]))
        kind = randomness.randrange(6)
        if kind == 0:
            data = data[:place] + bytes([randomness.randrange(256)]) + data[place + 1 :]
        elif kind == 1:
            data = data[:place] + data[end:]
        elif kind == 2:
            data = data[:end] + data[place:end] * randomness.choice([1, 2, 20]) + data[end:]
        elif kind == 3:
            data = data[:place] + randomness.choice(vocabulary) + data[place:]
        elif kind == 4:
            data = data[:place] + randomness.choice(vocabulary) + data[end:]
        else:
            lines = data.split(b"\n")
            randomness.shuffle(lines)
            data = b"\n".join(lines)
    return data
