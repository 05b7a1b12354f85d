// The header of a file. Source: section "Container" of docs/format/format.md.
import { BadMagic, CorruptStream, TruncatedStream, UnsupportedVersion } from "../errors.js";
import { readMetadata } from "./metadata.js";
import { Fields, crc32, crcText, hex } from "./numbers.js";
import { tileCount } from "./tiles.js";
import { BLOCKS, readTools } from "./tools.js";

export const CONTAINER = "Container";
export const VERSION = 3;
export const MAGIC = Uint8Array.of(0x89, 0x4d, 0x4d, 0x50, 0x0d, 0x0a, 0x1a, 0x0a);
const TRAILER_MAGIC = Uint8Array.of(0x4d, 0x4d, 0x50, 0x1a);
const TRAILER_END_BYTES = 13;
export const MOST_DIMENSION = 1 << 24;
const MOST_TOOL_SETS = 16;
const MOST_BORDER_STEP = 65535;
/** Is added to the depth of a picture whose coded levels are not its samples. */
const LEVELS = 16;
export const FORMS = ["gray", "gray with alpha", "RGB", "RGB with alpha"];

/**
 * What a decoder of a tile needs of the header.
 * @typedef {object} Context
 * @property {number} planes samples of a pixel
 * @property {number} depth bits of a coded level
 * @property {number} sampleDepth bits of a sample
 * @property {number} tileSize
 * @property {number[]} crcBytes bytes that a tile has of its stream CRC and of its samples CRC
 * @property {import("./tools.js").ToolValues[]} toolSets
 */
/**
 * @typedef {Omit<Context, "sampleDepth"> & {
 *   version: number, form: string, width: number, height: number, tileSize: number,
 *   borderStep: number, levelDepth: number, first: number, metadata: ReturnType<typeof readMetadata>,
 *   tileCount: number, tileOffsets: Float64Array, size: number, trailer: Uint8Array,
 *   jpeg: { form: number, bytes: number } | null
 * }} Header `tileOffsets` ends with the end of the last tile, `size` is that of the header in
 * bytes,
 *   `trailer` is what follows the last tile, `levelDepth` the bits of a coded level, `first` the
 *   sample that level 0 stands for, `jpeg` what the tile says of a JPEG file that it keeps.
 */

/**
 * Returns what a decoder of a tile needs of a header.
 * @param {Header} header
 * @returns {Context}
 */
export function contextOf({ planes, depth, levelDepth, tileSize, crcBytes, toolSets }) {
  return { planes, depth: levelDepth, sampleDepth: depth, tileSize, crcBytes, toolSets };
}

/**
 * Returns how many bytes a tile has of its stream CRC and of its samples CRC.
 * @param {number} tileSize
 */
function crcBytesOf(tileSize) {
  if (tileSize > 0) {
    if (tileSize < 128) return [1, 1];
    if (tileSize < 257) return [2, 1];
  }
  return [4, 4];
}

/** @param {Fields} fields */
function readVersion(fields) {
  const { data } = fields;
  if (!data.length) throw new TruncatedStream(CONTAINER, "file is empty", 0);
  const magic = data.subarray(0, MAGIC.length);
  if (magic.some((byte, at) => byte !== MAGIC[at])) {
    throw new BadMagic(CONTAINER, `magic is ${hex(magic, " ")}, not ${hex(MAGIC, " ")}`, 0);
  }
  fields.bytes("magic", MAGIC.length);
  const version = fields.fixed("version", 1);
  if (version === VERSION) return;
  const what =
    version < VERSION
      ? "a draft of the format, which no release wrote: encode the picture again"
      : "a newer format: a newer mmpcodec decodes it";
  const says = `version is ${version}, allowed is ${VERSION}; the file is of ${what}`;
  throw new UnsupportedVersion(CONTAINER, says, MAGIC.length);
}

/**
 * Reads the bits of a sample and of a coded level, and the sample that level 0 stands for.
 * @param {Fields} fields
 * @param {number} form
 */
function readDepth(fields, form) {
  const at = fields.offset;
  const depth = fields.number("depth", 1, LEVELS + 16);
  if (depth <= 16) return { depth, levelDepth: depth, first: 0 };
  const alpha = form % 2 === 1;
  if (depth <= LEVELS + 8 || alpha) {
    const allowed = alpha ? "1 to 16" : `1 to 16, and ${LEVELS + 9} to ${LEVELS + 16}`;
    const says = `depth is ${depth}, allowed for ${FORMS[form]} is ${allowed}`;
    throw new CorruptStream(CONTAINER, says, at);
  }
  const ofSamples = depth - LEVELS;
  const levelDepth = fields.number("level bits", 8, ofSamples - 1);
  const first = fields.number("first sample", 0, 2 ** ofSamples - 2 ** levelDepth);
  return { depth: ofSamples, levelDepth, first };
}

/** @param {Fields} fields */
function readToolSets(fields) {
  fields.section = "Tool sets";
  const toolSets = [];
  for (let left = fields.number("number of tool sets", 0, MOST_TOOL_SETS); left > 0; --left) {
    toolSets.push(readTools(fields, BLOCKS));
  }
  fields.section = CONTAINER;
  return toolSets;
}

/**
 * Reads and checks the header of a file.
 * @param {Uint8Array} data the file, or a beginning of it that has the header
 * @param {number} [total] bytes of the file; Infinity if they are not known
 * @returns {Header}
 */
export function readHeader(data, total = data.length) {
  const fields = new Fields(data, CONTAINER);
  readVersion(fields);
  const form = fields.number("form", 0, FORMS.length - 1);
  const { depth, levelDepth, first } = readDepth(fields, form);
  const width = fields.number("width", 1, MOST_DIMENSION);
  const height = fields.number("height", 1, MOST_DIMENSION);
  const at = fields.offset;
  const tileSize = fields.number("tile size", 0, MOST_DIMENSION);
  if (tileSize > 0 && tileSize < 64) {
    const says = `tile size is ${tileSize}, allowed is 0 or 64 to ${MOST_DIMENSION}`;
    throw new CorruptStream(CONTAINER, says, at);
  }
  const borderStep = tileSize ? fields.number("border step", 0, MOST_BORDER_STEP) : 0;
  const toolSets = readToolSets(fields);
  const firstFields = data.subarray(MAGIC.length, fields.place);
  const metadata = readMetadata(fields, depth);
  const count = tileCount({ width, height, tileSize });
  if (count > 8 * fields.left) {
    const says = `only ${fields.left} bytes for the sizes of ${count} tiles`;
    throw new TruncatedStream(CONTAINER, says, data.length);
  }
  const crcBytes = crcBytesOf(tileSize);
  const least = crcBytes[0] + crcBytes[1] + 1;
  if (count * least > total) {
    const says = `file has ${total} bytes, its ${count} tiles have at least ${count * least}`;
    throw new TruncatedStream(CONTAINER, says, total);
  }
  const tableAt = fields.place;
  const sizes = readTileBytes(fields, count, least);
  const table = data.subarray(tableAt, fields.place);
  const checked = crc32(data.subarray(0, fields.place));
  const crcAt = fields.offset;
  const stored = fields.fixed("header CRC", 4);
  if (stored !== checked) {
    const says = `header CRC is ${crcText(stored, 4)}, header has ${crcText(checked, 4)}`;
    throw new CorruptStream(CONTAINER, says, crcAt);
  }
  const tileOffsets = new Float64Array(count + 1);
  tileOffsets[0] = fields.place;
  for (let tile = 0; tile < count; ++tile) tileOffsets[tile + 1] = tileOffsets[tile] + sizes[tile];
  return {
    version: VERSION,
    form: FORMS[form],
    planes: form + 1,
    depth,
    levelDepth,
    first,
    width,
    height,
    tileSize,
    borderStep,
    crcBytes,
    toolSets,
    metadata,
    tileCount: count,
    tileOffsets,
    size: fields.place,
    trailer: count > 1 ? trailerOf(firstFields, table) : new Uint8Array(0),
    jpeg: null,
  };
}

/**
 * Returns the trailer: the header again, without metadata, by which damaged files can be opened.
 * @param {Uint8Array} first fields from the version up to the metadata
 * @param {Uint8Array} table sizes of the tiles
 */
function trailerOf(first, table) {
  const size = first.length + table.length + TRAILER_END_BYTES;
  const trailer = new Uint8Array(size);
  trailer.set(first);
  trailer.set(table, first.length);
  const view = new DataView(trailer.buffer);
  view.setUint8(size - TRAILER_END_BYTES, Math.floor(size / 2 ** 32));
  view.setUint32(size - TRAILER_END_BYTES + 1, size % 2 ** 32);
  view.setUint32(size - 8, crc32(trailer.subarray(0, size - 8)));
  trailer.set(TRAILER_MAGIC, size - 4);
  return trailer;
}

/**
 * @param {Fields} fields
 * @param {number} count
 * @param {number} least bytes of the smallest tile
 * @returns {number[]}
 */
function readTileBytes(fields, count, least) {
  if (count === 1) return [fields.number("tile bytes", least)];
  return fields.remainders("tile bytes", count).map((more) => least + more);
}

/**
 * Returns the error for a file whose size differs from that of its header, tiles and trailer.
 * @param {number} size
 * @param {number} end
 */
export const cutAt = (size, end) =>
  new TruncatedStream(CONTAINER, `file has ${size} of ${end} bytes`, size);

/**
 * Checks that the size of a file is that of its header, tiles and trailer.
 * @param {Header} header
 * @param {number} size
 */
export function checkSize(header, size) {
  const end = header.tileOffsets[header.tileCount] + header.trailer.length;
  if (size < end) throw cutAt(size, end);
}

/**
 * Checks what follows the last tile of a file.
 * @param {Header} header
 * @param {Uint8Array} found bytes from the end of the last tile, as many as the trailer has
 * @param {number} size of the file, Infinity if it is not known
 */
export function checkTrailer(header, found, size) {
  const { trailer } = header;
  const last = header.tileOffsets[header.tileCount];
  if (!trailer.every((byte, at) => byte === found[at])) {
    throw new CorruptStream("Trailer", "trailer differs from the header", last);
  }
  const end = last + trailer.length;
  if (size === Infinity || size === end) return;
  const what = trailer.length ? "the trailer" : "the last tile";
  throw new CorruptStream(CONTAINER, `${size - end} bytes follow ${what}`, end);
}
