// Answers questions of the tests, one line of JSON for each line of JSON; see
// support/web/decoder.py.
//
// The first argument is the address of the decoder's index.js. A question has a path or url, and
// maybe page, region, limits, workers, abort (ms), open (regions), book (numbers of pictures to
// decode, or null for all and their renditions) or settle (ms to wait at the end).
// The question jpeg asks for the JPEG file that a picture keeps, its SHA-256 and its metadata.
// The question room asks an instance of the module with maxMemory for that number of bytes. An
// answer has the picture with the SHA-256 of its samples, or name and message of an error; also ms,
// memory of the process in bytes, and busy, the processor time in ms that passes while it settles.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const { createDecoder } = await import(process.argv[2]);
const { Instance } = await import(new URL("wasm.js", process.argv[2]));
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

function shown({ icc, exif, xmp, resolution, text, white, range }) {
  const bytes = { icc: hex(icc), exif: hex(exif), xmp: hex(xmp) };
  return { ...bytes, resolution, text, white, ...(range && { range }) };
}

function facts({ width, height, form, planes, depth, samples, metadata }) {
  return {
    width, height, form, planes, depth, sha: shaOf(samples), count: samples.length,
    type: samples.constructor.name,
    metadata: shown(metadata),
  };
}

async function jpegOf(picture) {
  const file = await picture.jpegFile();
  const metadata = shown(await picture.metadata());
  return { kept: picture.header.jpeg, sha: file && shaOf(file), metadata };
}

async function roomOf({ room, maxMemory }) {
  const bytes = readFileSync(new URL("../mmp.wasm", process.argv[2]));
  const instance = new Instance(await WebAssembly.compile(bytes), maxMemory);
  instance.take(room);
  return { size: instance.size };
}

async function pagesOf(book, numbers) {
  const pages = [];
  const { pages: listed } = book;
  const all = book.all.map(({ renditions, ...own }) => ({ ...own, renditions: renditions.length }));
  for (const which of numbers ?? book.all) pages.push(facts(await (await book.open(which)).decode()));
  return { loops: book.loops, count: listed.length, all, pages, traffic: book.traffic };
}

async function pictureOf(question) {
  const { path, url, data, page, region, limits, workers, abort, open, book, jpeg } = question;
  const decoder = decoderWith(workers);
  const file = url ?? (data !== undefined ? Buffer.from(data, "base64") : readFileSync(path));
  const signal = abort === undefined ? undefined : AbortSignal.timeout(abort);
  const options = { limits, signal, page };
  if (book !== undefined) return pagesOf(await decoder.openBook(file, options), book);
  if (jpeg) return jpegOf(await decoder.open(file, options));
  if (!open) return facts(await decoder.decode(file, { ...options, region }));
  const picture = await decoder.open(file, options);
  const regions = [];
  for (const part of open) regions.push(facts(await picture.region(...part, options)));
  const header = { width: picture.width, height: picture.height };
  return { header, regions, traffic: picture.traffic };
}

async function answer(question) {
  const began = performance.now();
  let found;
  try {
    found = await (question.room ? roomOf(question) : pictureOf(question));
  } catch (error) {
    const { name, message, stack } = error;
    found = { error: name, message, stack };
  }
  const ms = performance.now() - began;
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, question.settle ?? 0));
  const { user, system } = process.cpuUsage(before);
  return { ...found, ms, busy: (user + system) / 1000, memory: process.memoryUsage().rss };
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
}
process.exit(0);
