/* A table that can be sorted, filtered and exported. It draws only the rows that are asked for, so that a hundred
   thousand rows cost no more than fifty. */
const collator = new Intl.Collator(undefined, { numeric: true });

gramme.table = function ({ table, columns, rows, sort, match, page = 25, fill, extra = [] }) {
  const state = { column: sort.column, down: sort.down, shown: page, order: [], marked: null };
  const head = gramme.element("tr");
  columns.forEach((column, place) => {
    const button = gramme.element("button", { type: "button", class: "sort", onclick: () => sortBy(place) }, column.title);
    column.head = gramme.element("th", { scope: "col", class: column.number ? "number" : null }, button);
    head.append(column.head);
  });
  table.tHead.replaceChildren(head);

  function sortBy(place) {
    state.down = state.column === place ? !state.down : Boolean(columns[place].number);
    state.column = place;
    draw();
  }

  function compare(a, b) {
    const { key } = columns[state.column];
    const left = key(a), right = key(b);
    const order = typeof left === "number" ? left - right : collator.compare(left, right);
    return (state.down ? -order : order) || a - b;
  }

  function select() {
    state.order = rows().filter(match).sort(compare);
  }

  function draw() {
    select();
    columns.forEach((column, place) => {
      if (place === state.column) column.head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      else column.head.removeAttribute("aria-sort");
    });
    table.tBodies[0].replaceChildren(...state.order.slice(0, state.shown).map((row) =>
      gramme.element("tr", { "aria-current": row === state.marked ? "true" : null }, ...columns.map((column) =>
        gramme.element("td", { class: column.number ? "number" : null }, column.show(row))))));
    fill(Math.min(state.shown, state.order.length), state.order.length);
  }

  return {
    draw,
    restart(sorted) {
      state.shown = page;
      if (sorted) Object.assign(state, sorted);
      draw();
    },
    more() { state.shown += 4 * page; draw(); },
    /* The row of what is selected elsewhere on the page. */
    mark(marked) {
      state.marked = marked;
      [...table.tBodies[0].rows].forEach((line, place) => {
        if (state.order[place] === marked) line.setAttribute("aria-current", "true");
        else line.removeAttribute("aria-current");
      });
    },
    csv() {
      select();
      const fields = [...columns, ...extra]; // what a file holds beyond the columns on the screen
      const lines = [fields.map((column) => gramme.cell(column.field))];
      for (const row of state.order) lines.push(fields.map((column) => gramme.cell(column.value(row))));
      return lines.map((line) => line.join(",")).join("\r\n") + "\r\n";
    },
  };
};
