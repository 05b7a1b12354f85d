// Starts: trained states of models, in files of their own. Source: section "Starts" of
// docs/format/format.md.
import { CorruptStream, DecoderFault } from "./errors.js";
import { crc32, hex } from "./format/numbers.js";

const MST_MAGIC = [0x89, 0x4d, 0x53, 0x54, 0x0d, 0x0a, 0x1a, 0x0a];

/**
 * Returns the states of the start that a file names, or null for the built-in start.
 * @param {import("./format/container.js").Header} header
 * @param {Uint8Array[]} starts bytes of files of starts
 */
export async function statesOf(header, starts) {
  if (!header.start) return null;
  if (!globalThis.crypto?.subtle) {
    throw new DecoderFault(
      `file needs the start ${header.start}; only pages of https, of this machine and of files can ` +
        "compute SHA-256, by which starts are named",
    );
  }
  for (const file of starts) {
    const digest = await crypto.subtle.digest("SHA-256", file);
    if (hex(new Uint8Array(digest, 0, 8)) !== header.start) continue;
    const view = new DataView(file.buffer, file.byteOffset, file.length);
    const isWhole =
      file.length > 12 &&
      MST_MAGIC.every((byte, at) => file[at] === byte) &&
      view.getUint32(file.length - 4) === crc32(file.subarray(0, file.length - 4));
    if (!isWhole) throw new CorruptStream("Starts", `the start ${header.start} is damaged`);
    return file.slice(MST_MAGIC.length, file.length - 4);
  }
  throw new CorruptStream(
    "Starts",
    `file needs the start ${header.start}, which is not there; pass the bytes of its file in ` +
      "options.starts",
  );
}
