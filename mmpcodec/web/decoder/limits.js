// What a decoder accepts, checked before samples are decoded, and an upper estimate of memory.
// The numbers are those of mmpcodec/codec/limits/memory.py and mmpcodec/codec/limits/seconds.py.
// Lossless samples need more here, because the allocator rounds sizes up to powers of two; kept JPEG
// files do, because memory counts that is never written.
import { CONTAINER } from "./format/container.js";
import { LimitExceeded, ParameterError } from "./errors.js";
import { LEVEL_BYTES, mostLevelBytes } from "./format/jpeg.js";
import { TOGETHER, coloursOf } from "./format/layers.js";
import { fragmentsIn, paddedSamples } from "./format/tiles.js";
import { LOSSLESS, TREES } from "./format/tools.js";

/** @typedef {{ maxSamples: number, maxDimension: number, maxMemory: number,
 *              maxSeconds: number, maxPictures: number }} Limits */
/** @typedef {import("./format/tiles.js").Tile} Tile */
/** @typedef {import("./format/layers.js").TileStream} TileStream */
/** @typedef {{ tile: Tile, stream: TileStream }} ReadTile */

/** @type {Limits} */
export const DEFAULT_LIMITS = {
  maxSamples: 2 ** 26,
  maxDimension: 2 ** 24,
  maxMemory: 2 ** 31,
  maxSeconds: Infinity,
  maxPictures: 2 ** 16,
};
const SAMPLE_BYTES = 16;
const NUMBER_BYTES = 2;
const ELEMENT_BYTES = 1600;
const LAYER_BYTES = 8 * 2 ** 20;
/** By form of 1 to 3: bytes of a plane, and of each group of decisions; of a column. */
const LOSSLESS_BYTES = [[0, 0], [4, 0], [10, 1.5], [22, 2.5]].map((sizes) =>
  sizes.map((size) => size * 2 ** 20)
);
const LOSSLESS_COLUMN_BYTES = [0, 800, 800, 2560];
/** Of pixels that repeat, by form of 1 to 3; for each pixel and each column; columns beside a row. */
const REPEATING_BYTES = [0, 8, 15, 28].map((size) => size * 2 ** 20);
const [REPEATING_PIXEL_BYTES, REPEATING_COLUMN_BYTES, REPEATING_BESIDE] = [8, 512, 32];
/** Of planes of two values: what does not grow; by form of 1 to 3, a line of all its tables. */
const TWO_VALUES_BYTES = 3 * 2 ** 20;
const TWO_VALUES_LINE_BYTES = [0, 120, 240, 372];
const TWO_VALUES_COLUMN_BYTES = 256;
/** Of a kept JPEG file, by form of 1 to 3; of each byte of the file. */
const JPEG_BYTES = [0, 8, 20, 32].map((size) => size * 2 ** 20);
const JPEG_FILE_BYTES = 24;
/** Of a new instance. */
const JPEG_INSTANCE_BYTES = 10 * 2 ** 20;
/**
 * Of each pixel of the rows of a chain, in bits and words, and columns beside each row that count as
 * well; how many times the limit of samples they may have.
 */
const [CHAIN_BYTES, CHAIN_BESIDE, MOST_CHAIN] = [3, 64, 8];
/** Of a new instance, and of each sample beside SAMPLE_BYTES. */
const [INSTANCE_BYTES, LOSSLESS_SAMPLE_BYTES] = [4 * 2 ** 20, 8];
const TILE = 1e-3;
const FLAT = 0.01e-6;
/** Of a lossless sample that takes nearly no bits, by form of 1 to 3; in a plane after the first. */
const LOSSLESS_SAMPLE = [0, 0.07e-6, 0.2e-6, 0.8e-6];
const LOSSLESS_LATER = [0, 0.07e-6, 0.26e-6, 1.5e-6];
const LOSSLESS_BYTE = 4e-6;
/** Of tables and models of a plane, by form of 1 to 3. */
const LOSSLESS_PLANE = [0, 1.2e-3, 2e-3, 18e-3];
/** Of the weights of four strips in a row, by form of 1 to 3 and earlier planes; their columns. */
const FITS = [[], [2e-6, 5e-6, 7.5e-6], [2.2e-6, 13e-6, 21e-6], [4e-6, 18e-6, 27e-6]];
const FITTED_COLUMNS = [0, 32, 128, 128];
/** Of pixels that repeat: a sample without a candidate, by form of 1 to 3. */
const REPEATING = [0, 0.7e-6, 1.9e-6, 2.3e-6];
const REPEATING_FLAT = 0.05e-6;
const REPEATING_REACH = 1.5e-3;
const REPEATING_TABLES = [0, 1.5e-3, 2e-3, 6e-3];
/** Of planes of two values: a mixed pixel, by form of 1 to 3. */
const TWO_VALUES = [0, 0.15e-6, 0.3e-6, 0.65e-6];
const TWO_VALUES_FLAT = 0.04e-6;
const TWO_VALUES_REACH = 6e-3;
const TWO_VALUES_BYTE = 10e-6;
const TREES_SAMPLE = 0.3e-6;
const TREES_FLAT = 0.07e-6;
const TREES_REACH = 1.5e-3;
const TREES_BYTE = 3e-6;
const BLOCKS_SAMPLE = 0.3e-6;
const BLOCKS_REACH = 1.6e-3;
const BLOCKS_BYTE = 1e-6;
/**
 * Of a level of a kept JPEG file that takes nearly no bits, by form of 1 to 3; of one that takes
 * some; of those that a byte of the payload can hold.
 */
const JPEG_FLAT = [0, 3.2e-9, 6e-9, 20e-9];
const JPEG_LEVEL = [0, 0.1e-6, 0.45e-6, 2.2e-6];
const JPEG_REACH = [0, 0.1e-3, 0.5e-3, 2e-3];
/** Of a byte that is coded as such; of those that a byte of the payload can hold; of any byte. */
const [JPEG_CODED_BYTE, JPEG_CODED_REACH, JPEG_FILE_BYTE] = [0.7e-6, 6e-3, 0.5e-6];
/** Of a level of the picture that a scan passes; how often scans can pass it. */
const [JPEG_SCANNED, JPEG_PASSES] = [1.3e-9, 8];
const LEVELS = 256;
const MOST_INSERTIONS = 2 * (16 ** 2 - 1);

/**
 * Returns all limits, given ones and defaults.
 * @param {Partial<Limits>} [given]
 * @returns {Limits}
 */
export function checkedLimits(given = {}) {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(DEFAULT_LIMITS, name)) {
      const names = Object.keys(DEFAULT_LIMITS).join(", ");
      throw new ParameterError(`limits.${name}: must be one of ${names}`);
    }
    if (name === "maxSeconds" && value > 0) continue;
    if (value !== Infinity && !(Number.isInteger(value) && value >= 1)) {
      throw new ParameterError(`limits.${name} = ${value}: must be a positive integer or Infinity`);
    }
  }
  return { ...DEFAULT_LIMITS, ...given };
}

/**
 * Throws if a value is above its limit.
 * @param {Limits} limits
 * @param {keyof Limits} name
 * @param {number} value
 * @param {string} unit
 * @param {string} what
 */
function check(limits, name, value, unit, what) {
  if (value <= limits[name]) return;
  const says = `${value} ${unit}, the limit is ${limits[name]}; limits.${name} raises it`;
  throw new LimitExceeded(CONTAINER, `${what}${says}`);
}

/**
 * Compares the area to decode with the limits, and returns the samples in its fragments.
 * @param {import("./format/container.js").Header} header
 * @param {import("./format/tiles.js").Area} area
 * @param {import("./format/tiles.js").Area} read the area whose tiles are decoded
 * @param {boolean} whole
 * @param {Limits} limits
 */
export function checkArea(header, area, read, whole, limits) {
  const name = whole ? "picture" : "region with the tiles that it touches";
  const what = `${name} is ${area.width}x${area.height}: `;
  const samples = paddedSamples(read, header) * header.planes;
  const longest = Math.max(area.width, area.height);
  check(limits, "maxDimension", longest, "pixels in a row or column", what);
  check(limits, "maxSamples", samples, "samples in whole 16x16 fragments", what);
  return samples;
}

/**
 * Compares the time that decoding tiles can take on one thread with the limit. No plane is taken as
 * flat, so blank pictures count as others.
 * @param {ReadTile[]} tiles
 * @param {number} planes samples of a pixel
 * @param {Limits} limits
 */
export function checkSeconds(tiles, planes, limits) {
  let seconds = 0;
  for (const { tile, stream } of tiles) {
    const own = stream.layout === TOGETHER ? planes : 1;
    seconds += TILE;
    if (stream.jpeg) seconds += jpegSeconds(stream.jpeg, tile, planes);
    if (stream.palette) seconds += paletteSeconds(stream.palette, tile, coloursOf(planes));
    for (const layer of stream.layers) seconds += layerSeconds(layer, tile, own);
  }
  if (seconds <= limits.maxSeconds) return;
  const says = `${Number(seconds.toPrecision(3))} s, the limit is ${limits.maxSeconds} s`;
  throw new LimitExceeded(CONTAINER, `decoding can take ${says}; limits.maxSeconds raises it`);
}

/**
 * Returns the seconds for a kept JPEG file, and for its samples.
 * @param {import("./format/jpeg.js").KeptJpeg} kept
 * @param {Tile} tile
 * @param {number} planes samples of a pixel
 */
const jpegSeconds = ({ form, bytes, payload }, tile, planes) => {
  const levels = mostLevelBytes(tile) / LEVEL_BYTES;
  const dense = Math.min(levels * JPEG_LEVEL[form], payload.length * JPEG_REACH[form]);
  const coded = Math.min((2 * bytes + 1024) * JPEG_CODED_BYTE, payload.length * JPEG_CODED_REACH);
  const passed = JPEG_PASSES * planes * tile.width * tile.height * JPEG_SCANNED;
  return levels * JPEG_FLAT[form] + passed + dense + coded + bytes * JPEG_FILE_BYTE;
};

/**
 * Returns the seconds for the weights of all strips of some planes.
 * @param {number} form
 * @param {Tile} tile
 * @param {number} planes
 */
function fitSeconds(form, { width, height }, planes) {
  let each = 0;
  for (let number = 0; number < planes; ++number) each += FITS[form][Math.min(number, 2)];
  return height * Math.ceil(width / FITTED_COLUMNS[form]) * each;
}

/**
 * Returns the seconds for the numbers of a palette, and for its colours, which are a row.
 * @param {import("./format/palette.js").Palette} palette
 * @param {Tile} tile
 * @param {number} colours samples of a colour
 */
function paletteSeconds({ tools: { lossless_form: form } }, tile, colours) {
  const rate = Math.max(LOSSLESS_SAMPLE[form], TWO_VALUES[form], REPEATING[form]) + FLAT;
  const tables = (1 + colours) * LOSSLESS_PLANE[form] + 2 * REPEATING_TABLES[form];
  return tile.width * tile.height * rate + fitSeconds(form, tile, 1) + tables;
}

/**
 * @param {TileStream["layers"][number]} layer
 * @param {Tile} tile
 * @param {number} planes
 */
function layerSeconds({ coding, tools, depth, payload }, tile, planes) {
  const size = payload.length, pixels = tile.width * tile.height, samples = pixels * planes;
  if (coding === LOSSLESS) {
    const form = tools.lossless_form, tables = planes * LOSSLESS_PLANE[form];
    const rates = LOSSLESS_SAMPLE[form] + (planes - 1) * LOSSLESS_LATER[form];
    const fits = fitSeconds(form, tile, planes);
    const apart = pixels * rates + fits + tables + size * LOSSLESS_BYTE;
    if (tools.max_error) return apart;
    const reach = Math.min(samples * REPEATING[form], size * REPEATING_REACH);
    const whole = pixels * REPEATING_FLAT + reach + tables + REPEATING_TABLES[form];
    const several = Math.max(apart, whole);
    if (planes > 1) return several;
    // A plane that is alone may have two values or more.
    const mixed = Math.min(pixels * TWO_VALUES[form], size * TWO_VALUES_REACH);
    const two = pixels * TWO_VALUES_FLAT + mixed + size * TWO_VALUES_BYTE;
    return depth === 1 ? two : Math.max(two, several);
  }
  if (coding === TREES) {
    const small = Math.min(samples * (TREES_SAMPLE - TREES_FLAT), size * TREES_REACH);
    return samples * TREES_FLAT + small + size * TREES_BYTE;
  }
  const slow = samples * (BLOCKS_SAMPLE + (tools.dictionary ? TREES_SAMPLE : 0));
  return samples * FLAT + Math.min(slow, size * BLOCKS_REACH) + size * BLOCKS_BYTE;
}

/**
 * Compares the memory that decoding tiles can take with the limit, and returns how many tiles can
 * be decoded at the same time within it.
 * @param {ReadTile[]} tiles
 * @param {number} depth bits of a coded level
 * @param {number} planes samples of a pixel
 * @param {number} samples of all tiles
 * @param {number} atOnce most tiles that can be decoded at the same time
 * @param {Limits} limits
 * @param {ReadTile[]} [earlier] pages of the chain that the only tile continues
 */
export function checkMemory(tiles, depth, planes, samples, atOnce, limits, earlier = []) {
  let kept = SAMPLE_BYTES * samples;
  if (earlier.length) kept += chainBytes(tiles[0], earlier, limits);
  const needs = tiles.map(({ tile, stream }) => {
    const own = stream.layout === TOGETHER ? planes : 1;
    const each = stream.layers.map((layer) => layerBytes(layer, tile, own));
    if (stream.jpeg) each.push(jpegBytes(stream.jpeg, tile));
    if (stream.palette) {
      kept += NUMBER_BYTES * tile.width * tile.height;
      each.push(paletteBytes(stream.palette, tile, depth, planes));
    }
    return Math.max(...each);
  });
  needs.sort((one, other) => other - one);
  const needed = (/** @type {number} */ count) =>
    needs.slice(0, count).reduce((sum, need) => sum + need, kept);
  let count = Math.max(1, Math.min(atOnce, needs.length));
  while (count > 1 && needed(count) > limits.maxMemory) --count;
  check(limits, "maxMemory", needed(count), "bytes of memory", "decoding can take ");
  return count;
}

/**
 * Returns the bytes that decoding the pages of a chain takes besides those of the last one alone.
 * Rows of all pages are kept, each as wide as the widest one.
 * @param {ReadTile} last
 * @param {ReadTile[]} earlier
 * @param {Limits} limits
 */
function chainBytes(last, earlier, { maxSamples }) {
  const tiles = [...earlier, last].map(({ tile }) => tile);
  const width = Math.max(...tiles.map((tile) => tile.width));
  const rows = tiles.reduce((sum, { height }) => sum + height, 0);
  if (width * rows > MOST_CHAIN * maxSamples) {
    const says = `rows of a chain have ${width * rows} pixels, the limit is ${MOST_CHAIN} times`;
    throw new LimitExceeded("Container", `${says} ${maxSamples}; limits.maxSamples raises it`);
  }
  const most = Math.max(...earlier.map(({ tile }) => tile.width * tile.height));
  return CHAIN_BYTES * (width + CHAIN_BESIDE) * rows + (SAMPLE_BYTES + LOSSLESS_SAMPLE_BYTES) * most;
}

/**
 * Returns the bytes for levels, stripes and bytes of a kept JPEG file.
 * @param {import("./format/jpeg.js").KeptJpeg} kept
 * @param {Tile} tile
 */
const jpegBytes = ({ form, bytes }, tile) =>
  mostLevelBytes(tile) + JPEG_FILE_BYTES * bytes + JPEG_BYTES[form] + JPEG_INSTANCE_BYTES;

/**
 * Returns the bytes for models, tables, sums and dictionaries of a layer of some planes.
 * @param {TileStream["layers"][number]} layer
 * @param {Tile} tile
 * @param {number} planes
 */
function layerBytes({ coding, tools, depth }, tile, planes) {
  if (coding === LOSSLESS) {
    return taken(losslessBytes(tools, tile, planes, depth), tile, planes);
  }
  if (coding !== TREES && !tools.dictionary) return LAYER_BYTES;
  const inserted = LEVELS + MOST_INSERTIONS * fragmentsIn(tile);
  return LAYER_BYTES + ELEMENT_BYTES * Math.min(tools.dictionary_limit, inserted);
}

/**
 * Returns the bytes for the stream of the colours or of the numbers, whichever needs more.
 * @param {import("./format/palette.js").Palette} palette
 * @param {Tile} tile
 * @param {number} depth bits of a coded level
 * @param {number} planes samples of a pixel
 */
function paletteBytes({ tools, entries, transparent }, tile, depth, planes) {
  const bits = Math.max(1, 32 - Math.clz32(entries - 1 + Number(transparent)));
  const row = { width: entries, height: 1 };
  const ofColours = losslessBytes(tools, row, coloursOf(planes), depth);
  const ofNumbers = losslessBytes(tools, tile, 1, bits);
  return taken(Math.max(ofColours, ofNumbers), tile, 1);
}

/** @typedef {{ width: number, height: number }} Size */

/**
 * Returns the bytes for planes of lossless samples, of whichever kind needs the most.
 * @param {import("./format/tools.js").ToolValues} tools
 * @param {Size} size
 * @param {number} planes
 * @param {number} depth
 */
function losslessBytes(tools, size, planes, depth) {
  const other = Math.max(repeatingBytes(tools, size), twoValuesBytes(tools, size));
  return Math.max(severalValuesBytes(tools, size.width, planes, depth), other);
}

/**
 * Returns the bytes for models, tables and sums of planes of several values.
 * @param {import("./format/tools.js").ToolValues} tools
 * @param {number} width
 * @param {number} planes
 * @param {number} depth
 */
function severalValuesBytes({ lossless_form: form, max_error: maxError }, width, planes, depth) {
  const [fixed, group] = LOSSLESS_BYTES[form];
  const columns = width * LOSSLESS_COLUMN_BYTES[form];
  const largest = Math.floor((2 ** depth - 1 + maxError) / (2 * maxError + 1));
  const groups = (32 - Math.clz32(largest) + 4) >> 1;
  return planes * (fixed + group * groups + columns);
}

/**
 * Returns the bytes for pixels that repeat; models and tables of planes come after them.
 * @param {import("./format/tools.js").ToolValues} tools
 * @param {Size} size
 */
function repeatingBytes({ lossless_form: form, max_error: maxError }, { width, height }) {
  if (maxError) return 0;
  const columns = width * REPEATING_COLUMN_BYTES;
  return REPEATING_BYTES[form] + columns + (width + REPEATING_BESIDE) * height * REPEATING_PIXEL_BYTES;
}

/**
 * Returns the bytes for models and places of a plane of two values.
 * @param {import("./format/tools.js").ToolValues} tools
 * @param {Size} size
 */
function twoValuesBytes({ lossless_form: form }, { width, height }) {
  const digits = Math.floor(Math.log2(width * height)) + 1;
  const lines = 2 ** Math.min(Math.max(digits - 5, 6), 17);
  return TWO_VALUES_BYTES + lines * TWO_VALUES_LINE_BYTES[form] + width * TWO_VALUES_COLUMN_BYTES;
}

/**
 * Returns what an instance takes at most to decode lossless samples that need `bytes`.
 * @param {number} bytes
 * @param {Tile} tile
 * @param {number} planes
 */
const taken = (bytes, { width, height }, planes) =>
  INSTANCE_BYTES + 2 * bytes + LOSSLESS_SAMPLE_BYTES * width * height * planes;
