// Decoded tiles of a picture: those that were used last, and those that are being decoded.

/** @typedef {import("./tile_decoder.js").DecodedTile} DecodedTile */

/** Most bytes of samples that are kept; the newest tile always stays. */
const MOST_KEPT = 2 ** 26;

/** Lets regions share tiles: a region also needs the tiles beside it, for their borders. */
export class TileStore {
  constructor() {
    /** @type {Map<number, DecodedTile>} */
    this.kept = new Map();
    this.size = 0;
    /** @type {Map<number, { users: number, control: AbortController,
     *                       result: Promise<DecodedTile> }>} */
    this.running = new Map();
  }

  /**
   * Returns whether a tile is kept, or is being decoded.
   * @param {number} number
   */
  has(number) {
    return this.kept.has(number) || this.running.has(number);
  }

  /**
   * Returns a tile. It is decoded if it is neither kept nor being decoded.
   * @param {number} number
   * @param {(signal: AbortSignal) => Promise<DecodedTile>} decode
   * @param {AbortSignal} [signal]
   */
  async tile(number, decode, signal) {
    const kept = this.kept.get(number);
    if (kept) {
      this.kept.delete(number);
      this.kept.set(number, kept);
      return kept;
    }
    const job = this.running.get(number) ?? this.#started(number, decode);
    ++job.users;
    try {
      return await untilAborted(job.result, signal);
    } finally {
      if (--job.users === 0 && this.running.get(number) === job) {
        this.running.delete(number);
        job.control.abort(signal?.reason);
      }
    }
  }

  /**
   * @param {number} number
   * @param {(signal: AbortSignal) => Promise<DecodedTile>} decode
   */
  #started(number, decode) {
    const control = new AbortController();
    const job = { users: 0, control, result: decode(control.signal) };
    this.running.set(number, job);
    const end = () => {
      if (this.running.get(number) === job) this.running.delete(number);
    };
    job.result.then((tile) => {
      end();
      this.#keep(number, tile);
    }, end);
    return job;
  }

  /**
   * @param {number} number
   * @param {DecodedTile} tile
   */
  #keep(number, tile) {
    if (this.kept.has(number)) return;
    this.kept.set(number, tile);
    this.size += tile.samples.byteLength;
    for (const [oldest, { samples }] of this.kept) {
      if (this.size <= MOST_KEPT || this.kept.size === 1) break;
      this.kept.delete(oldest);
      this.size -= samples.byteLength;
    }
  }
}

/**
 * Returns the result of a promise, or throws the reason of a signal that is aborted before.
 * @template T
 * @param {Promise<T>} result
 * @param {AbortSignal} [signal]
 * @returns {Promise<T>}
 */
function untilAborted(result, signal) {
  if (!signal) return result;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    const end = () => signal.removeEventListener("abort", stop);
    signal.addEventListener("abort", stop);
    result.then(resolve, reject).then(end, end);
  });
}
