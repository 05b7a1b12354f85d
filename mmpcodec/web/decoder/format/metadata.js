// Chunks of metadata. Source: section "Metadata" of docs/format/format.md.
import { CorruptStream } from "../errors.js";
import { Fields } from "./numbers.js";

const METADATA = "Metadata";
const [ICC, EXIF, XMP, RESOLUTION, TEXT, WHITE, RANGE, COLOURS] = [1, 2, 3, 4, 5, 6, 7, 8];
const DICOM = 9; // may name a patient, and is not given
/** @type {Record<number, string>} Names of the kinds that occur at most once. */
const ONCE = {
  [ICC]: "ICC",
  [EXIF]: "EXIF",
  [XMP]: "XMP",
  [RESOLUTION]: "resolution",
  [WHITE]: "white",
  [RANGE]: "range",
  [COLOURS]: "colours",
};
const UNITS = ["none", "inch", "centimetre", "metre"];
const MOST_CHUNKS = 1 << 16;
const MOST_FRACTION = 2 ** 32 - 1;

/** @param {Fields} fields of a chunk, whose colours the decoder does not use */
function checkColours(fields) {
  const most = 2 ** 31 - 1;
  for (const limit of [255, 255, 1, most]) fields.number("colours", 0, limit);
  if (!fields.left) return;
  for (let left = 8; left > 0; --left) fields.number("chromaticity", 0, most);
}

/**
 * Reads metadata; chunks of unknown kinds are skipped.
 * @param {Fields} fields at the first byte of the metadata
 * @param {number} depth bits of a sample
 */
export function readMetadata(fields, depth) {
  /** @type {Record<number, Uint8Array | undefined>} */
  const found = {};
  const text = [];
  let resolution = null;
  let white = null;
  let range = null;
  let bare = true;
  for (let left = fields.number("chunks", 0, MOST_CHUNKS); left > 0; --left) {
    const kind = fields.number("kind of a chunk");
    const size = fields.number("size of a chunk");
    const start = fields.offset;
    const data = fields.bytes("chunk", size);
    const name = ONCE[kind];
    if (name && found[kind]) throw new CorruptStream(METADATA, `a second chunk of ${name}`, start);
    const inner = new Fields(data, METADATA, start);
    if (name || kind === TEXT || kind === DICOM) bare = false;
    if (kind === TEXT) {
      text.push(readText(inner));
      continue;
    }
    if (kind === DICOM && !size) throw new CorruptStream(METADATA, "DICOM has no bytes", start);
    if (!name) continue;
    found[kind] = data.slice();
    if (kind <= XMP && !size) throw new CorruptStream(METADATA, `${name} has no bytes`, start);
    if (kind === RESOLUTION) resolution = readResolution(inner);
    if (kind === WHITE) white = inner.number("white", 1, 2 ** depth - 1);
    if (kind === RANGE) {
      const low = inner.number("low", 0, 2 ** depth - 2);
      range = [low, inner.number("high", low + 1, 2 ** depth - 1)];
    }
    if (kind === COLOURS) checkColours(inner);
    if (kind >= RESOLUTION && inner.left) {
      throw new CorruptStream(METADATA, `${inner.left} bytes follow in ${name}`, inner.offset);
    }
  }
  const metadata = {
    icc: found[ICC] ?? null,
    exif: found[EXIF] ?? null,
    xmp: found[XMP] ?? null,
    resolution,
    text,
    white,
    range,
  };
  KINDS.set(metadata, Object.keys(found));
  if (bare) BARE.add(metadata);
  return metadata;
}

/** @type {WeakMap<object, string[]>} Kinds of chunks, but for texts, that metadata were read from. */
const KINDS = new WeakMap();

/** @type {WeakSet<object>} Metadata without a chunk of a known kind. */
const BARE = new WeakSet();

/**
 * Returns whether metadata have no chunk of a known kind: then those of a kept JPEG file count.
 * @param {ReturnType<typeof readMetadata>} metadata
 */
export const isBare = (metadata) => BARE.has(metadata);

/**
 * Returns the chunks of two parts of a file together.
 * @param {ReturnType<typeof readMetadata>} first
 * @param {ReturnType<typeof readMetadata>} second
 * @param {number} place of the second part in the file
 */
export function joinedMetadata(first, second, place) {
  const kinds = KINDS.get(first) ?? [];
  const more = KINDS.get(second) ?? [];
  const twice = more.find((kind) => kinds.includes(kind));
  if (twice) throw new CorruptStream(METADATA, `a second chunk of ${ONCE[Number(twice)]}`, place);
  const given = Object.entries(second).filter(([, value]) => value !== null);
  const joined = { ...first, ...Object.fromEntries(given), text: [...first.text, ...second.text] };
  KINDS.set(joined, [...kinds, ...more]);
  if (isBare(first) && isBare(second)) BARE.add(joined);
  return joined;
}

/** @param {Fields} fields */
function readResolution(fields) {
  const unit = UNITS[fields.number("unit", 0, UNITS.length - 1)];
  const fraction = () => [
    fields.number("samples", 1, MOST_FRACTION),
    fields.number("units", 1, MOST_FRACTION),
  ];
  return { x: fraction(), y: fraction(), unit };
}

/** @param {Fields} fields */
function readText(fields) {
  const key = fields.bytes("key", fields.number("size of a key"));
  const value = fields.bytes("value", fields.left);
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    return [utf8.decode(key), utf8.decode(value)];
  } catch {
    throw new CorruptStream(METADATA, "text is not UTF-8", fields.start);
  }
}
