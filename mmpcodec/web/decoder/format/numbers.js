// Numbers of variable length, checksums, and a reader of fields. Source: section "Container" of
// docs/format/format.md.
import { CorruptStream, TruncatedStream } from "../errors.js";

/** Largest number of a file; a BigInt, because a double holds 53 bits. */
export const MOST_NUMBER = (1n << 62n) - 1n;
const LONGEST = 9;
const MOST_REMAINDER = 24;

/** CRC-32 of a byte, in eight tables: table k is of a byte that k zero bytes follow. */
const CRC_TABLES = (() => {
  const tables = new Int32Array(8 * 256);
  for (let byte = 0; byte < 256; ++byte) {
    let crc = byte;
    for (let bit = 0; bit < 8; ++bit) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    tables[byte] = crc;
  }
  for (let at = 256; at < tables.length; ++at) {
    const before = tables[at - 256];
    tables[at] = (before >>> 8) ^ tables[before & 255];
  }
  return tables;
})();

/**
 * Returns the CRC-32 of bytes as PNG and zlib have it.
 *
 * Source: M. E. Kounavis, F. L. Berry, "Novel Table Lookup-Based Algorithms for High-Performance
 * CRC Generation", 2008 (eight tables, eight bytes at a time).
 * @param {Uint8Array} bytes
 */
export function crc32(bytes) {
  const t = CRC_TABLES;
  const end = bytes.length;
  const whole = end - (end % 8);
  let crc = -1;
  let at = 0;
  for (; at < whole; at += 8) {
    crc ^= bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    crc =
      t[1792 + (crc & 255)] ^
      t[1536 + ((crc >>> 8) & 255)] ^
      t[1280 + ((crc >>> 16) & 255)] ^
      t[1024 + (crc >>> 24)] ^
      t[768 + bytes[at + 4]] ^
      t[512 + bytes[at + 5]] ^
      t[256 + bytes[at + 6]] ^
      t[bytes[at + 7]];
  }
  for (; at < end; ++at) crc = (crc >>> 8) ^ t[(crc ^ bytes[at]) & 255];
  return ~crc >>> 0;
}

/**
 * Returns the lowest bytes of a CRC in hexadecimal digits.
 * @param {number} crc
 * @param {number} bytes
 */
export function crcText(crc, bytes) {
  return crc.toString(16).padStart(8, "0").slice(-2 * bytes);
}

/**
 * @param {Uint8Array} bytes
 * @param {string} [between]
 */
export function hex(bytes, between = "") {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(between);
}

/** Reader of successive fields in a part of a file. */
export class Fields {
  /**
   * @param {Uint8Array} data the part of the file
   * @param {string} section title of the section of the format, for errors
   * @param {number} [start] byte offset of the part in the file, for errors
   */
  constructor(data, section, start = 0) {
    this.data = data;
    this.section = section;
    this.start = start;
    this.place = 0;
    this.last = 0n; // the last number, which a double may not hold
  }

  /** Byte offset in the file of the next field. */
  get offset() {
    return this.start + this.place;
  }

  /** Number of bytes that are not read. */
  get left() {
    return this.data.length - this.place;
  }

  /**
   * Reads `count` bytes of a field.
   * @param {string} name
   * @param {number} count
   */
  bytes(name, count) {
    if (count > this.left) {
      const exact = count === Number(this.last) ? this.last : count;
      throw new TruncatedStream(
        this.section,
        `only ${this.left} of ${exact} bytes of ${name}`,
        this.start + this.data.length,
      );
    }
    this.place += count;
    return this.data.subarray(this.place - count, this.place);
  }

  /**
   * Reads an unsigned big-endian integer of at most 4 bytes.
   * @param {string} name
   * @param {number} count
   */
  fixed(name, count) {
    return this.bytes(name, count).reduce((value, byte) => value * 256 + byte, 0);
  }

  /**
   * Reads a number from `low` to `high`. Above 2^53 the result is rounded: no file is as long.
   * Errors name it as it is; see `bytes`.
   * @param {string} name
   * @param {number} [low]
   * @param {number | bigint} [high]
   */
  number(name, low = 0, high = MOST_NUMBER) {
    const first = this.offset;
    let value = 0n;
    let byte = 0;
    let index = 0;
    for (; index < LONGEST; ++index) {
      byte = this.bytes(name, 1)[0];
      if (index === 0 && byte < 0x80) {
        value = BigInt(byte);
        break;
      }
      value |= BigInt(byte & 0x7f) << BigInt(7 * index);
      if (byte < 0x80) break;
    }
    if (byte >= 0x80 || (byte === 0 && index > 0)) {
      throw new CorruptStream(this.section, `${name} is not a number in shortest form`, first);
    }
    if (value < low || value > high) {
      const allowed = low === high ? `${low}` : `${low} to ${high}`;
      throw new CorruptStream(this.section, `${name} is ${value}, allowed is ${allowed}`, first);
    }
    this.last = value;
    return Number(value);
  }

  /**
   * Reads integers of a number of bits, then each as quotient and remainder.
   * @param {string} name
   * @param {number} count
   */
  remainders(name, count) {
    const n = this.number(`bits of ${name}`, 0, MOST_REMAINDER);
    if (count * (n + 1) > 8 * this.left) {
      throw new TruncatedStream(
        this.section,
        `only ${this.left} bytes for ${count} ${name}`,
        this.start + this.data.length,
      );
    }
    const values = new Array(count);
    let bits = 0; // read and not used, `held` of them
    let held = 0;
    for (let at = 0; at < count; ++at) {
      let quotient = 0;
      for (;;) {
        if (held === 0) {
          bits = this.bytes(name, 1)[0];
          held = 8;
        }
        --held;
        if (!((bits >> held) & 1)) break;
        ++quotient;
      }
      bits &= (1 << held) - 1;
      while (held < n) {
        bits = (bits << 8) | this.bytes(name, 1)[0];
        held += 8;
      }
      held -= n;
      values[at] = quotient * 2 ** n + (bits >>> held);
      bits &= (1 << held) - 1;
    }
    if (bits) {
      throw new CorruptStream(this.section, `bits after ${name} are not 0`, this.offset - 1);
    }
    return values;
  }
}
