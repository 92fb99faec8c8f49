/* The step Data: drop files, paste a table, choose a dataset; say what each file and column is; open it. */

import { get, post, remove, upload } from "./api.js";
import { bytes, button, count, element, field, name, plural, say, select, table } from "./dom.js";

const FILE_ROLES = [["edges", "ties: each row joins two"], ["kinds", "pairs: each row joins two kinds of thing"],
  ["nodes", "a table: each row is a person or thing"], ["leave out", "leave out"]];
const ROLE_WORDS = {
  layer: "layer: alike in this", label: "label: a class to predict", number: "label: a number to predict", id: "id: the name of the row",
  feature: "feature: a number or property", "leave out": "leave out", source: "source: from whom", target: "target: to whom",
  weight: "weight of the tie", "kind to label": "what is to be predicted", "other kind": "what joins them",
};
const roleWords = (file, role) => (file.role === "edges" && role === "layer" ? "layer: what kind of tie" : ROLE_WORDS[role] || role);

export class DataView {
  constructor(store) {
    this.store = store;
    this.plan = null;
    this.place = "incoming";
    this.root = element("div", { class: "page" });
    this.facts = null;
    this.problem = "";
    this.number = 0;
  }

  async update(before, { shown } = {}) {
    const { state } = this.store;
    const same = !shown && before.version === state.version && before.loading === state.loading;
    if (same || this.busy) return;
    await this.load();
  }

  async load() {
    try {
      this.files = await get("/api/files");
    } catch (problem) { say(problem.message, "error"); return; }
    if (this.store.state.loading) this.plan = null;
    else if (this.files.incoming.length) { this.place = "incoming"; this.plan = this.files.incoming; }
    else if (this.files.current.length) { this.place = "data"; this.plan = this.files.current; this.facts = this.files.facts; }
    else this.plan = null;
    this.render();
    if (this.plan && this.place === "incoming") this.inspect();
  }

  render() {
    const { state } = this.store, parts = [];
    if (state.loading) parts.push(element("p", { class: "note", role: "status" }, `${state.loading} …`));
    if (state.problem) parts.push(element("p", { class: "problem", role: "alert" }, state.problem));
    if (!this.plan) parts.push(element("h1", {}, "Open your data"), element("p", { class: "lead" },
      "A file of ties between people or things, several such files, or a table with a row for each. A few labels are enough; you can give them here."));
    else parts.push(element("h1", {}, this.place === "incoming" ? "What is what?" : "The data of this project"));
    if (this.plan) parts.push(...this.planParts());
    parts.push(this.dropParts(), this.datasetParts());
    parts.push(element("p", { class: "faint" }, "Project folder: ", element("code", {}, this.files.folder),
      ". Nothing leaves this machine."));
    this.root.replaceChildren(...parts.filter(Boolean));
  }

  dropParts() {
    const chooser = element("input", { type: "file", multiple: true, id: "choose-files", class: "sr", onchange: () => this.add([...chooser.files]) });
    const zone = element("div", { class: "drop", id: "drop" },
      element("p", {}, element("strong", {}, "Drop files here"), " or ",
        element("label", { for: "choose-files", class: "button" }, "choose them")), chooser,
      element("p", { class: "faint" }, "CSV, TSV, Excel, Parquet, GraphML, GML, Pajek, UCINET, multiplex edge lists and more."));
    zone.addEventListener("dragover", (event) => { event.preventDefault(); zone.classList.add("over"); });
    zone.addEventListener("dragleave", () => zone.classList.remove("over"));
    zone.addEventListener("drop", (event) => {
      event.preventDefault();
      zone.classList.remove("over");
      this.add([...event.dataTransfer.files]);
    });
    const text = element("textarea", { rows: 5, id: "paste-text", placeholder: "source,target\nAnn,Bo\nBo,Cy", spellcheck: "false" });
    const paste = element("details", {}, element("summary", {}, "Paste a table"), field("Rows with a header; commas, tabs or semicolons between", text),
      button("Add what I pasted", async () => {
        if (text.value.trim()) await this.add([new File([text.value.includes("\t") ? text.value.replaceAll("\t", ",") : text.value], `pasted-${++this.number}.csv`)]);
      }, { id: "paste-add" }));
    return element("section", { "aria-label": "Add files" }, this.plan ? element("h2", {}, "Add or replace files") : null, zone, paste);
  }

  datasetParts() {
    const known = this.files.datasets, practice = element("input", { type: "checkbox", id: "practice", checked: true });
    const chosen = select(known.map((one) => [one.name, `${one.name} (${one.nodes ? plural(one.nodes, "node") : "any size"})`]), known[0]?.name, () => told(), { id: "dataset" });
    const about = element("p", { class: "faint", id: "dataset-about" });
    const told = () => {
      const one = known.find((each) => each.name === chosen.value);
      if (one) about.textContent = `${one.what}. ${one.nodes ? plural(one.nodes, "node") + ", " : ""}${plural(one.layers, "layer")}, ${plural(one.classes, "class", "classes")}.`;
    };
    told();
    return element("section", { "aria-label": "Datasets" }, element("h2", {}, "Or try a dataset"),
      element("div", { class: "row" }, field("Dataset", chosen),
        element("label", { class: "check" }, practice, "Practise: hide its labels and let me give some"),
        button("Open it", () => this.during("Opening the dataset", async () => {
          await post("/api/dataset", { name: chosen.value, practice: practice.checked });
        }), { id: "dataset-open" })), about);
  }

  async add(files) {
    await this.during("Receiving", async () => {
      for (const file of files) await upload(file, file.name);
    }, { stay: true });
  }

  /* Something that takes a moment: the page says so, and moves on to the network if it went well. */
  async during(what, work, { stay } = {}) {
    this.busy = true;
    const note = element("p", { class: "note", role: "status" }, `${what} …`);
    this.root.prepend(note);
    let failed = false;
    try { await work(); } catch (problem) { say(problem.message, "error"); failed = true; }
    note.remove();
    this.busy = false;
    await this.store.refresh();
    if (failed || stay) await this.load(); else this.store.go("network");
  }

  planParts() {
    const alone = !this.plan.some((file) => file.role === "edges" || file.role === "kinds");
    const cards = this.plan.map((file) => this.fileCard(file, alone));
    const notes = element("div", { id: "read-facts", "aria-live": "polite" }, this.factParts());
    const open = this.place === "incoming"
      ? button("Open", () => this.during("Opening", () => post("/api/open", { files: this.records(), place: this.place })), { class: "primary", id: "open-plan" })
      : button("Read it this way", () => this.during("Reading", () => post("/api/open", { files: this.records(), place: this.place })), { id: "open-plan", disabled: !this.changed });
    return [element("div", { class: "cards" }, cards), notes, element("p", { class: "row" }, open,
      this.place === "incoming" ? button("Forget these files", async () => {
        for (const file of this.files.incoming) await remove(`/api/files/${encodeURIComponent(file.name)}`);
        this.plan = this.facts = null;
        await this.load();
      }) : button("Go to the network", () => this.store.go("network"), { class: "primary" }))];
  }

  records() {
    return this.plan.map((file) => ({ name: file.name, role: file.role, columns: this.columnRoles(file) }));
  }

  columnRoles(file) {
    if (file.role === "leave out") return {};
    const known = this.rolesOf(file);
    return Object.fromEntries(file.columns.map((column) => [column.name, known.includes(column.role) ? column.role : "leave out"]));
  }

  rolesOf(file) {
    if (file.role !== "nodes") return this.files.roles[file.role] || [];
    return this.plan.some((one) => one.role === "edges" || one.role === "kinds") ? this.files.roles.nodes : this.files.roles.table;
  }

  fileCard(file, alone) {
    const change = () => { this.changed = true; this.render(); this.inspect(); };
    const role = select(FILE_ROLES, file.role, (value) => {
      file.role = value;
      file.why = "chosen";
      if (value === "kinds") file.columns.forEach((column, k) => { column.role = this.files.roles.kinds[Math.min(k, 2)]; });
      change();
    });
    const roles = this.rolesOf(file);
    const guess = (why) => (why === "chosen" ? element("span", { class: "faint" }, "chosen") : element("span", { class: "guess", title: why }, `guess: ${why}`));
    const columns = file.role === "leave out" || !file.columns.length ? null : element("table", { class: "columns" },
      element("caption", {}, "Columns of ", name(file.name)),
      element("thead", {}, element("tr", {}, ["Column", "First values", "Role", ""].map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, file.columns.map((column, place) => {
        const values = [...new Set(file.rows.map((row) => row[place]).filter(Boolean))].slice(0, 3).join(", ");
        const shown = roles.includes(column.role) ? column.role : file.role === "nodes" && alone && column.role === "feature" ? "layer" : "leave out";
        column.role = shown;
        const control = select(roles.map((one) => [one, roleWords(file, one)]), shown, (value) => { column.role = value; column.why = "chosen"; change(); }, { "aria-label": `Role of ${column.name}` });
        return element("tr", {}, element("th", { scope: "row" }, name(column.name, 40)), element("td", { class: "faint" }, name(values, 40)),
          element("td", {}, control), element("td", {}, guess(column.why)));
      })));
    return element("section", { class: "card", "aria-label": file.name },
      element("h2", {}, name(file.name), " ", element("span", { class: "faint" }, bytes(file.size))),
      element("div", { class: "row" }, field("This file is", role), guess(file.why)),
      columns ? element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Columns of ${file.name}` }, columns) : null);
  }

  async inspect() {
    const asked = this.asking = Symbol("asked");
    try {
      const facts = await post("/api/inspect", { files: this.records(), place: this.place });
      if (this.asking !== asked) return;
      this.facts = facts;
      this.problem = "";
    } catch (problem) {
      if (this.asking !== asked) return;
      this.facts = null;
      this.problem = problem.message;
    }
    const place = this.root.querySelector("#read-facts");
    if (place) place.replaceChildren(...this.factParts());
    const open = this.root.querySelector("#open-plan");
    if (open) open.disabled = !this.facts || (this.place === "data" && !this.changed);
  }

  factParts() {
    if (this.problem) return [element("p", { class: "problem" }, this.problem)];
    const { facts } = this;
    if (!facts) return [element("p", { class: "faint" }, "Reading …")];
    const classes = Object.entries(facts.classes);
    const numbers = this.plan.some((file) => file.role === "nodes" && file.columns.some((column) => column.role === "number"));
    const labels = !classes.length ? "no labels yet" : numbers ? plural(facts.labelled, "known number") : `${plural(facts.labelled, "label")} in ${plural(classes.length, "class", "classes")}`;
    const notes = facts.notes.map((note) => element("li", { class: note.doubt ? "guess" : null }, note.doubt ? "guess: " : "", note.text));
    const layers = facts.layers.slice(0, 30);
    return [element("h2", {}, "What was read"),
      element("p", { id: "read-summary" }, element("strong", {}, plural(facts.nodes, "node")), ", ", element("strong", {}, plural(facts.layers.length, "layer")),
        `, ${labels}${facts.features ? ", " + plural(facts.features, "feature") : ""}.`),
      table([
        { title: "Layer", cell: (row) => name(row.layer, 50) },
        { title: "Kind", cell: (row) => (row.kind === "edges" ? "ties" : row.kind) },
        { title: "Nodes", number: true, cell: (row) => count(row.nodes) },
        { title: "Ties", number: true, cell: (row) => count(row.edges) },
        { title: "Groups", number: true, cell: (row) => (row.groups === null ? "" : count(row.groups)) },
      ], layers, { caption: facts.layers.length > 30 ? `The first 30 of ${facts.layers.length} layers` : "Layers" }),
      notes.length ? element("details", { open: notes.length < 6 }, element("summary", {}, plural(notes.length, "note") + " from reading"), element("ul", {}, notes)) : null,
      element("p", {}, "The command that does the same: ", element("code", { class: "command" }, facts.command))].filter(Boolean);
  }
}
