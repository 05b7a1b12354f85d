// The curves of a picture as SVG: axes, lines and markers, and the place of each point.
const SVG = "http://www.w3.org/2000/svg";
const SHAPES = { // of the points, by matplotlib's names, with a radius of about 1
  "o": "M-1,0A1,1 0 1 0 1,0A1,1 0 1 0 -1,0Z",
  "s": "M-0.9,-0.9H0.9V0.9H-0.9Z",
  "D": "M0,-1.25L1.25,0L0,1.25L-1.25,0Z",
  "^": "M0,-1.2L1.15,0.9H-1.15Z",
  "v": "M0,1.2L1.15,-0.9H-1.15Z",
  "P": "M-0.45,-1.2H0.45V-0.45H1.2V0.45H0.45V1.2H-0.45V0.45H-1.2V-0.45H-0.45Z",
  "*": "M0,-1.45L0.36,-0.5L1.38,-0.45L0.59,0.19L0.85,1.17L0,0.62L-0.85,1.17L-0.59,0.19" +
    "L-1.38,-0.45L-0.36,-0.5Z",
  "X": "M-0.55,-1.15L0,-0.6L0.55,-1.15L1.15,-0.55L0.6,0L1.15,0.55L0.55,1.15L0,0.6" +
    "L-0.55,1.15L-1.15,0.55L-0.6,0L-1.15,-0.55Z",
  "<": "M-1.2,0L0.9,-1.15V1.15Z",
  ">": "M1.2,0L-0.9,-1.15V1.15Z",
};

function addSvg(parent, name, {style, ...attributes}, text) {
  const node = document.createElementNS(SVG, name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (style) node.style.cssText = style; // the policy of the page forbids the attribute
  if (text !== undefined) node.textContent = text;
  return parent.appendChild(node);
}

function addLine(parent, name, {colour}, attributes) {
  return addSvg(parent, name, {...attributes, fill: "none", style: `stroke: var(--curve-${colour})`});
}

function addMarker(parent, {colour, marker}, x, y, radius) {
  return addSvg(parent, "path", {d: SHAPES[marker], class: "marker",
    transform: `translate(${x} ${y}) scale(${radius})`, style: `fill: var(--curve-${colour})`});
}

// Steps of 1, 2 or 5 times a power of ten, about as many as asked for.
function ticks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(k => k * power >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(k * step);
  return found;
}

// The range of numbers, and a share of it at both ends.
function room(numbers, share) {
  const low = Math.min(...numbers), high = Math.max(...numbers), pad = (high - low || 1) * share;
  return [low - pad, high + pad];
}

class Drawing {
  left = 48;
  right = 12;
  top = 10;
  bottom = 38;

  // curves: with at least one point in all; styles: colour and marker of each codec; falls: whether
  // less is better, and is drawn above.
  constructor(place, curves, styles, metric, title, falls) {
    Object.assign(this, {curves, styles, metric, falls});
    this.width = Math.max(280, place.clientWidth);
    this.height = Math.min(460, 180 + this.width * 0.4);
    this.svg = document.createElementNS(SVG, "svg");
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.svg.setAttribute("aria-hidden", "true");
    place.replaceChildren(this.svg);
    const points = curves.flatMap(curve => curve.points);
    [this.x0, this.x1] = room(points.map(p => Math.log2(p.bpp)), 0.03);
    [this.y0, this.y1] = room(points.map(p => p[metric]), 0.04);
    this.#axes(title);
    for (const curve of [...curves].reverse()) this.#curve(curve);
    this.overlay = addSvg(this.svg, "g", {"pointer-events": "none"});
  }

  x(bpp) {
    const part = (Math.log2(bpp) - this.x0) / (this.x1 - this.x0);
    return this.left + part * (this.width - this.left - this.right);
  }

  y(value) {
    const rise = (value - this.y0) / (this.y1 - this.y0), part = this.falls ? 1 - rise : rise;
    return this.height - this.bottom - part * (this.height - this.top - this.bottom);
  }

  bpp(x) {
    const part = (x - this.left) / (this.width - this.left - this.right);
    return 2 ** (this.x0 + part * (this.x1 - this.x0));
  }

  #axes(title) {
    const {left, right, top, bottom, width, height} = this;
    for (let k = Math.ceil(this.x0); k <= this.x1; k++) {
      const x = this.x(2 ** k);
      addSvg(this.svg, "line", {x1: x, x2: x, y1: top, y2: height - bottom, class: "grid"});
      addSvg(this.svg, "text", {x, y: height - bottom + 16, "text-anchor": "middle"}, 2 ** k);
    }
    for (const value of ticks(this.y0, this.y1, 7)) {
      const y = this.y(value), text = Number(value.toPrecision(6));
      addSvg(this.svg, "line", {x1: left, x2: width - right, y1: y, y2: y, class: "grid"});
      addSvg(this.svg, "text", {x: left - 6, y: y + 4, "text-anchor": "end"}, text);
    }
    const middle = (left + width - right) / 2;
    addSvg(this.svg, "text", {x: middle, y: height - 6, "text-anchor": "middle"},
      `bits per pixel, whole file; ${title}`);
  }

  #curve({codec, ours, points}) {
    const style = this.styles.get(codec), spots = points.map(p => this.spot(p));
    addLine(this.svg, "polyline", style, {points: spots.join(" "), "stroke-width": ours ? 2.6 : 1.4});
    for (const [x, y] of spots) addMarker(this.svg, style, x, y, ours ? 4.5 : 3.5);
  }

  spot(p) {
    return [this.x(p.bpp), this.y(p[this.metric])];
  }

  // The point whose marker is nearest to the pointer, and the rate under the pointer.
  nearest(event) {
    const outline = this.svg.getBoundingClientRect(), unit = this.width / outline.width;
    const x = (event.clientX - outline.left) * unit, y = (event.clientY - outline.top) * unit;
    let best = null;
    for (const curve of this.curves) for (const p of curve.points) {
      const [px, py] = this.spot(p), away = Math.hypot(px - x, py - y);
      if (!best || away < best.away) best = {away, curve, p, bpp: this.bpp(x)};
    }
    return best;
  }

  // A ring around a point and a line at a rate; nothing without a point.
  mark(p, bpp) {
    this.overlay.replaceChildren();
    if (!p) return;
    const x = this.x(bpp), [px, py] = this.spot(p), end = this.height - this.bottom;
    const right = x < this.width / 2;
    addSvg(this.overlay, "line", {x1: x, x2: x, y1: this.top, y2: end, class: "cursor"});
    addSvg(this.overlay, "text", {x: right ? x + 5 : x - 5, y: end - 6,
      "text-anchor": right ? "start" : "end"}, `${bpp.toFixed(3)} bpp`);
    addSvg(this.overlay, "circle", {cx: px, cy: py, r: 9, class: "ring"});
  }
}
