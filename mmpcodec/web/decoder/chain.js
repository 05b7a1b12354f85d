// Pages of two values that continue one another. Source: sections "Collections" and "Two values" of
// docs/format/format.md.
//
// No state of a decoder is kept from one page for the next: each page that is decoded fetches all
// pages of its chain before it, and decodes them again. A worker could keep some megabytes of
// models, but pages are shown in any order, by any worker.
import { CorruptStream, FormatError } from "./errors.js";
import { COLLECTIONS } from "./format/collection.js";
import { contextOf, readHeader } from "./format/container.js";
import { readTile } from "./format/layers.js";
import { LOSSLESS } from "./format/tools.js";
import { together } from "./source.js";

/** @typedef {import("./format/collection.js").Entry} Entry */
/** @typedef {import("./format/container.js").Header} Header */
/** @typedef {import("./format/layers.js").TileStream} TileStream */
/** @typedef {import("./format/tools.js").ToolValues} ToolValues */
/**
 * A page before the one to decode: its only tile.
 * @typedef {object} ChainPage
 * @property {{ x: number, y: number, width: number, height: number, number: number }} tile
 * @property {TileStream} stream
 * @property {string} damage begins the text of its errors
 */
/**
 * A page before the one to decode, as a worker gets it.
 * @typedef {object} EarlierPlane
 * @property {number} width
 * @property {number} height
 * @property {number} depth
 * @property {ToolValues} tools
 * @property {number} start of its payload in the data of the task
 * @property {number} end
 * @property {string} damage
 */

/** The pages of a file that a page continues. */
export class Chain {
  /**
   * @param {import("./source.js").BytesSource} source the file of several pictures
   * @param {Entry[]} entries the pages, the first one first; at least one
   * @param {number} place of the page that continues them
   */
  constructor(source, entries, place) {
    this.source = source;
    this.entries = entries;
    this.place = place;
  }

  /**
   * Fetches and checks the pages.
   * @param {AbortSignal} [signal]
   * @returns {Promise<ChainPage[]>}
   */
  async pages(signal) {
    const spans = this.entries.map((entry) => {
      const { place, size } = entry;
      return { entry, start: place, end: place + size };
    });
    /** @type {ChainPage[]} */
    const pages = [];
    for (const { start, end, spans: own } of together(spans)) {
      const data = await this.source.read(start, end, signal);
      for (const each of own) {
        const file = data.subarray(each.start - start, each.end - start);
        pages.push(this.#page(each.entry, file, pages[0]?.stream));
      }
    }
    return pages;
  }

  /**
   * Reads the file of a page.
   * @param {Entry} entry
   * @param {Uint8Array} data
   * @param {TileStream} [first]
   * @returns {ChainPage}
   */
  #page({ name, place }, data, first) {
    const damage = `${name}, which it continues`;
    try {
      const header = readHeader(data);
      checkHeader(header);
      const [start, end] = header.tileOffsets;
      const stream = readTile(data.subarray(start, end), start, contextOf(header));
      checkStream(stream, first);
      const { width, height } = header;
      return { tile: { x: 0, y: 0, width, height, number: 0 }, stream, damage };
    } catch (error) {
      throw error instanceof FormatError ? error.within(damage, place - this.place) : error;
    }
  }
}

/**
 * Throws if a picture cannot be a page of a chain.
 * @param {Header} header
 */
export function checkHeader({ planes, tileCount, depth, levelDepth }) {
  if (planes === 1 && tileCount === 1 && depth === levelDepth) return;
  const says = "a page of a chain must be gray, one tile, and without level bits";
  throw new CorruptStream(COLLECTIONS, says);
}

/**
 * Throws if a tile cannot be the only one of a page of a chain.
 * @param {TileStream} stream
 * @param {TileStream} [first] that of the first page of the chain
 */
export function checkStream({ palette, layers: [layer] }, first) {
  if (palette || layer?.coding !== LOSSLESS || layer.tools.max_error) {
    const says = "a page of a chain must be one layer of lossless samples without an error";
    throw new CorruptStream(COLLECTIONS, says);
  }
  if (first && first.layers[0].tools.lossless_form !== layer.tools.lossless_form) {
    const says = "the tools differ from those of the page that it continues";
    throw new CorruptStream(COLLECTIONS, says);
  }
}

/**
 * Returns a copy of the bytes of a tile, which the payloads of earlier pages follow, and where
 * these are.
 * @param {Uint8Array} data
 * @param {ChainPage[]} pages
 */
export function withEarlier(data, pages) {
  let end = data.length;
  /** @type {EarlierPlane[]} */
  const earlier = pages.map(({ tile, stream, damage }) => {
    const [{ depth, tools, payload }] = stream.layers;
    const start = end;
    end += payload.length;
    return { width: tile.width, height: tile.height, depth, tools, start, end, damage };
  });
  const all = new Uint8Array(end);
  all.set(data);
  earlier.forEach(({ start }, number) => all.set(pages[number].stream.layers[0].payload, start));
  return { data: all, size: data.length, earlier };
}
