// An open file: its size, and its samples tile by tile. The decoder opens mmp files, the browser
// all others. The tiles of a file without tiles are one, the whole picture. Both are turned as
// their metadata say, here; sizes, places and samples are those of the upright picture.
class OpenPicture {
  static #count = 0;

  // file: name, bytes, isMmp, and open(decoder), or blob() for what the browser decodes.
  static async open(file, decoder) {
    const found = file.isMmp ? await file.open(decoder) : await nativePicture(file);
    return new OpenPicture(file, found);
  }

  constructor(file, found) {
    const {width, height, depth, white, tileSize, exif, xmp, text, resolution} = found.header;
    this.orientation = orientationOf(exif, xmp);
    this.turning = new Turning(this.orientation, width, height);
    const side = tileSize || Math.max(width, height);
    Object.assign(this, {file, found, depth, side});
    this.id = OpenPicture.#count++;
    this.white = white || 2 ** depth - 1;
    this.columns = Math.ceil(width / side); // of tiles, as they are stored
    this.rows = Math.ceil(height / side);
    this.pixels = width * height;
    this.calibration = Calibration.of(text);
    const pixel = pixelOf(resolution);
    this.pixel = pixel && this.turning.transposed ? pixel.reverse() : pixel; // in millimetres
  }

  get width() {
    return this.turning.width;
  }

  get height() {
    return this.turning.height;
  }

  get name() {
    return this.file.name;
  }

  // Place of a tile in the picture as it is stored.
  #stored(number) {
    const {side, turning: {stored}} = this, x = number % this.columns * side;
    const y = Math.floor(number / this.columns) * side;
    return {x, y, width: Math.min(side, stored.width - x), height: Math.min(side, stored.height - y)};
  }

  // Place of a tile in the picture, in samples.
  place(number) {
    return this.turning.upright(this.#stored(number));
  }

  // Number of the tile that holds a sample.
  numberAt(x, y) {
    const {side, columns} = this, place = this.turning.back({x, y, width: 1, height: 1});
    return Math.floor(place.y / side) * columns + Math.floor(place.x / side);
  }

  // Numbers of the tiles that a part of the picture touches, the nearest to its middle first.
  tilesIn(left, top, right, bottom) {
    const {side, columns, rows} = this, numbers = [];
    const view = {x: left, y: top, width: right - left, height: bottom - top};
    const {x, y, width, height} = this.turning.back(view);
    const last = (end, count) => Math.min(count - 1, Math.ceil(end / side) - 1);
    for (let row = Math.max(0, Math.floor(y / side)); row <= last(y + height, rows); row++)
      for (let column = Math.max(0, Math.floor(x / side)); column <= last(x + width, columns); column++)
        numbers.push(row * columns + column);
    const middle = [(left + right) / 2, (top + bottom) / 2], far = number => {
      const {x, y, width, height} = this.place(number);
      return Math.hypot(x + width / 2 - middle[0], y + height / 2 - middle[1]);
    };
    const distances = new Map(numbers.map(number => [number, far(number)]));
    return numbers.sort((a, b) => distances.get(a) - distances.get(b));
  }

  // Place, samples and number of planes of a tile.
  async tile(number, signal) {
    const {samples} = await this.found.tile(number, {signal}), stored = this.#stored(number);
    const planes = samples.length / (stored.width * stored.height);
    return {...this.place(number), samples: this.turning.samples(samples, stored, planes), planes};
  }

  // What the file is, in words.
  get facts() {
    const {width, height, depth, file: {bytes}, found: {header}} = this;
    const parts = [...this.file.about || [], `${width}×${height}`, `${header.form}, ${depth} ${depth === 1 ? "bit" : "bits"}`];
    if (header.jpeg?.bytes) parts.push(`a JPEG file, kept, ${header.jpeg.bytes.toLocaleString("en")} bytes`);
    const tiles = this.columns * this.rows;
    if (tiles > 1) parts.push(`${tiles} tiles of ${this.side}×${this.side}`);
    if (this.pixel) parts.push(`pixels of ${this.pixel.map(side => Number(side.toPrecision(4))).join("×")} mm`);
    if (this.orientation > 1) parts.push(`turned upright (orientation ${this.orientation})`);
    if (header.isRounded) parts.push("colours under alpha rounded by the browser");
    if (bytes) {
      const rate = (8 * bytes / this.pixels).toFixed(3);
      parts.push(`${bytes.toLocaleString("en")} bytes`, `${rate} bits per pixel`);
    }
    return parts.join(" · ");
  }
}
