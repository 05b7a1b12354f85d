// From the planes of the layers to samples. Source: section "Colours" of docs/format/format.md.

/** @typedef {Uint8Array | Uint16Array} Plane */

const AXES = [
  [28, 35, -20],
  [28, 0, 40],
  [28, -35, -20],
];
const SCALE = 28;
const BITS = 18;
/** Most bits of a plane's samples for which all sums fit 32 bits. */
const MOST_DEPTH_OF_INT32 = 11;

/**
 * Returns new samples of a depth: bytes up to 8 bits.
 * @param {number} depth
 * @param {number} count
 * @returns {Plane}
 */
export const newSamples = (depth, count) =>
  depth <= 8 ? new Uint8Array(count) : new Uint16Array(count);

/**
 * Writes a plane into every pixel of interleaved samples.
 * @param {Plane} samples
 * @param {Plane} plane
 * @param {number} planes samples of a pixel
 * @param {number} channel
 */
export function interleave(samples, plane, planes, channel) {
  if (planes === 1) samples.set(plane);
  else for (let at = 0, to = channel; at < plane.length; ++at, to += planes) samples[to] = plane[at];
}

/**
 * Writes red, green and blue of a tile in layout luma.
 * @param {Plane} samples
 * @param {number} planes samples of a pixel
 * @param {Plane[]} layers luma, Co, Cg
 * @param {number} depth bits of a sample of the layers
 */
export function fromLuma(samples, planes, [luma, co, cg], depth) {
  const middle = 1 << (depth - 1);
  const most = (1 << depth) - 1;
  for (let at = 0, to = 0; at < luma.length; ++at, to += planes) {
    const y = luma[at];
    const g = cg[at] - middle;
    const o = co[at] - middle;
    const red = y - g + o;
    const blue = y - g - o;
    samples[to] = red < 0 ? 0 : red > most ? most : red;
    samples[to + 1] = y + g < 0 ? 0 : y + g > most ? most : y + g;
    samples[to + 2] = blue < 0 ? 0 : blue > most ? most : blue;
  }
}

/**
 * Returns red, green and blue of one unit of each plane, with 18 bits of fraction.
 * @param {number[]} rotation
 */
export function matrixOf([x, y, z]) {
  const w = 128;
  const size = w * w + x * x + y * y + z * z;
  const rotation = [
    [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
    [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
    [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
  ];
  return rotation.map((row) =>
    [0, 1, 2].map((plane) => {
      const product = row.reduce((sum, value, index) => sum + value * AXES[index][plane], 0);
      return Math.floor((2 ** (BITS + 1) * product + SCALE * size) / (2 * SCALE * size));
    }),
  );
}

/**
 * Writes red, green and blue of a tile in layout fine luma.
 * @param {Plane} samples
 * @param {number} planes samples of a pixel
 * @param {Plane[]} layers luma, Co, Cg
 * @param {number} fine bits of a sample of the layers
 * @param {number[]} rotation
 */
export function fromFineLuma(samples, planes, [luma, co, cg], fine, rotation) {
  const middle = 1 << (fine - 1);
  const most = (1 << (fine - 2)) - 1;
  matrixOf(rotation).forEach(([a, b, c], channel) => {
    const offset = middle * 2 ** BITS - middle * (a + b + c) + 2 ** 19;
    const fits = fine <= MOST_DEPTH_OF_INT32;
    for (let at = 0, to = channel; at < luma.length; ++at, to += planes) {
      const sum = a * luma[at] + b * co[at] + c * cg[at] + offset;
      const value = fits ? sum >> 20 : Math.floor(sum / 2 ** 20);
      samples[to] = value < 0 ? 0 : value > most ? most : value;
    }
  });
}

/**
 * Rounds samples of 8 bits to the nearest samples of fewer bits, in place.
 * @param {Plane} samples
 * @param {number} depth
 */
export function narrow(samples, depth) {
  if (depth >= 8) return;
  const white = (1 << depth) - 1;
  for (let at = 0; at < samples.length; ++at) {
    samples[at] = Math.floor((samples[at] * white + 127) / 255);
  }
}

/**
 * Returns samples as the bytes that checksums are of: two bytes, big-endian, above 8 bits.
 * @param {Plane} samples
 */
export function bytesOf(samples) {
  if (samples instanceof Uint8Array) return samples;
  const bytes = new Uint8Array(2 * samples.length);
  for (let at = 0; at < samples.length; ++at) {
    bytes[2 * at] = samples[at] >> 8;
    bytes[2 * at + 1] = samples[at];
  }
  return bytes;
}
