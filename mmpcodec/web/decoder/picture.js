// A picture whose header is read: which tiles a region needs, their bytes, and their samples.
import { filterBorders, joinedArea, readArea } from "./border.js";
import { checkHeader, checkStream, withEarlier } from "./chain.js";
import { FormatError, ParameterError, TruncatedStream } from "./errors.js";
import { checkSize, checkTrailer, contextOf, cutAt, readHeader } from "./format/container.js";
import { jpegIn, placeOfJpeg } from "./format/jpeg.js";
import { metadataOfJpeg } from "./format/jpeg_file.js";
import { readTile } from "./format/layers.js";
import { isBare } from "./format/metadata.js";
import { across, areaText, checkedRegion, copyTile, tilesTouching } from "./format/tiles.js";
import { checkArea, checkMemory, checkSeconds, checkedLimits } from "./limits.js";
import { newSamples } from "./samples.js";
import { FIRST_READ, merged } from "./source.js";
import { TileStore } from "./tile_store.js";

/** @typedef {import("./format/tiles.js").Area} Area */
/** @typedef {import("./format/container.js").Header} Header */
/** @typedef {import("./chain.js").Chain} Chain */
/** @typedef {import("./pool.js").Pool} Pool */
/** @typedef {import("./source.js").BytesSource | import("./source.js").PartSource} Source */
/** @typedef {{ signal?: AbortSignal, limits?: Partial<import("./limits.js").Limits>,
 *              requestInit?: RequestInit }} Options */

/** @typedef {import("./format/layers.js").TileStream} TileStream */
/**
 * The bytes of a tile, and what is read of them without decoding.
 * @typedef {object} Part
 * @property {import("./format/tiles.js").Tile} tile
 * @property {Uint8Array} data
 * @property {number} offset of the tile in the file
 * @property {TileStream} stream
 * @property {import("./chain.js").ChainPage[]} earlier
 */

/** Requests of one region that are under way at the same time. */
const MOST_REQUESTS = 6;

/**
 * Calls `work` for each item, `many` at a time. After an error no further ones begin; then the
 * error of the first item that has one is thrown, whatever the order in which they end.
 * @template Item, Result
 * @param {Item[]} items
 * @param {number} atOnce
 * @param {(item: Item) => Promise<Result>} work
 * @returns {Promise<Result[]>}
 */
async function eachOf(items, atOnce, work) {
  /** @type {Result[]} */
  const results = new Array(items.length);
  /** @type {Map<number, unknown>} */
  const errors = new Map();
  let next = 0;
  const serve = async () => {
    while (next < items.length && !errors.size) {
      const own = next++;
      try {
        results[own] = await work(items[own]);
      } catch (error) {
        errors.set(own, error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, serve));
  if (errors.size) throw errors.get(Math.min(...errors.keys()));
  return results;
}

/** A picture of which parts can be decoded. */
export class Picture {
  /**
   * @param {Source} source
   * @param {Header} header
   * @param {() => Promise<Pool>} pool
   * @param {Options} options
   * @param {(error: FormatError) => FormatError} [within] names the page of a file of several
   * @param {Chain | null} [chain] the pages that this one continues
   */
  constructor(source, header, pool, options, within = (error) => error, chain = null) {
    this.within = within;
    this.chain = chain;
    this.header = header;
    this.source = source;
    this.pool = pool;
    this.limits = checkedLimits(options.limits);
    this.store = new TileStore();
    /** @type {Part | null} The only tile, if it keeps a JPEG file and was fetched. */
    this.kept = null;
    /** @type {Header["metadata"] | null} */
    this.ofJpeg = null;
  }

  get width() {
    return this.header.width;
  }

  get height() {
    return this.header.height;
  }

  /** Bytes that were fetched from a server, and the number of requests. */
  get traffic() {
    return { bytes: this.source.fetched, requests: this.source.requests };
  }

  /**
   * Returns the tiles that a region touches: place, size and number.
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   */
  tilesTouching(x, y, width, height) {
    return tilesTouching(checkedRegion([x, y, width, height], this.header), this.header);
  }

  /**
   * Decodes a region.
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   * @param {{ signal?: AbortSignal }} [options]
   */
  async region(x, y, width, height, options = {}) {
    const area = checkedRegion([x, y, width, height], this.header);
    return this.#inFile(() => this.#decoded(area, false, options.signal));
  }

  /**
   * Decodes a tile.
   * @param {number} number place in raster order, from 0
   * @param {{ signal?: AbortSignal }} [options]
   */
  async tile(number, options = {}) {
    const { header } = this;
    if (!Number.isInteger(number) || number < 0 || number >= header.tileCount) {
      throw new ParameterError(`tile = ${number}: must be 0 to ${header.tileCount - 1}`);
    }
    const side = header.tileSize;
    const along = across(header.width, side);
    const at = { x: (number % along) * side, y: Math.floor(number / along) * side };
    const [tile] = tilesTouching({ ...at, width: 1, height: 1 }, header);
    return this.#inFile(() => this.#decoded(tile, false, options.signal));
  }

  /**
   * Decodes the whole picture.
   * @param {{ signal?: AbortSignal }} [options]
   */
  async decode(options = {}) {
    return this.#inFile(() => this.#whole(options));
  }

  /**
   * Returns the JPEG file that the picture keeps, bit for bit; null if it keeps none.
   * @param {{ signal?: AbortSignal }} [options]
   */
  async jpegFile({ signal } = {}) {
    return this.#inFile(async () => {
      await this.#checkEnd(signal);
      return this.#jpegBytes("file", signal);
    });
  }

  /**
   * Returns the metadata; of a kept JPEG file, if the header has none, those that this file has.
   * @param {{ signal?: AbortSignal }} [options]
   */
  async metadata({ signal } = {}) {
    const { metadata, jpeg, planes } = this.header;
    if (!jpeg || !isBare(metadata)) return metadata;
    try {
      this.ofJpeg ??= metadataOfJpeg(await this.#jpegBytes("front", signal), metadata, planes);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      return metadata; // decoding says what is wrong
    }
    return this.ofJpeg;
  }

  /**
   * Calls `work`; its errors name the page of a file of several.
   * @template T
   * @param {() => Promise<T>} work
   */
  async #inFile(work) {
    try {
      return await work();
    } catch (error) {
      throw error instanceof FormatError ? this.within(error) : error;
    }
  }

  /** @param {{ signal?: AbortSignal }} options */
  async #whole(options) {
    await this.#checkEnd(options.signal);
    const { width, height } = this.header;
    return this.#decoded({ x: 0, y: 0, width, height }, true, options.signal);
  }

  /**
   * Checks that the file ends with the picture.
   * @param {AbortSignal} [signal]
   */
  async #checkEnd(signal) {
    const { header, source } = this;
    if (source.size !== Infinity) checkSize(header, source.size);
    const last = header.tileOffsets[header.tileCount];
    const end = await source.read(last, last + header.trailer.length, signal);
    checkTrailer(header, end, source.size);
  }

  /**
   * Returns bytes of the kept JPEG file: all, or those up to its samples. Empty or null if there
   * is none.
   * @param {"file" | "front"} wanted
   * @param {AbortSignal} [signal]
   */
  async #jpegBytes(wanted, signal) {
    const { header, limits } = this;
    if (!header.jpeg) return null;
    const { width, height, levelDepth, planes } = header;
    const tile = { x: 0, y: 0, width, height, number: 0 };
    const [part] = await this.#fetched([tile], signal);
    checkMemory([part], levelDepth, planes, 0, 1, limits);
    checkSeconds([part], planes, limits);
    const decoded = await (await this.pool()).run(this.#task(part, wanted), signal);
    return /** @type {Uint8Array} */ (decoded.samples);
  }

  /**
   * @param {Part} part
   * @param {import("./pool.js").TileTask["wanted"]} [wanted]
   */
  #task({ tile, data, earlier, offset }, wanted) {
    const { header, limits: { maxMemory } } = this;
    const own = { context: contextOf(header), tile, offset, maxMemory, wanted };
    return { ...own, ...withEarlier(data, earlier) };
  }

  /**
   * @param {Area} area
   * @param {boolean} whole
   * @param {AbortSignal} [signal]
   */
  async #decoded(area, whole, signal) {
    signal?.throwIfAborted();
    const { header, limits, chain } = this;
    const { planes, depth, form } = header;
    const read = readArea(area, header);
    const padded = checkArea(header, area, read, whole, limits);
    const wanted = tilesTouching(read, header);
    const missing = wanted.filter(({ number }) => !this.store.has(number));
    const starting = this.pool();
    starting.then((pool) => pool.prepare(missing.length), () => {}); // while bytes are fetched
    const parts = await this.#fetched(missing, signal);
    const pool = await starting;
    const earlier = parts.flatMap((part) => part.earlier);
    const { levelDepth } = header;
    const atOnce = checkMemory(parts, levelDepth, planes, padded, pool.atOnce, limits, earlier);
    checkSeconds([...parts, ...earlier], planes, limits);
    const joined = joinedArea(area, header);
    let samples = newSamples(depth, joined.width * joined.height * planes);
    /** @type {Map<number, typeof parts[0]>} */
    const byNumber = new Map(parts.map((part) => [part.tile.number, part]));
    /** @type {{ tile: import("./format/tiles.js").Tile, fixed: import("./border.js").Fixed }[]} */
    const found = [];
    await eachOf(wanted, atOnce, async (tile) => {
      const run = async (/** @type {AbortSignal | undefined} */ own) => {
        const part = byNumber.get(tile.number) ?? (await this.#fetched([tile], own))[0];
        return this.#named(tile, () => pool.run(this.#task(part), own));
      };
      // A chain or a JPEG file takes long, and the regions of a page share its only tile.
      const decoded = await (header.borderStep || chain || header.jpeg
        ? this.store.tile(tile.number, run, signal)
        : run(signal));
      copyTile(samples, joined, decoded.samples, tile, planes);
      found.push({ tile, fixed: decoded.fixed });
    });
    filterBorders(samples, joined, header, found);
    if (joined.width > area.width || joined.height > area.height) {
      const part = newSamples(depth, area.width * area.height * planes);
      copyTile(part, area, samples, { ...joined, number: 0 }, planes);
      samples = part;
    }
    if (header.first) samples.forEach((level, at) => (samples[at] = level + header.first));
    const { width, height } = area;
    const metadata = await this.metadata({ signal });
    return { width, height, form, planes, depth, samples, metadata };
  }

  /**
   * Fetches the bytes of tiles, and the pages that these continue, and reads what needs no
   * decoding.
   * @param {import("./format/tiles.js").Tile[]} tiles
   * @param {AbortSignal} [signal]
   * @returns {Promise<Part[]>}
   */
  async #fetched(tiles, signal) {
    if (this.kept) return tiles.length ? [this.kept] : [];
    const { tileOffsets } = this.header;
    const context = contextOf(this.header);
    const spans = tiles.map((tile) => ({
      tile,
      start: tileOffsets[tile.number],
      end: tileOffsets[tile.number + 1],
    }));
    const groups = await eachOf(merged(spans), MOST_REQUESTS, async (group) => ({
      ...group,
      data: await this.source.read(group.start, group.end, signal),
    }));
    const parts = groups.flatMap(({ start, data, spans: own }) =>
      own.map((span) => ({ ...span, data: data.subarray(span.start - start, span.end - start) })),
    );
    const { chain } = this;
    return eachOf(parts, 1, ({ tile, start, end, data }) =>
      this.#named(tile, async () => {
        if (end > this.source.size) throw cutAt(this.source.size, end);
        if (data.length < end - start) throw cutAt(start + data.length, end);
        const stream = readTile(data, start, context);
        if (!chain) {
          const part = { tile, data, offset: start, stream, earlier: [] };
          if (stream.jpeg) this.kept = part;
          return part;
        }
        checkHeader(this.header);
        const earlier = await chain.pages(signal);
        checkStream(stream, earlier[0].stream);
        return { tile, data, offset: start, stream, earlier };
      }),
    );
  }

  /**
   * Calls `work`; its errors name the tile if the picture has several.
   * @template T
   * @param {import("./format/tiles.js").Tile} tile
   * @param {() => Promise<T>} work
   */
  async #named(tile, work) {
    try {
      return await work();
    } catch (error) {
      if (this.header.tileCount === 1 || !(error instanceof FormatError)) throw error;
      throw error.within(`tile ${tile.number}, ${areaText(tile)}`);
    }
  }
}

/**
 * Reads the header from as few bytes of a file as it needs.
 * @param {Source} source
 * @param {AbortSignal} [signal]
 * @param {Uint8Array} [first] the first bytes, if they are known
 */
export async function headerOf(source, signal, first) {
  for (let size = FIRST_READ; ; size *= 8) {
    const known = size === FIRST_READ && first;
    const data = known || (await source.read(0, size, signal));
    const isAll = data.length < size || data.length >= source.size;
    try {
      const header = readHeader(data, isAll ? data.length : source.size);
      return { ...header, jpeg: await jpegOf(header, source, data, signal) };
    } catch (error) {
      if (isAll || !(error instanceof TruncatedStream)) throw error;
    }
  }
}

/**
 * Returns form and size of the JPEG file that a picture keeps; null if it keeps none.
 * @param {Header} header
 * @param {Source} source
 * @param {Uint8Array} known first bytes
 * @param {AbortSignal} [signal]
 */
async function jpegOf(header, source, known, signal) {
  const place = placeOfJpeg(header);
  if (!place) return null;
  const { start, end } = place;
  const isKnown = end <= known.length || known.length >= source.size;
  return jpegIn(isKnown ? known.subarray(start, end) : await source.read(start, end, signal));
}
