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
      const weight = new Map(); // who shares several groups counts in each, so all members must be looked at
      for (const group of mine)
        for (let k = members.first[group]; k < members.first[group + 1]; k++) {
          const node = members.order[k];
          if (node !== i) weight.set(node, (weight.get(node) || 0) + at(node));
        }
      const best = [];
      for (const [node, value] of weight)
        if (best.length < 8 || value > best[best.length - 1].value) {
          best.push({ node, value });
          best.sort((a, b) => b.value - a.value);
          if (best.length > 8) best.pop();
        }
      const list = best.map(({ node, value }) => ({ node, share: heard ? value / all : null }));
      return { total, list, own: heard ? at(i) / all : null, groups: mine };
    },
  };
};

/* Why a node is predicted as it is: see why.py for the data. */
gramme.reasons = function (why) {
  if (!why) return null;
  const against = gramme.unpack(why.against);
  const parts = why.parts.map((part) => {
    const value = gramme.unpack(part.value), counts = gramme.unpack(part.counts);
    const starts = counts && gramme.starts(counts), layer = gramme.unpack(part.layer), thing = gramme.unpack(part.thing);
    const amount = gramme.unpack(part.amount);
    const through = (i) => {
      const list = [];
      for (let k = starts ? starts[i] : 0; starts && k < starts[i + 1]; k++)
        list.push({ layer: why.layers[layer[k]], thing: thing[k], amount: amount[k], isNode: part.kinds[why.layers[layer[k]]] });
      return list;
    };
    return { name: part.name, words: part.words, weight: part.weight, value, through };
  });
  return { against, parts };
};

gramme.panel = function ({ place, nodes, neighbourhoods, choose, why }) {
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
    const { layer } = around, found = around.around(i), block = element("div", {}, element("h5", {}, name(layer.name, 60)));
    if (found.groups) {
      if (!found.groups.length) return block.append(element("p", { class: "faint" }, "in no group of this layer")), block;
      const told = element("p", {}, found.groups.length === 1 ? "in " : "in " + count(found.groups.length) + " groups: ");
      found.groups.slice(0, 5).forEach((group, k) => told.append(k ? ", " : "", element("strong", {}, name(around.title(group), 60)),
        " (" + count(around.sizes[group]) + " nodes)"));
      if (found.groups.length > 5) told.append(", …");
      block.append(told);
    } else if (!found.total) return block.append(element("p", { class: "faint" }, layer.directed ? "no edge leads from it to another node in this layer" : "no neighbours in this layer")), block;
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

  const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2);
  const byName = new Map(neighbourhoods.map((one) => [one.layer.name, one]));

  function source({ layer, thing, amount, isNode }) {
    const item = element("li", {}), told = element("span", {}, name(layer, 40), ": ");
    if (isNode && thing) {
      told.append(link(thing - 1));
      if (nodes.label[thing - 1]) told.append(nodes.use[thing - 1] === 2 ? " (held out, " : " (labelled ", name(nodes.labelText(thing - 1), 40), ")");
    } else if (isNode) told.append("a node that is not on this page");
    else {
      const around = byName.get(layer);
      told.append(around && thing ? name(around.title(thing - 1), 60) : "a group");
      if (around && thing) told.append(" (" + count(around.sizes[thing - 1]) + " nodes)");
    }
    item.append(told, element("span", { class: "faint" }, signed(amount)));
    return item;
  }

  function reason(part, i) {
    const value = part.value[i], list = part.through(i);
    const head = why.parts.length > 1
      ? element("p", {}, element("strong", {}, signed(value)), " ", part.words, ", ", percent(part.weight), " of the mixture")
      : element("p", {}, "What the log-odds came through:");
    const block = element("div", { class: "reason" }, head);
    if (!list.some((one) => Math.abs(one.amount) >= 0.005) && Math.abs(value) < 0.005) return block; // all of it would read 0.00
    const rest = value - list.reduce((sum, one) => sum + one.amount, 0);
    const items = list.map(source);
    items.push(element("li", { class: "faint" }, "itself, how frequent the classes are, and all others", element("span", {}, signed(rest))));
    block.append(element("ol", {}, ...items));
    return block;
  }

  /* The parts of the log-odds, the largest first; they add up to the whole. */
  function reasonsOf(i) {
    if (!why) return [];
    const total = why.parts.reduce((sum, part) => sum + part.value[i], 0);
    const rival = nodes.labels[why.against[i] - 1], won = nodes.labels[nodes.predicted[i] - 1];
    const parts = [...why.parts].sort((a, b) => Math.abs(b.value[i]) - Math.abs(a.value[i]));
    const times = Math.exp(Math.abs(total));
    return [
      element("h4", { class: "why" }, "Why ", name(won, 60), " rather than ", name(rival, 60)),
      element("p", {}, "Log-odds " + signed(total) + ": it is " + (times < 10 ? times.toFixed(1) : times < 1000 ? times.toFixed(0) : "over 1,000") + " times as likely. " +
        "What is marked + speaks for ", name(won, 60), ", − for ", name(rival, 60),
        parts.length > 1 ? "; the ingredients add up to " + signed(total) + ", and so does what stands under each of them to its own." : "; all of it adds up to " + signed(total) + "."),
      ...parts.map((part) => reason(part, i)),
    ];
  }

  return function show(i) {
    const facts = [];
    facts.push(element("strong", {}, name(nodes.labels[nodes.predicted[i] - 1] || "?", 80)), " predicted with " + percent(nodes.probability[i]));
    if (nodes.label[i]) {
      facts.push(" · labelled ", element("strong", {}, name(nodes.labels[nodes.label[i] - 1], 80)),
        nodes.use[i] === 2 ? " (held out)" : " (the model learned this label, which speaks for itself below)");
      if (nodes.judged[i]) facts.push(" · without this label, a model says ", element("strong", {}, name(nodes.judgedText(i), 80)),
        " with " + percent(nodes.judgedProbability[i]) + (nodes.doubtful(i) ? ", so the label looks wrong" : ""));
    } else facts.push(" · no known label");
    const attention = neighbourhoods.some((one) => one.heard);
    const mixture = why && why.parts.length > 1, own = mixture && why.parts.find((part) => part.name === "gramme-fusion");
    place.replaceChildren(
      element("h3", {}, name(nodes.names[i], 200)),
      element("p", {}, ...facts),
      ...reasonsOf(i),
      element("h4", { class: "why" }, attention ? "Whom attention hears" : "Neighbours"),
      element("p", { class: "faint" }, attention
        ? (own ? "This is about one ingredient alone, attention, which has " + percent(own.weight) + " of the mixture and adds " + signed(own.value[i]) + " here. " : "") + "Neighbours by the share of attention that this node pays to each at the first hop, from scores averaged over heads and networks. How much a neighbour is heard depends on that neighbour, not on who listens."
        : neighbourhoods.some((one) => one.layer.left_out)
          ? "Some neighbours per layer. How much each is attended to was left out of this page, since the data are large; node_attention in Python tells."
          : "This method weighs neighbours alike, or does not tell; some are listed per layer."),
      element("div", { class: "around" }, ...neighbourhoods.map((one) => oneLayer(one, i))),
    );
  };
};
