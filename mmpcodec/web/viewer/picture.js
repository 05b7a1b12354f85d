// An open file: its size, and its samples tile by tile. The decoder opens mmp files, the browser all
// others. The tiles of a file without tiles are one, the whole picture.
class OpenPicture {
  static #count = 0;

  // file: name, bytes, isMmp, and source(), which gives what the decoder or the browser opens.
  static async open(file, decoder) {
    const found = file.isMmp ? await decoder.open(await file.source()) : await nativePicture(file);
    return new OpenPicture(file, found);
  }

  constructor(file, found) {
    const {width, height, depth, white, tileSize} = found.header;
    const side = tileSize || Math.max(width, height);
    Object.assign(this, {file, found, width, height, depth, side});
    this.id = OpenPicture.#count++;
    this.white = white || 2 ** depth - 1;
    this.columns = Math.ceil(width / side);
    this.rows = Math.ceil(height / side);
    this.pixels = width * height;
  }

  get name() {
    return this.file.name;
  }

  // Place of a tile in the picture, in samples.
  place(number) {
    const {side} = this, x = number % this.columns * side;
    const y = Math.floor(number / this.columns) * side;
    return {x, y, width: Math.min(side, this.width - x), height: Math.min(side, this.height - y)};
  }

  // Numbers of the tiles that a part of the picture touches, the nearest to its middle first.
  tilesIn(left, top, right, bottom) {
    const {side, columns, rows} = this, numbers = [];
    const last = (end, count) => Math.min(count - 1, Math.ceil(end / side) - 1);
    for (let row = Math.max(0, Math.floor(top / side)); row <= last(bottom, rows); row++)
      for (let column = Math.max(0, Math.floor(left / side)); column <= last(right, columns); column++)
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
    const {samples} = await this.found.tile(number, {signal}), place = this.place(number);
    return {...place, samples, planes: samples.length / (place.width * place.height)};
  }

  // What the file is, in words.
  get facts() {
    const {width, height, depth, file: {bytes}, found: {header}} = this;
    const parts = [`${width}×${height}`, `${header.form}, ${depth} ${depth === 1 ? "bit" : "bits"}`];
    const tiles = this.columns * this.rows;
    if (tiles > 1) parts.push(`${tiles} tiles of ${this.side}×${this.side}`);
    if (bytes) {
      const rate = (8 * bytes / this.pixels).toFixed(3);
      parts.push(`${bytes.toLocaleString("en")} bytes`, `${rate} bits per pixel`);
    }
    return parts.join(" · ");
  }
}

// A picture that the browser decodes, to 8 bits a sample.
async function nativePicture(file) {
  const options = {colorSpaceConversion: "none", premultiplyAlpha: "none"};
  const image = await createImageBitmap(await file.blob(), options);
  const canvas = new OffscreenCanvas(image.width, image.height), pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0);
  const rgba = pen.getImageData(0, 0, image.width, image.height).data;
  const {samples, form} = lean(rgba);
  return {
    header: {width: image.width, height: image.height, depth: 8, white: 255, tileSize: 0, form},
    tile: async () => ({samples}),
  };
}

// Samples without planes that say nothing: full opacity, and colours that are equal everywhere.
function lean(rgba) {
  let gray = true, opaque = true;
  for (let k = 0; k < rgba.length; k += 4) {
    gray &&= rgba[k] === rgba[k + 1] && rgba[k] === rgba[k + 2];
    opaque &&= rgba[k + 3] === 255;
  }
  const kept = [...gray ? [0] : [0, 1, 2], ...opaque ? [] : [3]], planes = kept.length;
  const samples = new Uint8Array(rgba.length / 4 * planes);
  for (let p = 0; p < planes; p++)
    for (let k = kept[p], out = p; k < rgba.length; k += 4, out += planes) samples[out] = rgba[k];
  return {samples, form: (gray ? "gray" : "RGB") + (opaque ? "" : " with alpha")};
}
