/* The step Network: the picture and the table with one selection, and beside them labelling and fitting. */

import { get, getBytes, post } from "./api.js";
import { button, colour, count, element, field, name, pager, percent, plural, say, select, table } from "./dom.js";
import { FitPanel } from "./fit.js";
import { LabelPanel } from "./label.js";
import { NetworkMap, rgb } from "./map.js";

const COLOURS = 10, RAMP = 32, PAGE = 50;

export class NetworkView {
  constructor(store) {
    this.store = store;
    this.selected = null;
    this.colourBy = "label";
    this.fit = this.before = this.groups = "";
    this.rows = { sort: "", descending: false, query: "", only: "", offset: 0 };
    this.make();
    document.addEventListener("keydown", (event) => this.key(event));
  }

  make() {
    const canvas = element("canvas", { tabindex: "0", role: "img", id: "network-canvas",
      "aria-label": "Picture of the network. Arrow keys move it, plus and minus zoom, 0 shows all." });
    this.map = new NetworkMap(canvas, { onSelect: (i) => this.selectNode(this.drawn[i]), onHover: (i, x, y) => this.tip(i, x, y) });
    this.tipBox = element("div", { class: "tip", hidden: true });
    this.colourSelect = select([], "", (value) => { this.colourBy = value; this.paint(); }, { id: "colour-by" });
    this.search = element("input", { type: "search", id: "search", autocomplete: "off", spellcheck: "false", role: "combobox",
      "aria-expanded": "false", "aria-controls": "found", "aria-autocomplete": "list",
      oninput: () => this.find(), onkeydown: (event) => this.searchKey(event) });
    this.found = element("ul", { id: "found", class: "found", role: "listbox", "aria-label": "Nodes found", hidden: true });
    this.layerBox = element("div", { class: "layers", role: "group", "aria-label": "Layers that are drawn" });
    this.legend = element("ul", { class: "legend", id: "legend" });
    this.sampleNote = element("p", { class: "faint", id: "sample-note" });
    this.tableBox = element("section", { class: "nodes", "aria-label": "Table of nodes" });
    this.labelPanel = new LabelPanel(this);
    this.fitPanel = new FitPanel(this);
    this.root = element("div", { class: "workbench" },
      element("h1", { class: "sr" }, "The network"),
      element("section", { class: "picture", "aria-label": "Picture" },
        element("div", { class: "controls" }, field("Colour by", this.colourSelect),
          element("div", { class: "search" }, field("Find a node", this.search), this.found),
          element("div", { class: "zoom", role: "group", "aria-label": "Zoom" },
            button("+", () => this.map.zoom(1.5), { "aria-label": "Zoom in" }), button("−", () => this.map.zoom(1 / 1.5), { "aria-label": "Zoom out" }),
            button("All", () => this.map.all(), { "aria-label": "Show all" }))),
        element("div", { class: "stage" }, canvas, this.tipBox),
        this.legend, this.sampleNote, this.layerBox),
      element("aside", { "aria-label": "Label and fit" }, this.labelPanel.root, this.fitPanel.root, this.labelPanel.near),
      this.tableBox);
  }

  async update(before, { shown } = {}) {
    const { state } = this.store;
    if (!state.open) return;
    if (this.dataId !== state.data_id) { await this.load(); return; }
    const fits = this.store.results("fit");
    const last = fits.at(-1)?.name || "";
    if (last !== this.lastFit) this.newFit(fits, before);
    this.labelPanel.update();
    this.fitPanel.update();
    if (before.version !== state.version || shown) await this.refreshValues();
    if (shown) this.map.resize();
  }

  /* Read the picture of newly opened data. */
  async load() {
    const { state } = this.store;
    if (this.loadingId === state.data_id) return;
    this.loadingId = state.data_id;
    try {
      const [head, buffer] = await Promise.all([get("/api/picture"), getBytes("/api/picture/numbers")]);
      const points = head.points, places = new Float32Array(buffer, 0, 2 * points);
      let at = 8 * points;
      const layers = head.layers.map((layer) => {
        const lines = new Uint32Array(buffer, at, 2 * layer.lines);
        at += 8 * layer.lines;
        return { ...layer, lines };
      });
      this.picture = head;
      this.drawn = head.nodes;
      this.indexOf = new Map(head.nodes.map((node, i) => [node, i]));
      this.dataId = head.data_id;
      this.selected = null;
      this.fit = this.before = this.groups = this.lastFit = "";
      this.map.setGraph({ x: places.subarray(0, points), y: places.subarray(points), nodes: head.nodes.length, layers });
      this.showLayers();
    } catch (problem) { say(problem.message, "error"); return; } finally { this.loadingId = null; }
    const fits = this.store.results("fit");
    this.newFit(fits);
    this.rows = { sort: "", descending: false, query: "", only: "", offset: 0 };
    this.labelPanel.reset();
    this.fitPanel.update();
    await this.refreshValues();
    this.map.resize();
    document.documentElement.dataset.pictured = "yes";
  }

  newFit(fits) {
    const had = this.lastFit;
    this.lastFit = fits.at(-1)?.name || "";
    this.fit = this.lastFit;
    this.before = fits.at(-2)?.name || "";
    const groups = this.store.results("groups");
    this.groups = groups.at(-1)?.name || "";
    if (this.fit && had !== undefined && had !== this.lastFit) this.colourBy = "predicted";
    this.showColours();
  }

  showColours() {
    const options = [["label", "label"]];
    if (this.fit) options.push(["predicted", "prediction"]);
    if (this.fit && !this.store.state.numbers) options.push(["probability", "certainty"]);
    if (this.fit && this.before) options.push(["changed", "what changed"]);
    if (this.groups) options.push(["group", "group"]);
    if (!options.some(([value]) => value === this.colourBy)) this.colourBy = "label";
    this.colourSelect.replaceChildren(...options.map(([value, text]) => element("option", { value, selected: value === this.colourBy }, text)));
  }

  showLayers() {
    const shown = new Set(this.picture.layers.keys());
    const boxes = this.picture.layers.slice(0, 60).map((layer, k) => {
      const box = element("input", { type: "checkbox", checked: true, onchange: () => {
        if (box.checked) shown.add(k); else shown.delete(k);
        this.map.setLayers(shown);
      } });
      return element("label", { class: "check" }, box, name(layer.name, 30), element("span", { class: "faint" }, count(layer.of)));
    });
    this.layerBox.replaceChildren(element("span", { class: "faint" }, "Layers"), ...boxes);
    const { picture } = this, notes = [];
    if (picture.nodes.length < picture.total) notes.push(`Drawn are ${count(picture.nodes.length)} of ${count(picture.total)} nodes: those with a label and a random sample of the others. The table and the search know all.`);
    const lines = picture.layers.reduce((sum, layer) => sum + layer.lines, 0), all = picture.layers.reduce((sum, layer) => sum + layer.of, 0);
    if (lines < all) notes.push(`Of ${count(all)} lines, a random ${count(lines)} are drawn.`);
    if (picture.layers.some((layer) => layer.kind === "groups")) notes.push("In a layer of groups, lines lead from members to the middle of their group.");
    this.sampleNote.textContent = notes.join(" ");
  }

  query() { return { fit: this.fit, before: this.before, groups: this.groups }; }

  /* Labels, predictions and groups of what is drawn, the table, and the node that is selected. */
  async refreshValues() {
    const groups = this.store.results("groups").at(-1)?.name || "";
    if (groups !== this.groups) { this.groups = groups; this.showColours(); }
    try {
      this.values = await get("/api/values", this.query());
    } catch (problem) { say(problem.message, "error"); return; }
    this.paint();
    await Promise.all([this.showTable(), this.selected === null ? null : this.labelPanel.show(this.selected)]);
  }

  palette() {
    const made = [colour("--none")];
    for (let k = 1; k <= COLOURS; k++) made.push(colour(`--c${k}`));
    made.push(colour("--other"));
    const stops = [1, 2, 3, 4, 5].map((k) => rgb(colour(`--ramp${k}`)));
    for (let k = 0; k < RAMP; k++) {
      const at = (k / (RAMP - 1)) * 4, low = Math.min(3, Math.floor(at)), share = at - low;
      made.push(`rgb(${stops[low].map((value, c) => Math.round(value + (stops[low + 1][c] - value) * share)).join(",")})`);
    }
    return made;
  }

  slotOf(code) { return code < 0 ? 0 : code < COLOURS ? code + 1 : COLOURS + 1; }

  classColour(text) {
    const code = this.values ? this.values.classes.indexOf(text) : -1;
    return this.palette()[this.slotOf(code)];
  }

  paint() {
    const { values, map } = this;
    if (!values || !this.drawn) return;
    const by = values[this.colourBy] ? this.colourBy : "label", codes = values[by];
    const slots = new Uint16Array(this.drawn.length), palette = this.palette();
    for (let i = 0; i < slots.length; i++) {
      if (by === "probability") slots[i] = COLOURS + 2 + Math.round(codes[i] * (RAMP - 1));
      else if (by === "changed") slots[i] = codes[i] ? 2 : 0;
      else slots[i] = this.slotOf(codes[i]);
    }
    map.setColours(slots, palette, values.label.map((code) => code >= 0));
    this.showLegend(by, palette);
  }

  showLegend(by, palette) {
    const { values } = this, swatch = (slot) => {
      const spot = element("span", { class: "swatch", "aria-hidden": "true" });
      spot.style.background = palette[slot];
      return spot;
    };
    const items = [];
    if (by === "probability") {
      for (const share of [0.25, 0.5, 0.75, 1]) items.push(element("li", {}, swatch(COLOURS + 2 + Math.round(share * (RAMP - 1))), percent(share)));
    } else if (by === "changed") items.push(element("li", {}, swatch(2), "predicted differently than before"), element("li", {}, swatch(0), "as before"));
    else {
      const names = by === "group" ? values.groups : values.classes, counts = new Map();
      for (const code of values[by]) counts.set(code, (counts.get(code) || 0) + 1);
      names.slice(0, COLOURS).forEach((text, code) => items.push(element("li", {}, swatch(code + 1), by === "group" ? "group " : "", name(text, 30), element("span", { class: "faint" }, count(counts.get(code) || 0)))));
      if (names.length > COLOURS) items.push(element("li", {}, swatch(COLOURS + 1), `${names.length - COLOURS} others`));
      if (this.drawn.length <= 4000 && by !== "label") items.push(element("li", {}, element("span", { class: "swatch square", "aria-hidden": "true" }), "square: has a label"));
      if (counts.get(-1)) items.push(element("li", {}, swatch(0), "no label", element("span", { class: "faint" }, count(counts.get(-1)))));
    }
    this.legend.replaceChildren(...items);
  }

  recolour() { this.paint(); this.map.redrawLines(); }

  tip(i, x, y) {
    if (i < 0 || !this.picture) { this.tipBox.hidden = true; return; }
    const label = this.values?.label[i], predicted = this.values?.predicted?.[i];
    const more = label >= 0 ? this.values.classes[label] : predicted >= 0 ? `${this.values.classes[predicted]}?${this.values.probability ? " " + percent(this.values.probability[i]) : ""}` : "no label";
    this.tipBox.replaceChildren(name(this.picture.names[i], 60), element("span", { class: "faint" }, " ", more));
    this.tipBox.hidden = false;
    this.tipBox.style.left = `${Math.min(x + 14, this.map.width - 180)}px`;
    this.tipBox.style.top = `${y + 14}px`;
  }

  async selectNode(node, { move = false, focus = false } = {}) {
    if (node === null || node === undefined) return;
    this.selected = node;
    const i = this.indexOf.get(node);
    this.map.select(i === undefined ? -1 : i);
    if (move && i !== undefined) this.map.show(i);
    for (const line of this.tableBox.querySelectorAll("tr[data-node]")) line.classList.toggle("selected", Number(line.dataset.node) === node);
    await this.labelPanel.show(node);
    if (focus) this.labelPanel.root.focus({ preventScroll: innerWidth > 960 });
  }

  /* The neighbours of the selected node are joined to it by lines of their own. */
  markNear(nodes) {
    const i = this.indexOf.get(this.selected);
    if (i !== undefined) this.map.select(i, nodes.map((node) => this.indexOf.get(node)).filter((one) => one !== undefined));
  }

  async find() {
    const text = this.search.value.trim();
    if (!text) { this.closeFound(); return; }
    const asked = this.finding = Symbol("found");
    const { rows } = await get("/api/nodes", { query: text, limit: 12 });
    if (this.finding !== asked) return;
    this.found.replaceChildren(...rows.map((row, k) => element("li", { role: "option", id: `found-${k}`, "aria-selected": "false",
      onmousedown: (event) => { event.preventDefault(); this.take(row.node); } }, name(row.name, 60))));
    this.foundRows = rows;
    this.foundAt = -1;
    this.found.hidden = !rows.length;
    this.search.setAttribute("aria-expanded", String(rows.length > 0));
  }

  closeFound() {
    this.found.hidden = true;
    this.search.setAttribute("aria-expanded", "false");
    this.search.removeAttribute("aria-activedescendant");
  }

  async take(node) {
    this.closeFound();
    this.search.value = "";
    await this.selectNode(node, { move: true, focus: true });
  }

  searchKey(event) {
    const many = this.found.hidden ? 0 : this.foundRows.length;
    if (event.key === "Escape") { this.closeFound(); return; }
    if (event.key === "Enter" && many) { event.preventDefault(); this.take(this.foundRows[Math.max(0, this.foundAt)].node); return; }
    if (!many || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
    event.preventDefault();
    this.foundAt = (this.foundAt + (event.key === "ArrowDown" ? 1 : -1) + many) % many;
    [...this.found.children].forEach((line, k) => line.setAttribute("aria-selected", String(k === this.foundAt)));
    this.search.setAttribute("aria-activedescendant", `found-${this.foundAt}`);
  }

  async showTable() {
    const asked = this.tabling = Symbol("table"), { rows } = this;
    const answer = await get("/api/nodes", { ...this.query(), ...rows, descending: rows.descending ? "1" : "", limit: PAGE });
    if (this.tabling !== asked) return;
    const columns = [
      { key: "name", title: "Node", cell: (row) => button(name(row.name, 50), () => this.selectNode(row.node, { move: true, focus: true }), { class: "link" }) },
      { key: "label", title: "Label", cell: (row) => (row.label === null ? "" : this.tag(row.label)) },
    ];
    if (this.fit && this.store.state.numbers) columns.push({ key: "predicted", title: "Predicted", number: true, cell: (row) => row.predicted },
      { key: "interval", title: "90 % interval", number: true, cell: (row) => row.interval });
    else if (this.fit) columns.push({ key: "predicted", title: "Predicted", cell: (row) => this.tag(row.predicted) },
      { key: "probability", title: "Certainty", number: true, cell: (row) => (row.probability === null ? "" : percent(row.probability, 1)) });
    if (this.groups) columns.push({ key: "group", title: "Group", cell: (row) => row.group });
    const go = (changes) => { Object.assign(rows, { offset: 0 }, changes); this.showTable(); };
    const only = [["", "all nodes"], ["labelled", "with a label"], ["unlabelled", "without a label"]];
    if (this.fit && this.before) only.push(["changed", "predicted differently than before"]);
    const list = table(columns, answer.rows, { caption: "Nodes", sort: rows.sort, descending: rows.descending,
      onsort: (sort, descending) => go({ sort, descending }), onrow: (row) => this.selectNode(row.node, { move: true }),
      selected: (row) => row.node === this.selected });
    list.querySelectorAll("tbody tr").forEach((line, k) => { line.dataset.node = answer.rows[k].node; });
    this.tableBox.replaceChildren(element("div", { class: "row" }, field("Show", select(only, rows.only, (value) => go({ only: value }), { id: "table-only" })),
      pager(answer.total, answer.offset, PAGE, (offset) => go({ offset }))), list);
  }

  tag(text) {
    if (this.store.state.numbers) return element("span", { class: "tag" }, name(text, 30));
    const spot = element("span", { class: "swatch", "aria-hidden": "true" });
    spot.style.background = this.classColour(text);
    return element("span", { class: "tag" }, spot, name(text, 30));
  }

  /* Give labels; the table and the picture follow at once, and go back if they could not be saved. */
  async label(node, text) {
    const i = this.indexOf.get(node), codes = this.values.label, old = i === undefined ? null : codes[i];
    let code = text === null ? -1 : this.values.classes.indexOf(text);
    if (text !== null && code < 0) code = this.values.classes.push(text) - 1;
    if (i !== undefined) { codes[i] = code; this.paint(); }
    try {
      Object.assign(this.store.state, await post("/api/labels", { changes: [[node, text]] }), { version: -1 });
    } catch (problem) {
      if (i !== undefined) { codes[i] = old; this.paint(); }
      say(problem.message, "error");
      return false;
    }
    await this.store.refresh();
    return true;
  }

  async undo() {
    try {
      const answer = await post("/api/undo");
      await this.store.refresh();
      if (answer.node !== null) await this.selectNode(answer.node, { move: true });
      else say("There is nothing to undo.");
    } catch (problem) { say(problem.message, "error"); }
  }

  key(event) {
    if (this.store.tab !== "network" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select")) return;
    const digit = /^[1-9]$/.test(event.key) ? Number(event.key) : 0;
    const known = this.store.state.classes[digit - 1];
    if (digit && known !== undefined && this.selected !== null) this.labelPanel.give(known);
    else if (event.key === "Backspace" || event.key === "Delete") { if (this.selected !== null) this.labelPanel.give(null); }
    else if (event.key === "u") this.undo();
    else if (event.key === "n") this.labelPanel.next();
    else if (event.key === "/") this.search.focus();
    else return;
    event.preventDefault();
  }
}
