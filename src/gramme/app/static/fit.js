/* The panel about fits: start one, watch it, stop it, and see what came out and what changed. */

import { get, openParcel, post, remove } from "./api.js";
import { button, duration, element, field, name, percent, plural, say, select } from "./dom.js";

/* A job under way: what it does, how long it takes, and a button that stops it. */
export function jobLine(job, store) {
  const left = job.left === null || job.left === undefined ? "" : `about ${duration(job.left)} left`;
  const bar = element("progress", { max: 1, value: job.done > 0 ? job.done : null, "aria-label": `gramme ${job.kind}` });
  return element("div", { class: "job", "data-job": job.kind },
    element("div", { class: "row" }, bar, button("Stop", async () => {
      try { await remove(`/api/jobs/${job.number}`); } catch (problem) { say(problem.message, "error"); }
      await store.refresh();
    }, { class: "small stop" })),
    element("p", { class: "faint" }, `${job.what || "Starting"} ${left ? "· " + left : ""}`));
}

export class FitPanel {
  constructor(view) {
    this.view = view;
    this.store = view.store;
    this.method = "gramme-auto";
    this.coverage = false;
    this.root = element("section", { class: "panel", "aria-labelledby": "fit-title" });
  }

  async start() {
    try {
      await post("/api/jobs", { kind: "fit", method: this.method, coverage: this.coverage });
    } catch (problem) { say(problem.message, "error"); }
    await this.store.refresh();
  }

  update() {
    const { state } = this.store, job = this.store.job("fit");
    const running = job && (job.state === "running" || job.state === "waiting");
    const classes = Object.keys(state.counts || {}).length;
    const ready = classes >= 2;
    const fits = this.store.results("fit"), chosen = fits.find((one) => one.name === this.view.fit);
    const key = JSON.stringify([running, job?.state, fits.length, this.view.fit, this.view.before, ready]);
    if (running && this.key === key) {
      this.root.querySelector(".job")?.replaceWith(jobLine(job, this.store));
      return;
    }
    this.key = key;
    const settings = element("details", {}, element("summary", {}, "Settings"),
      field("Method", select((state.methods || []).map((one) => [one, one]), this.method, (value) => { this.method = value; })),
      element("label", { class: "check" }, element("input", { type: "checkbox", checked: this.coverage, onchange: (event) => { this.coverage = event.target.checked; } }),
        "also sets of classes that hold the true one 90 % of the time"));
    const parts = [element("h2", { id: "fit-title" }, "Fit"),
      element("p", { class: "row" }, button(fits.length ? "Fit again" : "Learn and predict all", () => this.start(), { class: "primary", id: "fit", disabled: running || !ready })),
      ready ? null : element("p", { class: "faint", id: "fit-needs" }, state.numbers ? "Give a few nodes numbers first." : "Label nodes of at least two classes first."),
      running ? jobLine(job, this.store) : state.numbers ? null : settings,
      job && job.state === "failed" ? element("p", { class: "problem", id: "fit-problem" }, job.message) : null,
      job && job.state === "stopped" ? element("p", { class: "faint" }, "The last fit was stopped; it left nothing.") : null];
    if (chosen) parts.push(...this.resultParts(fits, chosen));
    this.root.replaceChildren(...parts.filter(Boolean));
    if (chosen) this.showChanges();
  }

  resultParts(fits, chosen) {
    const options = [...fits].reverse().map((one) => [one.name, `${one.name.replace("-fit", "")}: ${plural(one.labels || 0, "label")}${one.accuracy === null || one.accuracy === undefined ? "" : ", " + percent(one.accuracy)}`]);
    const earlier = [["", "nothing"], ...options.filter(([value]) => value !== chosen.name)];
    const accuracy = chosen.error ? element("p", { id: "fit-accuracy" }, element("strong", {}, chosen.error), ` off on average, R² ${chosen.r2 === null ? "not defined" : chosen.r2.toFixed(2)}.`)
      : chosen.accuracy === null || chosen.accuracy === undefined
      ? element("p", { id: "fit-accuracy" }, "Too few labels to estimate the accuracy.")
      : element("p", { id: "fit-accuracy" }, "Estimated accuracy ", element("strong", {}, percent(chosen.accuracy)),
        chosen.interval ? ` (${percent(chosen.interval[0])} to ${percent(chosen.interval[1])})` : "",
        chosen.guess ? `; always guessing the largest class: ${percent(chosen.guess)}` : "", ".");
    this.changes = element("div", { id: "changes" });
    return [accuracy, chosen.explanation ? element("p", { class: "faint" }, chosen.explanation) : null,
      element("div", { class: "row" },
        field("Show fit", select(options, chosen.name, (value) => { this.view.fit = value; if (this.view.before === value) this.view.before = ""; this.changed(); }, { id: "which-fit" })),
        fits.length > 1 ? field("Compare with", select(earlier, this.view.before, (value) => { this.view.before = value; this.changed(); }, { id: "which-before" })) : null),
      element("p", {}, button("Open the report", () => openParcel("report", chosen.name, { tab: true }).catch((problem) => say(problem.message, "error")), { id: "open-report" })),
      this.changes];
  }

  changed() {
    this.key = null;
    this.view.showColours();
    this.update();
    this.view.refreshValues();
  }

  async showChanges() {
    const { fit, before } = this.view, box = this.changes;
    let found;
    try {
      found = await get("/api/compare", { after: fit, before });
    } catch (problem) { say(problem.message, "error"); return; }
    const parts = [];
    if (found.truth && found.truth.of) parts.push(element("p", { class: "note", id: "practice-score" },
      `Practice: ${found.truth.right} of the ${found.truth.of} nodes without a label are predicted as the dataset says, ${percent(found.truth.right / found.truth.of, 1)}.`));
    if (before) {
      parts.push(element("h3", {}, "What changed"), element("p", { id: "change-count" }, found.count ? `${plural(found.count, "node")} predicted differently than before` : "Every node is predicted as before",
        found.mean_before === null ? "." : `; mean certainty of nodes without a label ${percent(found.mean_before)} → ${percent(found.mean_after)}.`));
      if (found.nodes.length) parts.push(element("details", {}, element("summary", {}, "Show them"), element("ul", { class: "queue" }, found.nodes.slice(0, 50).map((one) => element("li", {},
        button(name(one.name, 40), () => this.view.selectNode(one.node, { move: true, focus: true }), { class: "link" }), element("span", { class: "faint" }, " "), name(one.before, 20), " → ", name(one.after, 20))))));
    }
    box.replaceChildren(...parts);
  }
}
