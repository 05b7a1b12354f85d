// Decoding of a tile: palette and layers, then the samples of all planes.
import { bytesOf, fromFineLuma, fromLuma, interleave, narrow, newSamples } from "./colour.js";
import { CorruptStream, FormatError, TruncatedStream } from "./errors.js";
import { FINE_LUMA, LAYERS, LUMA, TOGETHER, coloursOf, readTile } from "./format/layers.js";
import { Fields, crc32, crcText } from "./format/numbers.js";
import { COLOUR_TOOLS, checkNumbers, drawPalette } from "./format/palette.js";
import { BLOCK_TOOLS, LOSSLESS, LOSSLESS_FORMS, TREES, TREE_TOOLS, inOrder } from "./format/tools.js";
import { Instance } from "./wasm.js";

/** @typedef {import("./colour.js").Plane} Plane */
/** @typedef {import("./format/layers.js").Layer} Layer */
/** @typedef {import("./format/container.js").Context} Context */
/**
 * @typedef {object} TileTask
 * @property {Context} context
 * @property {{ width: number, height: number }} tile
 * @property {Uint8Array} data the bytes of the tile
 * @property {number} offset of the tile in the file
 * @property {number} maxMemory bytes
 */
/**
 * @typedef {object} DecodedTile
 * @property {Plane} samples the samples of a pixel together
 * @property {import("./border.js").Fixed} fixed
 */

const BANK_ACTIVITIES = 7;
const WHOLE_PLANE = 1 << 30;
/** 0 to 3 quarters of a doubling, in 1/16384. */
const FACTORS = [16384, 19484, 23170, 27554];
const MOST_STEP = 65535;
const LOSSLESS_SECTION = "Lossless samples";
/** Largest size of nine bytes. */
const MOST_SIZE = (1n << 63n) - 1n;
/** Most bytes of an instance that is kept. */
const MOST_KEPT = 2 ** 28;

/** Decodes tiles, one at a time, with one instance of the module as long as there is no error. */
export class TileDecoder {
  /** @param {WebAssembly.Module} module */
  constructor(module) {
    this.module = module;
    /** @type {Instance | null} */
    this.instance = null;
  }

  /**
   * Returns a tile.
   * @param {TileTask} task
   * @returns {DecodedTile}
   */
  decode(task) {
    if (this.instance && this.instance.maxMemory > task.maxMemory) this.instance = null;
    const instance = this.instance ?? new Instance(this.module, task.maxMemory);
    this.instance = null; // an error leaves it so
    const tile = decodeTile(instance, task);
    instance.release();
    if (instance.size <= MOST_KEPT) this.instance = instance;
    return tile;
  }
}

/**
 * Calls `work`; errors of a file name its part.
 * @template T
 * @param {string} part
 * @param {() => T} work
 */
function within(part, work) {
  try {
    return work();
  } catch (error) {
    throw part && error instanceof FormatError ? error.within(part) : error;
  }
}

/**
 * @param {Instance} instance
 * @param {TileTask} task
 */
function decodeTile(instance, { context, tile, data, offset }) {
  const { planes, depth } = context;
  const stream = readTile(data, offset, context);
  const count = tile.width * tile.height;
  const { palette } = stream;
  /** @type {Uint16Array[]} */
  let colours = [];
  let numbers = new Uint16Array(0);
  if (palette) {
    const own = { width: palette.entries, height: 1 };
    colours = within("colours of the palette", () =>
      lossless(instance, palette.colours, coloursOf(planes), own, depth, COLOUR_TOOLS),
    );
    colours = shownOrder(colours);
    [numbers] = within("numbers of the palette", () =>
      lossless(instance, palette.numbers, 1, tile, palette.depth, palette.tools),
    );
    checkNumbers(palette, numbers);
  }
  /** @type {Plane[]} */
  const decoded = [];
  for (const layer of stream.layers) {
    within(planes > 1 ? layer.name : "", () => {
      const together = stream.layout === TOGETHER ? planes : 1;
      decoded.push(...decodeLayer(instance, layer, together, tile, decoded));
    });
    instance.release();
  }
  const samples = joined(decoded, stream, context, count);
  if (palette) drawPalette(samples, planes, palette, colours, numbers);
  const size = context.crcBytes[1];
  const computed = crcText(crc32(bytesOf(samples)), size);
  const stored = crcText(stream.samplesCrc, size);
  if (computed !== stored) {
    const says = `samples CRC is ${stored}, the samples have ${computed}`;
    throw new CorruptStream(LAYERS, says, offset + context.crcBytes[0]);
  }
  return { samples, fixed: fixedPixels(stream, numbers) };
}

/**
 * Returns the pixels whose error has a bound: the border filter leaves them.
 * @param {import("./format/layers.js").TileStream} stream
 * @param {Uint16Array} numbers of its palette
 * @returns {import("./border.js").Fixed}
 */
function fixedPixels({ layers, palette }, numbers) {
  if (layers.every(({ coding, name }) => coding === LOSSLESS || name === "alpha")) return true;
  return palette ? Uint8Array.from(numbers, (own) => Number(own < palette.entries)) : false;
}

/**
 * Returns the samples of all planes, from the planes of the layers.
 * @param {Plane[]} decoded
 * @param {import("./format/layers.js").TileStream} stream
 * @param {Context} context
 * @param {number} count pixels
 */
function joined(decoded, { layout, rotation, layers, palette }, { planes, depth }, count) {
  const samples = newSamples(depth, count * planes);
  const colours = coloursOf(planes);
  if (palette && !palette.transparent) {
    if (decoded.length) interleave(samples, decoded[0], planes, colours);
  } else if (layout === LUMA) {
    fromLuma(samples, planes, decoded, layers[0].depth);
  } else if (layout === FINE_LUMA) {
    fromFineLuma(samples, planes, decoded, layers[0].depth, rotation);
  }
  if (!palette || palette.transparent) {
    const first = layout >= LUMA ? colours : 0;
    for (let at = first; at < planes; ++at) interleave(samples, decoded[at], planes, at);
  }
  const together = layout === TOGETHER && layers.some((layer) => layer.coding === LOSSLESS);
  if (!together) narrow(samples, depth);
  return samples;
}

/**
 * Returns planes in the order of the samples: lossless samples code green before red.
 * @template T
 * @param {T[]} planes
 */
const shownOrder = (planes) =>
  planes.length >= 3 ? [planes[1], planes[0], ...planes.slice(2)] : planes;

/**
 * @param {Instance} instance
 * @param {Layer} layer
 * @param {number} planes that it codes
 * @param {{ width: number, height: number }} tile
 * @param {Plane[]} before the planes of the layers before it
 * @returns {Plane[]}
 */
function decodeLayer(instance, layer, planes, tile, before) {
  const { coding, tools, depth, payload } = layer;
  if (coding === LOSSLESS) {
    const found = lossless(instance, payload, planes, tile, depth, tools);
    /** @type {Plane[]} */
    const own = depth <= 8 ? found.map((plane) => Uint8Array.from(plane)) : found;
    return shownOrder(own);
  }
  const { width, height } = tile;
  const sampleBytes = depth > 8 ? 2 : 1;
  const bytes = width * height * sampleBytes;
  const coded = instance.put(payload);
  let out = instance.take(bytes);
  const trees = tools.partition === undefined ? 0 : instance.put(int32(inOrder(tools, TREE_TOOLS)));
  const earlier = before.slice(0, tools.cross_component ?? 0).map((plane) => instance.put(plane));
  let changes = 0;
  if (coding === TREES) {
    instance.call("mmp_trees", coded, payload.length, height, width, trees, out);
  } else {
    const own = instance.put(int32(inOrder(tools, BLOCK_TOOLS)));
    const side = tools.fragment_size;
    changes = instance.take(Math.ceil(height / side) * Math.ceil(width / side));
    const planesBefore = instance.put(Uint32Array.from(earlier));
    instance.call(
      "mmp_blocks",
      ...[coded, payload.length, height, width, depth, own, trees, planesBefore, out, changes],
    );
  }
  const next = () => {
    const from = out;
    out = instance.take(bytes);
    return [from, height, width, depth];
  };
  if (tools.fixed_filters) bank(instance, tools, tile, changes, next(), out);
  if (layer.coefficients.some((own) => own.length)) {
    const table = layer.coefficients.flatMap((own) => (own.length ? own : new Array(6).fill(0)));
    const weights = instance.put(Int16Array.from(table));
    instance.call("mmp_post_filter", ...next(), weights, out);
  }
  const read = layer.planesCoefficients.flatMap((own, number) => (own.length ? [number] : []));
  if (read.length) {
    const weights = read.flatMap((number) => layer.planesCoefficients[number]);
    const pointers = instance.put(Uint32Array.from(read, (number) => earlier[number]));
    const table = instance.put(Int16Array.from(weights));
    instance.call("mmp_cross_component_filter", ...next(), pointers, read.length, table, out);
  }
  return [instance.samples(out, width * height, depth > 8)];
}

/** @param {number[]} numbers */
const int32 = (numbers) => Int32Array.from(numbers);

/**
 * Checks the sizes of streams, of which the module holds the lowest 32 bits only.
 * @param {Uint8Array} payload of lossless samples
 * @param {number} planes
 */
function checkStreamSizes(payload, planes) {
  const fields = new Fields(payload, LOSSLESS_SECTION);
  /** @type {number[]} */
  let sizes;
  try {
    sizes = Array.from({ length: planes - 1 }, () => fields.number("size", 0, MOST_SIZE));
  } catch {
    return; // the module says what is wrong
  }
  let { left } = fields;
  sizes.forEach((size, number) => {
    if (size > left) {
      const says = `stream ${number} has ${size} bytes, the payload has ${left} left`;
      throw new TruncatedStream(LOSSLESS_SECTION, says);
    }
    left -= size;
  });
}

/**
 * Decodes lossless samples, and returns the planes in the order of the coding.
 * @param {Instance} instance
 * @param {Uint8Array} payload
 * @param {number} planes
 * @param {{ width: number, height: number }} size
 * @param {number} depth
 * @param {import("./format/tools.js").ToolValues} tools
 */
function lossless(instance, payload, planes, { width, height }, depth, tools) {
  checkStreamSizes(payload, planes);
  const count = width * height;
  const own = instance.put(int32([...LOSSLESS_FORMS[tools.lossless_form], tools.max_error]));
  const coded = instance.put(payload);
  const out = instance.take(2 * count * planes);
  new Uint8Array(instance.memory.buffer, out, 2 * count * planes).fill(0);
  instance.call("mmp_lossless", coded, payload.length, planes, height, width, depth, own, out);
  const all = /** @type {Uint16Array} */ (instance.samples(out, count * planes, true));
  return Array.from({ length: planes }, (_, at) => all.subarray(at * count, (at + 1) * count));
}

/**
 * Filters a plane by the fixed filters.
 * @param {Instance} instance
 * @param {import("./format/tools.js").ToolValues} tools
 * @param {{ width: number, height: number }} tile
 * @param {number} changes pointer to the delta step
 * @param {number[]} plane samples, height, width, depth
 * @param {number} out
 */
function bank(instance, tools, { width, height }, changes, plane, out) {
  const scales = Array.from({ length: BANK_ACTIVITIES }, (_, at) => (tools.fixed_filters >> (2 * at)) & 3);
  let size = WHOLE_PLANE;
  let numbers = Uint8Array.of(0);
  let steps = [tools.step];
  if (tools.delta_step) {
    size = tools.fragment_size;
    const count = Math.ceil(height / size) * Math.ceil(width / size);
    const own = new Int8Array(instance.memory.buffer, changes, count).slice();
    const distinct = [...new Set(own)];
    numbers = Uint8Array.from(own, (change) => distinct.indexOf(change));
    steps = distinct.map((change) => stepAt(tools.step, change));
  }
  const pointers = [instance.put(numbers), instance.put(int32(steps))];
  const wanted = instance.put(int32(scales));
  instance.call("mmp_fixed_filters", ...plane, size, ...pointers, steps.length, wanted, out);
}

/**
 * Returns the step of a fragment from that of its layer. Source: section "Delta step" of
 * docs/format/format.md.
 * @param {number} step
 * @param {number} change
 */
export function stepAt(step, change) {
  const doublings = Math.floor(change / 4);
  const scaled = step * FACTORS[change - 4 * doublings] * 2 ** (doublings - 14);
  return Math.min(Math.max(Math.floor(scaled + 0.5), 1), MOST_STEP);
}
