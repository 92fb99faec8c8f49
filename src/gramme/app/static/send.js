/* The step Send: the report, tables, pictures, and what makes the same result without this page. */

import { openParcel, post, saveBlob } from "./api.js";
import { button, element, field, percent, plural, say, select } from "./dom.js";

export class SendView {
  constructor(store) {
    this.store = store;
    this.root = element("div", { class: "page" });
  }

  async update(before, { shown } = {}) {
    const fits = this.store.results("fit");
    if (!shown && this.count === fits.length) return;
    this.count = fits.length;
    this.chosen = fits.at(-1)?.name || "";
    this.render(fits);
  }

  render(fits) {
    const give = (text, what, id, options) => button(text, () => openParcel(what, this.chosen, options).catch((problem) => say(problem.message, "error")), { id });
    const network = this.store.views.network, file = this.store.state.name || "network";
    const picture = async (kind) => {
      if (!network.picture) { await network.update(this.store.state, { shown: true }); }
      if (!network.map.width) { say("Look at the network once; the picture is sent as you left it there."); this.store.go("network"); return; }
      if (kind === "png") saveBlob(await network.map.toPng(), `${file}.png`);
      else saveBlob(new Blob([network.map.toSvg(file)], { type: "image/svg+xml" }), `${file}.svg`);
    };
    const options = [...fits].reverse().map((one) => [one.name, `${one.name}: ${plural(one.labels || 0, "label")}${one.accuracy === null || one.accuracy === undefined ? "" : ", " + percent(one.accuracy)}`]);
    this.root.replaceChildren(
      element("h1", {}, "Send"),
      element("p", { class: "lead" }, fits.length ? "What you can hand to somebody who has neither this page nor gramme." : "After a fit, its report and its predictions are here. The picture and your labels can be sent now."),
      ...(fits.length ? [element("div", { class: "row" }, field("Fit", select(options, this.chosen, (value) => { this.chosen = value; }, { id: "send-fit" }))),
        element("section", {}, element("h2", {}, "The report"), element("p", { class: "faint" }, "One page that opens offline: how far to trust it, which layers matter, every prediction."),
          element("p", { class: "row" }, give("Open it", "report", "send-report", { tab: true }), give("Save the page", "page", "send-page"))),
        element("section", {}, element("h2", {}, "The predictions"), element("p", { class: "row" }, give("CSV", "table", "send-csv"), give("Excel", "excel", "send-excel")))] : []),
      element("section", {}, element("h2", {}, "The picture"), element("p", { class: "faint" }, "As it is on the step Network: colours, layers and zoom."),
        element("p", { class: "row" }, button("PNG", () => picture("png"), { id: "send-png" }), button("SVG", () => picture("svg"), { id: "send-svg" }))),
      element("section", {}, element("h2", {}, "Your labels"), element("p", { class: "row" }, give("labels.csv", "labels", "send-labels"))),
      element("section", {}, element("h2", {}, "The same without this page"),
        element("p", { class: "faint" }, "Both run in the folder of the project: ", element("code", {}, this.store.state.folder || "")),
        element("p", { class: "row" }, give("Commands (again.sh)", "script", "send-script"), give("Python (again.py)", "python", "send-python"))));
  }
}
