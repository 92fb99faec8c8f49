/* The network on the pages of ranks, links, groups and whom to ask: points coloured by rank, group or who stands for them. */
(function picture() {
  const { data, element, name, count, unpack } = gramme;
  if (!["rank", "links", "groups", "ask"].includes(data.kind) || !data.picture) return;
  const byId = (id) => document.getElementById(id), { network, names } = data.picture, total = names.length;
  const ranks = Object.entries(data.picture.ranks || {}).map(([title, packed]) => ({ title, ranks: unpack(packed) }));
  const order = unpack(data.picture.order), ends = unpack(data.picture.ends), asks = data.kind === "ask";
  const codes = unpack(data.picture.codes), marked = unpack(data.picture.marked), labelled = unpack(data.picture.labelled);
  const titles = data.picture.titles || [], MOST = 10; // colours; what is beyond them shares one
  const palette = gramme.palette(), slots = new Uint8Array(total);
  for (let i = 0; i < total; i++)
    slots[i] = codes ? (codes[i] > MOST ? 11 : codes[i]) : order ? 12 + Math.round(63 * (1 - order[i] / Math.max(1, total - 1))) : ends[i] ? 2 : 1;
  const colourOf = { slots, words: new Uint32Array(total), css: (i) => palette.css[slots[i]] };

  function describe(i) {
    const lines = [element("strong", {}, name(names[i], 120)), " "];
    if (codes) {
      if (marked && marked[i]) lines.push("is to be asked");
      else if (labelled && labelled[i]) lines.push("has a label");
      else if (codes[i]) lines.push(asks ? "represented by " : "in ", name(titles[codes[i] - 1], 120));
      else lines.push(asks ? "nearer to a label than to a chosen node" : "joined to nobody");
    } else if (ranks.length) lines.push(ranks.slice(0, 4).map((one) => one.title + " rank " + count(one.ranks[i])).join(", "));
    else if (ends) lines.push(ends[i] ? "in " + count(ends[i]) + (ends[i] === 1 ? " proposed link" : " proposed links") : "in no proposed link");
    return lines;
  }
  let drawing = null;
  function legend() {
    const sizes = new Uint32Array(titles.length + 1);
    for (const code of codes) sizes[code]++;
    const item = (slot, ...text) => element("li", {}, palette.swatch(slot), ...text);
    const items = titles.slice(0, MOST).map((title, k) => item(k + 1, ...(asks ? ["represented by "] : []), name(title, 40), ": " + count(sizes[k + 1])));
    const others = sizes.slice(MOST + 1).reduce((sum, size) => sum + size, 0);
    if (others) items.push(item(11, (asks ? "by others: " : "smaller groups: ") + count(others)));
    if (sizes[0]) items.push(item(0, (asks ? "labelled, or nearer to a label: " : "isolated: ") + count(sizes[0])));
    return items;
  }
  function paint() {
    palette.read();
    for (let i = 0; i < total; i++) colourOf.words[i] = palette.words[slots[i]];
    const items = codes ? legend() : order ? [palette.ramp("last", "first by mean rank")]
      : [[2, "in a proposed link"], [1, "in none"]].map(([slot, text]) => element("li", {}, palette.swatch(slot), text));
    byId("network-legend").replaceChildren(...items);
    if (drawing) drawing.recolour();
  }
  function tell(i) { byId("network-chosen").replaceChildren("Selected: ", ...describe(i), "."); }
  function choose(i) { drawing.show(i); tell(i); }
  paint();
  drawing = gramme.network({
    drawn: network, count: total, colourOf, describe, names, onSelect: tell, standing: () => null,
    sizes: marked ? [{ title: "who is asked", values: Float64Array.from(marked, (one) => (one ? 12 : 0.6)) }] : ranks.map((one) => ({ title: one.title, values: Float64Array.from(one.ranks, (rank) => 1 / Math.sqrt(rank)) })),
  });
  gramme.net = drawing;
  gramme.themeListeners.push(paint);
  gramme.search({ input: byId("network-search"), list: byId("network-found"), nodes: { names }, choose });
})();
