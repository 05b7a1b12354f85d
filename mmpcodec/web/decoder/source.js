// The bytes of a file: in memory, of a File, or of a server, of which parts are fetched.
import { ParameterError, SourceError } from "./errors.js";

/** Bytes that are fetched of a file at first; its header is rarely longer. */
export const FIRST_READ = 1 << 16;
/** Bytes that are fetched of a picture among several at first. */
const AHEAD = 1 << 20;
/** Most bytes between two parts of a file that are fetched together. */
const MOST_GAP = 4096;
/** A request asks for no more, unless one tile or page has more. */
const MOST_REQUEST = 8 << 20;
/** Bytes of the longest text of a server that an error says. */
const MOST_TEXT = 1000;

/** A file in memory. */
export class BytesSource {
  /** @param {Uint8Array} data */
  constructor(data) {
    this.data = data;
    this.size = data.length;
    this.fetched = 0;
    this.requests = 0;
  }

  /**
   * Returns the bytes from `start` to `end - 1`, fewer at the end of the file.
   * @param {number} start
   * @param {number} end
   * @param {AbortSignal} [_] for requests
   */
  async read(start, end, _) {
    return this.data.subarray(start, end);
  }
}

/** A File or Blob. */
export class BlobSource extends BytesSource {
  /** @param {Blob} blob */
  constructor(blob) {
    super(new Uint8Array(0));
    this.blob = blob;
    this.size = blob.size;
  }

  /**
   * @param {number} start
   * @param {number} end
   */
  async read(start, end) {
    return new Uint8Array(await this.blob.slice(start, end).arrayBuffer());
  }
}

/**
 * Returns why a request failed; Node says it in the cause of the error.
 * @param {any} error
 */
function reasonOf({ message, cause }) {
  const more = cause?.message || cause?.code;
  return more ? `${message}: ${more}` : message;
}

/**
 * Returns a plain text that a server sends with an error, if it is short; "" else.
 * @param {Response} response
 */
async function textOf(response) {
  const size = Number(response.headers.get("Content-Length") ?? Infinity);
  if (size <= MOST_TEXT && response.headers.get("Content-Type")?.startsWith("text/plain")) {
    return response.text();
  }
  await response.body?.cancel();
  return "";
}

/** A file of a server; what a first request has of a small file is kept. One that ignores ranges
sends the whole file, which is then kept. */
export class HttpSource extends BytesSource {
  /**
   * @param {string} url
   * @param {RequestInit} init
   */
  constructor(url, init) {
    super(new Uint8Array(0));
    this.url = url;
    this.init = init;
    this.size = Infinity; // until a server says it
    this.isWhole = false;
    /** @type {string | null} */
    this.version = null;
    this.known = false;
  }

  /**
   * @param {number} start
   * @param {number} end
   * @param {AbortSignal} [signal]
   */
  async read(start, end, signal) {
    if (this.isWhole) return this.data.subarray(start, end);
    const last = Math.min(end, this.size) - 1;
    if (last < start) return new Uint8Array(0);
    const headers = new Headers(this.init.headers);
    headers.set("Range", `bytes=${start}-${last}`);
    let response;
    let bytes;
    try {
      response = await fetch(this.url, { ...this.init, headers, signal });
      await this.#check(response);
      bytes = new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof SourceError) throw error;
      throw new SourceError(`${this.url}: ${reasonOf(error)}`);
    }
    ++this.requests;
    this.fetched += bytes.length;
    if (response.status === 416) {
      if (start === 0) this.size = 0;
      return new Uint8Array(0);
    }
    if (response.status === 200) {
      [this.data, this.size, this.isWhole] = [bytes, bytes.length, true];
      return bytes.subarray(start, end);
    }
    this.#learnSize(response, start, last, bytes);
    if (start === 0 && bytes.length === this.size) [this.data, this.isWhole] = [bytes, true];
    return bytes;
  }

  /** @param {Response} response */
  async #check(response) {
    const { status } = response;
    if (![200, 206, 416].includes(status)) {
      const said = await textOf(response);
      const says = `the server answered ${status} ${response.statusText}${said && `: ${said}`}`;
      throw new SourceError(`${this.url}: ${says}`);
    }
    const version = response.headers.get("ETag") ?? response.headers.get("Last-Modified");
    if (this.known && status !== 416 && version !== this.version) {
      throw new SourceError(`${this.url}: the file changed on the server; open it again`);
    }
    if (status !== 416) [this.version, this.known] = [version, true];
  }

  /**
   * Learns the size of the file; a server of another origin may hide it.
   * @param {Response} response
   * @param {number} start
   * @param {number} last
   * @param {Uint8Array} bytes
   */
  #learnSize(response, start, last, bytes) {
    const range = response.headers.get("Content-Range");
    const said = range?.match(/^bytes (\d+)-(\d+)\/(\d+|\*)$/);
    if (range && (!said || Number(said[1]) !== start || Number(said[2]) > last)) {
      throw new SourceError(`${this.url}: the server sent the range ${range}, not ${start}-${last}`);
    }
    if (bytes.length > last - start + 1) {
      throw new SourceError(`${this.url}: the server sent more bytes than were asked for`);
    }
    if (said && said[3] !== "*") this.size = Number(said[3]);
    else if (bytes.length < last - start + 1) this.size = start + bytes.length;
  }
}

/**
 * Returns the source of what a caller gives.
 * @param {string | URL | Blob | ArrayBuffer | ArrayBufferView} given
 * @param {RequestInit} [init] of requests
 */
export function sourceOf(given, init = {}) {
  if (typeof given === "string" || given instanceof URL) return new HttpSource(String(given), init);
  if (typeof Blob === "function" && given instanceof Blob) return new BlobSource(given);
  if (ArrayBuffer.isView(given)) {
    return new BytesSource(new Uint8Array(given.buffer, given.byteOffset, given.byteLength));
  }
  if (given instanceof ArrayBuffer) return new BytesSource(new Uint8Array(given));
  throw new ParameterError("file: must be bytes, a File or Blob, or a URL");
}

/** A part of a file, whose beginning is kept: of a server, a request takes long. */
export class PartSource {
  /**
   * @param {BytesSource} source
   * @param {{ place: number, size: number }} part
   */
  constructor(source, { place, size }) {
    this.source = source;
    this.place = place;
    this.size = size;
    this.first = new Uint8Array(0);
  }

  get fetched() {
    return this.source.fetched;
  }

  get requests() {
    return this.source.requests;
  }

  /**
   * @param {number} start
   * @param {number} end
   * @param {AbortSignal} [signal]
   */
  async read(start, end, signal) {
    const last = Math.min(end, this.size);
    if (last <= start) return new Uint8Array(0);
    if (last > this.first.length && start === 0 && this.source instanceof HttpSource) {
      const ahead = Math.max(last, Math.min(this.size, AHEAD));
      this.first = await this.source.read(this.place, this.place + ahead, signal);
    }
    if (last <= this.first.length) return this.first.slice(start, last);
    return this.source.read(this.place + start, this.place + last, signal);
  }
}

/**
 * Groups the files of pages: all are fetched at once, with what lies between them, if these are not
 * too many bytes.
 * @template {{ start: number, end: number }} Span
 * @param {Span[]} spans in ascending order
 */
export function together(spans) {
  const [start, end] = [spans[0].start, spans[spans.length - 1].end];
  return end - start <= MOST_REQUEST ? [{ start, end, spans }] : merged(spans);
}

/**
 * Groups tiles whose bytes lie beside each other, or nearly.
 * @template {{ start: number, end: number }} Span
 * @param {Span[]} spans in ascending order
 * @returns {{ start: number, end: number, spans: Span[] }[]}
 */
export function merged(spans) {
  /** @type {{ start: number, end: number, spans: Span[] }[]} */
  const found = [];
  for (const span of spans) {
    const last = found.at(-1);
    if (last && span.start - last.end <= MOST_GAP && span.end - last.start <= MOST_REQUEST) {
      last.end = span.end;
      last.spans.push(span);
    } else {
      found.push({ start: span.start, end: span.end, spans: [span] });
    }
  }
  return found;
}
