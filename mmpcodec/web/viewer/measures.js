// What samples and pixels measure: values such as Hounsfield units, and millimetres.
class Calibration {
  // Of texts of a file, pairs of keyword and text; null if none says it.
  static of(texts) {
    const said = (texts || []).find(([keyword]) => keyword === "Calibration");
    try {
      const {slope, intercept, unit = "", window = null} = JSON.parse(said[1]);
      const given = window && window.map(Number), [low, high] = given || [0, 1];
      const numbers = [slope, intercept, low, high];
      if (!slope || !numbers.every(Number.isFinite) || !(low < high)) return null;
      return new Calibration(slope, intercept, String(unit), given);
    } catch {
      return null;
    }
  }

  constructor(slope, intercept, unit, window) {
    Object.assign(this, {slope, intercept, unit, window});
  }

  get key() {
    return `${this.slope} ${this.intercept} ${this.unit}`;
  }

  value(sample) {
    return this.slope * sample + this.intercept;
  }

  sample(value) {
    return (value - this.intercept) / this.slope;
  }

  // The values of samples, in words.
  text(samples) {
    const values = samples.map(each => Number(this.value(each).toPrecision(7)));
    return `${values.join(" ")}${this.unit ? ` ${this.unit}` : ""}`;
  }

  // Windows by name: values that are drawn black and white.
  get presets() {
    const found = new Map();
    if (this.window) found.set("as in the file", this.window);
    if (this.unit !== "HU") return found;
    for (const [name, level, width] of Calibration.PRESETS)
      found.set(name, [level - width / 2, level + width / 2]);
    return found;
  }

  // Usual windows of computed tomography: level and width in Hounsfield units.
  static PRESETS = [
    ["lung", -600, 1500], ["bone", 400, 1800], ["brain", 40, 80], ["abdomen", 40, 400],
  ];
}

// Width and height of a pixel in millimetres, of a resolution as the decoder reads it; null if it
// has no unit.
function pixelOf(resolution) {
  const unit = {inch: 25.4, centimetre: 10, metre: 1000}[resolution?.unit];
  if (!unit) return null;
  const side = ([samples, units]) => unit * units / samples;
  return [side(resolution.x), side(resolution.y)];
}

const millimetres = length => `${Number(length.toPrecision(4))} mm`;

// A bar of a round length in millimetres, and a line between two points that the reader chose.
class Ruler {
  static LEAST = 70; // pixels of the screen
  wanted = true;
  ends = []; // of the line, in samples

  // Takes a point of the picture: the first end, or the second; a third begins a new line.
  take(point) {
    this.ends = this.ends.length === 1 ? [this.ends[0], point] : [point];
  }

  // Length of the line in millimetres; null if there is none.
  length([across, down]) {
    if (this.ends.length < 2) return null;
    const [[x0, y0], [x1, y1]] = this.ends;
    return Math.hypot((x1 - x0) * across, (y1 - y0) * down);
  }

  draw(stage, pixel) {
    if (!pixel) return;
    if (this.wanted) this.#bar(stage, pixel);
    if (this.ends.length) this.#line(stage, pixel);
  }

  #bar({pen, zoom, pane, pixelRatio: unit}, [across]) {
    const [length, width] = Ruler.bar(across / zoom, Ruler.LEAST * unit);
    const left = 14 * unit, bottom = pane.height - 16 * unit;
    this.#stroke(pen, unit, [[left, bottom - 6 * unit], [left, bottom], [left + width, bottom],
      [left + width, bottom - 6 * unit]]);
    this.#text(pen, unit, `${Number(length.toPrecision(3))} mm`, left, bottom - 10 * unit);
  }

  // Millimetres and pixels of a bar: 1, 2 or 5 times a power of ten.
  static bar(size, least) {
    const power = 10 ** Math.floor(Math.log10(size * least));
    const length = [1, 2, 5, 10].map(part => part * power).find(each => each / size >= least);
    return [length, length / size];
  }

  #line({pen, zoom, left, top, pixelRatio: unit}, pixel) {
    const points = this.ends.map(([x, y]) => [(x - left) * zoom, (y - top) * zoom]);
    for (const [x, y] of points)
      this.#stroke(pen, unit, [[x - 5 * unit, y], [x + 5 * unit, y], [x, y], [x, y - 5 * unit],
        [x, y + 5 * unit]]);
    if (points.length < 2) return;
    this.#stroke(pen, unit, points);
    const [x, y] = points[1];
    this.#text(pen, unit, millimetres(this.length(pixel)), x + 8 * unit, y - 8 * unit);
  }

  // White on black, so that it can be seen on any picture.
  #stroke(pen, unit, points) {
    pen.lineJoin = pen.lineCap = "round";
    for (const [colour, width] of [["#000", 5], ["#fff", 2]]) {
      pen.beginPath();
      for (const point of points) pen.lineTo(...point);
      pen.strokeStyle = colour;
      pen.lineWidth = width * unit;
      pen.stroke();
    }
  }

  #text(pen, unit, text, x, y) {
    pen.font = `600 ${13 * unit}px system-ui, sans-serif`;
    pen.strokeStyle = "#000";
    pen.lineWidth = 4 * unit;
    pen.strokeText(text, x, y);
    pen.fillStyle = "#fff";
    pen.fillText(text, x, y);
  }
}
