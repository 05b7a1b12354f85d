// Errors of the decoder. Their names, sections and texts are those of the Python package.

/** Base of all errors of this module. */
export class MmpError extends Error {
  get name() {
    return this.constructor.name;
  }
}

/** An argument is outside its allowed range, or of another type. */
export class ParameterError extends MmpError {}

/** The module of WebAssembly cannot be loaded or run, or stopped without naming a broken rule. */
export class DecoderFault extends MmpError {}

/** The bytes of a file cannot be fetched, or the file changed between two requests. */
export class SourceError extends MmpError {}

/** Bytes cannot be decoded to a picture. */
export class FormatError extends MmpError {
  /**
   * @param {string} section title of the section of docs/format/format.md whose rule is broken
   * @param {string} problem field, value and allowed range
   * @param {number | null} [offset] byte offset in the file, if it is known
   */
  constructor(section, problem, offset = null) {
    super(`${section}${offset === null ? "" : ` at byte ${offset}`}: ${problem}`);
    this.section = section;
    this.problem = problem;
    this.offset = offset;
  }

  /**
   * Returns the error with the name of a part of the file, which begins at byte `start`.
   * @param {string} part
   * @param {number} [start]
   */
  within(part, start = 0) {
    const own = /** @type {typeof FormatError} */ (this.constructor);
    const offset = this.offset === null ? null : this.offset + start;
    return new own(this.section, `${part}: ${this.problem}`, offset);
  }
}

/** The bytes do not begin with the magic of an mmp file. */
export class BadMagic extends FormatError {}

/** The file has a version of the format that this decoder does not know. */
export class UnsupportedVersion extends FormatError {}

/** The bytes end before the picture is complete. */
export class TruncatedStream extends FormatError {}

/** A field is out of range, or a checksum does not match. */
export class CorruptStream extends FormatError {}

/** A picture needs more samples or memory than the limits allow. */
export class LimitExceeded extends FormatError {}

/** A file keeps a JPEG file, which decodes, but whose samples cannot be read. */
export class UnreadableJpeg extends FormatError {}

const FORMAT_ERRORS = {
  BadMagic,
  UnsupportedVersion,
  TruncatedStream,
  CorruptStream,
  LimitExceeded,
  UnreadableJpeg,
};

/**
 * Returns what a worker sends of an error; messages between threads lose classes.
 * @param {any} error
 */
export function packedError(error) {
  const { name, message, section, problem, offset } = error;
  return { name, message, section, problem, offset };
}

/**
 * Returns the error that `packedError` packed.
 * @param {any} packed
 */
export function unpackedError({ name, message, section, problem, offset }) {
  const own = FORMAT_ERRORS[/** @type {keyof typeof FORMAT_ERRORS} */ (name)];
  return own ? new own(section, problem, offset) : new DecoderFault(message);
}
