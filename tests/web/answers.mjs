// Answers questions of the tests, one line of JSON for each line of JSON; see support/web_decoder.py.
//
// The first argument is the address of the decoder's index.js. A question has a path or url, and
// maybe region, limits, starts, workers, abort (ms) or times (decode so often). An answer has the
// picture with the SHA-256 of its samples, or name and message of an error; also ms and, in bytes,
// the growth of the process and what was fetched.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const { createDecoder } = await import(process.argv[2]);
const decoders = new Map();

function decoderWith(workers = 0) {
  if (!decoders.has(workers)) decoders.set(workers, createDecoder({ workers }));
  return decoders.get(workers);
}

const hex = (bytes) => Buffer.from(bytes ?? []).toString("hex");

function shaOf(samples) {
  const bytes = Buffer.from(samples.slice().buffer);
  return createHash("sha256").update(samples.BYTES_PER_ELEMENT > 1 ? bytes.swap16() : bytes)
    .digest("hex");
}

function facts({ width, height, form, planes, depth, samples, metadata }) {
  const { icc, exif, xmp, resolution, text, white } = metadata;
  return {
    width, height, form, planes, depth, sha: shaOf(samples), count: samples.length,
    type: samples.constructor.name,
    metadata: { icc: hex(icc), exif: hex(exif), xmp: hex(xmp), resolution, text, white },
  };
}

async function answer({ path, url, data, region, limits, starts = [], workers, abort, open }) {
  const decoder = decoderWith(workers);
  const file = url ?? (data !== undefined ? Buffer.from(data, "base64") : readFileSync(path));
  const signal = abort === undefined ? undefined : AbortSignal.timeout(abort);
  const options = { limits, signal, starts: starts.map((each) => Buffer.from(each, "base64")) };
  const began = performance.now();
  const found = {};
  try {
    if (open) {
      const picture = await decoder.open(file, options);
      found.header = { width: picture.width, height: picture.height };
      found.regions = [];
      for (const part of open) found.regions.push(facts(await picture.region(...part, options)));
      found.traffic = picture.traffic;
    } else {
      Object.assign(found, facts(await decoder.decode(file, { ...options, region })));
    }
  } catch (error) {
    const { name, message } = error;
    Object.assign(found, { error: name, message, stack: error.stack });
  }
  return { ...found, ms: performance.now() - began, memory: process.memoryUsage().rss };
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
}
process.exit(0);
