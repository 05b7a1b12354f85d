// The index of a file of several pictures. Source: section "Collections" of docs/format/format.md.
import { CorruptStream, LimitExceeded, TruncatedStream } from "../errors.js";
import { FORMS, MAGIC, MOST_DIMENSION, VERSION } from "./container.js";
import { readMetadata } from "./metadata.js";
import { Fields, crc32, crcText, hex } from "./numbers.js";

/**
 * @typedef {{ place: number, size: number }} Extent the body of a record
 * @typedef {Extent & {
 *   role: string, facts: number[], of: number | null, form: string, depth: number, width: number,
 *   height: number, shared: number[], continues: number | null, saved: number, name: string
 * }} Entry `of` is the number of the entry, from 0, of which this one is a smaller rendition,
 *   `shared` the numbers of the metadata records that it names, `continues` the number of the entry
 *   whose models and pixels this one goes on with, `saved` the bytes that this saves, `name` its
 *   name in errors.
 * @typedef {{ loops: number, entries: Entry[], metadata: Extent[] }} Contents
 */

export const COLLECTIONS = "Collections";
const HEAD = Uint8Array.of(...MAGIC, VERSION, 8);
const END_MAGIC = Uint8Array.of(0x4d, 0x4d, 0x43, 0x1a);
export const END_BYTES = 13;
/** Bytes of a record before its body, at most. */
export const MOST_HEAD = 1 << 12;
const [METADATA, INDEX] = [2, 3];
const ROLES = ["page", "frame", "slice", "level", "thumbnail"];
const [FRAME, SLICE, LEVEL] = [1, 2, 3];
/** Numbers of roles: a page, frame or slice that continues another one counts from ROLES.length. */
const ROLE_NUMBERS = ROLES.length + LEVEL;
const BACK = "pictures back to the one that is continued";
/** Most pictures of a chain, of which each continues the one before. */
const MOST_CHAINED = 64;
const MOST_RECORDS = 1 << 16;
const MOST_SHARED = 16;
/** Most bytes in an index of the place and size of a body, and of a picture. */
const [MOST_OF_PART, MOST_OF_ENTRY] = [18, 18 + 9 * (5 + 4 + 1 + MOST_SHARED)];

/** @param {Uint8Array} data the beginning of a file */
export const isCollection = (data) => HEAD.every((byte, at) => byte === data[at]);

/**
 * Reads what a record has before its body.
 * @param {Uint8Array} data bytes from the record on
 * @param {number} place of the record in the file
 * @param {number} total bytes of the file
 */
export function readRecord(data, place, total) {
  const fields = new Fields(data, COLLECTIONS, place);
  const kind = fields.number("kind of a record");
  const size = fields.number("bytes of a record");
  const exact = fields.last;
  const count = fields.number("bytes of its fields", 0, MOST_HEAD / 2);
  if (count && (kind === METADATA || kind === INDEX)) {
    const says = `bytes of its fields is ${count}, allowed for a record of kind ${kind} is 0`;
    throw new CorruptStream(COLLECTIONS, says, fields.offset);
  }
  fields.bytes("fields of a record", count);
  const computed = crcText(crc32(data.subarray(0, fields.place)), 4);
  const at = fields.offset;
  const stored = crcText(fields.fixed("CRC of a record", 4), 4);
  if (stored !== computed) {
    const says = `CRC of a record is ${stored}, its head has ${computed}`;
    throw new CorruptStream(COLLECTIONS, says, at);
  }
  if (size > total - fields.offset) {
    const says = `only ${total - fields.offset} of ${exact} bytes of a record`;
    throw new TruncatedStream(COLLECTIONS, says, total);
  }
  return { isIndex: kind === INDEX, place: fields.offset, size };
}

/**
 * Returns the size of the index that ends at byte `total`.
 * @param {Uint8Array} end the bytes before that
 * @param {number} total
 * @param {number} most pictures that are accepted
 */
export function indexBytes(end, total, most) {
  const magic = end.subarray(-END_MAGIC.length);
  if (end.length < END_BYTES || !END_MAGIC.every((byte, at) => byte === magic[at])) {
    const says = `the file ends with ${hex(magic, " ")}, an index with ${hex(END_MAGIC, " ")}`;
    throw new CorruptStream(COLLECTIONS, says, total - magic.length);
  }
  const size = end.subarray(-END_BYTES, -8).reduce((value, byte) => value * 256 + byte, 0);
  if (size <= END_BYTES || size > total - HEAD.length) {
    const says = `index has ${size} bytes, allowed is ${END_BYTES + 1} to ${total - HEAD.length}`;
    throw new CorruptStream(COLLECTIONS, says, total - END_BYTES);
  }
  const limit = MOST_RECORDS * MOST_OF_PART + most * MOST_OF_ENTRY;
  if (size > limit) {
    const says = `index has ${size} bytes, ${most} pictures need at most ${limit}`;
    throw new LimitExceeded(COLLECTIONS, `${says}; limits.maxPictures raises the limit`);
  }
  return size;
}

/**
 * Reads the index that ends at byte `total`.
 * @param {Uint8Array} data
 * @param {number} total
 * @param {number} most pictures that are accepted
 * @returns {Contents}
 */
export function readIndex(data, total, most) {
  const start = total - data.length;
  const record = readRecord(data, start, total);
  if (!record.isIndex || record.place + record.size !== total) {
    throw new CorruptStream(COLLECTIONS, "the size of the index leads to no index", start);
  }
  const body = data.subarray(record.place - start);
  const at = body.length - END_MAGIC.length - 4;
  const stored = hex(body.subarray(at, at + 4));
  const computed = crcText(crc32(body.subarray(0, at)), 4);
  if (stored !== computed) {
    const says = `CRC of the index is ${stored}, the index has ${computed}`;
    throw new CorruptStream(COLLECTIONS, says, total - END_MAGIC.length - 4);
  }
  const fields = new Fields(body.subarray(0, at - 5), COLLECTIONS, record.place);
  const left = fields.left;
  const loops = fields.number("loops");
  /** @type {Extent[]} */
  const metadata = [];
  let end = 0;
  for (let count = fields.number("metadata records", 0, Math.min(left, MOST_RECORDS)); count; --count) {
    metadata.push(readPart(fields, end, start));
    end = endOf(metadata);
  }
  /** @type {Entry[]} */
  const entries = [];
  end = 0;
  const count = fields.number("pictures", 0, left);
  if (count > most) {
    const says = `${count} pictures, the limit is ${most}; limits.maxPictures raises it`;
    throw new LimitExceeded(COLLECTIONS, says);
  }
  for (let number = 0; number < count; ++number) {
    const part = readPart(fields, end, start);
    const entry = { ...part, ...readEntry(fields, entries, metadata.length) };
    if (entry.shared.some((each) => metadata[each].place >= part.place)) {
      const says = "number of a metadata record is that of one behind the picture";
      throw new CorruptStream(COLLECTIONS, says, fields.offset);
    }
    entries.push(entry);
    end = endOf(entries);
  }
  if (fields.left) {
    const says = `${fields.left} bytes follow the last picture of the index`;
    throw new CorruptStream(COLLECTIONS, says, fields.offset);
  }
  return { loops, entries, metadata };
}

/** @param {Extent[]} parts */
function endOf(parts) {
  const { place, size } = parts[parts.length - 1];
  return place + size;
}

/**
 * Reads the place and size of a body that begins after `end` and ends before `last`.
 * @param {Fields} fields
 * @param {number} end
 * @param {number} last
 */
function readPart(fields, end, last) {
  const low = end ? 0 : HEAD.length;
  const place = end + fields.number("place", low, Math.max(last - end, low));
  return { place, size: fields.number("bytes", 0, Math.max(last - place, 0)) };
}

/**
 * Reads the fields of a picture.
 * @param {Fields} fields
 * @param {Entry[]} before
 * @param {number} records of metadata
 */
function readEntry(fields, before, records) {
  const roleNumber = fields.number("role", 0, ROLE_NUMBERS - 1);
  const role = roleNumber % ROLES.length;
  /** @type {number[]} */
  let facts = [];
  if (role === FRAME) {
    facts = [fields.number("duration"), fields.number("parts of a second", 1)];
  } else if (role === SLICE) {
    const folded = fields.number("position");
    facts = [folded % 2 ? -(folded + 1) / 2 : folded / 2];
  } else if (role >= LEVEL) {
    const at = fields.offset;
    const number = fields.number("number of the picture");
    if (number >= before.length || before[number].of !== null) {
      const says = `number of the picture is ${fields.last}, allowed is that of an earlier page`;
      throw new CorruptStream(COLLECTIONS, `${says}, frame or slice`, at);
    }
    facts = [number];
  }
  const isChained = roleNumber >= ROLES.length;
  const { continues, saved } = isChained ? readChained(fields, before) : ALONE;
  const form = FORMS[fields.number("form", 0, FORMS.length - 1)];
  const depth = fields.number("depth", 1, 16);
  const width = fields.number("width", 1, MOST_DIMENSION);
  const height = fields.number("height", 1, MOST_DIMENSION);
  /** @type {number[]} */
  const shared = [];
  let count = fields.number("metadata records", 0, Math.min(records, MOST_SHARED));
  for (; count; --count) {
    const low = shared.length ? shared[shared.length - 1] + 1 : 0;
    shared.push(fields.number("number of a metadata record", low, records - 1));
  }
  const of = role >= LEVEL ? facts[0] : null;
  const alike = before.filter((each) => each.of === of && (of === null || each.role === ROLES[role]));
  const above = of === null ? "" : ` of ${before[of].name}`;
  const name = `${ROLES[role]} ${alike.length + 1}${above}`;
  const size = { form, depth, width, height };
  return { role: ROLES[role], facts, of, ...size, shared, continues, saved, name };
}

/** @type {{ continues: number | null, saved: number }} */
const ALONE = { continues: null, saved: 0 };

/**
 * Reads how many pictures before this one is the one that it continues, and the bytes saved.
 * @param {Fields} fields
 * @param {Entry[]} before
 */
function readChained(fields, before) {
  const at = fields.offset;
  const continues = before.length - fields.number(BACK, 1);
  const fault = faultOfChain(before, continues);
  if (fault) throw new CorruptStream(COLLECTIONS, `${BACK} is ${fields.last}: ${fault}`, at);
  return { continues, saved: fields.number("bytes saved") };
}

/**
 * Says why a further picture cannot continue the one of this number, or returns "".
 * @param {Entry[]} entries
 * @param {number} number
 */
function faultOfChain(entries, number) {
  if (number < 0 || entries[number].of !== null) {
    return "must lead to an earlier page, frame or slice";
  }
  const length = 1 + chainOf(entries, entries[number]).length;
  if (length < MOST_CHAINED) return "";
  return `leads to picture ${length} of a chain, which has at most ${MOST_CHAINED}`;
}

/**
 * Returns the pictures that an entry continues, the first one first.
 * @param {Entry[]} entries
 * @param {Entry} entry
 */
export function chainOf(entries, entry) {
  /** @type {Entry[]} */
  const found = [];
  for (let own = entry; own.continues !== null; found.unshift(own)) own = entries[own.continues];
  return found;
}

/**
 * Reads the body of a metadata record.
 * @param {Uint8Array} body
 * @param {number} place of the body in the file
 * @param {number} depth bits of a sample
 */
export function readSharedMetadata(body, place, depth) {
  const whole = new Fields(body, COLLECTIONS, place);
  const checked = whole.bytes("metadata", Math.max(body.length - 4, 0));
  const stored = crcText(whole.fixed("metadata CRC", 4), 4);
  const computed = crcText(crc32(checked), 4);
  if (stored !== computed) {
    const says = `metadata CRC is ${stored}, metadata has ${computed}`;
    throw new CorruptStream(COLLECTIONS, says, place + checked.length);
  }
  const fields = new Fields(checked, "Metadata", place);
  const metadata = readMetadata(fields, depth);
  if (fields.left) {
    const says = `${fields.left} bytes follow the last chunk`;
    throw new CorruptStream("Metadata", says, fields.offset);
  }
  return metadata;
}
