/* The page of a benchmark: its table of results, sortable, filterable, exportable. */
(function benchmark() {
  const { data, element, name, count } = gramme;
  if (data.kind !== "benchmark") return;
  const byId = (id) => document.getElementById(id);
  const rows = data.rows, every = rows.map((_, i) => i), there = (value) => value !== null && value !== undefined;
  const percent = byId("percent"), filter = byId("filter");
  const percents = [...new Set(rows.map((row) => row.train_percent))].sort((a, b) => a - b);
  percent.append(element("option", { value: "" }, "all"), ...percents.map((one) => element("option", { value: one }, one + " %")));

  const number = (title, field, digits, show) => ({
    title, field, number: true,
    key: (i) => (there(rows[i][field]) ? rows[i][field] : -Infinity),
    value: (i) => (there(rows[i][field]) ? rows[i][field] : ""),
    show: show || ((i) => (there(rows[i][field]) ? rows[i][field].toFixed(digits) : "–")),
  });
  const text = (title, field) => ({ title, field, key: (i) => rows[i][field], value: (i) => rows[i][field], show: (i) => name(rows[i][field], 60) });
  const accuracy = (i) => {
    const row = rows[i];
    if (!there(row.accuracy_mean)) return "–";
    const mean = element(row.best ? "strong" : "span", {}, row.accuracy_mean.toFixed(1));
    return element("span", {}, mean, there(row.accuracy_ci95) ? element("span", { class: "faint" }, " ± " + row.accuracy_ci95.toFixed(1)) : "");
  };
  const gap = (i) => (there(rows[i].paper_accuracy) && there(rows[i].accuracy_mean) ? rows[i].accuracy_mean - rows[i].paper_accuracy : null);
  const filled = (column) => every.some((i) => column.value(i) !== ""); // a column without a value says nothing
  const columns = [
    text("Dataset", "dataset"), text("Method", "method"),
    number("Training %", "train_percent", 0, (i) => String(rows[i].train_percent)),
    number("Accuracy", "accuracy_mean", 1, accuracy),
    number("Paper", "paper_accuracy", 1),
    { title: "Ours − paper", field: "difference", number: true, key: (i) => gap(i) ?? -Infinity, value: (i) => gap(i)?.toFixed(4) ?? "",
      show: (i) => { const value = gap(i); return value === null ? "–" : (value >= 0 ? "+" : "−") + Math.abs(value).toFixed(1); } },
    number("Peak", "peak_mean", 1), number("Macro F1", "macro_f1_mean", 1),
    number("CPU seconds", "cpu_seconds_mean", 2), number("Splits", "repeats", 0),
    ...(rows.some((row) => row.failed) ? [number("Failed", "failed", 0)] : []),
  ].filter(filled);
  const interval = { title: "", field: "accuracy_ci95", value: (i) => (there(rows[i].accuracy_ci95) ? rows[i].accuracy_ci95 : "") };
  let wanted = "";
  const table = gramme.table({
    table: byId("runs"), columns, rows: () => every, page: 500, sort: { column: 0, down: false }, extra: [interval],
    match: (i) => (!percent.value || rows[i].train_percent === Number(percent.value)) &&
      (!wanted || [rows[i].dataset, rows[i].method].some((one) => one.toLowerCase().includes(wanted))),
    fill(shown, all) { byId("runs-count").textContent = count(shown) + " of " + count(rows.length) + " rows shown" + (shown < all ? "; filter to see others" : ""); },
  });
  percent.addEventListener("change", () => table.restart());
  filter.addEventListener("input", () => { wanted = filter.value.trim().toLowerCase(); table.restart(); });
  byId("export").addEventListener("click", () => gramme.saveFile("results.csv", table.csv()));
  table.draw();
})();
