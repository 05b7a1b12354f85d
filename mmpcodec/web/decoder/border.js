// The border filter: smooths the steps between tiles, after they are joined. Source: section
// "Border filter" of docs/format/format.md.
import { coloursOf } from "./format/layers.js";
import { tilesTouching } from "./format/tiles.js";

/** @typedef {import("./format/container.js").Header} Header */
/** @typedef {import("./format/tiles.js").Area} Area */
/** @typedef {import("./format/tiles.js").Tile} Tile */
/** @typedef {import("./samples.js").Samples} Samples */
/**
 * Which pixels of a tile the filter leaves: none, all, or those that are not 0.
 * @typedef {boolean | Uint8Array} Fixed
 */

/** Samples of a line on each side of a border. */
const REACH = 8;
/** Largest activity of the classes but the last, in 1/256 of a step. */
const ACTIVITIES = [5, 16, 40, 128, 384];
/** Part of a step that is added to a sample, in 1/64: by class, and by distance from the border. */
const WEIGHTS = [
  [29, 23, 18, 14, 11, 8, 6, 4],
  [27, 18, 11, 6, 3, 1, 0, 0],
  [26, 13, 5, 1, 0, 0, 0, 0],
  [22, 6, 0, 0, 0, 0, 0, 0],
  [18, 0, 0, 0, 0, 0, 0, 0],
  [10, 0, 0, 0, 0, 0, 0, 0],
];
/** Luma, Co and Cg, times 4, of red, green and blue. */
const COLOURS = [[1, 2, 1], [2, 0, -2], [-1, 2, -1]];
const GRAY = [[4]];

/**
 * @param {Area} area
 * @param {number} reach
 * @param {Area} limits
 */
function grown(area, reach, limits) {
  const x = Math.max(limits.x, area.x - reach);
  const y = Math.max(limits.y, area.y - reach);
  const right = Math.min(limits.x + limits.width, area.x + area.width + reach);
  const bottom = Math.min(limits.y + limits.height, area.y + area.height + reach);
  return { x, y, width: right - x, height: bottom - y };
}

/**
 * Returns the area whose tiles are read for an area of the picture.
 * @param {Area} area
 * @param {Header} header
 */
export function readArea(area, header) {
  const { width, height, borderStep } = header;
  return borderStep ? grown(area, REACH, { x: 0, y: 0, width, height }) : area;
}

/**
 * Returns the area that is joined and filtered for an area of the picture.
 * @param {Area} area
 * @param {Header} header
 */
export function joinedArea(area, header) {
  if (!header.borderStep) return area;
  const tiles = tilesTouching(readArea(area, header), header);
  const [{ x, y }, last] = [tiles[0], tiles[tiles.length - 1]];
  const limits = { x, y, width: last.x + last.width - x, height: last.y + last.height - y };
  return grown(area, 2 * REACH, limits);
}

/**
 * Returns how far a value is from the line between its neighbours, twice.
 * @param {Int32Array} line
 * @param {number} at
 */
const bend = (line, at) => Math.abs(line[at - 1] - 2 * line[at] + line[at + 1]);

/**
 * Writes the corrections of a plane of a line.
 * @param {Int32Array} line 16 values across a border
 * @param {number[]} activities
 * @param {number} most
 * @param {Int32Array} out 8 values by distance from the border
 */
function correct(line, activities, most, out) {
  let activity = 0;
  for (let k = 1; k < 4; ++k) {
    activity += bend(line, REACH - 1 - k) + bend(line, REACH + k);
  }
  let own = 0;
  while (own < activities.length && activity > activities[own]) ++own;
  let step = 2 * (line[8] - line[7]);
  const [before, behind] = [line[7] - line[5], line[10] - line[8]];
  step -=
    Math.max(0, Math.min(step, before, behind)) + Math.min(0, Math.max(step, before, behind));
  step = Math.min(Math.max(step, -most), most);
  for (let k = 0; k < REACH; ++k) out[k] = WEIGHTS[own][k] * step;
}

/**
 * Filters the borders of tiles within joined samples.
 * @param {Samples} samples of the area, the samples of a pixel together
 * @param {Area} area the whole picture, or a `joinedArea`
 * @param {Header} header
 * @param {{ tile: Tile, fixed: Fixed }[]} tiles
 */
export function filterBorders(samples, area, header, tiles) {
  const { borderStep, levelDepth, planes, tileSize } = header;
  if (!borderStep) return;
  const fixed = fixedPixels(samples, area, planes, tiles);
  const scaled = borderStep * 2 ** levelDepth;
  const activities = ACTIVITIES.map((each) => Math.floor((each * scaled) / 2 ** 18));
  const most = Math.floor((3 * scaled) / 2 ** 12);
  const high = 2 ** levelDepth - 1;
  const ofPlanes = coloursOf(planes) === 3 ? COLOURS : GRAY;
  const line = new Int32Array(2 * REACH);
  const corrections = ofPlanes.map(() => new Int32Array(REACH));
  const [ofLuma, ofCo, ofCg] = corrections;
  const places = new Int32Array(2 * REACH);

  /**
   * @param {number} first pixel of the line
   * @param {number} border
   * @param {number} length of the line
   * @param {number} stride between its pixels
   */
  const filterLine = (first, border, length, stride) => {
    for (let k = 0; k < 2 * REACH; ++k) {
      const at = Math.min(Math.max(border - REACH + k, 0), length - 1);
      places[k] = first + at * stride;
      if (fixed && fixed[places[k]]) return;
    }
    for (let plane = 0; plane < corrections.length; ++plane) {
      const weights = ofPlanes[plane];
      for (let k = 0; k < 2 * REACH; ++k) {
        const at = places[k] * planes;
        line[k] = weights[0] * samples[at];
        if (weights.length > 1) {
          line[k] += weights[1] * samples[at + 1] + weights[2] * samples[at + 2];
        }
      }
      correct(line, activities, most, corrections[plane]);
    }
    for (let k = 0; k < REACH; ++k) {
      if (border - 1 - k >= 0) add(places[REACH - 1 - k] * planes, k, 1);
      if (border + k < length) add(places[REACH + k] * planes, k, -1);
    }
  };
  /**
   * Adds the correction at a distance from the border to a pixel.
   * @param {number} at
   * @param {number} k
   * @param {number} sign
   */
  const add = (at, k, sign) => {
    const luma = sign * ofLuma[k];
    if (ofPlanes === GRAY) return change(at, luma);
    const [co, cg] = [sign * ofCo[k], sign * ofCg[k]];
    change(at, luma - cg + co);
    change(at + 1, luma + cg);
    change(at + 2, luma - cg - co);
  };
  /**
   * @param {number} at
   * @param {number} more in 1/512
   */
  const change = (at, more) => {
    samples[at] = Math.min(Math.max(samples[at] + ((more + 256) >> 9), 0), high);
  };

  const { width, height } = area;
  for (let column = tileSize - (area.x % tileSize); column < width; column += tileSize) {
    for (let row = 0; row < height; ++row) filterLine(row * width, column, width, 1);
  }
  for (let row = tileSize - (area.y % tileSize); row < height; row += tileSize) {
    for (let column = 0; column < width; ++column) filterLine(column, row, height, width);
  }
}

/**
 * Returns an array that is not 0 at the pixels that keep their samples; null if there are none.
 * @param {Samples} samples
 * @param {Area} area
 * @param {number} planes
 * @param {{ tile: Tile, fixed: Fixed }[]} tiles
 */
function fixedPixels(samples, area, planes, tiles) {
  const alpha = planes - coloursOf(planes);
  if (!alpha && tiles.every(({ fixed }) => fixed === false)) return null;
  const found = new Uint8Array(area.width * area.height);
  for (const { tile, fixed } of tiles) {
    if (fixed === false) continue;
    const left = Math.max(area.x, tile.x);
    const right = Math.min(area.x + area.width, tile.x + tile.width);
    const bottom = Math.min(area.y + area.height, tile.y + tile.height);
    for (let row = Math.max(area.y, tile.y); row < bottom; ++row) {
      const to = (row - area.y) * area.width + left - area.x;
      if (fixed === true) found.fill(1, to, to + right - left);
      else {
        const from = (row - tile.y) * tile.width + left - tile.x;
        found.set(fixed.subarray(from, from + right - left), to);
      }
    }
  }
  if (alpha) {
    for (let at = 0; at < found.length; ++at) {
      if (samples[at * planes + planes - 1] === 0) found[at] = 1;
    }
  }
  return found;
}
