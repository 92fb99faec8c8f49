/* The panel about a node: its label, what was predicted, its neighbours, and whom to label next. */

import { get, post } from "./api.js";
import { button, element, name, percent, plural, say } from "./dom.js";

export class LabelPanel {
  constructor(view) {
    this.view = view;
    this.store = view.store;
    this.queue = null;
    this.about = element("div", { id: "node-panel" });
    this.queueBox = element("section", { "aria-labelledby": "queue-title" });
    this.near = element("section", { class: "panel", "aria-label": "Neighbours" });
    this.root = element("div", { class: "panel", tabindex: "-1", id: "label-panel", role: "group", "aria-label": "Label" }, this.about, this.queueBox);
    this.reset();
  }

  reset() {
    this.node = null;
    this.queue = null;
    this.askedJob = null;
    this.near.hidden = true;
    this.about.replaceChildren(element("h2", {}, "Label"), element("p", { class: "faint" },
      "Select a point, a row of the table, or a name by searching. Then give it a label; a class that has been given has a button, and a key."));
    this.showProgress();
    this.showQueue();
  }

  showProgress() {
    const { state } = this.store, counts = Object.entries(state.counts || {});
    this.progress ||= element("p", { id: "label-count", "aria-live": "polite" });
    this.progress.replaceChildren(element("strong", {}, plural(state.labelled || 0, "label")),
      counts.length && !state.numbers ? ` in ${plural(counts.length, "class", "classes")}` : "", ` on ${plural(state.nodes || 0, "node")}. `,
      button("Undo", () => this.view.undo(), { disabled: !state.can_undo, id: "undo", title: "u" }));
    if (!this.progress.isConnected || this.progress.parentNode !== this.root) this.root.prepend(this.progress);
  }

  update() {
    this.showProgress();
    const job = this.store.job("ask");
    if (job && this.askedJob === job.number && job.state === "done") { this.askedJob = null; this.readQueue(job.result); return; }
    if (job && this.askedJob === job.number && (job.state === "failed" || job.state === "stopped")) this.askedJob = null;
    this.showQueue();
  }

  async show(node) {
    const asked = this.asking = Symbol("node");
    let found;
    try {
      found = await get(`/api/nodes/${node}`, this.view.query());
    } catch (problem) { say(problem.message, "error"); return; }
    if (this.asking !== asked) return;
    const typing = this.node?.node === node ? this.about.querySelector("#new-class")?.value || "" : "";
    this.node = found;
    const classes = this.store.state.classes, view = this.view;
    const choices = classes.map((text, k) => button([
      k < 9 ? element("kbd", {}, String(k + 1)) : null, view.tag(text)],
    () => this.give(text), { class: "choice", "aria-pressed": String(found.label === text) }));
    const fresh = element("input", { id: "new-class", maxlength: 200, autocomplete: "off", value: typing, inputmode: this.store.state.numbers ? "decimal" : null, placeholder: this.store.state.numbers ? "a number" : classes.length ? "another class" : "a class, such as a team",
      onkeydown: (event) => { if (event.key === "Enter") giveNew(); } });
    const giveNew = () => {
      const text = fresh.value.trim();
      fresh.value = "";
      if (text) this.give(text);
    };
    const said = found.probabilities ? this.bars(found.probabilities)
      : found.interval === null ? null : element("p", { id: "node-prediction" }, "Predicted ", element("strong", {}, found.predicted), `, 90 % interval ${found.interval}`);
    this.about.replaceChildren(...[
      element("h2", { id: "node-name" }, name(found.name, 60)),
      element("p", { id: "node-label" }, found.label === null ? "No label yet." : ["Label: ", view.tag(found.label), " ",
        button("Remove", () => this.give(null), { class: "small", id: "remove-label", title: "Backspace" })].flat()),
      element("div", { class: "choices", role: "group", "aria-label": "Classes" }, choices),
      element("div", { class: "row" }, element("label", { class: "sr", for: "new-class" }, this.store.state.numbers ? "Number" : "New class"), fresh,
        button("Give", giveNew, { id: "give-new" })),
      found.truth ? element("p", { class: "note", id: "truth" }, "Practice: the dataset says ", view.tag(found.truth)) : null,
      said].filter(Boolean));
    this.near.hidden = false;
    this.near.replaceChildren(this.neighbours(found.layers));
    const near = found.layers.flatMap((layer) => (layer.kind === "edges" ? layer.nodes : layer.groups.flatMap((group) => group.nodes)));
    view.markNear(near.map((one) => one.node));
  }

  bars(probabilities) {
    const ranked = [...probabilities].sort((a, b) => b.probability - a.probability).slice(0, 5);
    return element("div", { class: "bars", id: "node-prediction" }, element("h3", {}, "Predicted"), ranked.map((one) => {
      const bar = element("span", { class: "bar", "aria-hidden": "true" });
      bar.style.width = `${Math.max(1, 100 * one.probability)}%`;
      bar.style.background = this.view.classColour(one.class);
      return element("div", { class: "bar-row" }, name(one.class, 24), element("span", { class: "track" }, bar), element("span", { class: "number" }, percent(one.probability)));
    }));
  }

  neighbours(layers) {
    const link = (one) => element("li", {}, button([name(one.name, 40)], () => this.view.selectNode(one.node, { move: true, focus: true }), { class: "link" }),
      one.label !== null ? this.view.tag(one.label) : one.predicted !== null ? element("span", { class: "faint" }, `${one.predicted}?`) : null);
    return element("div", { class: "neighbours" }, element("h2", {}, "Neighbours"), layers.map((layer) => {
      const many = layer.kind === "edges" ? plural(layer.count, "neighbour") : plural(layer.count, "group");
      const inside = layer.kind === "edges"
        ? [element("ul", {}, layer.nodes.map(link)), layer.count > layer.nodes.length ? element("p", { class: "faint" }, `and ${layer.count - layer.nodes.length} more`) : null]
        : layer.groups.map((group) => element("div", {}, element("p", {}, name(group.group, 40), element("span", { class: "faint" }, ` ${plural(group.size, "member")}`)), element("ul", {}, group.nodes.map(link))));
      return element("details", { open: layers.length <= 4 && layer.count > 0 && layer.kind === "edges" && layer.count <= 12 }, element("summary", {}, name(layer.layer, 40), element("span", { class: "faint" }, ` ${many}`)), inside);
    }));
  }

  async give(text) {
    const node = this.view.selected;
    if (node === null) { say("Select a node first."); return; }
    const inQueue = this.queue?.find((one) => one.node === node);
    if (!(await this.view.label(node, text))) return;
    if (inQueue) inQueue.done = text !== null;
    this.showQueue();
    if (inQueue && text !== null) this.next();
    else if (this.root.contains(document.activeElement) || document.activeElement === document.body) this.root.focus({ preventScroll: true });
  }

  /* The next of the queue without a label. */
  next() {
    const open = (this.queue || []).filter((one) => !one.done && one.node !== null);
    if (!open.length) {
      if (this.queue) say("The queue is done. Fit now, or ask for more.");
      return;
    }
    this.view.selectNode(open[0].node, { move: true, focus: true });
  }

  async ask() {
    try {
      const job = await post("/api/jobs", { kind: "ask" });
      this.askedJob = job.number;
      await this.store.refresh();
    } catch (problem) { say(problem.message, "error"); }
  }

  async readQueue(result) {
    try {
      const answer = await get(`/api/results/${result}`, { limit: 200 });
      const at = (key) => answer.header.indexOf(key);
      this.queue = answer.rows.map((row, k) => ({ node: answer.nodes[k].node, name: row[at("node")], why: row[at("why")] || "", stands: at("stands_for") >= 0 ? row[at("stands_for")] : "", done: false }));
      this.showQueue();
      this.next();
    } catch (problem) { say(problem.message, "error"); }
  }

  showQueue() {
    const job = this.store.job("ask"), running = job && (job.state === "running" || job.state === "waiting");
    const parts = [element("h2", { id: "queue-title" }, "Whom to label next"),
      element("p", { class: "row" }, button(running ? "Looking …" : this.queue ? "Ask again" : "Suggest nodes", () => this.ask(), { id: "ask", disabled: running }),
        this.queue ? button("Next", () => this.next(), { title: "n", id: "queue-next" }) : null)];
    if (this.queue) parts.push(element("ol", { class: "queue", id: "queue" }, this.queue.map((one) => element("li", { class: one.done ? "done" : null },
      button(name(one.name, 40), () => this.view.selectNode(one.node, { move: true, focus: true }), { class: "link" }),
      one.done ? " ✓" : null, element("span", { class: "faint" }, ` ${one.why}`)))));
    this.queueBox.replaceChildren(...parts.filter(Boolean));
  }
}
