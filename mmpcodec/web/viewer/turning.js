// How a picture is turned upright by its orientation, 1 to 8 as in EXIF: it is transposed, then its
// columns are reversed, then its rows.
class Turning {
  // width, height: of the picture as it is stored.
  constructor(orientation, width, height) {
    this.stored = {width, height};
    this.transposed = orientation > 4;
    this.columns = [2, 3, 6, 7].includes(orientation);
    this.rows = [3, 4, 7, 8].includes(orientation);
    [this.width, this.height] = this.transposed ? [height, width] : [width, height];
  }

  // A rectangle in the upright picture.
  upright(place) {
    return this.#reversed(this.transposed ? Turning.#swapped(place) : place);
  }

  // A rectangle of the upright picture in the picture as it is stored.
  back(place) {
    const found = this.#reversed(place);
    return this.transposed ? Turning.#swapped(found) : found;
  }

  #reversed({x, y, width, height}) {
    return {
      x: this.columns ? this.width - x - width : x,
      y: this.rows ? this.height - y - height : y,
      width, height,
    };
  }

  static #swapped({x, y, width, height}) {
    return {x: y, y: x, width: height, height: width};
  }

  // The samples of a part, whose width and height as it is stored are given.
  samples(samples, {width, height}, planes) {
    const {transposed, columns, rows} = this;
    if (!transposed && !columns && !rows) return samples;
    const [wide, high] = transposed ? [height, width] : [width, height];
    const right = (transposed ? width : 1) * planes, down = (transposed ? 1 : width) * planes;
    const begin = (columns ? (wide - 1) * right : 0) + (rows ? (high - 1) * down : 0);
    const [across, below] = [columns ? -right : right, rows ? -down : down];
    const found = new samples.constructor(samples.length);
    for (let y = 0, out = 0; y < high; y++)
      for (let x = 0, from = begin + y * below; x < wide; x++, from += across)
        for (let p = 0; p < planes; p++) found[out++] = samples[from + p];
    return found;
  }
}
