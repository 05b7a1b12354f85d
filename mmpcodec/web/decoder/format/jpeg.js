// The tile of a JPEG file that is kept: its fields, and what they bound. Source: sections "Layers"
// and "Kept JPEG files" of docs/format/format.md.
import { CorruptStream, FormatError } from "../errors.js";
import { FORMS, contextOf } from "./container.js";
import { Fields } from "./numbers.js";
import { LOSSLESS_FORM, readTool } from "./tools.js";

/**
 * @typedef {object} KeptJpeg
 * @property {number} form 1 to 3: which models code it
 * @property {number} bytes size of the JPEG file
 * @property {Uint8Array} payload
 * @property {number} offset of the payload in the file
 */

export const JPEG_SECTION = "Kept JPEG files";
/** The number of the coding that says that a tile is a JPEG file. */
const CODING = 4;
const MOST_FILE_BYTES = 2 ** 31;
/** Most levels of all pictures of a file: for each pixel of the header's picture, and besides. */
const [LEVELS_OF_PIXEL, LEVELS_BESIDE] = [4, 2 ** 22];
/** Bytes of a level in memory. */
export const LEVEL_BYTES = 2;
const [GRAY, RGB] = [1, 3];
const DEPTH = 8;
/** Bytes of a tile that hold the coding, the form and the size of a JPEG file. */
const FIELD_BYTES = 8;

/**
 * Returns the most bytes of memory that the levels of a file of this size in pixels take.
 * @param {{ width: number, height: number }} size
 */
export const mostLevelBytes = ({ width, height }) =>
  LEVEL_BYTES * (LEVELS_OF_PIXEL * width * height + LEVELS_BESIDE);

/**
 * Says what pictures can be kept JPEG files, if this is none of them; "" if it is one.
 * @param {import("./container.js").Context} context
 * @param {number} layout
 */
function faultOf({ planes, depth, sampleDepth, tileSize }, layout) {
  const allowed = "of a kept JPEG file, whose picture has";
  if (planes !== GRAY && planes !== RGB) {
    return `${allowed} the form gray or RGB, not ${FORMS[planes - 1]}`;
  }
  if (sampleDepth !== depth || depth !== DEPTH) {
    return `${allowed} a depth of ${DEPTH} without level bits`;
  }
  if (tileSize) return `${allowed} the tile size 0, not ${tileSize}`;
  return layout ? `${allowed} the layout 0, not ${layout}` : "";
}

/**
 * Reads the JPEG file of a tile; null, and nothing read, if the tile has none.
 * @param {Fields} fields
 * @param {import("./container.js").Context} context
 * @param {number} layout
 * @returns {KeptJpeg | null}
 */
export function readJpeg(fields, context, layout) {
  if (fields.data[fields.place] !== CODING) return null;
  const at = fields.offset;
  const fault = faultOf(context, layout);
  if (fault) throw new CorruptStream(fields.section, `coding is ${CODING}, ${fault}`, at);
  fields.section = JPEG_SECTION;
  const { form, bytes } = readFields(fields);
  const offset = fields.offset;
  return { form, bytes, payload: fields.bytes("payload", fields.left), offset };
}

/** @param {Fields} fields */
function readFields(fields) {
  fields.number("coding", CODING, CODING);
  const form = readTool(fields, LOSSLESS_FORM);
  return { form, bytes: fields.number("file bytes", 1, MOST_FILE_BYTES) };
}

/**
 * Returns the bytes of a file that say whether it keeps a JPEG file; null if its picture cannot.
 * @param {import("./container.js").Header} header
 */
export function placeOfJpeg(header) {
  if (faultOf(contextOf(header), 0)) return null;
  const { planes, tileOffsets, crcBytes } = header;
  const start = tileOffsets[0] + crcBytes[0] + crcBytes[1] + Number(planes !== GRAY);
  return { start, end: Math.min(start + FIELD_BYTES, tileOffsets[1]) };
}

/**
 * Returns form and size of the JPEG file that a tile has, both 0 if the tile is damaged; null if it
 * has none.
 * @param {Uint8Array} data bytes at `placeOfJpeg`
 */
export function jpegIn(data) {
  if (data[0] !== CODING) return null;
  try {
    return readFields(new Fields(data, JPEG_SECTION));
  } catch (error) {
    if (error instanceof FormatError) return { form: 0, bytes: 0 }; // decoding says what is wrong
    throw error;
  }
}
