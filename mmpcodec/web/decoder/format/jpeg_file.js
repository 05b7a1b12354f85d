// JPEG files: their marker segments, the size of their picture, and their metadata. Sources: ITU-T
// T.81; ITU-T T.871 (JFIF); CIPA DC-008 (EXIF); ISO 16684-3 (XMP); ICC.1, Annex B.

/** @typedef {import("./container.js").Header["metadata"]} Metadata */
/**
 * A marker segment.
 * @typedef {object} Segment
 * @property {number} marker
 * @property {number} start of the marker in the file
 * @property {number} end
 * @property {Uint8Array} body
 */

const [APP0, APP1, APP2] = [0xe0, 0xe1, 0xe2];
const [RST0, SOI, EOI, SOS, TEM] = [0xd0, 0xd8, 0xd9, 0xda, 0x01];
/** Markers from 0xc0 to 0xcf that are no frames: DHT, JPG and DAC. */
const NO_FRAMES = [0xc4, 0xc8, 0xcc];
const EXIF = "Exif\0\0";
const XMP = "http://ns.adobe.com/xap/1.0/\0";
const ICC = "ICC_PROFILE\0";
const JFIF = "JFIF\0";
const UNITS = ["none", "inch", "centimetre"];
/** Place of the colour space in a profile. */
const SPACE = 16;

/**
 * Yields the marker segments before the data of the first scan.
 * @param {Uint8Array} file
 * @returns {Generator<Segment>}
 */
function* segmentsOf(file) {
  for (let at = 2; at + 4 <= file.length; ) {
    const marker = file[at + 1];
    if (file[at] !== 0xff || marker === 0 || marker === 0xff) {
      ++at;
    } else if (marker === TEM || (marker >= RST0 && marker <= SOI)) {
      at += 2;
    } else {
      if (marker === EOI || marker === SOS) return;
      const end = at + 2 + ((file[at + 2] << 8) | file[at + 3]);
      if (end < at + 4 || end > file.length) return;
      yield { marker, start: at, end, body: file.subarray(at + 4, end) };
      at = end;
    }
  }
}

/**
 * @param {Uint8Array} bytes
 * @param {number} at
 */
const word = (bytes, at) => (bytes[at] << 8) | bytes[at + 1];

/**
 * @param {Uint8Array} bytes
 * @param {string} text
 */
const startsWith = (bytes, text) =>
  [...text].every((letter, at) => bytes[at] === letter.charCodeAt(0));

/**
 * Returns size and number of components of the picture of a file; null if it names none.
 * @param {Uint8Array} file
 */
export function frameOf(file) {
  for (const { marker, body } of segmentsOf(file)) {
    if (marker < 0xc0 || marker > 0xcf || NO_FRAMES.includes(marker) || body.length < 6) continue;
    return { width: word(body, 3), height: word(body, 1), components: body[5] };
  }
  return null;
}

/**
 * Returns a file without the segments by which a browser turns or converts its picture, and with an
 * end, which is missing in files that are cut off.
 * @param {Uint8Array} file
 */
export function asCoded(file) {
  const parts = [];
  let from = 0;
  for (const { marker, start, end } of segmentsOf(file)) {
    if (marker !== APP1 && marker !== APP2) continue;
    parts.push(file.subarray(from, start));
    from = end;
  }
  return [...parts, file.subarray(from), Uint8Array.of(0xff, EOI)];
}

/**
 * Returns the metadata of a file: profile, EXIF, XMP and resolution.
 * @param {Uint8Array | null} front the file, or its bytes up to its samples
 * @param {Metadata} none metadata without any
 * @param {number} planes samples of a pixel
 * @returns {Metadata}
 */
export function metadataOfJpeg(front, none, planes) {
  const found = { ...none };
  const profile = [];
  for (const { marker, body } of segmentsOf(front ?? new Uint8Array(0))) {
    if (marker === APP1 && startsWith(body, EXIF)) found.exif ??= rest(body, EXIF);
    if (marker === APP1 && startsWith(body, XMP)) found.xmp ??= rest(body, XMP);
    if (marker === APP2 && startsWith(body, ICC)) profile.push(rest(body, ICC));
    if (marker === APP0 && startsWith(body, JFIF)) found.resolution ??= resolutionOf(body);
  }
  found.icc = profileOf(profile, planes);
  return found;
}

/**
 * Returns a copy of what follows a text; null if nothing does.
 * @param {Uint8Array} body
 * @param {string} text
 */
function rest(body, text) {
  return body.length > text.length ? body.slice(text.length) : null;
}

/**
 * Returns a profile from its parts, which begin with their number, from 1, and how many there are.
 * @param {(Uint8Array | null)[]} parts
 * @param {number} planes
 */
function profileOf(parts, planes) {
  const found = parts.filter((part) => part !== null).sort((one, other) => one[0] - other[0]);
  if (!found.length || found[0][1] !== found.length) return null;
  const profile = new Uint8Array(found.reduce((sum, part) => sum + part.length - 2, 0));
  let end = 0;
  for (const part of found) {
    profile.set(part.subarray(2), end);
    end += part.length - 2;
  }
  return startsWith(profile.subarray(SPACE), planes === 1 ? "GRAY" : "RGB ") ? profile : null;
}

/**
 * @param {Uint8Array} body of a JFIF header
 * @returns {Metadata["resolution"]}
 */
function resolutionOf(body) {
  if (body.length < 12) return null;
  const [unit, x, y] = [UNITS[body[7]] ?? "none", word(body, 8), word(body, 10)];
  if (!x || !y || (unit === "none" && x === 1 && y === 1)) return null;
  return { x: [x, 1], y: [y, 1], unit };
}
