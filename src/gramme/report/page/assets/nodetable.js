/* The nodes to look at: least certain, likely mislabelled, or all, as a table with filter and export. */
gramme.nodeTable = function ({ nodes, total, choose }) {
  const byId = (id) => document.getElementById(id);
  const { name, percent, count, element } = gramme;
  const view = byId("view"), filter = byId("filter"), more = byId("more");
  const every = Array.from({ length: total }, (_, i) => i);
  const open = every.filter((i) => nodes.use[i] !== 1);
  const doubtful = every.filter((i) => nodes.doubtful(i));
  const sets = { uncertain: open.length ? open : every, doubtful, all: every };
  const told = {
    uncertain: open.length ? nodes.things + " the model did not learn from, the least certain first." : "Every " + nodes.thing + " has a label, so these are those whose own label was given the lowest probability.",
    doubtful: doubtful.length ? "Labels that look wrong, with the class that is suggested in their place (without its label), the most probable suggestion first."
      : every.some((i) => nodes.judged[i]) ? "No label looks wrong by this rule." : "No label was judged.",
    all: "All " + nodes.things.toLowerCase() + " on this page.",
  };
  view.options[1].textContent = "likely mislabelled (" + count(doubtful.length) + ")";
  const uses = ["", "learned from", "held out"];
  const text = (get) => ({ key: get, value: get });
  const columns = [
    { title: nodes.Thing, field: "node", ...text((i) => nodes.names[i]),
      show: (i) => element("button", { type: "button", class: "link", onclick: () => { choose(i); byId("map").scrollIntoView(); } }, name(nodes.names[i], 60)) },
    { title: "Label", field: "label", ...text((i) => nodes.labelText(i)), show: (i) => name(nodes.labelText(i), 40) },
    { title: "Used for", field: "label_use", ...text((i) => uses[nodes.use[i]]), show: (i) => uses[nodes.use[i]] || "–" },
    { title: "Prediction", field: "predicted", ...text((i) => nodes.predictedText(i)), show: (i) => name(nodes.predictedText(i), 40) },
    { title: "Probability", field: "probability", number: true, key: (i) => nodes.probability[i],
      value: (i) => nodes.probability[i].toFixed(4), show: (i) => percent(nodes.probability[i]) },
    { title: "Without its label", field: "out_of_fold_predicted", ...text((i) => nodes.judgedText(i)), show: (i) => (nodes.judged[i] ? name(nodes.judgedText(i), 40) : "–") },
    { title: "Its probability", field: "out_of_fold_probability", number: true, key: (i) => (nodes.judged[i] ? nodes.judgedProbability[i] : -1),
      value: (i) => (nodes.judged[i] ? nodes.judgedProbability[i].toFixed(4) : ""), show: (i) => (nodes.judged[i] ? percent(nodes.judgedProbability[i]) : "–") },
    { title: "Own label’s", field: "out_of_fold_probability_of_label", number: true, key: (i) => (nodes.judged[i] ? nodes.own[i] : 2),
      value: (i) => (nodes.judged[i] ? nodes.own[i].toFixed(4) : ""), show: (i) => (nodes.judged[i] ? percent(nodes.own[i]) : "–") },
  ];
  const further = nodes.setOf ? 1 : 0; // a column more
  if (further) columns.splice(5, 0, { title: "Plausible", field: "set", ...text((i) => nodes.setText(i)), show: (i) => name(nodes.setText(i), 60) });
  const suggested = { title: "", field: "suggested", value: (i) => (nodes.doubtful(i) ? nodes.judgedText(i) : "") };
  const PROBABILITY = { column: 4, down: false, shown: 25 }, OWN = { column: 7 + further, down: false, shown: 25 }, SUGGESTED = { column: 6 + further, down: true, shown: 25 };
  const UNCERTAIN = open.length ? PROBABILITY : OWN; // how sure a model is of what it was told says little
  let wanted = "";
  const table = gramme.table({
    table: byId("nodes"), columns, rows: () => sets[view.value], sort: UNCERTAIN, extra: [suggested],
    match: (i) => !wanted || [nodes.names[i], nodes.labelText(i), nodes.predictedText(i)].some((one) => one.toLowerCase().includes(wanted)),
    fill(shown, all) {
      byId("nodes-caption").textContent = told[view.value];
      byId("nodes-count").textContent = count(shown) + " of " + count(all) + " shown";
      more.hidden = shown >= all;
    },
  });
  view.addEventListener("change", () => table.restart(view.value === "doubtful" ? SUGGESTED : view.value === "uncertain" ? UNCERTAIN : { column: 0, down: false }));
  filter.addEventListener("input", () => { wanted = filter.value.trim().toLowerCase(); table.restart(); });
  more.addEventListener("click", () => table.more());
  byId("export").addEventListener("click", () => gramme.saveFile("nodes.csv", table.csv()));
  table.draw();
  return table;
};
