/* The network: every node at one place, a picture per layer, and one large picture that shows any of them or all.

   `drawn` is what network.py makes. `standing(name)` gives the groups and degrees of a layer. `describe(i)` fills the tip
   of a node and the line below the picture; `sizes` are further ways to size the points, beside the number of neighbours. */
gramme.network = function ({ drawn, standing, count, colourOf, describe, onSelect, names, sizes = [] }) {
  const { element, name, unpack, unpackShares } = gramme, byId = (id) => document.getElementById(id);
  const number = gramme.count, canvas = byId("network-canvas"), chooser = byId("network-layer"), sizer = byId("network-size");
  const places = { x: unpackShares(drawn.x), y: unpackShares(drawn.y) };
  const lots = unpack(drawn.lots), layers = drawn.layers.map(read);
  const plural = (many, word) => number(many) + " " + word + (many === 1 ? "" : "s");
  const CHUNK = 400; // lines stroked at once: one path with all of them is far slower

  /* What is drawn of a layer: edges, or members around the middle of their group; and how many neighbours nodes have. */
  function read(layer) {
    const rest = standing(layer.name) || layer;
    if (layer.kind === "edges")
      return { ...layer, source: unpack(layer.source), target: unpack(layer.target), degree: unpack(rest.degree), groups: null };
    const counts = unpack(rest.counts), starts = gramme.starts(counts), groups = unpack(rest.groups), total = unpack(rest.sizes);
    const middle = { x: new Float32Array(total.length), y: new Float32Array(total.length) }, here = new Uint32Array(total.length);
    const degree = new Float64Array(count);
    for (let i = 0; i < count; i++)
      for (let k = starts[i]; k < starts[i + 1]; k++) {
        const group = groups[k];
        middle.x[group] += places.x[i];
        middle.y[group] += places.y[i];
        here[group]++;
        degree[i] += total[group] - 1;
      }
    for (let g = 0; g < here.length; g++) { middle.x[g] /= here[g] || 1; middle.y[g] /= here[g] || 1; }
    return { ...layer, counts, starts, groups, middle, here, degree, titles: rest.names };
  }

  /* Proposed links come last; each is shown with the layer in which it is proposed. */
  const own = layers.filter((layer) => !layer.proposed), proposed = layers.filter((layer) => layer.proposed);
  const withProposed = (layer) => [layer, ...proposed.filter((one) => one.name === layer.name)];
  const shownLayers = () => (shown < 0 ? layers : withProposed(own[shown]));
  let shown = own.length === 1 ? 0 : -1;

  function stroke(pen, frame, many, ends) {
    const at = new Float32Array(4);
    for (let first = 0; first < many; first += CHUNK) {
      pen.beginPath();
      for (let k = first; k < Math.min(many, first + CHUNK); k++) {
        if (!ends(k, at)) continue;
        pen.moveTo(frame.left + at[0] * frame.wide, frame.top - at[1] * frame.tall);
        pen.lineTo(frame.left + at[2] * frame.wide, frame.top - at[3] * frame.tall);
      }
      pen.stroke();
    }
  }
  const between = (layer) => (k, at) => {
    const a = layer.source[k], b = layer.target[k];
    at[0] = places.x[a]; at[1] = places.y[a]; at[2] = places.x[b]; at[3] = places.y[b];
    return true;
  };
  /* A group of one node joins nobody, and has no line. */
  const toMiddle = (layer, i, k, at) => {
    const group = layer.groups[k];
    if (layer.here[group] < 2) return false;
    at[0] = places.x[i]; at[1] = places.y[i]; at[2] = layer.middle.x[group]; at[3] = layer.middle.y[group];
    return true;
  };
  function owners(layer) { // the node of each membership that is drawn
    if (layer.owners) return layer.owners;
    const found = [];
    for (let i = 0; i < count; i++)
      if (!lots || lots[i] < layer.member_lots) for (let k = layer.starts[i]; k < layer.starts[i + 1]; k++) found.push(i, k);
    return (layer.owners = Uint32Array.from(found));
  }
  const linesOf = (layer) => (layer.groups ? owners(layer).length / 2 : layer.drawn);

  function drawLayer(pen, frame, layer, width) {
    pen.lineWidth = width;
    pen.setLineDash(layer.coupling || layer.proposed ? [5 * width, 4 * width] : []);
    pen.strokeStyle = gramme.colour(layer.proposed ? "--c2" : layer.coupling ? "--c4" : "--soft");
    if (!layer.groups) stroke(pen, frame, layer.drawn, between(layer));
    else {
      const list = owners(layer);
      stroke(pen, frame, list.length / 2, (k, at) => toMiddle(layer, list[2 * k], list[2 * k + 1], at));
    }
    pen.setLineDash([]);
  }
  const strength = (many) => (many > 10000 ? 0.1 : many > 3000 ? 0.16 : many > 800 ? 0.28 : many > 200 ? 0.45 : 0.65);
  function drawLines(pen, frame, list, width) {
    const many = list.reduce((sum, layer) => sum + linesOf(layer), 0);
    for (const layer of list) {
      // lines to one middle lie on top of each other there
      pen.globalAlpha = layer.proposed ? 0.9 : strength(many) * (layer.groups && list.length > 1 ? 0.6 : 1);
      drawLayer(pen, frame, layer, layer.proposed ? width * 1.6 : width);
    }
    pen.globalAlpha = 1;
  }

  /* The names of the largest groups, where one layer is shown, unless they would cover each other. */
  function drawNames(pen, frame, layer) {
    if (!layer.titles) return;
    const MOST = 12, least = Math.max(2, 0.02 * count), taken = [];
    const order = [...layer.here.keys()].filter((g) => layer.here[g] >= least && g < layer.titles.length);
    order.sort((a, b) => layer.here[b] - layer.here[a]);
    pen.font = "600 13px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineWidth = 1;
    for (const group of order.slice(0, MOST)) {
      const title = layer.titles[group], text = (title.length > 24 ? title.slice(0, 23) + "…" : title) + "  " + number(layer.here[group]);
      const x = frame.left + layer.middle.x[group] * frame.wide, y = frame.top - layer.middle.y[group] * frame.tall;
      const half = pen.measureText(text).width / 2 + 7, tall = 20;
      if (taken.some((one) => Math.abs(one.x - x) < one.half + half + 2 && Math.abs(one.y - y) < tall + 2)) continue;
      taken.push({ x, y, half });
      // a plate under the text: where many lines and points meet, an outline alone cannot be read
      pen.beginPath();
      pen.roundRect(x - half, y - tall / 2, 2 * half, tall, 6);
      pen.fillStyle = gramme.colour("--raised");
      pen.strokeStyle = gramme.colour("--soft");
      pen.fill();
      pen.stroke();
      pen.fillStyle = gramme.colour("--text");
      pen.fillText(text, x, y + 0.5);
    }
  }

  /* The names of the nodes in view, once few enough are that they can be read, unless they would cover each other. */
  function drawNodeNames(pen, frame) {
    const MOST = 80, seen = [], wide = canvas.clientWidth, tall = canvas.clientHeight;
    for (let i = 0; i < count && seen.length <= MOST; i++) {
      const x = frame.left + places.x[i] * frame.wide, y = frame.top - places.y[i] * frame.tall;
      if (x > 0 && y > 0 && x < wide && y < tall) seen.push({ i, x, y });
    }
    if (seen.length > MOST || (seen.length === count && count > 40)) return;
    const taken = [];
    pen.font = "12px system-ui, sans-serif";
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.lineWidth = 3;
    pen.strokeStyle = gramme.colour("--raised");
    pen.fillStyle = gramme.colour("--text");
    for (const { i, x, y } of seen) {
      const text = names[i].length > 24 ? names[i].slice(0, 23) + "…" : names[i], right = x + 8 + pen.measureText(text).width;
      if (taken.some((one) => x < one.right && right > one.x && Math.abs(one.y - y) < 14)) continue;
      taken.push({ x, y, right });
      pen.strokeText(text, x + 8, y);
      pen.fillText(text, x + 8, y);
    }
  }

  /* The selected node's own lines: to its neighbours, and of all members of its groups. */
  function drawChosen(pen, frame, i) {
    pen.strokeStyle = gramme.colour("--accent");
    pen.lineWidth = 1.6;
    for (const layer of shownLayers()) {
      if (!layer.groups) {
        const mine = [];
        for (let k = 0; k < layer.drawn; k++) if (layer.source[k] === i || layer.target[k] === i) mine.push(k);
        const ends = between(layer);
        stroke(pen, frame, mine.length, (k, at) => ends(mine[k], at));
        if (layer.directed) arrows(pen, frame, mine.map((k) => [layer.source[k], layer.target[k]]));
        continue;
      }
      const all = [];
      const mine = new Set(layer.groups.subarray(layer.starts[i], layer.starts[i + 1]));
      pen.globalAlpha = 0.5;
      for (let other = 0; other < count && all.length < 4000; other++)
        for (let k = layer.starts[other]; k < layer.starts[other + 1]; k++) if (mine.has(layer.groups[k])) all.push(other, k);
      stroke(pen, frame, all.length / 2, (k, at) => toMiddle(layer, all[2 * k], all[2 * k + 1], at));
      pen.globalAlpha = 1;
    }
  }
  function arrows(pen, frame, list) {
    pen.fillStyle = gramme.colour("--accent");
    for (const [a, b] of list) {
      const x = frame.left + places.x[b] * frame.wide, y = frame.top - places.y[b] * frame.tall;
      const dx = x - (frame.left + places.x[a] * frame.wide), dy = y - (frame.top - places.y[a] * frame.tall), far = Math.hypot(dx, dy);
      if (far < 16) continue;
      const ux = dx / far, uy = dy / far, tip = 7, back = 15, half = 3.6;
      pen.beginPath();
      pen.moveTo(x - ux * tip, y - uy * tip);
      pen.lineTo(x - ux * back - uy * half, y - uy * back + ux * half);
      pen.lineTo(x - ux * back + uy * half, y - uy * back - ux * half);
      pen.fill();
    }
  }

  /* Sizes: by the number of neighbours in what is shown, by what a page adds, or all alike. */
  const ways = [
    { title: "neighbours", values: () => {
      const sum = new Float64Array(count);
      for (const layer of shownLayers()) if (layer.degree) for (let i = 0; i < count; i++) sum[i] += layer.degree[i];
      return sum;
    } },
    ...sizes.map(({ title, values }) => ({ title, values: () => values })), { title: "all alike", values: () => null },
  ];
  const factor = { of: null };
  function resizePoints() {
    const values = ways[sizer ? sizer.value : 0].values();
    if (!values) { factor.of = null; return; }
    let sum = 0, some = 0;
    for (const value of values) if (value > 0) { sum += value; some++; }
    if (!some) { factor.of = null; return; }
    const mean = sum / some;
    factor.of = Float32Array.from(values, (value) => Math.min(3, 0.55 + 0.45 * Math.sqrt(Math.max(value, 0) / mean)));
  }

  /* The small pictures: drawn when they come into view, or before the page is printed. */
  const panels = own.slice(0, drawn.panels).map((layer, k) => {
    const picture = element("canvas", { role: "img", "aria-label": "The layer " + layer.name.slice(0, 200) });
    const button = element("button", { type: "button", "aria-pressed": "false", onclick: () => { choose(shown === k ? -1 : k); } }, picture);
    button.setAttribute("aria-label", "Show the layer " + layer.name.slice(0, 200));
    const caption = element("figcaption", {}, name(layer.name, 60), " ", element("span", { class: "faint" }, told(layer)));
    return { layer, picture, button, figure: element("figure", {}, button, caption), fresh: false, seen: false };
  });
  function told(layer) {
    const some = layer.groups ? layer.here.length : layer.edges;
    return layer.groups ? plural(some, "group") : plural(some, "edge") + (layer.coupling ? " between layers" : "");
  }
  function drawPanel(panel) {
    const { picture, layer } = panel, ratio = Math.min(2, Math.max(1, window.devicePixelRatio || 1)) * (printing ? 2 : 1);
    const width = picture.clientWidth || 216, height = picture.clientHeight || 144, pad = 7;
    picture.width = Math.round(width * ratio);
    picture.height = Math.round(height * ratio);
    const pen = picture.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const frame = { left: pad, top: height - pad, wide: width - 2 * pad, tall: height - 2 * pad };
    drawLines(pen, frame, withProposed(layer), printing ? 0.35 : 0.6);
    const reach = count > 4000 ? 0.5 : count > 1000 ? 0.9 : count > 200 ? 1.7 : 2.6, step = Math.max(1, Math.floor(count / 20000));
    for (let i = 0; i < count; i += step) {
      const far = layer.degree && layer.degree[i] > 0;
      pen.fillStyle = far || !layer.degree ? colourOf.css(i) : gramme.colour("--none");
      const size = far || !layer.degree ? reach : reach * 0.55;
      const x = frame.left + places.x[i] * frame.wide, y = frame.top - places.y[i] * frame.tall;
      if (count > 2000) { pen.fillRect(x - size, y - size, 2 * size, 2 * size); continue; }
      pen.beginPath();
      pen.arc(x, y, size, 0, 2 * Math.PI);
      pen.fill();
    }
    panel.fresh = true;
  }
  let printing = false;
  function drawPanels(all) {
    for (const panel of panels) {
      panel.fresh = false;
      if (all || panel.seen) drawPanel(panel);
    }
  }

  const tip = gramme.tip({ place: byId("network-tip"), canvas, describe });
  const map = gramme.map({
    canvas, count, places, colourOf, sizes: factor, onHover: tip, onSelect,
    under: { lines: (pen, frame) => drawLines(pen, frame, shownLayers(), 1), chosen: drawChosen },
    over: (pen, frame) => {
      drawNodeNames(pen, frame);
      if (shown >= 0 && own[shown].groups) drawNames(pen, frame, own[shown]);
    },
  });

  function choose(k) {
    shown = own.length === 1 ? 0 : k;
    chooser.value = String(shown);
    panels.forEach((panel, at) => panel.button.setAttribute("aria-pressed", String(at === shown)));
    resizePoints();
    const list = shownLayers(), lines = list.reduce((sum, layer) => sum + (layer.groups ? 0 : layer.drawn), 0);
    const edges = list.reduce((sum, layer) => sum + (layer.groups ? 0 : layer.edges), 0);
    const ties = own.filter((layer) => layer.coupling).length, extra = list.filter((layer) => layer.proposed);
    const words = shown < 0 ? [plural(own.length - ties, "layer") + (ties ? " and " + plural(ties, "coupling") : "")] : [name(list[0].name, 80), ": ", told(list[0])];
    if (extra.length) words.push(", " + plural(extra.reduce((sum, layer) => sum + layer.edges, 0), "proposed link"));
    if (lines < edges) words.push(", " + number(lines) + " of " + number(edges) + " edges drawn");
    if (list.some((layer) => layer.directed)) words.push(". Where edges have a direction, those of the selected node end in an arrow");
    byId("network-shown").replaceChildren(...words, ".");
    map.refresh();
  }

  byId("network-panels").replaceChildren(...(panels.length > 1 ? panels.map((panel) => panel.figure) : []));
  if (sizer) {
    ways.forEach((way, k) => sizer.append(element("option", { value: k }, way.title)));
    if (sizes.length) sizer.value = "1";
    sizer.addEventListener("change", () => { resizePoints(); map.request(); });
  }
  chooser.addEventListener("change", () => choose(Number(chooser.value)));
  canvas.addEventListener("keydown", (event) => {
    if (event.key !== "[" && event.key !== "]") return;
    const many = own.length + 1, at = shown + 1 + (event.key === "]" ? 1 : many - 1);
    choose((at % many) - 1);
    event.preventDefault();
  });
  byId("network-zoom-in").addEventListener("click", () => map.zoom(1.5));
  byId("network-zoom-out").addEventListener("click", () => map.zoom(1 / 1.5));
  byId("network-zoom-all").addEventListener("click", () => map.all());
  const eye = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const panel = panels.find((one) => one.figure === entry.target);
      panel.seen = entry.isIntersecting;
      if (panel.seen && !panel.fresh) drawPanel(panel);
    }
  }, { rootMargin: "200px" });
  for (const panel of panels) eye.observe(panel.figure);
  const before = () => { printing = true; drawPanels(true); };
  const after = () => { printing = false; drawPanels(false); };
  matchMedia("print").addEventListener("change", (event) => (event.matches ? before() : after()));
  addEventListener("resize", () => drawPanels(false));
  choose(shown);

  /* Colours have changed, by the reader's choice or with the theme. */
  function recolour() { map.refresh(); drawPanels(false); }
  return { ...map, recolour, choose, places, layers, names, shown: () => shown };
};

/* A tip beside the pointer, filled by what `describe` says of a node. */
gramme.tip = function ({ place, canvas, describe }) {
  return function (i, x, y) {
    place.hidden = i < 0;
    if (i < 0) return;
    place.replaceChildren(...describe(i));
    const right = x > canvas.clientWidth / 2, low = y > canvas.clientHeight / 2;
    place.style.transform = "translate(" + (right ? x - 14 : x + 14) + "px," + (low ? y - 10 : y + 14) + "px)" +
      (right ? " translateX(-100%)" : "") + (low ? " translateY(-100%)" : "");
  };
};
