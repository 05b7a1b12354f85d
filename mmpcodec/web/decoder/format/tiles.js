// Tiles: rectangles of a picture that are coded independently. Source: section "Tiles" of
// docs/format/format.md.
import { ParameterError } from "../errors.js";

/** @typedef {{ x: number, y: number, width: number, height: number }} Area in pixels */
/** @typedef {Area & { number: number }} Tile an area, and its place in raster order */

/** @param {Area} area */
export const areaText = (area) => `${area.width}x${area.height} at (${area.x}, ${area.y})`;

/**
 * Returns the number of tiles along an axis of `length` pixels; size 0 means one tile.
 * @param {number} length
 * @param {number} size
 */
export const across = (length, size) => (size ? Math.ceil(length / size) : 1);

/**
 * @param {{ width: number, height: number, tileSize: number }} picture
 */
export function tileCount({ width, height, tileSize }) {
  return across(height, tileSize) * across(width, tileSize);
}

/**
 * Returns the first number of the tiles that overlap pixels of an axis, and the one after the last.
 * @param {number} start first pixel
 * @param {number} length number of pixels
 * @param {number} side length of a tile
 */
const touching = (start, length, side) => [Math.floor(start / side), across(start + length, side)];

/**
 * Returns the tiles of a picture that overlap an area, in raster order.
 * @param {Area} area
 * @param {{ width: number, height: number, tileSize: number }} picture
 * @returns {Tile[]}
 */
export function tilesTouching(area, { width, height, tileSize }) {
  const sides = [tileSize || width, tileSize || height];
  const [left, right] = touching(area.x, area.width, sides[0]);
  const [top, bottom] = touching(area.y, area.height, sides[1]);
  const found = [];
  for (let row = top; row < bottom; ++row) {
    for (let column = left; column < right; ++column) {
      const x = column * sides[0];
      const y = row * sides[1];
      found.push({
        x,
        y,
        width: Math.min(sides[0], width - x),
        height: Math.min(sides[1], height - y),
        number: row * across(width, tileSize) + column,
      });
    }
  }
  return found;
}

/**
 * Returns the number of 16x16 fragments of a plane.
 * @param {{ width: number, height: number }} size
 */
export const fragmentsIn = (size) => Math.ceil(size.height / 16) * Math.ceil(size.width / 16);

/**
 * Returns the samples of a plane in whole fragments of the tiles that an area touches, without a
 * list of the tiles, of which there can be many.
 * @param {Area} area
 * @param {{ width: number, height: number, tileSize: number }} picture
 */
export function paddedSamples(area, { width, height, tileSize }) {
  const axis = (/** @type {number} */ start, /** @type {number} */ own, /** @type {number} */ all) => {
    const side = tileSize || all;
    const [first, end] = touching(start, own, side);
    const last = Math.min(side, all - (end - 1) * side);
    return (end - 1 - first) * Math.ceil(side / 16) + Math.ceil(last / 16);
  };
  return 256 * axis(area.y, area.height, height) * axis(area.x, area.width, width);
}

/**
 * Returns a region of a picture as an area.
 * @param {number[]} region x, y, width, height
 * @param {{ width: number, height: number }} picture
 * @returns {Area}
 */
export function checkedRegion(region, picture) {
  const [x, y, width, height] = region;
  if (region.length !== 4 || !region.every(Number.isSafeInteger)) {
    const says = "must be four integers: x, y, width, height";
    throw new ParameterError(`region = (${region.join(", ")}): ${says}`);
  }
  const area = { x, y, width, height };
  const inside =
    x >= 0 && y >= 0 && width > 0 && height > 0 &&
    x + width <= picture.width && y + height <= picture.height;
  if (!inside) {
    throw new ParameterError(
      `region = ${areaText(area)}: must have pixels and lie within the picture of ` +
        `${picture.width}x${picture.height}`,
    );
  }
  return area;
}

/**
 * Copies the part of a tile that lies in an area into the samples of the area.
 * @param {Uint8Array | Uint16Array} into
 * @param {Area} area
 * @param {Uint8Array | Uint16Array} samples of the tile
 * @param {Tile} tile
 * @param {number} planes samples of a pixel
 */
export function copyTile(into, area, samples, tile, planes) {
  const left = Math.max(area.x, tile.x);
  const right = Math.min(area.x + area.width, tile.x + tile.width);
  const bottom = Math.min(area.y + area.height, tile.y + tile.height);
  for (let row = Math.max(area.y, tile.y); row < bottom; ++row) {
    const from = ((row - tile.y) * tile.width + left - tile.x) * planes;
    const to = ((row - area.y) * area.width + left - area.x) * planes;
    into.set(samples.subarray(from, from + (right - left) * planes), to);
  }
}
