// What a decoder accepts, checked before samples are decoded, and an upper estimate of memory.
// The numbers are those of mmpcodec/codec/memory.py, but those of exact samples 2: in WebAssembly all
// memory that is taken counts, elsewhere only what is written to.
import { CONTAINER } from "./format/container.js";
import { LimitExceeded, ParameterError } from "./errors.js";
import { TOGETHER } from "./format/layers.js";
import { fragmentsIn, paddedSamples } from "./format/tiles.js";
import { EXACT, EXACT_2, TREES } from "./format/tools.js";

/** @typedef {{ maxSamples: number, maxDimension: number, maxMemory: number,
 *              maxSamplesPerByte: number }} Limits */
/** @typedef {import("./format/tiles.js").Tile} Tile */
/** @typedef {import("./format/layers.js").TileStream} TileStream */

/** @type {Limits} */
export const DEFAULT_LIMITS = {
  maxSamples: 2 ** 26,
  maxDimension: 2 ** 24,
  maxMemory: 2 ** 31,
  maxSamplesPerByte: Infinity,
};
const SAMPLE_BYTES = 16;
const NUMBER_BYTES = 2;
const ELEMENT_BYTES = 1600;
const LAYER_BYTES = 8 * 2 ** 20;
const EXACT_2_BYTES = 96 * 2 ** 20;
const EXACT_2_COLUMN_BYTES = 1536;
const EXACT_COLUMN_BYTES = 2560;
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
 * @param {boolean} whole
 * @param {Limits} limits
 */
export function checkArea(header, area, whole, limits) {
  const name = whole ? "picture" : "region with the tiles that it touches";
  const what = `${name} is ${area.width}x${area.height}: `;
  const samples = paddedSamples(area, header) * header.planes;
  const longest = Math.max(area.width, area.height);
  check(limits, "maxDimension", longest, "pixels in a row or column", what);
  check(limits, "maxSamples", samples, "samples in whole 16x16 fragments", what);
  return samples;
}

/**
 * Compares the samples of tiles with their bytes.
 * @param {number} samples
 * @param {number} bytes
 * @param {Limits} limits
 */
export function checkWork(samples, bytes, limits) {
  const what = `${samples} samples in tiles of ${bytes} bytes: `;
  check(limits, "maxSamplesPerByte", Math.ceil(samples / bytes), "samples for each byte", what);
}

/**
 * Compares the memory that decoding tiles can take with the limit, and returns how many tiles can be
 * decoded at the same time within it.
 * @param {{ tile: Tile, stream: TileStream }[]} tiles
 * @param {number} planes samples of a pixel
 * @param {number} samples of all tiles
 * @param {number} atOnce most tiles that can be decoded at the same time
 * @param {Limits} limits
 */
export function checkMemory(tiles, planes, samples, atOnce, limits) {
  let kept = SAMPLE_BYTES * samples;
  const needs = tiles.map(({ tile, stream }) => {
    const own = stream.layout === TOGETHER ? planes : 1;
    const each = stream.layers.map((layer) => layerBytes(layer.coding, layer.tools, tile, own));
    if (stream.palette) {
      kept += NUMBER_BYTES * tile.width * tile.height;
      each.push(layerBytes(EXACT_2, stream.palette.tools, tile, own));
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
 * Returns the bytes for models, tables, sums and dictionaries of a layer of some planes.
 * @param {number} coding
 * @param {import("./format/tools.js").ToolValues} tools
 * @param {Tile} tile
 * @param {number} planes
 */
function layerBytes(coding, tools, tile, planes) {
  if (coding === EXACT_2) return planes * (EXACT_2_BYTES + EXACT_2_COLUMN_BYTES * tile.width);
  if (coding === EXACT) return LAYER_BYTES + EXACT_COLUMN_BYTES * tile.width;
  if (coding !== TREES && !tools.dictionary) return LAYER_BYTES;
  const inserted = LEVELS + MOST_INSERTIONS * fragmentsIn(tile);
  return LAYER_BYTES + ELEMENT_BYTES * Math.min(tools.dictionary_limit, inserted);
}
