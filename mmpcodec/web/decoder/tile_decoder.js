// Decoding of a tile by one call of the module.
import { CorruptStream, FormatError } from "./errors.js";
import { mostLevelBytes } from "./format/jpeg.js";
import { LAYERS, coloursOf, readTile } from "./format/layers.js";
import { crc32, crcText } from "./format/numbers.js";
import { PALETTE_SECTION } from "./format/palette.js";
import {
  BLOCKS,
  BLOCK_TOOLS,
  LOSSLESS,
  TREE_TOOLS,
  inOrder,
} from "./format/tools.js";
import { samplesOfJpeg } from "./jpeg_samples.js";
import { Instance } from "./wasm.js";

/** @typedef {import("./format/container.js").Context} Context */
/** @typedef {import("./format/layers.js").TileStream} TileStream */
/** @typedef {import("./format/tools.js").ToolValues} ToolValues */
/**
 * @typedef {object} TileTask
 * @property {Context} context
 * @property {{ width: number, height: number }} tile
 * @property {Uint8Array} data the bytes of the tile, then those of earlier planes
 * @property {number} size bytes of the tile
 * @property {import("./chain.js").EarlierPlane[]} earlier planes that its only one continues
 * @property {number} offset of the tile in the file
 * @property {number} maxMemory bytes
 * @property {"samples" | "file" | "front"} [wanted] "samples" if absent; the others are bytes of a
 *   kept JPEG file, all of them or those up to its samples, in place of the samples
 */
/**
 * @typedef {object} DecodedTile
 * @property {import("./samples.js").Samples} samples
 * @property {import("./border.js").Fixed} fixed
 */

/** Most bytes of an instance that is kept. */
const MOST_KEPT = 2 ** 28;
/** Parts of a tile as kernels/cpu/tiles/tile.h numbers them; the layers follow. */
const [COLOURS, NUMBERS, DRAWING, FIRST_LAYER] = [0, 1, 2, 3];

/** Decodes tiles, one at a time, with one instance of the module as long as there is no error. */
export class TileDecoder {
  /** @param {WebAssembly.Module} module */
  constructor(module) {
    this.module = module;
    /** @type {Instance | null} */
    this.instance = null;
  }

  /**
   * Returns a tile, or bytes of a kept JPEG file in place of its samples.
   * @param {TileTask} task
   * @returns {Promise<DecodedTile>}
   */
  async decode(task) {
    const { data, size, context, offset, tile, wanted = "samples" } = task;
    const stream = readTile(data.subarray(0, size), offset, context);
    const found = this.#withInstance(task.maxMemory, (instance) =>
      stream.jpeg ? decodeJpeg(instance, task, stream) : decodeTile(instance, task, stream),
    );
    if (!stream.jpeg || wanted !== "samples") return found;
    const file = /** @type {Uint8Array} */ (found.samples);
    return { samples: await samplesOfJpeg(file, tile, context.planes), fixed: true };
  }

  /**
   * @param {number} maxMemory
   * @param {(instance: Instance) => DecodedTile} work
   */
  #withInstance(maxMemory, work) {
    if (this.instance && this.instance.maxMemory > maxMemory) this.instance = null;
    const instance = this.instance ?? new Instance(this.module, maxMemory);
    this.instance = null; // an error leaves it so
    const found = work(instance);
    instance.release();
    if (instance.size <= MOST_KEPT) this.instance = instance;
    return found;
  }
}

/**
 * Rebuilds a kept JPEG file, or its beginning.
 * @param {Instance} instance
 * @param {TileTask} task
 * @param {TileStream} stream
 * @returns {DecodedTile}
 */
function decodeJpeg(instance, { context, tile, offset, wanted }, { jpeg, samplesCrc }) {
  const kept = /** @type {import("./format/jpeg.js").KeptJpeg} */ (jpeg);
  const onlyFront = wanted === "front";
  const samples = instance.jpeg(kept, mostLevelBytes(tile), onlyFront);
  if (!onlyFront) {
    const { crcBytes } = context;
    const [stored, computed] = [samplesCrc, crc32(samples)].map((crc) => crcText(crc, crcBytes[1]));
    if (computed !== stored) {
      const says = `samples CRC is ${stored}, the JPEG file has ${computed}`;
      throw new CorruptStream(LAYERS, says, offset + crcBytes[0]);
    }
  }
  return { samples, fixed: true };
}

/**
 * @param {Instance} instance
 * @param {TileTask} task
 * @param {TileStream} stream
 * @returns {DecodedTile}
 */
function decodeTile(instance, { context, tile, data, earlier, offset }, stream) {
  const { planes, depth, crcBytes } = context;
  const pixels = tile.width * tile.height;
  const isWide = depth > 8;
  const samples = instance.take(pixels * planes * (isWide ? 2 : 1));
  const drawn = stream.palette ? instance.take(pixels) : 0;
  const bytes = instance.put(data);
  const ofTile = [...numbersOf(stream, context, tile, data), ...numbersOfEarlier(earlier)];
  const numbers = instance.put(Int32Array.from(ofTile));
  let crc;
  try {
    crc = instance.call("mmp_tile", bytes, numbers, samples, drawn);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    const { part } = instance;
    throw part < 0 ? error.within(earlier[-part - 1].damage) : placed(error, part, stream, planes);
  }
  const computed = crcText(crc >>> 0, crcBytes[1]);
  const stored = crcText(stream.samplesCrc, crcBytes[1]);
  if (computed !== stored) {
    const says = `samples CRC is ${stored}, the samples have ${computed}`;
    throw new CorruptStream(LAYERS, says, offset + crcBytes[0]);
  }
  const ofPalette = () => /** @type {Uint8Array} */ (instance.samples(drawn, pixels, false));
  const fixed = hasBounds(stream) || (drawn > 0 && ofPalette());
  return { samples: instance.samples(samples, pixels * planes, isWide), fixed };
}

/**
 * Returns whether the error of every pixel has a bound: the border filter leaves these.
 * @param {TileStream} stream
 */
const hasBounds = ({ layers }) =>
  layers.every(({ coding, name }) => coding === LOSSLESS || name === "alpha");

/**
 * Returns an error of the module with the name or the offset of the part of the tile.
 * @param {FormatError} error
 * @param {number} part
 * @param {TileStream} stream
 * @param {number} planes samples of a pixel
 */
function placed(error, part, { palette, layers }, planes) {
  if (part === COLOURS) return error.within("colours of the palette");
  if (part === NUMBERS) return error.within("numbers of the palette");
  if (part === DRAWING && palette) {
    return new CorruptStream(PALETTE_SECTION, error.problem, palette.offset);
  }
  return planes > 1 ? error.within(layers[part - FIRST_LAYER].name) : error;
}

/**
 * Yields what the module reads of a tile, in the order of kernels/web/tile.cpp.
 * @param {TileStream} stream
 * @param {Context} context
 * @param {{ width: number, height: number }} tile
 * @param {Uint8Array} data the bytes of the tile
 */
function* numbersOf({ layout, rotation, palette, layers }, { planes, depth }, tile, data) {
  const span = (/** @type {Uint8Array} */ part) => [part.byteOffset - data.byteOffset, part.length];
  const colours = coloursOf(planes);
  yield* [colours, planes - colours, depth, tile.height, tile.width, layout];
  yield* rotation.length ? rotation : [0, 0, 0];
  yield Number(palette !== null);
  if (palette) {
    yield* [...losslessTools(palette.tools), ...span(palette.colours), ...span(palette.numbers)];
    yield* [palette.entries, Number(palette.transparent)];
  }
  yield layers.length;
  for (const { coding, tools, payload, coefficients, planesCoefficients } of layers) {
    yield coding;
    if (coding === LOSSLESS) yield* losslessTools(tools);
    if (coding === BLOCKS) yield* inOrder(tools, BLOCK_TOOLS);
    if (tools.partition !== undefined) yield* inOrder(tools, TREE_TOOLS);
    yield* span(payload);
    const isFiltered = coefficients.some((own) => own.length);
    yield Number(isFiltered);
    if (isFiltered) yield* coefficients.flatMap((own) => (own.length ? own : new Array(6).fill(0)));
    const read = planesCoefficients.flatMap((own, plane) => (own.length ? [[plane, ...own]] : []));
    yield* [read.length, ...read.flat()];
  }
}

/**
 * Yields what the module reads of the planes that a tile continues, in the order of
 * kernels/web/tile.cpp.
 * @param {TileTask["earlier"]} earlier
 */
function* numbersOfEarlier(earlier) {
  yield earlier.length;
  for (const { width, height, depth, tools, start, end } of earlier) {
    yield* [height, width, depth, ...losslessTools(tools), start, end - start];
  }
}

/** @param {ToolValues} tools */
const losslessTools = (tools) => [tools.lossless_form, tools.max_error];
