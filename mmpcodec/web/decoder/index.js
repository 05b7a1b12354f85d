// Decoder of mmp files for browsers and Node: see README.md beside this folder, and index.d.ts.
import { openBook as bookOf, openPicture } from "./book.js";
import { DecoderFault, ParameterError } from "./errors.js";
import { PROCESSORS, Pool } from "./pool.js";
import { compiled } from "./wasm.js";

export {
  BadMagic,
  CorruptStream,
  DecoderFault,
  FormatError,
  LimitExceeded,
  MmpError,
  ParameterError,
  SourceError,
  TruncatedStream,
  UnreadableJpeg,
  UnsupportedVersion,
} from "./errors.js";
export { Picture } from "./picture.js";

/** @typedef {Parameters<typeof openPicture>[0]} File */
/** @typedef {import("./picture.js").Options} Options */

/**
 * Loads the module of WebAssembly.
 * @param {string | URL | BufferSource | WebAssembly.Module} given
 */
async function moduleOf(given) {
  if (given instanceof WebAssembly.Module) return given;
  if (typeof given !== "string" && !(given instanceof URL)) return compiled(given);
  const url = new URL(given, import.meta.url);
  if (url.protocol !== "file:" || typeof process === "undefined") {
    return compiled(await fetched(url));
  }
  const { readFile } = await import("node:fs/promises");
  return compiled(await readFile(url));
}

/** @param {URL} url */
async function fetched(url) {
  let problem;
  try {
    const response = await fetch(url);
    if (response.ok) return await response.arrayBuffer();
    problem = `the server answered ${response.status} ${response.statusText}`;
  } catch (error) {
    problem = /** @type {Error} */ (error).message;
  }
  throw new DecoderFault(`${url}: cannot be loaded: ${problem}`);
}

/**
 * Returns a decoder with workers of its own.
 * @param {{ wasm?: string | URL | BufferSource | WebAssembly.Module, workers?: number,
 *           worker?: string | URL | (() => any) }} [settings]
 */
export function createDecoder(settings = {}) {
  const { workers = PROCESSORS, wasm = new URL("../mmp.wasm", import.meta.url) } = settings;
  const worker = settings.worker ?? new URL("./worker.js", import.meta.url);
  if (!Number.isInteger(workers) || workers < 0) {
    throw new ParameterError(`workers = ${workers}: must be an integer from 0 on`);
  }
  /** @type {Promise<Pool> | null} */
  let pool = null;
  const started = () => {
    pool ??= moduleOf(wasm).then(
      (module) => new Pool(module, workers, worker),
      (error) => {
        pool = null; // the next call tries again
        throw error;
      },
    );
    return pool;
  };

  /**
   * @param {File} file
   * @param {Options} [options]
   */
  const openBook = (file, options) => bookOf(file, started, options);
  /**
   * @param {File} file
   * @param {Options & { page?: number }} [options]
   */
  const open = (file, options) => openPicture(file, started, options);
  /**
   * @param {File} file
   * @param {Options & { page?: number, region?: number[] }} [options]
   */
  const decode = async (file, options = {}) => {
    const picture = await open(file, options);
    if (!options.region) return picture.decode(options);
    const [x, y, width, height] = checkedRegionOf(options.region);
    return picture.region(x, y, width, height, options);
  };
  /**
   * @param {File} file
   * @param {Options & { page?: number }} [options]
   */
  const jpegFile = async (file, options) => (await open(file, options)).jpegFile(options);
  const close = async () => {
    (await pool)?.close();
    pool = null;
  };
  return { open, openBook, decode, jpegFile, close };
}

/** @param {number[]} region */
function checkedRegionOf(region) {
  if (Array.isArray(region) && region.length === 4) return region;
  throw new ParameterError(`region = ${region}: must be four integers: x, y, width, height`);
}

/** @type {ReturnType<typeof createDecoder> | null} */
let usual = null;
const shared = () => (usual ??= createDecoder());

/** @type {ReturnType<typeof createDecoder>["decode"]} */
export const decode = (file, options) => shared().decode(file, options);
/** @type {ReturnType<typeof createDecoder>["jpegFile"]} */
export const jpegFile = (file, options) => shared().jpegFile(file, options);
/** @type {ReturnType<typeof createDecoder>["openBook"]} */
export const openBook = (file, options) => shared().openBook(file, options);
/** @type {ReturnType<typeof createDecoder>["open"]} */
export const open = (file, options) => shared().open(file, options);
/** Ends the workers of `decode`, `jpegFile` and `open`. */
export const close = async () => usual?.close();
