/* The panel of a node: what is known of it, and whom it hears in each layer. See neighbours.py for the data. */
gramme.neighbourhood = function (layer) {
  const counts = gramme.unpack(layer.counts), starts = gramme.starts(counts), heard = gramme.unpack(layer.attention);
  const at = (i) => (heard ? heard[i] : 1);
  if (layer.kind === "edges") {
    const others = gramme.unpack(layer.neighbours), shares = gramme.unpackShares(layer.shares);
    const degree = gramme.unpack(layer.degree), own = gramme.unpackShares(layer.self);
    return {
      layer, heard, starts,
      around(i) {
        const list = [];
        for (let k = starts[i]; k < starts[i + 1]; k++) list.push({ node: others[k], share: shares ? shares[k] : null });
        return { total: degree[i], list, own: own ? own[i] : null, groups: null };
      },
    };
  }
  const groups = gramme.unpack(layer.groups), sizes = gramme.unpack(layer.sizes), sums = gramme.unpack(layer.sums);
  let members = null;
  function index() { // who is in each group, made when it is first asked for
    const of = new Uint32Array(sizes.length);
    for (const group of groups) of[group]++;
    const first = gramme.starts(of), next = first.slice(), order = new Uint32Array(groups.length);
    for (let i = 0; i < counts.length; i++)
      for (let k = starts[i]; k < starts[i + 1]; k++) order[next[groups[k]]++] = i;
    members = { first, order };
  }
  const title = (group) => (group < layer.names.length ? layer.names[group] : "group " + (group + 1));
  return {
    layer, heard, starts, groups, sizes, title,
    around(i) {
      if (!members) index();
      const mine = [...groups.subarray(starts[i], starts[i + 1])];
      let all = (1 - mine.length) * at(i), total = 0;
      for (const group of mine) { all += sums[group]; total += sizes[group] - 1; }
      const weight = new Map();
      for (const group of mine) {
        let best = [];
        for (let k = members.first[group]; k < members.first[group + 1]; k++) {
          const node = members.order[k];
          if (node === i) continue;
          if (best.length < 8 || at(node) > at(best[best.length - 1])) {
            best.push(node);
            best.sort((a, b) => at(b) - at(a));
            if (best.length > 8) best.pop();
          }
        }
        for (const node of best) weight.set(node, (weight.get(node) || 0) + at(node));
      }
      const list = [...weight].sort((a, b) => b[1] - a[1]).slice(0, 8)
        .map(([node, value]) => ({ node, share: heard ? value / all : null }));
      return { total, list, own: heard ? at(i) / all : null, groups: mine };
    },
  };
};

gramme.panel = function ({ place, nodes, neighbourhoods, choose }) {
  const { element, name, percent, count } = gramme;
  const SHOWN = 8;

  function link(i) {
    return element("button", { type: "button", class: "link", onclick: () => choose(i) }, name(nodes.names[i], 60));
  }

  function bar(share, most) {
    const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const box = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    drawing.setAttribute("aria-hidden", "true");
    for (const [key, value] of Object.entries({ class: "fill", height: 4, width: (100 * share) / (most || 1) + "%", rx: 1 }))
      box.setAttribute(key, value);
    drawing.append(box);
    return drawing;
  }

  function oneLayer(around, i) {
    const { layer } = around, found = around.around(i), block = element("div", {}, element("h4", {}, name(layer.name, 60)));
    if (found.groups) {
      if (!found.groups.length) return block.append(element("p", { class: "faint" }, "in no group of this layer")), block;
      const told = element("p", {}, found.groups.length === 1 ? "in " : "in " + count(found.groups.length) + " groups: ");
      found.groups.slice(0, 5).forEach((group, k) => told.append(k ? ", " : "", element("strong", {}, name(around.title(group), 60)),
        " (" + count(around.sizes[group]) + " nodes)"));
      if (found.groups.length > 5) told.append(", …");
      block.append(told);
    } else if (!found.total) return block.append(element("p", { class: "faint" }, "no neighbours in this layer")), block;
    const shown = found.list.slice(0, SHOWN), most = Math.max(...shown.map((one) => one.share || 0), 1e-9);
    block.append(element("ol", {}, ...shown.map(({ node, share }) => {
      const item = element("li", {}, link(node), element("span", { class: "faint" }, share === null ? nodes.labelText(node) : percent(share)));
      if (share !== null) item.append(bar(share, most));
      return item;
    })));
    const rest = found.total - shown.length;
    const words = [];
    if (rest > 0) words.push("and " + count(rest) + " more");
    if (found.own !== null) words.push("itself " + percent(found.own));
    if (words.length) block.append(element("p", { class: "faint" }, words.join(" · ")));
    return block;
  }

  return function show(i) {
    const facts = [];
    facts.push(element("strong", {}, name(nodes.labels[nodes.predicted[i] - 1] || "?", 80)), " predicted with " + percent(nodes.probability[i]));
    if (nodes.label[i]) {
      facts.push(" · labelled ", element("strong", {}, name(nodes.labels[nodes.label[i] - 1], 80)),
        nodes.use[i] === 2 ? " (held out)" : "");
      if (nodes.judged[i]) facts.push(" · without this label, a model says ", element("strong", {}, name(nodes.judgedText(i), 80)),
        " with " + percent(nodes.judgedProbability[i]) + (nodes.doubtful(i) ? ", so the label looks wrong" : ""));
    } else facts.push(" · no known label");
    const attention = neighbourhoods.some((one) => one.heard);
    place.replaceChildren(
      element("h3", {}, name(nodes.names[i], 200)),
      element("p", {}, ...facts),
      element("p", { class: "faint" }, attention
        ? "Neighbours by the share of attention that this node pays to each at the first hop, from scores averaged over heads and networks. How much a neighbour is heard depends on that neighbour, not on who listens."
        : neighbourhoods.some((one) => one.layer.left_out)
          ? "Some neighbours per layer. How much each is attended to was left out of this page, since the data are large; node_attention in Python tells."
          : "This method weighs neighbours alike, or does not tell; some are listed per layer."),
      element("div", { class: "around" }, ...neighbourhoods.map((one) => oneLayer(one, i))),
    );
  };
};
