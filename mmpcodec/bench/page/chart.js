// Quality against rate. Pointing reads the curves off, a press keeps the values of a point, and the
// arrow keys move from point to point.
class Chart {
  static NARROW = 600; // pixels
  #picture = null;
  #metric = null;
  #hidden = new Set();
  #kept = null; // codec and point whose values stay
  #drawing = null; // null where there are no values
  #at = id => document.getElementById(id);

  constructor(data, tell) {
    Object.assign(this, {data, tell});
    this.place = this.#at("drawing");
    this.styles = new Map(data.codecs.map(each => [each.codec, each]));
    this.legend = new Legend(this.#at("legend"), this.styles, codec => {
      if (!this.#hidden.delete(codec)) this.#hidden.add(codec);
      this.#draw();
      tell.chose();
    });
    this.#listen();
    new ResizeObserver(() => this.#picture && this.#draw()).observe(this.#at("chart"));
  }

  show(picture, metric) {
    if (picture !== this.#picture) this.legend.setCodecs(picture.curves.map(curve => curve.codec));
    this.#picture = picture;
    this.#metric = metric;
    this.#draw();
  }

  state() {
    const kept = this.#kept && {curve: this.#kept.codec, point: this.#kept.point};
    return {hide: [...this.#hidden], ...kept};
  }

  restore(wanted) {
    const codec = wanted.get("curve"), point = Number(wanted.get("point"));
    this.#hidden = new Set(wanted.getAll("hide").filter(name => this.styles.has(name)));
    this.#kept = this.styles.has(codec) && wanted.has("point") ? {codec, point} : null;
  }

  #measured(curve) {
    return curve.points.filter(p => p.error === null && p[this.#metric] !== null);
  }

  #draw() {
    const curves = this.#picture.curves.filter(curve => !this.#hidden.has(curve.codec))
      .map(curve => ({...curve, points: this.#measured(curve)})).filter(curve => curve.points.length);
    if (curves.length) {
      const {axis, falls} = this.data.metrics[this.#metric];
      this.#drawing = new Drawing(this.place, curves, this.styles, this.#metric, axis, falls);
    } else {
      this.#drawing = null;
      this.place.textContent = "There are no values of this metric.";
    }
    this.#rest();
  }

  // The curve between its points is straight over the logarithm of the rate.
  #valueAt(codec, bpp) {
    const points = this.#measured(this.#picture.curves.find(curve => curve.codec === codec));
    const same = points.find(p => p.bpp === bpp), metric = this.#metric;
    if (same) return same[metric];
    const end = points.findIndex(p => p.bpp > bpp);
    if (end < 1) return null;
    const a = points[end - 1], b = points[end];
    return a[metric] + Math.log(bpp / a.bpp) / Math.log(b.bpp / a.bpp) * (b[metric] - a[metric]);
  }

  // Why a codec has no curve, or "" if it has one.
  #missing(codec) {
    const curve = this.#picture.curves.find(each => each.codec === codec);
    if (this.#measured(curve).length) return "";
    if (curve.points.every(p => p.error !== null)) return "failed";
    return this.#metric === "psnr" ? "lossless" : "no values";
  }

  #fillLegend(bpp = null) {
    this.legend.fill(codec => !this.#hidden.has(codec), codec => {
      const missing = this.#missing(codec);
      if (missing) return missing;
      const without = bpp === null || this.#hidden.has(codec);
      const value = without ? null : this.#valueAt(codec, bpp);
      if (value === null) return "";
      return this.#text(value, this.#metric);
    });
  }

  // A value of a metric with its unit.
  #text(value, metric) {
    const {digits, unit} = this.data.metrics[metric];
    return `${value.toFixed(digits)} ${unit}`.trim();
  }

  // The values of a point as text: PSNR, SSIM and one more metric.
  quality(p, metric) {
    const shown = Object.keys(this.data.metrics).filter(
      name => ["psnr", "ssim", metric].includes(name) && p[name] !== null);
    const texts = shown.map(name => name === "psnr" ? this.#text(p.psnr, name) :
      `${this.data.metrics[name].title} ${this.#text(p[name], name)}`);
    return (p.max_error === 0 ? ["lossless", ...texts] : texts).join(", ");
  }

  #lines({curve, p}) {
    return [
      curve.codec,
      `${curve.knob} ${p.point}: ${p.bytes} bytes, ${p.bpp.toFixed(3)} bpp`,
      this.quality(p, this.#metric),
      `encode ${p.encode_seconds.toFixed(3)} s, decode ${p.decode_seconds.toFixed(3)} s`,
    ];
  }

  // Shows the values of a point, and the quality of all codecs at a rate.
  #read(found, bpp) {
    this.#drawing.mark(found.p, bpp);
    this.#fillLegend(bpp);
    this.#at("reading-text").replaceChildren(...this.#lines(found).map(line => {
      const node = document.createElement("div");
      node.className = "box-text";
      node.textContent = line;
      return node;
    }));
    this.#at("reading").hidden = false;
    this.#placeBox(this.#drawing.spot(found.p));
  }

  // Beside the point; on a narrow chart in a corner that rising curves leave free.
  #placeBox(spot) {
    const box = this.#at("reading"), {clientWidth, clientHeight} = this.place;
    const [x, y] = spot.map(value => value * clientWidth / this.#drawing.width);
    const right = clientWidth - box.offsetWidth, above = y - box.offsetHeight - 14;
    const bottom = clientHeight - this.#drawing.bottom - box.offsetHeight - 4;
    let left = x + 14, top = y < clientHeight / 2 ? y + 14 : Math.max(2, above);
    if (clientWidth < Chart.NARROW) {
      const free = x < right - 10 || y < bottom - 10;
      [left, top] = free ? [right, bottom] : [this.#drawing.left + 4, 2];
    }
    box.style.left = `${Math.max(0, Math.min(left, right))}px`;
    box.style.top = `${top}px`;
  }

  #keptPoint() {
    const curve = this.#kept && this.#drawing &&
      this.#drawing.curves.find(each => each.codec === this.#kept.codec);
    const p = curve && curve.points.find(each => each.point === this.#kept.point);
    return p ? {curve, p} : null;
  }

  // What is shown while nothing is pointed at: the kept point, if there is one.
  #rest() {
    const found = this.#keptPoint();
    this.#at("reading-close").hidden = !found;
    if (found) return this.#read(found, found.p.bpp);
    this.#at("reading").hidden = true;
    if (this.#drawing) this.#drawing.mark(null);
    this.#fillLegend();
  }

  #keep(found, {speak = true} = {}) {
    this.#kept = found && {codec: found.curve.codec, point: found.p.point};
    this.#rest();
    this.tell.moved();
    if (!speak) return;
    const {points} = found ? found.curve : {};
    this.#at("said").textContent = found && `${this.#lines(found).join(", ")}; point ` +
      `${points.indexOf(found.p) + 1} of ${points.length}`;
  }

  // The point that a key moves to: along the curve, or to the nearest rate of another curve.
  #neighbour(key) {
    const here = this.#keptPoint(), {curves} = this.#drawing;
    if (!here) return {curve: curves[0], p: curves[0].points[0]};
    const {curve, p} = here, {points} = curve, number = points.indexOf(p), last = points.length - 1;
    const along = {ArrowLeft: number - 1, ArrowRight: number + 1, Home: 0, End: last};
    if (key in along) return {curve, p: points[Math.min(Math.max(along[key], 0), last)]};
    const step = key === "ArrowDown" ? 1 : curves.length - 1;
    const other = curves[(curves.indexOf(curve) + step) % curves.length];
    const away = each => Math.abs(Math.log(each.bpp / p.bpp));
    return {curve: other, p: other.points.reduce((a, b) => away(b) < away(a) ? b : a)};
  }

  #listen() {
    const chart = this.#at("chart");
    const keys = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"];
    this.place.addEventListener("pointermove", event => {
      if (!this.#drawing) return;
      const found = this.#drawing.nearest(event);
      if (event.pointerType === "touch") this.#keep(found, {speak: false});
      else this.#read(found, found.bpp);
    });
    this.place.addEventListener("pointerleave", () => this.#rest());
    this.place.addEventListener("click", event => {
      if (this.#drawing) this.#keep(this.#drawing.nearest(event));
    });
    this.#at("reading-close").onclick = () => {
      this.#keep(null);
      chart.focus();
    };
    chart.addEventListener("keydown", event => {
      const other = event.target !== chart || event.ctrlKey || event.altKey || event.metaKey;
      if (other || !this.#drawing) return;
      if (event.key === "Escape" && this.#kept) this.#keep(null);
      else if (keys.includes(event.key)) this.#keep(this.#neighbour(event.key));
      else return;
      event.preventDefault();
    });
  }
}
