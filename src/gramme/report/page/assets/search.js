/* Finding a node by name: what begins with the text first, then what holds it. */
gramme.search = function ({ input, list, nodes, choose }) {
  const MOST = 12;
  const lower = nodes.names.map((text) => text.toLowerCase());
  let found = [], marked = 0;

  function look() {
    const text = input.value.trim().toLowerCase();
    found = [];
    if (text) {
      const inside = [];
      for (let i = 0; i < lower.length && found.length < MOST; i++) {
        const at = lower[i].indexOf(text);
        if (lower[i] === text) found.unshift(i);
        else if (at === 0) found.push(i);
        else if (at > 0 && inside.length < MOST) inside.push(i);
      }
      found = found.concat(inside).slice(0, MOST);
    }
    marked = 0;
    draw(Boolean(text));
  }

  function draw(open) {
    list.hidden = !open;
    input.setAttribute("aria-expanded", String(open));
    const items = found.map((i, k) => gramme.element("li", {
      role: "option", id: list.id + "-" + k, "aria-selected": String(k === marked),
    }, gramme.name(nodes.names[i], 80)));
    items.forEach((item, k) => item.addEventListener("pointerdown", (event) => { event.preventDefault(); take(k); }));
    if (open && !items.length) items.push(gramme.element("li", { role: "option", "aria-disabled": "true" }, "no node of that name"));
    list.replaceChildren(...items);
    if (found.length && open) input.setAttribute("aria-activedescendant", list.id + "-" + marked);
    else input.removeAttribute("aria-activedescendant");
  }

  function take(k) {
    if (k >= found.length) return;
    const i = found[k];
    input.value = nodes.names[i].slice(0, 200);
    found = [];
    draw(false);
    choose(i);
  }

  input.addEventListener("input", look);
  input.addEventListener("blur", () => draw(false));
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (!found.length) look();
      else marked = (marked + (event.key === "ArrowDown" ? 1 : found.length - 1)) % found.length;
      draw(found.length > 0);
      event.preventDefault();
    } else if (event.key === "Enter") {
      if (!found.length) look();
      take(marked);
    } else if (event.key === "Escape") draw(false);
  });
};
