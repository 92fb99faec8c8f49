/* The steps Links, Ranks and Groups: run the command on the network, and show its table. */

import { get, openParcel, post } from "./api.js";
import { button, element, field, name, pager, percent, say, select, table } from "./dom.js";
import { jobLine } from "./fit.js";

const PAGE = 50;
const WORDS = {
  links: { title: "Links", run: "Find missing links", about: "Which pairs are not joined and should be, or will be, with a probability and the reason. Learned from ties that are set aside." },
  rank: { title: "Ranks", run: "Rank the nodes", about: "Who matters over all layers, by several measures, and how certain each rank is." },
  groups: { title: "Groups", run: "Find groups", about: "Which nodes belong together over all layers, how stable that is, and which layers it comes from." },
};
const HIDDEN = /_rank_(low|high)$/, FIRST = { rank: "pagerank_rank", links: "", groups: "" };

export class ResultView {
  constructor(store, kind) {
    this.store = store;
    this.kind = kind;
    this.words = WORDS[kind];
    this.rows = { sort: "", descending: false, query: "", offset: 0 };
    this.head = element("div", {});
    this.body = element("div", { id: `${kind}-table` });
    this.root = element("div", { class: "page" }, element("h1", {}, this.words.title), element("p", { class: "lead" }, this.words.about), this.head, this.body);
  }

  update(before, { shown } = {}) {
    const { store, kind } = this, job = store.job(kind), running = job && (job.state === "running" || job.state === "waiting");
    const results = store.results(kind), last = results.at(-1)?.name || "";
    if (last !== this.last) { this.last = this.chosen = last; this.rows = { sort: FIRST[kind], descending: false, query: "", offset: 0 }; shown = true; }
    const options = [...results].reverse().map((one) => [one.name, one.name]);
    this.head.replaceChildren(...[
      element("p", { class: "row" }, button(last ? "Run again" : this.words.run, () => this.start(), { class: "primary", id: `run-${kind}`, disabled: running }),
        results.length > 1 ? field("Result", select(options, this.chosen, (value) => { this.chosen = value; this.show(); })) : null,
        last ? button("Open the report", () => openParcel("report", this.chosen, { tab: true }).catch((problem) => say(problem.message, "error"))) : null,
        last ? button("Save as CSV", () => openParcel("table", this.chosen).catch((problem) => say(problem.message, "error"))) : null),
      running ? jobLine(job, store) : null,
      job && job.state === "failed" ? element("p", { class: "problem" }, job.message) : null].filter(Boolean));
    if (shown) this.show();
  }

  async start() {
    try { await post("/api/jobs", { kind: this.kind }); } catch (problem) { say(problem.message, "error"); }
    await this.store.refresh();
  }

  async show() {
    if (!this.chosen) { this.body.replaceChildren(); return; }
    let answer;
    const { rows } = this;
    try {
      answer = await get(`/api/results/${this.chosen}`, { ...rows, descending: rows.descending ? "1" : "", limit: PAGE });
    } catch (problem) { say(problem.message, "error"); return; }
    const go = (changes) => { Object.assign(rows, { offset: 0 }, changes); this.show(); };
    const columns = answer.header.filter((key) => !HIDDEN.test(key)).slice(0, 14).map((key) => {
      const at = answer.header.indexOf(key), numeric = answer.rows.every(({ [at]: cell }) => cell === "" || !Number.isNaN(Number(cell))) && !["node", "source", "target", "group"].includes(key);
      return { key, title: key.replaceAll("_", " "), number: numeric, cell: (row) => this.cell(row, key, at, numeric, answer) };
    });
    const search = element("input", { type: "search", value: rows.query, "aria-label": "Search in the table", onchange: () => go({ query: search.value.trim() }) });
    this.body.replaceChildren(element("div", { class: "row" }, field("Search", search), pager(answer.total, answer.offset, PAGE, (offset) => go({ offset }))),
      table(columns, answer.rows, { caption: `${this.words.title} of ${this.chosen}`, sort: rows.sort, descending: rows.descending, onsort: (sort, descending) => go({ sort, descending }) }));
  }

  cell(row, key, at, numeric, answer) {
    const node = answer.nodes[answer.rows.indexOf(row)]?.[key];
    if (node !== undefined && node !== null) return button(name(row[at], 40), () => { this.store.go("network"); this.store.views.network.selectNode(node, { move: true, focus: true }); }, { class: "link" });
    if (key === "probability" && row[at] !== "") return percent(Number(row[at]), 1);
    if (numeric && row[at] !== "") return String(Number(Number(row[at]).toPrecision(4)));
    return name(row[at], 90);
  }
}
