/* The frame of the page: steps, what is known of the project, and who is told when that changes. */

import { addressWith, get, takeToken } from "./api.js";
import { $, element, say } from "./dom.js";
import { DataView } from "./data.js";
import { NetworkView } from "./network.js";
import { ResultView } from "./results.js";
import { SendView } from "./send.js";

const IDLE_MS = 1000, BUSY_MS = 300;

export const store = {
  state: { version: -1, jobs: [], classes: [], results: [] },
  views: {},
  tab: "data",
  silent: 0,

  job(kind) { return this.state.jobs.filter((job) => job.kind === kind).at(-1) || null; },
  results(kind) { return (this.state.results || []).filter((one) => one.kind === kind && !one.broken); },

  /* Look at the server once; whatever is new is told to the step that is shown. */
  async refresh() {
    const before = this.state;
    try {
      const fresh = await get("/api/state", { since: before.version });
      this.state = { ...before, ...fresh };
      if (this.silent >= 3) say("The app answers again.");
      this.silent = 0;
    } catch (problem) {
      this.silent++;
      if (problem.status === 403) throw problem;
      if (this.silent === 3) say(problem.message, "error");
      return;
    }
    const jobs = JSON.stringify(before.jobs) !== JSON.stringify(this.state.jobs);
    if (before.version !== this.state.version || jobs || before.loading !== this.state.loading) this.told(before);
  },

  told(before) {
    for (const job of this.state.jobs) {
      const was = before.jobs.find((one) => one.number === job.number);
      if (was && was.state !== job.state && job.state === "failed") say(`gramme ${job.kind}: ${job.message}`, "error");
    }
    document.title = this.state.open ? `${this.state.name} · gramme` : "gramme";
    $("#project-name").textContent = this.state.open ? this.state.name : "";
    const opened = this.state.open && !before.open && before.version >= 0;
    for (const name of ["network", "links", "ranks", "groups", "send"]) {
      const tab = $(`#tab-${name}`);
      if (this.state.open) tab.removeAttribute("aria-disabled"); else tab.setAttribute("aria-disabled", "true");
    }
    if (opened && this.tab === "data" && !this.views.data.busy) { this.go("network"); return; }
    this.views[this.tab].update(before);
  },

  go(tab) {
    if (location.hash !== addressWith(tab)) history.pushState(null, "", addressWith(tab));
    this.show(tab);
  },

  show(tab) {
    if (!this.views[tab] || (tab !== "data" && !this.state.open)) tab = "data";
    this.tab = tab;
    for (const link of document.querySelectorAll("#tabs a")) {
      const own = link.id === `tab-${tab}`;
      if (own) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
    }
    const main = $("#main");
    main.replaceChildren(this.views[tab].root);
    main.className = tab;
    this.views[tab].update(this.state, { shown: true });
    scrollTo(0, 0);
  },
};

function theme() {
  const root = document.documentElement, system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const told = () => { for (const view of Object.values(store.views)) if (view.recolour) view.recolour(); };
  $("#theme").addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; told(); });
  system.addEventListener("change", told);
}

async function start() {
  if (!takeToken()) {
    $("#main").replaceChildren(element("h1", {}, "This page needs its whole address"),
      element("p", {}, "Open the address that gramme app printed in the terminal, with the token at its end."));
    return;
  }
  const wanted = location.hash.replace(/^#/, "").split("&")[0];
  store.views = {
    data: new DataView(store),
    network: new NetworkView(store),
    links: new ResultView(store, "links"),
    ranks: new ResultView(store, "rank"),
    groups: new ResultView(store, "groups"),
    send: new SendView(store),
  };
  try {
    await store.refresh();
  } catch (problem) {
    $("#main").replaceChildren(element("h1", {}, "The app did not let this page in"), element("p", {}, problem.message));
    return;
  }
  theme();
  store.show(store.views[wanted] ? wanted : store.state.open ? "network" : "data");
  history.replaceState(null, "", addressWith(store.tab));
  for (const link of document.querySelectorAll("#tabs a")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      if (link.getAttribute("aria-disabled")) say("Open some data first.");
      else store.go(link.id.slice(4));
    });
  }
  addEventListener("popstate", () => store.show(location.hash.replace(/^#/, "").split("&")[0]));
  addEventListener("hashchange", () => takeToken());
  document.documentElement.dataset.ready = "yes";
  (async function watch() {
    const busy = store.state.loading || store.state.jobs.some((job) => job.state === "running" || job.state === "waiting");
    await new Promise((done) => setTimeout(done, busy ? BUSY_MS : IDLE_MS));
    try { await store.refresh(); } catch (problem) { say(problem.message, "error"); }
    watch();
  })();
}

start();
