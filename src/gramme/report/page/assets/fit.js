/* The page of a fit: joins network, map, colours, search, panel and table. */
(function fit() {
  const { data, element, name, percent, count, unpack, unpackShares } = gramme;
  if (data.kind !== "fit" || !data.nodes.count) return;
  const byId = (id) => document.getElementById(id);
  const raw = data.nodes, total = raw.count;
  const nodes = {
    thing: data.of_table ? "row" : "node", Thing: data.of_table ? "Row" : "Node", things: data.of_table ? "Rows" : "Nodes",
    names: raw.names, labels: raw.labels, label: unpack(raw.label), predicted: unpack(raw.predicted), use: unpack(raw.use),
    probability: unpackShares(raw.probability), own: unpackShares(raw.own), judged: unpack(raw.judged),
    judgedProbability: unpackShares(raw.judged_probability), inDoubt: unpack(raw.doubtful) || new Uint8Array(total),
    doubtful(i) { return this.inDoubt[i] > 0; },
    judgedText(i) { return this.judged[i] ? this.labels[this.judged[i] - 1] : ""; },
    labelText(i) { return this.label[i] ? this.labels[this.label[i] - 1] : ""; },
    predictedText(i) { return this.labels[this.predicted[i] - 1] || ""; },
    setOf: raw.sets ? unpack(raw.sets.of) : null,
    setText(i) { return raw.sets.names[this.setOf[i]]; },
  };
  const places = (packed) => ({ x: unpackShares(packed.x), y: unpackShares(packed.y) });
  const after = places(data.map.after), before = data.map.before ? places(data.map.before) : null;
  const neighbourhoods = data.neighbourhoods.map(gramme.neighbourhood);

  /* Colours: a code per node (0 for none) and names, or a share per node. At most nine groups have a colour of their own. */
  const MOST = 9;
  const collator = new Intl.Collator(undefined, { numeric: true });
  const openEnd = (name) => (name.endsWith(" and above") ? 1 : 0) - (name.startsWith("below ") ? 1 : 0); // of numbers that were cut
  const byName = (one, other) => openEnd(one) - openEnd(other) || collator.compare(one, other);
  const byCodes = (title, codes, names, ordered) => ({ title, make() {
    const sizes = new Uint32Array(names.length + 1);
    for (const code of codes) sizes[code]++;
    let kept = names.map((_, k) => k + 1).filter((code) => sizes[code]);
    const dropped = kept.length > MOST + 1;
    if (dropped) kept = kept.sort((a, b) => sizes[b] - sizes[a]).slice(0, MOST);
    if (ordered !== "given") kept.sort((a, b) => byName(names[a - 1], names[b - 1]));
    const slot = new Uint8Array(names.length + 1).fill(11);
    slot[0] = 0;
    kept.forEach((code, k) => { slot[code] = k + 1; });
    const legend = kept.map((code, k) => ({ slot: k + 1, text: names[code - 1], size: sizes[code] }));
    const others = codes.reduce((sum, code) => sum + (slot[code] === 11), 0);
    if (others) legend.push({ slot: 11, text: "other", size: others });
    if (sizes[0]) legend.push({ slot: 0, text: "none", size: sizes[0] });
    return { slots: Uint8Array.from(codes, (code) => slot[code]), legend };
  } });
  const byShare = (title, values, low, high, words) => ({ title, make: () => ({
    slots: Uint8Array.from(values, (value) => 12 + Math.round(63 * Math.min(1, Math.max(0, (value - low) / (high - low || 1))))), ramp: words, legend: [],
  }) });
  function layerColours(around) {
    const { layer } = around, found = [];
    if (layer.kind === "edges")
      found.push(byCodes(layer.name + " · " + layer.colour.what, unpack(layer.colour.codes), layer.colour.names, "given"));
    else {
      const codes = new Uint32Array(total);
      for (let i = 0; i < total; i++) // the largest of its groups
        for (let k = around.starts[i]; k < around.starts[i + 1]; k++)
          if (!codes[i] || around.sizes[around.groups[k]] > around.sizes[codes[i] - 1]) codes[i] = around.groups[k] + 1;
      found.push({ title: layer.name, make: () => byCodes("", codes, [...around.sizes].map((_, g) => around.title(g))).make() });
    }
    if (around.heard) {
      const logs = Float32Array.from(around.heard, (value) => Math.log2(Math.max(value, 1e-4)));
      const edge = Math.max(0.3, Math.min(3, [...logs].sort((a, b) => a - b)[Math.floor(0.98 * (total - 1))]));
      found.push(byShare(layer.name + " · attention received", logs, -edge, edge, ["less than average", "more"]));
    }
    return found;
  }
  const confidence = () => {
    const guess = 1 / Math.max(2, data.labels.classes.length);
    return byShare("confidence", nodes.probability, guess, 1, [percent(guess), "100 % sure"]);
  };
  // a model knows the labels it learned from, so a labelled node has the colour of what was predicted without its own
  const unseen = Uint32Array.from(nodes.predicted, (code, i) => (nodes.use[i] === 1 && nodes.judged[i] ? nodes.judged[i] : code));
  const schemes = [
    ...(nodes.label.some((code) => code) ? [byCodes("known label", nodes.label, nodes.labels)] : []),
    byCodes("prediction", unseen, nodes.labels), confidence(), ...neighbourhoods.flatMap(layerColours),
  ];
  // known labels lie together in the map however often they would be missed, so it begins with what was predicted without them
  const begin = unseen.some((code, i) => code !== nodes.predicted[i]) ? schemes.findIndex((scheme) => scheme.title === "prediction") : 0;
  const choosers = [byId("colour"), byId("network-colour")];
  for (const chooser of choosers)
    schemes.forEach((scheme, k) => chooser.append(element("option", { value: k }, scheme.title.length > 70 ? scheme.title.slice(0, 69) + "…" : scheme.title)));

  const palette = gramme.palette();
  const colourOf = { slots: new Uint8Array(total), words: new Uint32Array(total), css: (i) => palette.css[colourOf.slots[i]] };
  let made = null;

  function paint() {
    palette.read();
    colourOf.slots = made.slots;
    for (let i = 0; i < total; i++) colourOf.words[i] = palette.words[made.slots[i]];
    const items = () => [...made.legend.map((one) => element("li", {}, palette.swatch(one.slot), name(one.text, 40), element("span", { class: "faint" }, count(one.size)))), ...(made.ramp ? [palette.ramp(...made.ramp)] : [])];
    byId("legend").replaceChildren(...items());
    byId("network-legend").replaceChildren(element("li", { class: "faint" }, title + ":"), ...items());
    if (map) map.request();
    if (network) network.recolour();
  }
  function recolour(event) {
    for (const chooser of choosers) chooser.value = event.target.value;
    title = schemes[event.target.value].title;
    made = schemes[event.target.value].make();
    paint();
  }

  function describe(i) {
    const lines = [element("strong", {}, name(nodes.names[i], 120)), " "];
    if (nodes.label[i]) lines.push("label ", name(nodes.labelText(i), 60), nodes.use[i] === 2 ? " (held out), " : ", ");
    lines.push("predicted ", name(nodes.predictedText(i), 60), ", " + percent(nodes.probability[i]));
    return lines;
  }
  let map = null, network = null, title = schemes[begin].title;
  made = schemes[begin].make();
  for (const chooser of choosers) chooser.value = begin;
  paint();
  const canvas = byId("scatter");
  map = gramme.map({
    canvas, count: total, places: after, colourOf, onHover: gramme.tip({ place: byId("tip"), canvas, describe }),
    onSelect: (i) => { if (network) network.show(i); tell(i); },
  });
  gramme.scatter = map;
  network = gramme.network({
    drawn: data.network, count: total, colourOf, describe, names: nodes.names, onSelect: (i) => { map.show(i); tell(i); },
    standing: (layer) => data.neighbourhoods.find((one) => one.name === layer),
  });
  gramme.net = network;
  gramme.themeListeners.push(paint);
  for (const chooser of choosers) chooser.addEventListener("change", recolour);
  byId("zoom-in").addEventListener("click", () => map.zoom(1.5));
  byId("zoom-out").addEventListener("click", () => map.zoom(1 / 1.5));
  byId("zoom-all").addEventListener("click", () => map.all());
  for (const choice of document.querySelectorAll("input[name=when]"))
    choice.addEventListener("change", () => {
      const first = choice.value === "before";
      map.change(first ? before : after);
      byId("map-how").textContent = first ? data.map.how_before : data.map.how;
    });

  const show = gramme.panel({ place: byId("panel"), nodes, neighbourhoods, choose, why: gramme.reasons(data.why) });
  /* The selected node, wherever it was selected: its panel, its row, and a line below the network that leads there. */
  function tell(i) {
    show(i);
    table.mark(i);
    byId("network-chosen").replaceChildren("Selected: ", ...describe(i), ". ", element("a", { href: "#panel" }, "Why, and its neighbours"));
  }
  function choose(i) { map.show(i); network.show(i); tell(i); }

  gramme.search({ input: byId("search"), list: byId("found"), nodes, choose });
  gramme.search({ input: byId("network-search"), list: byId("network-found"), nodes, choose });
  const table = gramme.nodeTable({ nodes, total, choose });
})();
