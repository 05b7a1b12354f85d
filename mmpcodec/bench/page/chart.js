// Quality against rate as SVG, which is read off by pointing at it.
function makeChart(place, legend, data) {
  const SVG = "http://www.w3.org/2000/svg";
  const hidden = new Set();
  const colours = new Map(data.codecs.map(each => [each.codec, each.colour]));
  let picture, metric, scale;

  function add(parent, name, attributes, text) {
    const node = document.createElementNS(SVG, name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    return parent.appendChild(node);
  }

  function shownCurves() {
    return picture.curves.filter(curve => !hidden.has(curve.codec)).map(curve => ({
      ...curve, points: curve.points.filter(p => p.error === null && p[metric] !== null),
    })).filter(curve => curve.points.length);
  }

  function format(value) {
    return metric === "psnr" ? `${value.toFixed(2)} dB` : value.toFixed(4);
  }

  // Steps of 1, 2 or 5 times a power of ten, about as many as asked for.
  function ticks(low, high, count) {
    const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find(k => k * power >= rough);
    const found = [];
    for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(k * step);
    return found;
  }

  // The curve between its points is straight over the logarithm of the rate.
  function valueAt(points, bpp) {
    for (let k = 1; k < points.length; k++) {
      const a = points[k - 1], b = points[k];
      if (a.bpp <= bpp && bpp <= b.bpp) {
        const part = b.bpp > a.bpp ? Math.log(bpp / a.bpp) / Math.log(b.bpp / a.bpp) : 0;
        return a[metric] + part * (b[metric] - a[metric]);
      }
    }
    return null;
  }

  function drawLegend(bpp) {
    legend.replaceChildren(...picture.curves.map(curve => {
      const item = document.createElement("li"), button = document.createElement("button");
      const swatch = document.createElement("i"), name = document.createElement("span");
      const value = document.createElement("b");
      swatch.style.background = colours.get(curve.codec);
      name.textContent = curve.codec;
      const points = curve.points.filter(p => p.error === null && p[metric] !== null);
      const found = bpp === undefined ? null : valueAt(points, bpp);
      value.textContent = found === null ? "" : format(found);
      button.append(swatch, name, value);
      button.setAttribute("aria-pressed", !hidden.has(curve.codec));
      button.onclick = () => {
        hidden.has(curve.codec) ? hidden.delete(curve.codec) : hidden.add(curve.codec);
        draw();
      };
      item.append(button);
      return item;
    }));
  }

  function draw() {
    const width = Math.max(280, place.clientWidth), height = Math.min(460, 180 + width * 0.4);
    const left = 48, right = 12, top = 10, bottom = 38;
    const curves = shownCurves(), points = curves.flatMap(curve => curve.points);
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    place.replaceChildren(svg);
    drawLegend();
    if (!points.length) {
      scale = null;
      add(svg, "text", {x: left, y: 40}, "There are no values of this metric.");
      return;
    }
    const rates = points.map(p => Math.log2(p.bpp)), values = points.map(p => p[metric]);
    const room = (list, share) => {
      const low = Math.min(...list), high = Math.max(...list), pad = (high - low || 1) * share;
      return [low - pad, high + pad];
    };
    const [x0, x1] = room(rates, 0.03), [y0, y1] = room(values, 0.04);
    scale = {
      x: bpp => left + (Math.log2(bpp) - x0) / (x1 - x0) * (width - left - right),
      y: value => height - bottom - (value - y0) / (y1 - y0) * (height - top - bottom),
      bpp: x => 2 ** (x0 + (x - left) / (width - left - right) * (x1 - x0)),
      width, height, left, right, top, bottom, svg, curves,
    };
    for (let k = Math.ceil(x0); k <= x1; k++) {
      const x = scale.x(2 ** k);
      add(svg, "line", {x1: x, x2: x, y1: top, y2: height - bottom, class: "grid"});
      add(svg, "text", {x, y: height - bottom + 16, "text-anchor": "middle"}, 2 ** k);
    }
    for (const value of ticks(y0, y1, 7)) {
      const y = scale.y(value);
      add(svg, "line", {x1: left, x2: width - right, y1: y, y2: y, class: "grid"});
      const text = Number(value.toPrecision(6));
      add(svg, "text", {x: left - 6, y: y + 4, "text-anchor": "end"}, text);
    }
    const middle = (left + width - right) / 2;
    add(svg, "text", {x: middle, y: height - 6, "text-anchor": "middle"},
      `bits per pixel, whole file; ${data.metrics[metric]}`);
    for (const curve of [...curves].reverse()) {
      const colour = colours.get(curve.codec);
      const path = curve.points.map(p => `${scale.x(p.bpp)},${scale.y(p[metric])}`).join(" ");
      add(svg, "polyline", {points: path, fill: "none", stroke: colour,
        "stroke-width": curve.ours ? 2.6 : 1.3});
      for (const p of curve.points)
        add(svg, "circle", {cx: scale.x(p.bpp), cy: scale.y(p[metric]),
          r: curve.ours ? 4 : 3, fill: colour});
    }
    scale.overlay = add(svg, "g", {"pointer-events": "none"});
  }

  function point(event) {
    if (!scale) return;
    const box = scale.svg.getBoundingClientRect(), unit = scale.width / box.width;
    const x = (event.clientX - box.left) * unit, y = (event.clientY - box.top) * unit;
    let best = null;
    for (const curve of scale.curves) for (const p of curve.points) {
      const away = Math.hypot(scale.x(p.bpp) - x, scale.y(p[metric]) - y);
      if (!best || away < best.away) best = {away, curve, p};
    }
    scale.overlay.replaceChildren();
    add(scale.overlay, "line", {x1: x, x2: x, y1: scale.top, y2: scale.height - scale.bottom,
      class: "cursor"});
    const bpp = scale.bpp(x);
    drawLegend(bpp);
    const right = x < scale.width / 2;
    add(scale.overlay, "text", {x: right ? x + 5 : x - 5, y: scale.height - scale.bottom - 6,
      "text-anchor": right ? "start" : "end"}, `${bpp.toFixed(3)} bpp`);
    const {curve, p} = best, lines = [
      curve.codec,
      `${curve.knob} ${p.point}: ${p.bytes} bytes, ${p.bpp.toFixed(3)} bpp`,
      [p.psnr === null ? "lossless" : `${p.psnr.toFixed(2)} dB`,
        p.ssim === null ? "" : `SSIM ${p.ssim.toFixed(4)}`].filter(Boolean).join(", "),
      `encode ${p.encode_seconds.toFixed(3)} s, decode ${p.decode_seconds.toFixed(3)} s`,
    ];
    const px = scale.x(p.bpp), py = scale.y(p[metric]);
    add(scale.overlay, "circle", {cx: px, cy: py, r: 7, fill: "none", "stroke-width": 2,
      stroke: colours.get(curve.codec)});
    const wide = 7 * Math.max(...lines.map(line => line.length)) + 12, tall = 16 * lines.length + 8;
    const bx = Math.min(Math.max(px + 14, scale.left), Math.max(0, scale.width - wide - 4));
    const by = py > scale.height / 2 ? Math.max(2, py - tall - 14) : py + 14;
    add(scale.overlay, "rect", {x: bx, y: by, width: wide, height: tall, rx: 4, class: "box"});
    lines.forEach((line, k) => add(scale.overlay, "text",
      {x: bx + 6, y: by + 16 * (k + 1), class: "box-text"}, line));
  }

  place.addEventListener("pointermove", point);
  place.addEventListener("pointerdown", point);
  place.addEventListener("pointerleave", () => {
    if (scale) scale.overlay.replaceChildren();
    drawLegend();
  });
  new ResizeObserver(() => picture && draw()).observe(place);
  return (newPicture, newMetric) => {
    picture = newPicture;
    metric = newMetric;
    draw();
  };
}
