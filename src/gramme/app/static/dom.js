/* Elements from text, never from markup: names and labels of the user's become text nodes, so markup in them stays text. */

export function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export const $ = (selector) => document.querySelector(selector);

/* A name of the user's: its own writing direction, and no longer than a line or two. */
export function name(text, longest = 80) {
  const whole = String(text);
  const shown = whole.length > longest ? whole.slice(0, longest - 1) + "…" : whole;
  return element("bdi", whole.length > longest ? { title: whole.slice(0, 2000) } : {}, shown);
}

export const count = (number) => Number(number).toLocaleString("en");
export const percent = (share, digits = 0) => (100 * share).toFixed(digits) + "\u00a0%";
export const plural = (number, one, many = one + "s") => `${count(number)} ${number === 1 ? one : many}`;

export function duration(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

export function bytes(size) {
  const units = ["bytes", "kB", "MB", "GB"];
  let step = 0;
  while (size >= 1000 && step < 3) { size /= 1000; step++; }
  return `${step ? size.toFixed(1) : size} ${units[step]}`;
}

/* A labelled control. */
export function field(label, control) {
  return element("label", { class: "field" }, element("span", {}, label), control);
}

export function select(options, chosen, change, attributes = {}) {
  const made = element("select", { onchange: () => change(made.value), ...attributes });
  for (const [value, text] of options) made.append(element("option", { value, selected: value === chosen }, text));
  return made;
}

export function button(text, click, attributes = {}) {
  return element("button", { type: "button", onclick: click, ...attributes }, text);
}

/* What went wrong or was done, above the content; errors stay until they are closed. */
export function say(text, kind = "info") {
  const box = $("#messages");
  const line = element("p", { class: kind }, element("span", {}, text));
  const away = () => line.remove();
  line.append(button("×", away, { "aria-label": "Close this message", class: "quiet" }));
  if (kind === "error") for (const old of box.querySelectorAll(".error")) old.remove();
  box.append(line);
  while (box.children.length > 3) box.firstChild.remove();
  if (kind !== "error") setTimeout(away, 6000);
}

/* A table whose headings sort; `columns` are {key, title, number, cell(row)}. */
export function table(columns, rows, { caption, sort, descending, onsort, onrow, selected } = {}) {
  const head = columns.map((column) => {
    const state = column.key === sort ? (descending ? "descending" : "ascending") : null;
    const title = onsort && column.key && !column.plain
      ? button(column.title, () => onsort(column.key, column.key === sort ? !descending : Boolean(column.number)), { class: "sort" })
      : column.title;
    return element("th", { scope: "col", class: column.number ? "number" : null, "aria-sort": state }, title);
  });
  const body = rows.map((row) => {
    const line = element("tr", { class: selected && selected(row) ? "selected" : null },
      columns.map((column) => element("td", { class: column.number ? "number" : null }, column.cell(row))));
    if (onrow) line.addEventListener("click", (event) => { if (!event.target.closest("button, a, input, select")) onrow(row); });
    return line;
  });
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption || "Table" },
    element("table", {}, caption ? element("caption", {}, caption) : null,
      element("thead", {}, element("tr", {}, head)), element("tbody", {}, body)));
}

/* Buttons for the page before and after. */
export function pager(total, offset, limit, go) {
  if (total <= limit) return element("p", { class: "faint" }, plural(total, "row"));
  const last = Math.min(total, offset + limit);
  return element("div", { class: "pager" },
    button("‹ Before", () => go(Math.max(0, offset - limit)), { disabled: offset === 0 }),
    element("span", { class: "faint" }, `${count(offset + 1)} to ${count(last)} of ${count(total)}`),
    button("Next ›", () => go(offset + limit), { disabled: last >= total }));
}

export const colour = (variable) => getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
