"""Frame time of the report's map with 100,000 nodes, in a real Chromium without a graphics card.

Makes the page of a fit on a synthetic table, opens it headless, pans and zooms, and times each drawing. The peer is the
usual way to draw on a canvas, a path and a fill per point, on the same canvas in the same run.

    python -m benchmarks.bench_page [NODES]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from tests.browser import browser

from gramme.graph import MembershipLayer, MultilayerGraph
from gramme.methods import OneHotLogistic
from gramme.report.page import write_fit_page

FRAMES = 60

OURS = """(() => {
  const times = [];
  for (let k = 0; k < %d; k++) {
    if (k %% 2) gramme.scatter.move(7, 3); else gramme.scatter.zoom(k < 30 ? 1.04 : 1 / 1.04);
    const start = performance.now();
    gramme.scatter.draw();
    times.push(performance.now() - start);
  }
  return times;
})()"""

PEER = """(() => {
  const canvas = document.createElement("canvas"), times = [];
  canvas.width = 1000; canvas.height = 544;
  const pen = canvas.getContext("2d"), count = gramme.data.nodes.count;
  for (let k = 0; k < 5; k++) {
    const start = performance.now();
    pen.clearRect(0, 0, 1000, 544);
    for (let i = 0; i < count; i++) {
      pen.fillStyle = i %% 2 ? "#0072b2" : "#d55e00";
      pen.beginPath();
      pen.arc((i * 37) %% 1000, (i * 91) %% 544, 1.4, 0, 7);
      pen.fill();
    }
    pen.getImageData(0, 0, 1, 1);
    times.push(performance.now() - start);
  }
  return times;
})()""".replace("%%", "%")

FRAME_GAPS = """new Promise(done => {
  const gaps = []; let last = 0;
  requestAnimationFrame(function step(now) {
    if (last) gaps.push(now - last);
    last = now;
    gramme.scatter.move(gaps.length % 20 < 10 ? 6 : -6, 2);
    if (gaps.length < 60) requestAnimationFrame(step); else done(gaps);
  });
})"""


def make_page(path: Path, count: int) -> None:
    random = np.random.default_rng(0)
    classes = random.integers(0, 4, count)
    layers = {
        f"question {number}": MembershipLayer.from_codes(
            np.where(random.random(count) < 0.7, classes, random.integers(0, 4, count))
        )
        for number in range(4)
    }
    labels = np.where(random.random(count) < 0.1, classes, None)
    graph = MultilayerGraph(
        layers, labels=[None if one is None else f"class {one}" for one in labels]
    )
    model = OneHotLogistic().fit(graph)
    # places as spread out as those of a real embedding: the method's own few probabilities would coincide
    model.embedding_ = random.normal(size=(count, 8)) + 3 * np.eye(4, 8)[classes]
    start = time.perf_counter()
    write_fit_page(path, model, graph, config={"data": "synthetic", "method": "one-hot-logistic"})
    seconds = time.perf_counter() - start
    print(f"page of {count:,} nodes: {seconds:.1f} s, {path.stat().st_size / 1e6:.1f} MB")


def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        make_page(path, count)
        with browser(Path(folder)) as page:
            page.size(1100, 900)
            start = time.perf_counter()
            page.open(path)
            print(f"opened in {time.perf_counter() - start:.1f} s")
            page.evaluate("document.getElementById('map').scrollIntoView({behavior: 'instant'})")
            ours = np.array(page.evaluate(OURS % FRAMES))
            peer = np.array(page.evaluate(PEER))
            gaps = np.array(page.evaluate(FRAME_GAPS))
    print(f"drawing: median {np.median(ours):.1f} ms, slowest of {FRAMES} {ours.max():.1f} ms")
    print(f"a path and a fill per point: median {np.median(peer):.1f} ms")
    print(f"ratio: {np.median(peer) / np.median(ours):.1f} times faster")
    print(f"while panning: median {np.median(gaps):.1f} ms from frame to frame")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
