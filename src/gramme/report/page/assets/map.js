/* Points in the plane, drawn by hand on a canvas: the map of the nodes, and the network with lines under its points.

   Why not a library or WebGL: points are all there is to draw. Up to a few thousand are drawn as smooth discs; more are
   stamped into one pixel buffer, which needs no graphics card and takes some milliseconds for a hundred thousand
   points. It works in every browser, on paper, and under a policy that forbids everything but this script. */
/* `under` draws what lies under the points: `lines(pen, frame)` once for a view, `chosen(pen, frame, i)` for the selected
   node at every drawing; `over(pen, frame)` draws upon the points. A place is at frame.left + x * frame.wide, frame.top - y * frame.tall. `sizes.of` has a factor per
   node for the size of its point. */
gramme.map = function ({ canvas, count, places, colourOf, onHover, onSelect, under = null, over = null, sizes = { of: null } }) {
  const SMOOTH = 4000; // points up to which discs are drawn one by one
  const RIMMED = 800; // points up to which discs keep their rim while the view moves
  const PAUSE = 90; // milliseconds without a move, after which lines are drawn anew

  const pen = canvas.getContext("2d");
  const view = { scale: 1, x: 0.5, y: 0.5 };
  const size = { width: 0, height: 0, ratio: 1 };
  let current = places, selected = -1, hovered = -1, queued = false, grid = null;
  let pixels = null, words = null, sheetTimer = 0, moving = false;
  const sheet = { canvas: under && document.createElement("canvas"), frame: null };
  const dots = under && document.createElement("canvas"); // pixels stamped straight onto the canvas would wipe out the lines

  /* Places are between 0 and 1; at scale 1 all of them fit with a margin. */
  const MARGIN = 24;
  const stretchX = () => (size.width - 2 * MARGIN) * view.scale;
  const stretchY = () => (size.height - 2 * MARGIN) * view.scale;
  const screenX = (i) => size.width / 2 + (current.x[i] - view.x) * stretchX();
  const screenY = (i) => size.height / 2 - (current.y[i] - view.y) * stretchY();

  function resize() {
    size.ratio = Math.min(window.devicePixelRatio || 1, 2);
    size.width = canvas.clientWidth;
    size.height = canvas.clientHeight;
    canvas.width = Math.max(1, Math.round(size.width * size.ratio));
    canvas.height = Math.max(1, Math.round(size.height * size.ratio));
    pixels = null;
    sheet.frame = null;
    request();
  }

  function radius() {
    const base = count > 50000 ? 1.4 : count > 20000 ? 1.8 : count > SMOOTH ? 2.3 : count > 1500 ? 3 : count > 300 ? 4 : 5;
    return Math.min(base * Math.pow(view.scale, 0.3), 8);
  }

  function request() {
    if (queued) return;
    queued = true;
    requestAnimationFrame(() => { queued = false; draw(); });
  }

  function draw() {
    if (!size.width) return;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    if (under) lines();
    if (count > SMOOTH) stamp();
    else discs();
    pen.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
    if (over) over(pen, frame());
    if (hovered >= 0) ring(hovered, 2);
    if (selected >= 0) ring(selected, 3);
    canvas.classList.toggle("zoomed", view.scale > 1.01);
  }

  const frame = () => {
    const wide = stretchX(), tall = stretchY();
    return { wide, tall, left: size.width / 2 - view.x * wide, top: size.height / 2 + view.y * tall };
  };

  /* Thousands of lines take longer than a frame, so they are drawn on a sheet that is moved along until the view rests. */
  function lines() {
    const now = frame(), old = sheet.frame;
    const same = old && old.wide === now.wide && old.left === now.left && old.top === now.top && old.tall === now.tall;
    moving = Boolean(old) && !same;
    if (!old) drawSheet(now);
    else if (!same) {
      clearTimeout(sheetTimer);
      sheetTimer = setTimeout(() => { drawSheet(frame()); request(); }, PAUSE);
    }
    const grown = now.wide / sheet.frame.wide, taller = now.tall / sheet.frame.tall, ratio = size.ratio;
    pen.drawImage(sheet.canvas, (now.left - sheet.frame.left * grown) * ratio, (now.top - sheet.frame.top * taller) * ratio,
      canvas.width * grown, canvas.height * taller);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (selected >= 0) under.chosen(pen, now, selected);
    pen.setTransform(1, 0, 0, 1, 0, 0);
  }

  function drawSheet(now) {
    clearTimeout(sheetTimer);
    sheet.canvas.width = canvas.width;
    sheet.canvas.height = canvas.height;
    const other = sheet.canvas.getContext("2d");
    other.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
    under.lines(other, now);
    sheet.frame = now;
  }

  const sizeOf = (i) => (sizes.of ? sizes.of[i] : 1);

  /* Calls draw(i) for all points, those without a colour of their own first: thousands of grey points must not hide them. */
  function greyFirst(draw) {
    const { slots } = colourOf;
    for (let i = 0; i < count; i++) if (!slots[i]) draw(i);
    for (let i = 0; i < count; i++) if (slots[i]) draw(i);
  }

  function discs() {
    pen.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
    const reach = radius(), edge = gramme.colour("--raised"), rim = count <= RIMMED || !moving;
    greyFirst((i) => {
      const x = screenX(i), y = screenY(i), far = reach * sizeOf(i);
      if (x < -25 || y < -25 || x > size.width + 25 || y > size.height + 25) return;
      if (rim) { // a larger disc below takes a quarter of the time of a stroke
        pen.fillStyle = edge;
        pen.beginPath();
        pen.arc(x, y, far + 0.5, 0, 2 * Math.PI);
        pen.fill();
      }
      pen.fillStyle = colourOf.css(i);
      pen.beginPath();
      pen.arc(x, y, far - 0.3, 0, 2 * Math.PI);
      pen.fill();
    });
  }

  /* All points as small discs of pixels in a buffer of 32-bit colours. */
  function stamp() {
    const { width, height } = canvas;
    if (!pixels) {
      pixels = pen.createImageData(width, height);
      words = new Uint32Array(pixels.data.buffer);
    }
    words.fill(0);
    const reach = Math.max(1, radius() * size.ratio), whole = Math.ceil(reach);
    const disc = [];
    for (let down = -whole; down <= whole; down++)
      for (let across = -whole; across <= whole; across++)
        if (across * across + down * down <= reach * reach) disc.push(down * width + across);
    const offsets = Int32Array.from(disc), many = offsets.length, buffer = words;
    const wide = stretchX() * size.ratio, tall = stretchY() * size.ratio;
    const left = width / 2 - view.x * wide, top = height / 2 + view.y * tall;
    const right = width - whole, bottom = height - whole;
    const xs = current.x, ys = current.y, colours = colourOf.words;
    greyFirst((i) => {
      const x = (left + xs[i] * wide) | 0, y = (top - ys[i] * tall) | 0;
      if (x < whole || y < whole || x >= right || y >= bottom) return;
      const colour = colours[i], base = y * width + x;
      for (let k = 0; k < many; k++) buffer[base + offsets[k]] = colour;
    });
    if (!under) { pen.putImageData(pixels, 0, 0); return; }
    if (dots.width !== width || dots.height !== height) Object.assign(dots, { width, height });
    dots.getContext("2d").putImageData(pixels, 0, 0);
    pen.drawImage(dots, 0, 0);
  }

  function ring(i, width) {
    pen.lineWidth = width + 2;
    pen.strokeStyle = gramme.colour("--ground");
    pen.beginPath();
    pen.arc(screenX(i), screenY(i), radius() * (count > SMOOTH ? 1 : sizeOf(i)) + 4, 0, 2 * Math.PI);
    pen.stroke();
    pen.lineWidth = width;
    pen.strokeStyle = gramme.colour("--text");
    pen.stroke();
  }

  /* Finding the point under the pointer: points sorted into the cells of a grid. */
  function makeGrid() {
    const side = Math.max(1, Math.min(512, Math.round(Math.sqrt(count / 3))));
    const cells = new Uint32Array(side * side + 1), of = new Uint32Array(count), order = new Uint32Array(count);
    const clamp = (value) => Math.min(side - 1, Math.max(0, Math.floor(value * side)));
    for (let i = 0; i < count; i++) {
      of[i] = clamp(current.y[i]) * side + clamp(current.x[i]);
      cells[of[i] + 1]++;
    }
    for (let c = 0; c < side * side; c++) cells[c + 1] += cells[c];
    const next = cells.slice();
    for (let i = 0; i < count; i++) order[next[of[i]]++] = i;
    grid = { side, cells, order, clamp };
  }

  function nearest(x, y, reach) {
    if (!grid) makeGrid();
    const across = (value) => view.x + (value - size.width / 2) / stretchX();
    const up = (value) => view.y - (value - size.height / 2) / stretchY();
    let best = -1, shortest = reach * reach;
    const lastX = grid.clamp(across(x + reach)), lastY = grid.clamp(up(y - reach));
    for (let cy = grid.clamp(up(y + reach)); cy <= lastY; cy++) {
      for (let cx = grid.clamp(across(x - reach)); cx <= lastX; cx++) {
        const cell = cy * grid.side + cx;
        for (let k = grid.cells[cell]; k < grid.cells[cell + 1]; k++) {
          const i = grid.order[k], dx = screenX(i) - x, dy = screenY(i) - y, distance = dx * dx + dy * dy;
          if (distance <= shortest) { shortest = distance; best = i; }
        }
      }
    }
    return best;
  }

  function zoom(factor, x = size.width / 2, y = size.height / 2) {
    const before = view.scale;
    view.scale = Math.min(400, Math.max(1, view.scale * factor));
    const change = 1 / before - 1 / view.scale;
    view.x += ((x - size.width / 2) / (size.width - 2 * MARGIN)) * change;
    view.y -= ((y - size.height / 2) / (size.height - 2 * MARGIN)) * change;
    keep();
    return view.scale !== before;
  }

  function move(dx, dy) {
    view.x -= dx / stretchX();
    view.y += dy / stretchY();
    keep();
  }

  function keep() {
    const room = 0.5 / view.scale;
    const within = (value) => (view.scale <= 1 ? 0.5 : Math.min(1.02 - room / 2, Math.max(-0.02 + room / 2, value)));
    view.x = within(view.x);
    view.y = within(view.y);
    hover(-1);
    request();
  }

  function hover(i, x, y) {
    if (i !== hovered) { hovered = i; request(); }
    onHover(i, x, y);
  }

  const pointers = new Map();
  let travelled = 0, spread = 0;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, at(event));
    travelled = 0;
    spread = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const place = at(event), last = pointers.get(event.pointerId);
    if (!last) {
      const reach = event.pointerType === "touch" ? 22 : Math.max(8, radius() + 3);
      hover(nearest(place.x, place.y, reach), place.x, place.y);
      return;
    }
    pointers.set(event.pointerId, place);
    if (pointers.size === 1) {
      travelled += Math.abs(place.x - last.x) + Math.abs(place.y - last.y);
      if (travelled > 3) move(place.x - last.x, place.y - last.y);
    } else if (pointers.size === 2) {
      const [a, b] = [...pointers.values()];
      const now = Math.hypot(a.x - b.x, a.y - b.y);
      if (spread) zoom(now / spread, (a.x + b.x) / 2, (a.y + b.y) / 2);
      spread = now;
      travelled = 99;
    }
  });
  const lift = (event) => {
    const place = at(event);
    if (pointers.delete(event.pointerId) && event.type === "pointerup" && travelled <= 3) {
      const found = nearest(place.x, place.y, event.pointerType === "touch" ? 22 : Math.max(8, radius() + 3));
      if (found >= 0) { select(found); onSelect(found); }
    }
    spread = 0;
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", () => hover(-1));
  canvas.addEventListener("dblclick", (event) => { const place = at(event); zoom(2, place.x, place.y); });
  canvas.addEventListener("wheel", (event) => {
    const place = at(event), pixelsTurned = event.deltaY * (event.deltaMode === 1 ? 16 : 1);
    // fully zoomed out, turning further scrolls the page: the map must not trap a reader
    if (zoom(Math.exp(-Math.max(-400, Math.min(400, pixelsTurned)) * 0.0022), place.x, place.y) || view.scale > 1) event.preventDefault();
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (steps[event.key]) move(...steps[event.key]);
    else if (event.key === "+" || event.key === "=") zoom(1.5);
    else if (event.key === "-") zoom(1 / 1.5);
    else if (event.key === "0") all();
    else return;
    event.preventDefault();
  });
  new ResizeObserver(resize).observe(canvas);
  matchMedia("print").addEventListener("change", () => { resize(); draw(); });

  function all() { Object.assign(view, { scale: 1, x: 0.5, y: 0.5 }); keep(); }

  function select(i) { selected = i; request(); }

  function show(i) {
    view.scale = Math.max(view.scale, count > 2000 ? 6 : 2.5);
    view.x = current.x[i];
    view.y = current.y[i];
    keep();
    select(i);
  }

  /* From one set of places to another, gliding unless the reader asked for less motion or there are too many points. */
  function change(target) {
    grid = null;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches || count > 30000;
    if (still) { current = target; request(); return; }
    const from = current, start = performance.now(), mixed = { x: new Float32Array(count), y: new Float32Array(count) };
    current = mixed;
    (function step(now) {
      const t = Math.min(1, Math.max(0, (now - start) / 600)), eased = t * t * (3 - 2 * t);
      if (current !== mixed) return;
      for (let i = 0; i < count; i++) {
        mixed.x[i] = from.x[i] + (target.x[i] - from.x[i]) * eased;
        mixed.y[i] = from.y[i] + (target.y[i] - from.y[i]) * eased;
      }
      grid = null;
      if (t < 1) requestAnimationFrame(step);
      else current = target;
      draw();
    })(start);
  }

  /* What lies under the points has changed. */
  function refresh() { sheet.frame = null; request(); }

  resize();
  return { draw, request, refresh, zoom, move, all, select, show, change, view, where: (i) => [screenX(i), screenY(i)] };
};
