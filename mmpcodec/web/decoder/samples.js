// Samples of a picture.

/**
 * The samples of a pixel side by side: bytes up to 8 bits.
 * @typedef {Uint8Array | Uint16Array} Samples
 */

/**
 * Returns new samples of a depth.
 * @param {number} depth
 * @param {number} count
 * @returns {Samples}
 */
export const newSamples = (depth, count) =>
  depth <= 8 ? new Uint8Array(count) : new Uint16Array(count);
