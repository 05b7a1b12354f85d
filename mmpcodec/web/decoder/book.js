// A file of several pictures: its index, and the pictures that are opened.
import { Chain } from "./chain.js";
import { BadMagic, CorruptStream, FormatError, LimitExceeded, ParameterError, SourceError } from "./errors.js";
import {
  COLLECTIONS,
  END_BYTES,
  MOST_HEAD,
  chainOf,
  indexBytes,
  isCollection,
  readIndex,
  readRecord,
  readSharedMetadata,
} from "./format/collection.js";
import { joinedMetadata } from "./format/metadata.js";
import { checkedLimits } from "./limits.js";
import { Picture, headerOf } from "./picture.js";
import { FIRST_READ, HttpSource, PartSource, sourceOf } from "./source.js";

/** @typedef {import("./format/collection.js").Contents} Contents */
/** @typedef {import("./format/collection.js").Entry} Entry */
/** @typedef {import("./pool.js").Pool} Pool */
/** @typedef {import("./picture.js").Options} Options */

/** Bytes of the end that are fetched at first; the index of a thousand pages fits. */
const LAST_READ = 1 << 16;
/** Bytes of memory for each byte of a metadata record. */
const MEMORY_OF_METADATA = 3;
const NANOMETRES = 1e6;

/**
 * Reads the index that ends at byte `total`.
 * @param {ReturnType<typeof sourceOf>} source
 * @param {number} total
 * @param {number} most
 * @param {AbortSignal} [signal]
 */
async function indexBefore(source, total, most, signal) {
  const first = Math.max(0, total - LAST_READ);
  const end = await source.read(first, total, signal);
  const size = indexBytes(end, total, most);
  const whole = size <= end.length ? end.slice(-size) : await source.read(total - size, total, signal);
  return readIndex(whole, total, most);
}

/**
 * Returns where the last index ends, if only whole records and a part of one follow: a writer was
 * stopped while it appended. The answer is 0 otherwise.
 * @param {ReturnType<typeof sourceOf>} source
 * @param {AbortSignal} [signal]
 */
async function endOfOldIndex(source, signal) {
  let end = 0;
  for (let place = END_BYTES - 3; place < source.size; ) {
    const head = await source.read(place, place + MOST_HEAD, signal);
    try {
      const record = readRecord(head, place, source.size);
      place = record.place + record.size;
      if (record.isIndex) end = place;
    } catch (error) {
      if (error instanceof FormatError && error.name === "TruncatedStream") break;
      return 0;
    }
  }
  return end === source.size ? 0 : end;
}

/**
 * @param {ReturnType<typeof sourceOf>} source
 * @param {number} most
 * @param {AbortSignal} [signal]
 * @returns {Promise<Contents>}
 */
async function contentsOf(source, most, signal) {
  if (source.size === Infinity) {
    const says = "the size of a file of several pictures must be known: the server must send";
    const url = /** @type {HttpSource} */ (source).url;
    throw new SourceError(`${url}: ${says} Access-Control-Expose-Headers: Content-Range`);
  }
  try {
    return await indexBefore(source, source.size, most, signal);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    // Of a server, the records are not read one after the other.
    const fetches = source instanceof HttpSource && !source.isWhole;
    const end = fetches || error instanceof LimitExceeded ? 0 : await endOfOldIndex(source, signal);
    if (!end) throw error;
    return indexBefore(source, end, most, signal);
  }
}

/** The pictures of a file, of which each can be opened. */
export class Book {
  /**
   * @param {ReturnType<typeof sourceOf>} source
   * @param {Uint8Array} first bytes of the file that are known
   * @param {Contents | null} contents null for a file of one picture
   * @param {() => Promise<Pool>} pool
   * @param {Options} options
   */
  constructor(source, first, contents, pool, options) {
    this.source = source;
    this.first = first;
    this.contents = contents;
    this.pool = pool;
    this.options = options;
    /** How often frames are shown, one after the other; 0 for without end. */
    this.loops = contents?.loops ?? 0;
    const entries = contents?.entries ?? [];
    const all = entries.map((entry) => {
      const { role, facts, form, depth, width, height, name, continues, saved } = entry;
      return {
        ...{ role, form, depth, width, height, name, continues, saved },
        duration: role === "frame" ? facts[0] / facts[1] : null,
        position: role === "slice" ? facts[0] / NANOMETRES : null,
        /** @type {any[]} */
        renditions: [],
      };
    });
    entries.forEach(({ of }, number) => of !== null && all[of].renditions.push(all[number]));
    this.all = all;
    /** The pages, frames or slices, in the order of the file. */
    this.pages = all.filter((_, number) => entries[number].of === null);
  }

  /** Bytes that were fetched from a server, and the number of requests. */
  get traffic() {
    return { bytes: this.source.fetched, requests: this.source.requests };
  }

  /**
   * Opens a picture: by its number, from 1, or one of `pages` or of their `renditions`.
   * @param {number | object} [which]
   * @param {{ signal?: AbortSignal }} [options]
   */
  async open(which, options = {}) {
    const { contents, source, pool } = this;
    const { signal } = options;
    const count = contents ? this.pages.length : 1;
    if (typeof which === "object" && contents) {
      const number = this.all.indexOf(/** @type {any} */ (which));
      if (number < 0) throw new ParameterError("picture: must be one of pages or their renditions");
      return this.#opened(contents, contents.entries[number], signal);
    }
    const number = checkedPage(which, count);
    if (contents) {
      const entry = contents.entries[this.all.indexOf(this.pages[number - 1])];
      return this.#opened(contents, entry, signal);
    }
    return new Picture(source, await headerOf(source, signal, this.first), pool, this.options);
  }

  /**
   * @param {Contents} contents
   * @param {Entry} entry
   * @param {AbortSignal} [signal]
   */
  async #opened(contents, entry, signal) {
    const { source, pool, options } = this;
    const part = new PartSource(source, entry);
    const within = (/** @type {FormatError} */ error) => {
      // The file is an mmp file, and damaged.
      const damage = error instanceof BadMagic;
      const { section, problem, offset } = error;
      const own = damage ? new CorruptStream(section, problem, offset) : error;
      return own.within(entry.name, entry.place);
    };
    let header;
    try {
      header = await headerOf(part, signal);
    } catch (error) {
      throw error instanceof FormatError ? within(error) : error;
    }
    try {
      const metadata = await this.#metadata(contents, entry, header, signal);
      const earlier = chainOf(contents.entries, entry);
      const chain = earlier.length ? new Chain(source, earlier, entry.place) : null;
      return new Picture(part, { ...header, metadata }, pool, options, within, chain);
    } catch (error) {
      throw error instanceof FormatError ? error.within(entry.name) : error;
    }
  }

  /**
   * Returns the metadata of a picture with those that it shares.
   * @param {Contents} contents
   * @param {Entry} entry
   * @param {import("./picture.js").Header} header
   * @param {AbortSignal} [signal]
   */
  async #metadata(contents, entry, header, signal) {
    const parts = entry.shared.map((number) => contents.metadata[number]);
    const needed = MEMORY_OF_METADATA * parts.reduce((sum, { size }) => sum + size, 0);
    const { maxMemory } = checkedLimits(this.options.limits);
    if (needed > maxMemory) {
      const says = `shared metadata can take ${needed} bytes of memory, the limit is ${maxMemory}`;
      throw new LimitExceeded(COLLECTIONS, `${says}; limits.maxMemory raises it`);
    }
    const { width, height, form, depth } = header;
    if (![[width, entry.width], [height, entry.height], [form, entry.form], [depth, entry.depth]]
      .every(([one, other]) => one === other)) {
      const inIndex = `${entry.width}x${entry.height} pixels of ${entry.form} of ${entry.depth}`;
      const found = `${width}x${height} of ${form} of ${depth} bits`;
      const says = `the index has ${inIndex} bits, the picture ${found}`;
      throw new CorruptStream(COLLECTIONS, says, entry.place);
    }
    let { metadata } = header;
    for (const { place, size } of parts) {
      const known = place + size <= this.first.length;
      const body = known
        ? this.first.slice(place, place + size)
        : await this.source.read(place, place + size, signal);
      metadata = joinedMetadata(metadata, readSharedMetadata(body, place, depth), place);
    }
    return metadata;
  }
}

/**
 * Returns the number of a picture, from 1.
 * @param {any} page
 * @param {number} count
 */
function checkedPage(page, count) {
  if (!count) throw new ParameterError("the file holds no pictures");
  if (page === undefined && count > 1) {
    throw new ParameterError(`the file holds ${count} pictures; page opens one, 1 to ${count}`);
  }
  const number = page ?? 1;
  if (Number.isInteger(number) && number >= 1 && number <= count) return number;
  throw new ParameterError(`page = ${page}: must be an integer from 1 to ${count}`);
}

/**
 * Reads the index of a file of several pictures; a file of one picture is a book of one.
 * @param {Parameters<typeof sourceOf>[0]} file
 * @param {() => Promise<Pool>} pool
 * @param {Options} [options]
 */
export async function openBook(file, pool, options = {}) {
  const source = sourceOf(file, options.requestInit);
  const { maxPictures } = checkedLimits(options.limits);
  const first = await source.read(0, FIRST_READ, options.signal);
  const several = isCollection(first);
  const contents = several ? await contentsOf(source, maxPictures, options.signal) : null;
  return new Book(source, first, contents, pool, options);
}

/**
 * Opens a picture of a file.
 * @param {Parameters<typeof sourceOf>[0]} file
 * @param {() => Promise<Pool>} pool
 * @param {Options & { page?: number }} [options]
 */
export async function openPicture(file, pool, options = {}) {
  const book = await openBook(file, pool, options);
  return book.open(options.page, options);
}
