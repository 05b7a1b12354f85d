// Workers that decode one tile each, or none: then tiles are decoded in the calling thread.
import { DecoderFault, unpackedError } from "./errors.js";
import { TileDecoder } from "./tile_decoder.js";

/** @typedef {import("./tile_decoder.js").TileTask} TileTask */
/** @typedef {import("./tile_decoder.js").DecodedTile} DecodedTile */
/**
 * A worker of browsers or of Node, with what the pool needs of it.
 * @typedef {object} Thread
 * @property {(message: object, transfer: ArrayBuffer[]) => void} post
 * @property {() => void} end
 * @property {(isBusy: boolean) => void} hold lets the process wait for the worker, or not
 * @property {boolean} isNew whether it lacks the module
 */
/**
 * @typedef {object} Job
 * @property {TileTask} task
 * @property {(decoded: DecodedTile) => void} resolve
 * @property {(error: unknown) => void} reject
 */

/** Node 20 has no navigator. */
const system = /** @type {any} */ (globalThis).process?.getBuiltinModule?.("node:os");
const processors = globalThis.navigator?.hardwareConcurrency ?? system?.availableParallelism() ?? 2;
/** Number of processors, at most 16: the most workers that are started by default. */
export const PROCESSORS = Math.max(1, Math.min(16, processors));

/**
 * Starts a worker.
 * @param {string | URL | (() => any)} source of its script, or a function that makes a worker
 * @param {(answer: any) => void} onAnswer
 * @param {(reason: string) => void} onFault
 * @returns {Promise<Thread>}
 */
async function started(source, onAnswer, onFault) {
  if (typeof source === "function" || typeof globalThis.Worker === "function") {
    const worker =
      typeof source === "function" ? source() : new globalThis.Worker(source, { type: "module" });
    worker.onmessage = (/** @type {MessageEvent} */ { data }) => onAnswer(data);
    worker.onerror = (/** @type {ErrorEvent} */ event) => {
      event.preventDefault?.();
      onFault(event.message ?? "its script does not load");
    };
    return {
      post: (message, transfer) => worker.postMessage(message, transfer),
      end: () => worker.terminate(),
      hold: () => {},
      isNew: true,
    };
  }
  const { Worker } = await import("node:worker_threads");
  const worker = new Worker(source instanceof URL ? source : new URL(source));
  worker.on("message", onAnswer);
  worker.on("error", (error) => onFault(String(error.message)));
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    end: () => void worker.terminate(),
    hold: (isBusy) => (isBusy ? worker.ref() : worker.unref()),
    isNew: true,
  };
}

/** Workers, started as they are needed. */
export class Pool {
  /**
   * @param {WebAssembly.Module} module
   * @param {number} size most workers; 0 decodes in the calling thread
   * @param {string | URL | (() => any)} source see `started`
   */
  constructor(module, size, source) {
    this.module = module;
    this.size = size;
    this.source = source;
    this.own = size ? null : new TileDecoder(module);
    /** @type {Thread[]} */
    this.idle = [];
    this.count = 0;
    this.isClosed = false;
    /** @type {Job[]} */
    this.waiting = [];
    /** @type {Map<Job, Thread>} */
    this.running = new Map();
  }

  /** Number of tiles that are decoded at the same time. */
  get atOnce() {
    return Math.max(1, this.size);
  }

  /**
   * Starts the workers for a number of tiles, which they then need not wait for.
   * @param {number} tiles
   */
  prepare(tiles) {
    for (let count = Math.min(tiles, this.size) - this.count; count > 0; --count) this.#start();
  }

  /**
   * Decodes a tile. An abort ends its worker, because a decoder does not look up from its work.
   * @param {TileTask} task
   * @param {AbortSignal} [signal]
   * @returns {Promise<DecodedTile>}
   */
  async run(task, signal) {
    signal?.throwIfAborted();
    if (this.isClosed) throw new DecoderFault("the decoder was closed");
    if (this.own) return this.own.decode(task);
    /** @type {() => void} */
    let stop = () => {};
    const done = new Promise((resolve, reject) => {
      /** @type {Job} */
      const job = { task, resolve, reject };
      stop = () => this.#abort(job, signal?.reason);
      this.waiting.push(job);
    });
    signal?.addEventListener("abort", stop);
    this.#next();
    try {
      return /** @type {DecodedTile} */ (await done);
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  /** Ends all workers; tiles that are being decoded are rejected. */
  close() {
    const reason = new DecoderFault("the decoder was closed");
    for (const job of [...this.waiting, ...this.running.keys()]) this.#abort(job, reason);
    for (const thread of [...this.idle]) this.#drop(thread);
    this.isClosed = true;
  }

  /**
   * @param {Job} job
   * @param {unknown} reason
   */
  #abort(job, reason) {
    const thread = this.running.get(job);
    this.waiting = this.waiting.filter((other) => other !== job);
    if (thread) {
      this.running.delete(job);
      thread.end();
      --this.count;
    }
    job.reject(reason);
    this.#next();
  }

  /**
   * Ends an idle worker.
   * @param {Thread} thread
   */
  #drop(thread) {
    if (!this.idle.includes(thread)) return;
    this.idle = this.idle.filter((other) => other !== thread);
    --this.count;
    thread.end();
  }

  /** Gives waiting jobs to idle workers, or to new ones. */
  #next() {
    while (this.waiting.length && this.idle.length) {
      this.#give(/** @type {Job} */ (this.waiting.shift()), /** @type {Thread} */ (this.idle.pop()));
    }
    const wanted = Math.min(this.size - this.count, this.waiting.length);
    for (let more = 0; more < wanted; ++more) this.#start();
  }

  async #start() {
    ++this.count;
    /** @type {Thread} */
    let thread;
    const jobOf = () => [...this.running].find(([, own]) => own === thread)?.[0];
    const onAnswer = (/** @type {any} */ { decoded, error }) => {
      const job = jobOf();
      if (!job) return;
      this.running.delete(job);
      thread.hold(false);
      this.idle.push(thread);
      if (error) job.reject(unpackedError(error));
      else job.resolve(decoded);
      this.#next();
    };
    const onFault = (/** @type {string} */ reason) => {
      const job = jobOf();
      if (job) this.#abort(job, new DecoderFault(`a worker stopped: ${reason}`));
      else this.#drop(thread);
    };
    try {
      thread = await started(this.source, onAnswer, onFault);
    } catch (error) {
      --this.count;
      const reason = /** @type {Error} */ (error).message;
      this.waiting.shift()?.reject(new DecoderFault(`a worker does not start: ${reason}`));
      return;
    }
    thread.hold(false);
    this.idle.push(thread);
    if (this.isClosed) this.#drop(thread);
    this.#next();
  }

  /**
   * @param {Job} job
   * @param {Thread} thread
   */
  #give(job, thread) {
    this.running.set(job, thread);
    thread.hold(true);
    const message = thread.isNew ? { module: this.module, task: job.task } : { task: job.task };
    thread.isNew = false;
    thread.post(message, [/** @type {ArrayBuffer} */ (job.task.data.buffer)]);
  }
}
