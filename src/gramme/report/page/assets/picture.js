/* The network on the pages of ranks and links: points sized and coloured by rank, or links that are proposed. */
(function picture() {
  const { data, element, name, count, unpack } = gramme;
  if ((data.kind !== "rank" && data.kind !== "links") || !data.picture) return;
  const byId = (id) => document.getElementById(id), { network, names } = data.picture, total = names.length;
  const ranks = Object.entries(data.picture.ranks || {}).map(([title, packed]) => ({ title, ranks: unpack(packed) }));
  const order = unpack(data.picture.order), ends = unpack(data.picture.ends);
  const palette = gramme.palette(), slots = new Uint8Array(total);
  for (let i = 0; i < total; i++)
    slots[i] = order ? 12 + Math.round(63 * (1 - order[i] / Math.max(1, total - 1))) : ends[i] ? 2 : 1;
  const colourOf = { slots, words: new Uint32Array(total), css: (i) => palette.css[slots[i]] };

  function describe(i) {
    const lines = [element("strong", {}, name(names[i], 120)), " "];
    if (ranks.length) lines.push(ranks.slice(0, 4).map((one) => one.title + " rank " + count(one.ranks[i])).join(", "));
    else if (ends) lines.push(ends[i] ? "in " + count(ends[i]) + (ends[i] === 1 ? " proposed link" : " proposed links") : "in no proposed link");
    return lines;
  }
  let drawing = null;
  function paint() {
    palette.read();
    for (let i = 0; i < total; i++) colourOf.words[i] = palette.words[slots[i]];
    const items = order ? [palette.ramp("last", "first by mean rank")]
      : [[2, "in a proposed link"], [1, "in none"]].map(([slot, text]) => element("li", {}, palette.swatch(slot), text));
    byId("network-legend").replaceChildren(...items);
    if (drawing) drawing.recolour();
  }
  function tell(i) { byId("network-chosen").replaceChildren("Selected: ", ...describe(i), "."); }
  function choose(i) { drawing.show(i); tell(i); }
  paint();
  drawing = gramme.network({
    drawn: network, count: total, colourOf, describe, names, onSelect: tell, standing: () => null,
    sizes: ranks.map((one) => ({ title: one.title, values: Float64Array.from(one.ranks, (rank) => 1 / Math.sqrt(rank)) })),
  });
  gramme.net = drawing;
  gramme.themeListeners.push(paint);
  gramme.search({ input: byId("network-search"), list: byId("network-found"), nodes: { names }, choose });
})();
