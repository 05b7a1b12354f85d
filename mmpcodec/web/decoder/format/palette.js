// Palettes: their fields. Source: section "Palette" of docs/format/format.md.
import { Fields } from "./numbers.js";
import { PALETTE, readForm } from "./tools.js";

/**
 * @typedef {object} Palette
 * @property {import("./tools.js").ToolValues} tools of the stream of the numbers
 * @property {number} entries number of colours
 * @property {boolean} transparent whether pixels can have the number `entries` and show the layers
 * @property {Uint8Array} colours the stream of the colours
 * @property {Uint8Array} numbers the stream of the numbers
 * @property {number} offset of the payload in the file
 */

export const PALETTE_SECTION = "Palette";
const MOST_ENTRIES = 4096;

/**
 * Reads the palette of a tile; null, and nothing read, if the tile has none.
 * @param {Fields} fields
 * @param {number} planes samples of a pixel
 * @returns {Palette | null}
 */
export function readPalette(fields, planes) {
  if (fields.data[fields.place] !== PALETTE) return null;
  const { section } = fields;
  fields.section = PALETTE_SECTION;
  fields.number("coding", PALETTE, PALETTE);
  const tools = readForm(fields);
  const coded = fields.number("entries", 0, 2 * MOST_ENTRIES - 1);
  const entries = (coded >> 1) + 1;
  const transparent = (coded & 1) > 0;
  const isLast = !transparent && (planes === 1 || planes === 3);
  const size = isLast ? fields.left : fields.number("payload bytes");
  const offset = fields.offset;
  const streams = new Fields(fields.bytes("payload", size), PALETTE_SECTION, offset);
  fields.section = section;
  const colours = streams.bytes("colours", streams.number("colour bytes"));
  const numbers = streams.bytes("numbers", streams.left);
  return { tools, entries, transparent, colours, numbers, offset };
}

/**
 * Says which layouts a tile with this palette can have, or returns "".
 * @param {Palette} palette
 * @param {number} layout
 * @param {number} planes
 * @param {number} depth of the picture
 */
export function faultOfLayout(palette, layout, planes, depth) {
  if (planes === 1) return "";
  let most = 1;
  if (palette.transparent && planes >= 3) most = Math.max(depth, 8) + 2 <= 16 ? 3 : 2;
  if (1 <= layout && layout <= most) return "";
  const withTransparent = palette.transparent ? "" : " without transparent pixels";
  const which = most > 1 ? `1 to ${most}` : "1";
  return `layout is ${layout}, allowed with a palette${withTransparent} is ${which}`;
}
