/* The colours of points, read from the style sheet so that they follow the theme. Slots: 0 none, 1 to 10 groups, 11 other,
   12 to 75 a ramp from yellow by red to blue. */
gramme.palette = function () {
  const css = [], words = new Uint32Array(76);
  function rgb(text) {
    const found = /^#(..)(..)(..)$/.exec(text);
    return found ? found.slice(1).map((part) => parseInt(part, 16)) : [128, 128, 128];
  }
  function read() {
    const colours = [rgb(gramme.colour("--none"))];
    for (let k = 1; k <= 10; k++) colours.push(rgb(gramme.colour("--c" + k)));
    colours.push(rgb(gramme.colour("--other")));
    const stops = [1, 2, 3, 4, 5].map((k) => rgb(gramme.colour("--ramp" + k)));
    for (let k = 0; k < 64; k++) {
      const at = (k / 63) * (stops.length - 1), low = Math.min(stops.length - 2, Math.floor(at)), t = at - low;
      colours.push(stops[low].map((value, c) => Math.round(value + (stops[low + 1][c] - value) * t)));
    }
    colours.forEach(([red, green, blue], k) => {
      css[k] = "rgb(" + red + "," + green + "," + blue + ")";
      words[k] = (255 << 24) | (blue << 16) | (green << 8) | red;
    });
  }
  function swatch(slot) {
    const spot = gramme.element("span", { class: "swatch", "aria-hidden": "true" });
    spot.style.background = css[slot];
    return spot;
  }
  /* The ramp between two words, for a legend. */
  function ramp(low, high) {
    const strip = gramme.element("span", { class: "ramp", "aria-hidden": "true" });
    strip.style.background = "linear-gradient(to right," + [12, 28, 43, 59, 75].map((k) => css[k]).join(",") + ")";
    return gramme.element("li", {}, low, strip, high);
  }
  return { css, words, read, swatch, ramp };
};
