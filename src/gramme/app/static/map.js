/* The picture of a network on a canvas: lines as a density, points as discs, at any zoom.

   Lines are drawn into a buffer that counts how many cross each pixel, a slice of them per frame, into a sheet larger
   than what is seen. While the picture moves the sheet moves with it, so panning costs as much as drawing the points;
   once it rests the sheet is drawn anew. 20,000 points and 200,000 lines pan smoothly without a graphics card. */

import { colour } from "./dom.js";

const MARGIN = 24, SPARE = 0.35, SLICE_MS = 9, REST_MS = 140, SMOOTH_POINTS = 4000, STROKED_LINES = 6000;

export class NetworkMap {
  constructor(canvas, { onSelect, onHover }) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.onSelect = onSelect;
    this.onHover = onHover;
    this.view = { x: 0.5, y: 0.5, scale: 1 };
    this.count = 0;
    this.layers = [];
    this.shown = new Set();
    this.slots = null;
    this.palette = ["#888"];
    this.selected = -1;
    this.hovered = -1;
    this.near = [];
    this.marked = null;
    this.sheet = { canvas: document.createElement("canvas"), view: null };
    this.frames = 0;
    this.listen();
  }

  /* Places of points (nodes, then middles of groups) and the lines of each layer as pairs of points. */
  setGraph({ x, y, nodes, layers }) {
    Object.assign(this, { x, y, count: nodes, layers, selected: -1, hovered: -1, near: [], grid: null });
    this.shown = new Set(layers.keys());
    this.slots = new Uint16Array(nodes);
    this.all();
    this.redrawLines();
  }

  setColours(slots, palette, marked = null) {
    this.slots = slots;
    this.palette = palette;
    this.marked = marked;
    this.request();
  }

  setLayers(shown) { this.shown = shown; this.redrawLines(); }

  select(i, near = []) { this.selected = i; this.near = near; this.request(); }

  /* Where a point is on the screen, in CSS pixels. */
  where(i) {
    const { wide, tall } = this.stretch();
    return [this.width / 2 + (this.x[i] - this.view.x) * wide, this.height / 2 - (this.y[i] - this.view.y) * tall];
  }

  stretch() {
    const { width, height, view } = this;
    return { wide: Math.max(1, width - 2 * MARGIN) * view.scale, tall: Math.max(1, height - 2 * MARGIN) * view.scale };
  }

  resize() {
    const box = this.canvas.getBoundingClientRect();
    if (!box.width || !box.height) return;
    this.ratio = Math.min(2, window.devicePixelRatio || 1);
    this.width = box.width;
    this.height = box.height;
    this.canvas.width = Math.round(box.width * this.ratio);
    this.canvas.height = Math.round(box.height * this.ratio);
    this.redrawLines();
  }

  request() {
    if (this.due) return;
    this.due = requestAnimationFrame(() => { this.due = 0; this.draw(); });
  }

  redrawLines() {
    this.sheet.view = null;
    this.startSheet();
    this.request();
  }

  /* The picture has moved: the sheet follows, and is drawn anew when it rests. */
  moved() {
    this.hover(-1);
    clearTimeout(this.resting);
    cancelAnimationFrame(this.slicing);
    this.resting = setTimeout(() => this.startSheet(), REST_MS);
    this.request();
  }

  /* Count lines per pixel of the sheet, a slice per frame; the old sheet is shown until the new one is whole. */
  startSheet() {
    clearTimeout(this.resting);
    cancelAnimationFrame(this.slicing);
    if (!this.width || !this.count) return;
    const ratio = this.ratio, spare = SPARE;
    const wide = Math.round(this.width * (1 + 2 * spare) * ratio), tall = Math.round(this.height * (1 + 2 * spare) * ratio);
    const counts = new Uint16Array(wide * tall), view = { ...this.view };
    const scale = this.stretch(), left = wide / 2 - view.x * scale.wide * ratio, top = tall / 2 + view.y * scale.tall * ratio;
    const sx = scale.wide * ratio, sy = scale.tall * ratio;
    const work = this.layers.filter((_, k) => this.shown.has(k)).map((layer) => layer.lines);
    const total = work.reduce((sum, lines) => sum + lines.length / 2, 0);
    if (total <= STROKED_LINES) { this.strokeSheet(work, wide, tall, view, { left, top, sx, sy, total }); return; }
    let part = 0, at = 0;
    const slice = () => {
      const end = performance.now() + SLICE_MS;
      while (part < work.length) {
        const lines = work[part], stop = Math.min(lines.length, at + 1000);
        for (; at < stop; at += 2) {
          const a = lines[at], b = lines[at + 1];
          countLine(counts, wide, tall, left + this.x[a] * sx, top - this.y[a] * sy, left + this.x[b] * sx, top - this.y[b] * sy);
        }
        if (at >= lines.length) { part++; at = 0; }
        if (performance.now() > end && part < work.length) { this.slicing = requestAnimationFrame(slice); return; }
      }
      this.finishSheet(counts, wide, tall, view, total);
    };
    slice();
  }

  /* Few lines are drawn as strokes, which are smooth. */
  strokeSheet(work, wide, tall, view, { left, top, sx, sy, total }) {
    const { canvas } = this.sheet;
    canvas.width = wide;
    canvas.height = tall;
    const pen = canvas.getContext("2d");
    pen.strokeStyle = colour("--edge");
    pen.globalAlpha = Math.max(0.2, Math.min(0.55, 14 / Math.sqrt(total + 1)));
    pen.lineWidth = this.ratio;
    for (const lines of work) {
      for (let at = 0; at < lines.length; at += 2) {
        pen.beginPath();
        pen.moveTo(left + this.x[lines[at]] * sx, top - this.y[lines[at]] * sy);
        pen.lineTo(left + this.x[lines[at + 1]] * sx, top - this.y[lines[at + 1]] * sy);
        pen.stroke();
      }
    }
    this.sheet.view = view;
    this.linesDrawn = total;
    this.request();
  }

  finishSheet(counts, wide, tall, view, total) {
    const { canvas } = this.sheet;
    canvas.width = wide;
    canvas.height = tall;
    const pen = canvas.getContext("2d"), image = pen.createImageData(wide, tall);
    const words = new Uint32Array(image.data.buffer);
    const [red, green, blue] = rgb(colour("--edge"));
    const base = (blue << 16) | (green << 8) | red;
    // as faint as the densest place allows, so that density shows everywhere
    let most = 1;
    for (let k = 0; k < counts.length; k += 7) if (counts[k] > most) most = counts[k];
    const alpha = new Uint8Array(256), whole = Math.log1p(Math.min(255, most));
    for (let n = 1; n < 256; n++) alpha[n] = Math.round(255 * Math.min(0.6, 0.04 + 0.45 * Math.log1p(n) / whole));
    for (let k = 0; k < counts.length; k++) {
      const n = counts[k];
      if (n) words[k] = (alpha[n > 255 ? 255 : n] << 24) | base;
    }
    pen.putImageData(image, 0, 0);
    this.sheet.view = view;
    this.linesDrawn = total;
    this.request();
  }

  draw() {
    const { pen, ratio, width, height, view, sheet } = this;
    if (!width) return;
    this.frames++;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    if (!this.count) return;
    if (sheet.view) {
      const zoom = view.scale / sheet.view.scale, { wide, tall } = this.stretch();
      const across = sheet.canvas.width / ratio * zoom, down = sheet.canvas.height / ratio * zoom;
      const x = width / 2 + (sheet.view.x - view.x) * wide, y = height / 2 - (sheet.view.y - view.y) * tall;
      pen.imageSmoothingEnabled = zoom !== 1;
      pen.drawImage(sheet.canvas, x - across / 2, y - down / 2, across, down);
    }
    this.drawNear();
    if (this.count > SMOOTH_POINTS) this.stampPoints(); else this.drawPoints();
    if (this.hovered >= 0) this.ring(this.hovered, 1.5);
    if (this.selected >= 0) this.ring(this.selected, 2.5);
  }

  radius() {
    const base = this.count > 8000 ? 1.5 : this.count > 2000 ? 2.4 : this.count > 400 ? 3.6 : 5;
    return Math.min(11, base * Math.sqrt(Math.min(this.view.scale, 12)));
  }

  drawNear() {
    if (this.selected < 0 || !this.near.length) return;
    const { pen } = this, [x, y] = this.where(this.selected);
    pen.strokeStyle = colour("--accent");
    pen.globalAlpha = 0.8;
    pen.lineWidth = 1.4;
    pen.beginPath();
    for (const other of this.near) { pen.moveTo(x, y); pen.lineTo(...this.where(other)); }
    pen.stroke();
    pen.globalAlpha = 1;
  }

  /* All points, those without a colour first: many grey ones must not hide the few that say something. */
  eachPoint(draw) {
    const { slots, count } = this;
    for (let i = 0; i < count; i++) if (!slots[i]) draw(i);
    for (let i = 0; i < count; i++) if (slots[i]) draw(i);
  }

  drawPoints() {
    const { pen, width, height, marked } = this, far = this.radius(), rim = colour("--ground");
    this.eachPoint((i) => {
      const [x, y] = this.where(i);
      if (x < -20 || y < -20 || x > width + 20 || y > height + 20) return;
      pen.fillStyle = rim;
      pen.beginPath();
      pen.arc(x, y, far + 1, 0, 7);
      pen.fill();
      pen.fillStyle = this.palette[this.slots[i]] || this.palette[0];
      pen.beginPath();
      if (marked && marked[i]) pen.rect(x - far, y - far, 2 * far, 2 * far); // known by hand: a square
      else pen.arc(x, y, far, 0, 7);
      pen.fill();
    });
  }

  /* Many points as small discs of pixels in a buffer, which takes a tenth of the time of paths. */
  stampPoints() {
    const { canvas, ratio, slots } = this, wide = canvas.width, tall = canvas.height;
    if (!this.stamp || this.stamp.width !== wide || this.stamp.height !== tall) {
      this.stamp = document.createElement("canvas");
      Object.assign(this.stamp, { width: wide, height: tall });
      this.stampImage = this.stamp.getContext("2d").createImageData(wide, tall);
    }
    const words = new Uint32Array(this.stampImage.data.buffer);
    words.fill(0);
    const colours = Uint32Array.from(this.palette, (text) => {
      const [red, green, blue] = rgb(text);
      return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
    });
    const disc = (far) => {
      const reach = Math.ceil(far), found = [];
      for (let down = -reach; down <= reach; down++)
        for (let across = -reach; across <= reach; across++)
          if (across * across + down * down <= far * far) found.push(down * wide + across);
      return Int32Array.from(found);
    };
    // what has a colour is a little larger, to be seen among many
    const far = Math.max(1, this.radius() * ratio), whole = Math.ceil(far + ratio);
    const plain = disc(far), coloured = disc(far + 0.8 * ratio), scale = this.stretch();
    const sx = scale.wide * ratio, sy = scale.tall * ratio;
    const left = wide / 2 - this.view.x * sx, top = tall / 2 + this.view.y * sy;
    this.eachPoint((i) => {
      const x = (left + this.x[i] * sx) | 0, y = (top - this.y[i] * sy) | 0;
      if (x < whole || y < whole || x >= wide - whole || y >= tall - whole) return;
      const word = colours[slots[i]], base = y * wide + x, offsets = slots[i] ? coloured : plain;
      for (let k = 0; k < offsets.length; k++) words[base + offsets[k]] = word;
    });
    this.stamp.getContext("2d").putImageData(this.stampImage, 0, 0);
    this.pen.drawImage(this.stamp, 0, 0, this.width, this.height);
  }

  ring(i, width) {
    const { pen } = this, [x, y] = this.where(i);
    for (const [style, wide] of [[colour("--ground"), width + 2], [colour("--text"), width]]) {
      pen.strokeStyle = style;
      pen.lineWidth = wide;
      pen.beginPath();
      pen.arc(x, y, this.radius() + 4, 0, 7);
      pen.stroke();
    }
  }

  /* The point nearest to a place on the screen, by a grid of cells. */
  nearest(px, py, reach) {
    if (!this.count) return -1;
    if (!this.grid) {
      const side = Math.max(1, Math.min(256, Math.round(Math.sqrt(this.count / 3)))), cells = new Map();
      for (let i = 0; i < this.count; i++) {
        const key = Math.floor(this.y[i] * side) * 1000 + Math.floor(this.x[i] * side);
        if (!cells.has(key)) cells.set(key, []);
        cells.get(key).push(i);
      }
      this.grid = { side, cells };
    }
    const { side, cells } = this.grid, { wide, tall } = this.stretch();
    const cx = this.view.x + (px - this.width / 2) / wide, cy = this.view.y - (py - this.height / 2) / tall;
    const dx = reach / wide, dy = reach / tall;
    let best = -1, shortest = reach * reach;
    for (let row = Math.floor((cy - dy) * side); row <= Math.floor((cy + dy) * side); row++)
      for (let column = Math.floor((cx - dx) * side); column <= Math.floor((cx + dx) * side); column++)
        for (const i of cells.get(row * 1000 + column) || []) {
          const [x, y] = this.where(i), distance = (x - px) ** 2 + (y - py) ** 2;
          if (distance <= shortest) { shortest = distance; best = i; }
        }
    return best;
  }

  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const before = this.view.scale, { wide, tall } = this.stretch();
    this.view.scale = Math.min(200, Math.max(0.8, before * factor));
    const change = 1 - before / this.view.scale;
    this.view.x += ((px - this.width / 2) / wide) * change;
    this.view.y -= ((py - this.height / 2) / tall) * change;
    this.keep();
    return this.view.scale !== before;
  }

  pan(dx, dy) {
    const { wide, tall } = this.stretch();
    this.view.x -= dx / wide;
    this.view.y += dy / tall;
    this.keep();
  }

  keep() {
    this.view.x = Math.min(1.1, Math.max(-0.1, this.view.x));
    this.view.y = Math.min(1.1, Math.max(-0.1, this.view.y));
    this.moved();
  }

  all() { Object.assign(this.view, { x: 0.5, y: 0.5, scale: 1 }); this.moved(); }

  /* Bring a point into view, closer where there are many. */
  show(i) {
    const [x, y] = this.where(i), { width, height } = this;
    const edge = MARGIN / 2; // where all is shown, no point is nearer to the border than twice this
    if (this.count <= 2000 && x > edge && y > edge && x < width - edge && y < height - edge) return;
    this.view.scale = Math.max(this.view.scale, this.count > 2000 ? 5 : this.count > 300 ? 2 : 1);
    this.view.x = this.x[i];
    this.view.y = this.y[i];
    this.keep();
  }

  hover(i, x, y) {
    if (i !== this.hovered) { this.hovered = i; this.request(); }
    this.onHover(i, x, y);
  }

  listen() {
    const { canvas } = this, pointers = new Map();
    let travelled = 0, spread = 0;
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    const reach = (event) => (event.pointerType === "touch" ? 22 : Math.max(8, this.radius() + 4));
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, at(event));
      travelled = spread = 0;
    });
    canvas.addEventListener("pointermove", (event) => {
      const place = at(event), last = pointers.get(event.pointerId);
      if (!last) { this.hover(this.nearest(place.x, place.y, reach(event)), place.x, place.y); return; }
      pointers.set(event.pointerId, place);
      if (pointers.size === 1) {
        travelled += Math.abs(place.x - last.x) + Math.abs(place.y - last.y);
        if (travelled > 3) this.pan(place.x - last.x, place.y - last.y);
      } else if (pointers.size === 2) {
        const [a, b] = [...pointers.values()], now = Math.hypot(a.x - b.x, a.y - b.y);
        if (spread) this.zoom(now / spread, (a.x + b.x) / 2, (a.y + b.y) / 2);
        spread = now;
        travelled = 99;
      }
    });
    const lift = (event) => {
      const place = at(event);
      if (pointers.delete(event.pointerId) && event.type === "pointerup" && travelled <= 3) {
        const found = this.nearest(place.x, place.y, reach(event));
        if (found >= 0) this.onSelect(found);
      }
      spread = 0;
    };
    canvas.addEventListener("pointerup", lift);
    canvas.addEventListener("pointercancel", lift);
    canvas.addEventListener("pointerleave", () => this.hover(-1));
    canvas.addEventListener("dblclick", (event) => { const place = at(event); this.zoom(2, place.x, place.y); });
    canvas.addEventListener("wheel", (event) => {
      const place = at(event), turned = event.deltaY * (event.deltaMode === 1 ? 16 : 1);
      this.zoom(Math.exp(-Math.max(-400, Math.min(400, turned)) * 0.002), place.x, place.y);
      event.preventDefault();
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (steps[event.key]) this.pan(...steps[event.key]);
      else if (event.key === "+" || event.key === "=") this.zoom(1.5);
      else if (event.key === "-") this.zoom(1 / 1.5);
      else if (event.key === "0") this.all();
      else return;
      event.preventDefault();
    });
    new ResizeObserver(() => this.resize()).observe(canvas);
  }

  /* The picture as it is on the screen, at twice its size. */
  toPng() {
    const made = document.createElement("canvas"), pen = made.getContext("2d");
    made.width = this.canvas.width * 2;
    made.height = this.canvas.height * 2;
    pen.fillStyle = colour("--ground");
    pen.fillRect(0, 0, made.width, made.height);
    pen.imageSmoothingQuality = "high";
    pen.drawImage(this.canvas, 0, 0, made.width, made.height);
    return new Promise((done) => made.toBlob(done, "image/png"));
  }

  /* The same as shapes: every line and point that is in view. */
  toSvg(title) {
    const { width, height } = this, round = (value) => Math.round(value * 10) / 10, far = this.radius();
    const inside = ([x, y]) => x > -width && y > -height && x < 2 * width && y < 2 * height;
    const paths = [];
    this.layers.forEach((layer, k) => {
      if (!this.shown.has(k)) return;
      const steps = [];
      for (let at = 0; at < layer.lines.length; at += 2) {
        const a = this.where(layer.lines[at]), b = this.where(layer.lines[at + 1]);
        if (inside(a) && inside(b)) steps.push(`M${round(a[0])} ${round(a[1])}L${round(b[0])} ${round(b[1])}`);
      }
      const strength = Math.max(0.05, Math.min(0.5, 12 / Math.sqrt(steps.length + 1)));
      paths.push(`<path d="${steps.join("")}" fill="none" stroke="${colour("--edge")}" stroke-opacity="${strength}"/>`);
    });
    const points = [];
    this.eachPoint((i) => {
      const [x, y] = this.where(i);
      if (x < 0 || y < 0 || x > width || y > height) return;
      points.push(`<circle cx="${round(x)}" cy="${round(y)}" r="${round(far)}" fill="${this.palette[this.slots[i]]}"/>`);
    });
    const safe = title.replace(/[<>&"]/g, (sign) => `&#${sign.charCodeAt(0)};`).replace(/[\x00-\x08\x0b\x0c\x0e-\x1f]/g, "");
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.round(width)}" height="${Math.round(height)}" ` +
      `viewBox="0 0 ${Math.round(width)} ${Math.round(height)}"><title>${safe}</title>` +
      `<rect width="100%" height="100%" fill="${colour("--ground")}"/>${paths.join("")}${points.join("")}</svg>`;
  }
}

/* Add one to every pixel that a line crosses (a step per pixel along its longer side). */
function countLine(counts, wide, tall, x0, y0, x1, y1) {
  // cut to the sheet, or a line far outside at a high zoom would take thousands of steps
  let from = 0, to = 1;
  const dx = x1 - x0, dy = y1 - y0;
  for (const [start, way, most] of [[x0, dx, wide - 1], [y0, dy, tall - 1]]) {
    if (way === 0) { if (start < 0 || start > most) return; continue; }
    const a = -start / way, b = (most - start) / way;
    from = Math.max(from, Math.min(a, b));
    to = Math.min(to, Math.max(a, b));
  }
  if (from >= to) return;
  const steps = Math.max(1, Math.ceil(Math.max(Math.abs(dx), Math.abs(dy)) * (to - from)));
  let x = x0 + dx * from, y = y0 + dy * from;
  const sx = dx * (to - from) / steps, sy = dy * (to - from) / steps;
  for (let k = 0; k <= steps; k++, x += sx, y += sy) counts[(y | 0) * wide + (x | 0)]++;
}

export function rgb(text) {
  const hex = /^#(..)(..)(..)$/.exec(text);
  if (hex) return hex.slice(1).map((part) => parseInt(part, 16));
  const numbers = text.match(/\d+/g);
  return numbers ? numbers.slice(0, 3).map(Number) : [128, 128, 128];
}
