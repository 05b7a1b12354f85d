// Window and level: which samples are drawn black and white. Up to 8 bits these are 0 and white.
// Deeper pictures start with the window of the file; without one, with "auto": the percentiles 0.5
// and 99.5 of the samples that are decoded, or 0 and white, if the file names white and a sample
// reaches half of it, as `mmp` draws them too.
class Levels {
  static DARK = 0.005;
  static BRIGHT = 0.995;
  #table = null;

  constructor({depth, white, found, calibration}) {
    Object.assign(this, {depth, white, calibration, low: 0, high: white, version: 0});
    this.named = white !== 2 ** depth - 1 || Boolean(found.header.whiteNamed);
    const window = this.deep && calibration?.window;
    this.auto = this.deep && !window;
    if (window) this.setValues(window);
  }

  get deep() {
    return this.depth > 8;
  }

  set(low, high) {
    const lowest = Math.min(Math.max(0, Math.round(low)), this.white - 1);
    const highest = Math.min(Math.max(lowest + 1, Math.round(high)), this.white);
    if (lowest === this.low && highest === this.high) return;
    Object.assign(this, {low: lowest, high: highest});
    this.#table = null;
    this.version++;
  }

  // The window's width and its middle, the level.
  get window() {
    return this.high - this.low;
  }

  get level() {
    return (this.high + this.low) / 2;
  }

  setWindow(width, level) {
    const low = Math.max(0, level - width / 2);
    this.set(low, Math.min(this.white, low + width));
  }

  // Samples that are drawn black and white, of values of the calibration.
  #samplesOf(values) {
    const [low, high] = values.map(value => this.calibration.sample(value)).sort((a, b) => a - b);
    const lowest = Math.min(Math.max(0, Math.round(low)), this.white - 1);
    return [lowest, Math.min(Math.max(lowest + 1, Math.round(high)), this.white)];
  }

  setValues(values) {
    this.set(...this.#samplesOf(values));
  }

  // Whether the window is that of two values.
  shows(values) {
    const [low, high] = this.#samplesOf(values);
    return !this.auto && low === this.low && high === this.high;
  }

  // Byte of each sample.
  get table() {
    if (this.#table) return this.#table;
    const {low, high} = this, table = new Uint8ClampedArray(2 ** Math.max(8, this.depth));
    for (let k = 0; k < table.length; k++) table[k] = (k - low) * 255 / (high - low);
    return this.#table = table;
  }

  // Takes the percentiles of some decoded tiles; alpha does not count.
  fit(tiles) {
    const counts = new Float64Array(2 ** this.depth);
    let total = 0;
    for (const {samples, planes} of tiles) {
      const colours = planes - (planes % 2 === 0);
      for (let k = 0; k < samples.length; k += planes)
        for (let p = 0; p < colours; p++) counts[samples[k + p]]++;
      total += samples.length / planes * colours;
    }
    if (!total) return;
    const largest = counts.findLastIndex(count => count > 0);
    if (this.named && 2 * largest >= this.white) return this.set(0, this.white);
    const reached = part => {
      let sum = 0;
      return counts.findIndex(count => (sum += count) >= part * total);
    };
    let [low, high] = [reached(Levels.DARK), reached(Levels.BRIGHT)];
    if (low === high) [low, high] = [counts.findIndex(count => count > 0), largest];
    if (low < high) this.set(low, high);
    else this.set(0, this.white);
  }
}
