// A worker of browsers or of Node: it gets the module of WebAssembly once, then tiles to decode.
import { packedError } from "./errors.js";
import { TileDecoder } from "./tile_decoder.js";

/** @type {TileDecoder | null} */
let decoder = null;

/**
 * Answers a message with a decoded tile, or with its error.
 * @param {{ module?: WebAssembly.Module, task: import("./tile_decoder.js").TileTask }} message
 * @param {(answer: object, transfer: ArrayBuffer[]) => void} answer
 */
async function serve({ module, task }, answer) {
  try {
    if (module) decoder = new TileDecoder(module);
    const decoded = await /** @type {TileDecoder} */ (decoder).decode(task);
    answer({ decoded }, [/** @type {ArrayBuffer} */ (decoded.samples.buffer)]);
  } catch (error) {
    answer({ error: packedError(error) }, []);
  }
}

if (typeof globalThis.postMessage === "function") {
  globalThis.onmessage = ({ data }) =>
    serve(data, (answer, transfer) => globalThis.postMessage(answer, { transfer }));
} else {
  import("node:worker_threads").then(({ parentPort }) => {
    parentPort?.on("message", (data) =>
      serve(data, (answer, transfer) => parentPort.postMessage(answer, transfer)),
    );
  });
}
