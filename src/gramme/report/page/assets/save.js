/* Saving figures, shares in place of counts, and finding a class in a long list. */
(function save() {
  const { element, saveBlob } = gramme;
  const fileName = (figure, ending) => {
    const title = figure.closest("section")?.querySelector("h2")?.textContent || "figure";
    return title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") + ending;
  };
  const buttons = (...made) => element("div", { class: "save" }, ...made);
  const button = (text, label, onclick) => element("button", { type: "button", "aria-label": label, onclick }, text);

  /* The drawing with the colours that it has now: a file of its own has no style sheet. */
  function standalone(svg) {
    const copy = svg.cloneNode(true), parts = [svg, ...svg.querySelectorAll("*")], copies = [copy, ...copy.querySelectorAll("*")];
    parts.forEach((part, k) => {
      const style = getComputedStyle(part);
      for (const name of ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family", "text-anchor"])
        copies[k].setAttribute(name, style.getPropertyValue(name));
    });
    const [, , width, height] = svg.getAttribute("viewBox").split(" ");
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    for (const [key, value] of Object.entries({ width: "100%", height: "100%", fill: gramme.colour("--ground") })) ground.setAttribute(key, value);
    copy.prepend(ground);
    return new XMLSerializer().serializeToString(copy);
  }
  function asPicture(svg) {
    const image = new Image(), address = URL.createObjectURL(new Blob([standalone(svg)], { type: "image/svg+xml" }));
    image.onload = () => {
      const canvas = element("canvas", { width: 3 * image.width, height: 3 * image.height });
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => saveBlob(fileName(svg, ".png"), blob));
      URL.revokeObjectURL(address);
    };
    image.src = address;
  }
  for (const svg of document.querySelectorAll("svg.chart"))
    svg.after(buttons(
      button("SVG", "Save this figure as SVG", () => saveBlob(fileName(svg, ".svg"), new Blob([standalone(svg)], { type: "image/svg+xml" }))),
      button("PNG", "Save this figure as PNG", () => asPicture(svg)),
    ));
  for (const canvas of document.querySelectorAll(".canvas > canvas"))
    canvas.closest(".canvas").after(buttons(button("PNG", "Save this picture as PNG", () => canvas.toBlob((blob) => saveBlob(fileName(canvas, ".png"), blob)))));

  for (const toggle of document.querySelectorAll("button.shares"))
    toggle.addEventListener("click", () => {
      const table = toggle.closest("table"), shares = toggle.textContent === "Show shares";
      for (const cell of table.querySelectorAll("td[data-share]")) {
        const other = cell.dataset.share;
        cell.dataset.share = cell.textContent;
        cell.textContent = other;
      }
      table.querySelector(".unit").textContent = shares ? "shares of the true label" : "numbers";
      toggle.textContent = shares ? "Show numbers" : "Show shares";
    });
  for (const input of document.querySelectorAll("input.find"))
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      for (const row of input.closest("details").querySelectorAll("tbody tr"))
        row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
    });
})();
