// The module of WebAssembly: its memory, its errors, and its functions. Source of the functions:
// kernels/web.
import {
  CorruptStream,
  DecoderFault,
  LimitExceeded,
  MmpError,
  TruncatedStream,
} from "./errors.js";

const PAGE = 65536;
/** Pages of the memory of a new instance; scripts/web/build.py sets the same. */
const FIRST_PAGES = 64;
const MOST_PAGES = 65536;
/** The numbers stand in kernels/web/errors.cpp too. */
const [TRUNCATED, CORRUPT, OUT_OF_MEMORY] = [0, 1, 2];
/** The error number ENOSYS of WASI. */
const NOT_SUPPORTED = 52;

/** @typedef {Uint8Array | Uint16Array | Int16Array | Int32Array | Uint32Array} Numbers */

/** An instance of the module. It cannot be used again after an error. */
export class Instance {
  /**
   * @param {WebAssembly.Module} module
   * @param {number} maxMemory bytes
   */
  constructor(module, maxMemory) {
    const most = Math.min(MOST_PAGES, Math.max(FIRST_PAGES, Math.floor(maxMemory / PAGE)));
    this.memory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum: most });
    this.maxMemory = most * PAGE;
    const none = () => NOT_SUPPORTED;
    // The C library reads a number against overflows of the stack, which this build has no use for;
    // nothing waits, so nothing asks for the time.
    const files = { fd_close: none, fd_seek: none, fd_write: none };
    const system = { ...files, clock_time_get: none, random_get: () => 0 };
    const instance = new WebAssembly.Instance(module, {
      env: { memory: this.memory },
      wasi_snapshot_preview1: system,
      mmp: { fail: this.#fail.bind(this) },
    });
    /** @type {Record<string, any>} */
    this.functions = instance.exports;
    this.functions._initialize();
    /** @type {number[]} */
    this.taken = [];
  }

  /** Bytes of the memory of the instance, which only grows. */
  get size() {
    return this.memory.buffer.byteLength;
  }

  /**
   * Throws the error of a decoder.
   * @param {number} kind
   * @param {number} section pointer to text
   * @param {number} text
   */
  #fail(kind, section, text) {
    const [where, problem] = [this.#text(section), this.#text(text)];
    if (kind === TRUNCATED) throw new TruncatedStream(where, problem);
    if (kind === CORRUPT) throw new CorruptStream(where, problem);
    if (kind === OUT_OF_MEMORY) {
      const says = `decoding takes more memory than ${this.maxMemory} bytes`;
      throw new LimitExceeded("Container", `${says}; limits.maxMemory raises it`);
    }
    throw new DecoderFault(`the decoder stopped: ${problem}`);
  }

  /** @param {number} pointer */
  #text(pointer) {
    const bytes = new Uint8Array(this.memory.buffer);
    const start = pointer >>> 0;
    return new TextDecoder().decode(bytes.subarray(start, bytes.indexOf(0, start)));
  }

  /**
   * Takes memory until `release`.
   * @param {number} bytes
   */
  take(bytes) {
    const pointer = this.call("mmp_take", Math.max(bytes, 1)) >>> 0;
    this.taken.push(pointer);
    return pointer;
  }

  /**
   * Copies numbers into memory that is taken for them.
   * @param {Numbers} numbers
   */
  put(numbers) {
    const pointer = this.take(numbers.byteLength);
    const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
    new Uint8Array(this.memory.buffer).set(bytes, pointer);
    return pointer;
  }

  /**
   * Returns a copy of samples in memory: bytes, or two bytes each.
   * @param {number} pointer
   * @param {number} count
   * @param {boolean} isWide
   */
  samples(pointer, count, isWide) {
    const Samples = isWide ? Uint16Array : Uint8Array;
    return new Samples(this.memory.buffer, pointer, count).slice();
  }

  /**
   * Returns a kept JPEG file, or its beginning up to its samples.
   * @param {import("./format/jpeg.js").KeptJpeg} kept
   * @param {number} mostLevelBytes
   * @param {boolean} onlyFront
   */
  jpeg({ form, bytes, payload }, mostLevelBytes, onlyFront) {
    const own = [this.put(payload), payload.length, bytes, form, mostLevelBytes, Number(onlyFront)];
    const size = this.call("mmp_jpeg", ...own);
    const found = this.#bytes(this.call("mmp_jpeg_bytes"), size);
    this.call("mmp_jpeg_free");
    return found;
  }

  /**
   * Returns a copy of bytes in memory.
   * @param {number} pointer
   * @param {number} count
   */
  #bytes(pointer, count) {
    return new Uint8Array(this.memory.buffer, pointer >>> 0, count >>> 0).slice();
  }

  /** The part of a tile in which an error stopped decoding; see kernels/web/tile.cpp. */
  get part() {
    return this.call("mmp_part");
  }

  /** Frees the memory that was taken. */
  release() {
    for (const pointer of this.taken) this.functions.mmp_free(pointer);
    this.taken = [];
  }

  /**
   * Calls a function of the module.
   * @param {string} name
   * @param {...number} values
   */
  call(name, ...values) {
    try {
      return this.functions[name](...values);
    } catch (error) {
      if (error instanceof MmpError) throw error;
      throw new DecoderFault(`the decoder stopped: ${/** @type {Error} */ (error).message}`);
    }
  }
}

/**
 * Compiles the module.
 * @param {BufferSource} bytes
 */
export async function compiled(bytes) {
  try {
    return await WebAssembly.compile(bytes);
  } catch (error) {
    const reason = /** @type {Error} */ (error).message;
    throw new DecoderFault(`mmp.wasm does not compile, it needs 128-bit SIMD: ${reason}`);
  }
}
