// What decoder.js, the decoder as one script, offers to the pages that `mmp` writes. Nothing is
// fetched: scripts/web/script.py puts the module of WebAssembly and the worker's script into it.
import { DecoderFault } from "./errors.js";
import { openBook, openPicture } from "./book.js";
import { PROCESSORS, Pool } from "./pool.js";
import { compiled } from "./wasm.js";

/** @typedef {Parameters<typeof openPicture>[0]} File */

/**
 * Returns the bytes of a text in base64 that were compressed by gzip.
 * @param {string} text
 */
function unpacked(text) {
  /** @type {any} */
  const { DecompressionStream } = globalThis;
  if (!DecompressionStream) throw new DecoderFault("this browser lacks DecompressionStream");
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/**
 * Returns the decoder of a page.
 * @param {string} wasm the module, by gzip and in base64
 * @param {string} script of a worker
 */
export function decoderOfPage(wasm, script) {
  /** @type {Promise<Pool> | null} */
  let pool = null;
  const started = async () => {
    const module = await compiled(await unpacked(wasm));
    const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    return new Pool(module, PROCESSORS, () => new Worker(address));
  };

  const theirs = () => (pool ??= started());
  /**
   * Reads the header of a file; `tile` decodes a tile by its number, `decode` the whole picture.
   * @param {File} file
   * @param {import("./picture.js").Options & { page?: number }} [options]
   */
  const open = async (file, options) => shown(await openPicture(file, theirs, options));
  /**
   * Reads the index of a file of several pictures; `open` opens one of its pages or renditions.
   * @param {File} file
   * @param {import("./picture.js").Options} [options]
   */
  const ofBook = async (file, options) => {
    const book = await openBook(file, theirs, options);
    const { loops, pages } = book;
    return { loops, pages, open: async (/** @type {object} */ page) => shown(await book.open(page)) };
  };
  return { open, openBook: ofBook };
}

/**
 * Returns what pages use of a picture.
 * @param {import("./picture.js").Picture} picture
 */
async function shown(picture) {
  const { form, width, height, depth, tileSize, jpeg } = picture.header;
  const metadata = await picture.metadata();
  const { exif, xmp, text, resolution } = metadata;
  const whole = { width, height, tileSize };
  const white = metadata.white ?? 2 ** depth - 1;
  const whiteNamed = metadata.white !== null;
  return {
    header: { form, ...whole, depth, white, whiteNamed, exif, xmp, text, resolution, jpeg },
    traffic: () => picture.traffic,
    /**
     * @param {number} number
     * @param {{ signal?: AbortSignal }} [choice]
     */
    tile: (number, choice) => picture.tile(number, choice),
    /** @param {{ signal?: AbortSignal }} [choice] */
    decode: (choice) => picture.decode(choice),
  };
}
