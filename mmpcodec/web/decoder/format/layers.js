// The bytes of a tile: checksums, layout, palette, and layers with their tools and payloads.
// Source: section "Layers" of docs/format/format.md.
import { CorruptStream, TruncatedStream } from "../errors.js";
import { readJpeg } from "./jpeg.js";
import { Fields, crc32, crcText } from "./numbers.js";
import { faultOfLayout, readPalette } from "./palette.js";
import { BLOCKS, CODING_NAMES, LOSSLESS, FIXED_FILTERS, TREES, readTool, readTools } from "./tools.js";

/** @typedef {import("./container.js").Context} Context */
/** @typedef {import("./tools.js").ToolValues} ToolValues */
/**
 * @typedef {object} Layer
 * @property {string} name the planes in words
 * @property {number} coding
 * @property {ToolValues} tools
 * @property {number} depth bits of a sample
 * @property {number[][]} coefficients of the post filter by activity class; empty where it is off
 * @property {number[][]} planesCoefficients of the cross-component filter by earlier plane
 * @property {Uint8Array} payload
 * @property {number} offset of the payload in the file
 */
/**
 * @typedef {object} TileStream
 * @property {number} layout
 * @property {number[]} rotation
 * @property {import("./palette.js").Palette | null} palette
 * @property {Layer[]} layers
 * @property {import("./jpeg.js").KeptJpeg | null} jpeg the file that is kept, without layers
 * @property {number} samplesCrc
 */

export const LAYERS = "Layers";
export const [TOGETHER, APART, LUMA, FINE_LUMA] = [0, 1, 2, 3];
const TITLES = ["gray", "gray with alpha", "RGB", "RGB with alpha"];
const IN_SET = 8;
const [HAS_BANK, HAS_FILTER] = [1, 2];
const CLASSES = 4;
const PLANES = 2;
const [POST_TAPS, PLANE_TAPS] = [6, 12];
const LEAST = -64;
const MOST_BYTE = 127;

/** @param {number} planes samples of a pixel */
export const coloursOf = (planes) => (planes >= 3 ? 3 : 1);

/**
 * @param {number} layout
 * @param {number} planes
 */
function layerNames(layout, planes) {
  if (layout === TOGETHER) return [TITLES[planes - 1]];
  let names = ["gray"];
  if (planes >= 3) {
    names = layout === APART ? ["red", "green", "blue"] : ["luma", "Co", "Cg"];
  }
  return planes > coloursOf(planes) ? [...names, "alpha"] : names;
}

/**
 * Returns the bits of a sample of a plane's own layer.
 * @param {number} layout
 * @param {string} name
 * @param {number} depth of the picture
 */
export function depthInLayer(layout, name, depth) {
  return Math.max(depth, 8) + (layout === FINE_LUMA && name !== "alpha" ? 2 : 0);
}

/**
 * Reads a tile and makes every check that needs no decoding.
 * @param {Uint8Array} data the bytes of the tile
 * @param {number} start byte offset of the tile in the file
 * @param {Context} context
 * @returns {TileStream}
 */
export function readTile(data, start, context) {
  const { planes, depth } = context;
  const [streamBytes, samplesBytes] = context.crcBytes;
  const fields = new Fields(data, LAYERS, start);
  const stored = crcText(fields.fixed("stream CRC", streamBytes), streamBytes);
  const computed = crcText(crc32(data.subarray(fields.place)), streamBytes);
  if (stored !== computed) {
    throw new CorruptStream(LAYERS, `stream CRC is ${stored}, tile has ${computed}`, start);
  }
  const samplesCrc = fields.fixed("samples CRC", samplesBytes);
  const at = fields.offset;
  const layout = planes === 1 ? TOGETHER : readLayout(fields, context);
  const rotation = layout === FINE_LUMA ? [...fields.bytes("rotation", 3)].map((byte) => byte - 128) : [];
  const jpeg = readJpeg(fields, context, layout);
  if (jpeg) return { layout, rotation, palette: null, layers: [], jpeg, samplesCrc };
  const first = fields.place;
  const palette = readPalette(fields, planes);
  if (palette) {
    const fault = faultOfLayout(palette, layout, planes, depth);
    if (fault) throw new CorruptStream("Palette", fault, at);
  }
  let names = layerNames(layout, planes);
  if (palette && !palette.transparent) names = names.slice(coloursOf(planes));
  const layers = names.map((name, place) => {
    const last = place === names.length - 1;
    return readLayer(fields, name, layout, context, last, fields.place === first);
  });
  if (fields.left) {
    throw new CorruptStream(LAYERS, `${fields.left} bytes follow the last layer`, fields.offset);
  }
  layers.forEach((layer, place) => {
    const fault =
      faultOfLayer(layer, layout, planes) ||
      faultOfPlanes(layer.tools, place < coloursOf(planes) ? place : 0);
    if (fault) throw new CorruptStream(LAYERS, `${layer.name}: ${fault}`, layer.offset);
  });
  return { layout, rotation, palette, layers, jpeg: null, samplesCrc };
}

/**
 * @param {Fields} fields
 * @param {Context} context
 */
function readLayout(fields, { planes, depth }) {
  const at = fields.offset;
  const layout = fields.number("layout", 0, FINE_LUMA);
  let fault = "";
  if (layout > APART && planes < 3) fault = `allowed for ${TITLES[planes - 1]} is 0 or 1`;
  else if (depthInLayer(layout, "", depth) > 16) {
    fault = `allowed at a depth of ${depth} is 0 to ${layout - 1}`;
  }
  if (fault) throw new CorruptStream(LAYERS, `layout is ${layout}, ${fault}`, at);
  return layout;
}

/**
 * @param {Layer} layer
 * @param {number} layout
 * @param {number} planes
 */
function faultOfLayer({ coding, tools, depth }, layout, planes) {
  if (coding === LOSSLESS) return "";
  if (layout === TOGETHER && planes > 1) {
    return `coding is ${CODING_NAMES[coding]}, allowed for planes together is ${CODING_NAMES[LOSSLESS]}`;
  }
  if (depth <= 8 || (coding !== TREES && !tools.dictionary)) return "";
  const name = coding === TREES ? "trees" : "dictionary";
  return `depth is ${depth}, allowed with ${name} is 1 to 8`;
}

/**
 * @param {ToolValues} tools
 * @param {number} most
 */
function faultOfPlanes(tools, most) {
  if (!(tools.cross_component > most)) return "";
  return `cross component is ${tools.cross_component}, allowed is ${most ? `0 to ${most}` : "0"}`;
}

/**
 * Reads the coding and the tools of a layer, and says whether fields of filters follow.
 * @param {Fields} fields
 * @param {Context} context
 * @param {boolean} first whether a palette could be in its place
 */
function readCoding(fields, { toolSets }, first) {
  const at = fields.offset;
  const plain = LOSSLESS + Number(first);
  const most = toolSets.length ? IN_SET - 1 + 4 * toolSets.length : plain;
  const number = fields.number("coding", 0, most);
  if (plain < number && number < IN_SET) {
    const says = `coding is ${number}, allowed is 0 to ${plain}, ${IN_SET} to ${most}`;
    throw new CorruptStream(LAYERS, says, at);
  }
  if (number <= LOSSLESS) {
    const tools = readTools(fields, number);
    return { coding: number, tools, filtered: number !== LOSSLESS, least: 0 };
  }
  const flags = number - IN_SET;
  const tools = { ...toolSets[flags >> 2] };
  if (flags & HAS_BANK) tools.fixed_filters = readTool(fields, FIXED_FILTERS);
  return { coding: BLOCKS, tools, filtered: (flags & HAS_FILTER) > 0, least: 1 };
}

/**
 * @param {Fields} fields
 * @param {string} name
 * @param {number} layout
 * @param {Context} context
 * @param {boolean} last whether it is the last layer of the tile
 * @param {boolean} first
 * @returns {Layer}
 */
function readLayer(fields, name, layout, context, last, first) {
  const { coding, tools, filtered, least } = readCoding(fields, context, first);
  /** @type {number[][]} */
  const coefficients = Array.from({ length: CLASSES }, () => []);
  /** @type {number[][]} */
  const planesCoefficients = Array.from({ length: PLANES }, () => []);
  if (filtered) {
    const most = 2 ** (CLASSES + (tools.cross_component ?? 0)) - 1;
    const active = fields.number("post filter", least, most);
    coefficients.forEach((own, index) => {
      if (!((active >> index) & 1)) return;
      const owner = `activity class ${index}`;
      own.push(...readCoefficients(fields, "Post filter", owner, POST_TAPS));
    });
    planesCoefficients.forEach((own, index) => {
      if (!((active >> (CLASSES + index)) & 1)) return;
      own.push(...readCoefficients(fields, "Cross-component filter", `plane ${index}`, PLANE_TAPS));
    });
  }
  const size = last ? fields.left : fields.number("payload bytes");
  const offset = fields.offset;
  const payload = fields.bytes("payload", size);
  const together = layout === TOGETHER && coding === LOSSLESS;
  const depth = together ? context.depth : depthInLayer(layout, name, context.depth);
  return { name, coding, tools, depth, coefficients, planesCoefficients, payload, offset };
}

/**
 * @param {Fields} fields
 * @param {string} section
 * @param {string} owner an activity class or an earlier plane, in words
 * @param {number} count
 */
function readCoefficients(fields, section, owner, count) {
  const start = fields.offset;
  let own;
  try {
    own = fields.bytes("coefficients", count);
  } catch (error) {
    const { problem, offset } = /** @type {TruncatedStream} */ (error);
    throw new TruncatedStream(section, problem, offset);
  }
  own.forEach((value, tap) => {
    if (value <= MOST_BYTE) return;
    const says = `coefficient ${tap} of ${owner} is ${value}, allowed is 0 to ${MOST_BYTE}`;
    throw new CorruptStream(section, says, start + tap);
  });
  return [...own].map((value) => value + LEAST);
}
