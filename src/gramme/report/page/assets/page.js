"use strict";
/* What every page does: read its data, make elements from text (never from markup), light and dark. */
const gramme = {};

gramme.data = JSON.parse(document.getElementById("report-data").textContent);

/* The only way elements are made here: names and labels become text nodes, so markup in them stays text. */
gramme.element = function (tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "onclick") made.addEventListener("click", value);
    else if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  for (const child of children) made.append(child);
  return made;
};

/* A name of the user's: its own writing direction, and no longer than a line or two. */
gramme.name = function (text, longest = 120) {
  const shown = text.length > longest ? text.slice(0, longest - 1) + "…" : text;
  return gramme.element("bdi", text.length > longest ? { title: text.slice(0, 2000) } : {}, shown);
};

gramme.percent = (share) => (100 * share).toFixed(1) + " %";
gramme.count = (number) => number.toLocaleString("en");
gramme.colour = (variable) => getComputedStyle(document.documentElement).getPropertyValue(variable).trim();

gramme.saveFile = (name, text) => gramme.saveBlob(name, new Blob([text], { type: "text/csv;charset=utf-8" }));
gramme.saveBlob = function (name, blob) {
  const address = URL.createObjectURL(blob);
  const link = gramme.element("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
};

/* A cell of a CSV file. Spreadsheets run text that begins like a formula; a quote in front keeps it text. */
gramme.cell = function (value) {
  let text = String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text) && !/^[+-]?[\d.]+(e[+-]?\d+)?$/i.test(text)) text = "'" + text;
  return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
};

gramme.themeListeners = [];
(function theme() {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const name = document.getElementById("theme-name");
  const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const show = () => {
    name.textContent = isDark() ? "Light" : "Dark";
    for (const listener of gramme.themeListeners) listener();
  };
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    show();
  });
  system.addEventListener("change", show);
  matchMedia("print").addEventListener("change", show); // paper is light, whatever the screen is
  show();
})();
