// Types of the decoder of mmp files for browsers and Node.

/** Samples of a picture or of a part of it. */
export interface Decoded {
  /** Size in pixels. */
  width: number;
  height: number;
  /** Which samples a pixel has, in their order. */
  form: Form;
  /** Samples of a pixel, 1 to 4. */
  planes: 1 | 2 | 3 | 4;
  /** Bits of a sample, 1 to 16: samples are from 0 to 2^depth - 1. */
  depth: number;
  /** Rows from the top, the samples of a pixel together; bytes up to 8 bits. */
  samples: Uint8Array | Uint16Array;
  metadata: Metadata;
}

export type Form = "gray" | "gray with alpha" | "RGB" | "RGB with alpha";

/** What a file keeps besides samples. */
export interface Metadata {
  icc: Uint8Array | null;
  exif: Uint8Array | null;
  xmp: Uint8Array | null;
  /** Samples for each unit along rows and columns, as numerator and denominator. */
  resolution: {
    x: [number, number];
    y: [number, number];
    unit: "none" | "inch" | "centimetre" | "metre";
  } | null;
  /** Keys and texts, in the order of the file. */
  text: [string, string][];
  /** The sample that is shown as white; null for 2^depth - 1. */
  white: number | null;
  /** The samples that count as black and white; null for 0 and 2^depth - 1. */
  range: [number, number] | null;
}

/** The header of a file. */
export interface Header {
  version: 3;
  form: Form;
  planes: 1 | 2 | 3 | 4;
  depth: number;
  /** Size in pixels. */
  width: number;
  height: number;
  /** Height and width of a tile in pixels; 0 if the picture is one tile. */
  tileSize: number;
  tileCount: number;
  /** Byte offset of each tile, then the size of the file. */
  tileOffsets: Float64Array;
  /** Bytes of the header. */
  size: number;
  /** What the header has; see `Picture.metadata` for those of a kept JPEG file. */
  metadata: Metadata;
  /**
   * The JPEG file that the picture keeps bit for bit: which models code it, 1 to 3, and its size in
   * bytes; both are 0 if its tile is damaged. Null if the picture keeps none.
   */
  jpeg: { form: number; bytes: number } | null;
}

/** A tile: its place and size in pixels, and its number in raster order, from 0. */
export interface Tile {
  number: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** What a decoder accepts, checked before samples are decoded. */
export interface Limits {
  /** Most samples in whole 16x16 fragments of the tiles that are decoded; 2^26 by default. */
  maxSamples: number;
  /** Most pixels of a row or column; 2^24 by default. */
  maxDimension: number;
  /** Most bytes of memory; 2^31 by default. The memory of a worker never grows beyond it. */
  maxMemory: number;
  /** Most seconds on one thread, by an estimate that takes no plane as flat; Infinity by default. */
  maxSeconds: number;
  /** Most pictures of a file; 2^16 by default. */
  maxPictures: number;
}

export interface OpenOptions {
  /** Ends requests, and decoding by ending its worker. */
  signal?: AbortSignal;
  limits?: Partial<Limits>;
  /** Options of each request, such as headers or credentials. */
  requestInit?: RequestInit;
}

export interface PictureOptions extends OpenOptions {
  /** Number of the picture in a file of several, from 1. */
  page?: number;
}

export interface DecodeOptions extends PictureOptions {
  /** Column and row of the first pixel, width and height; the whole picture by default. */
  region?: [x: number, y: number, width: number, height: number];
}

/** A URL is fetched by parts if its server takes requests of ranges, else as a whole. */
export type File = string | URL | Blob | ArrayBuffer | ArrayBufferView;

/**
 * A picture whose header is read. Each call decodes the tiles that it needs. A page that continues
 * others is decoded after these, and then kept; no other page has use of what decoding it left.
 */
export interface Picture {
  readonly header: Header;
  readonly width: number;
  readonly height: number;
  /** Bytes that were fetched from a server, and the number of requests. */
  readonly traffic: { bytes: number; requests: number };
  /** Returns the tiles that a region touches. */
  tilesTouching(x: number, y: number, width: number, height: number): Tile[];
  /** Decodes a region; only the tiles that it touches are fetched. */
  region(
    x: number,
    y: number,
    width: number,
    height: number,
    options?: { signal?: AbortSignal },
  ): Promise<Decoded>;
  /** Decodes a tile, by its number in raster order. */
  tile(number: number, options?: { signal?: AbortSignal }): Promise<Decoded>;
  /** Decodes the whole picture, and checks that the file ends with it. */
  decode(options?: { signal?: AbortSignal }): Promise<Decoded>;
  /** Returns the JPEG file that the picture keeps, bit for bit; null if it keeps none. */
  jpegFile(options?: { signal?: AbortSignal }): Promise<Uint8Array | null>;
  /**
   * Returns the metadata of the header; if it has none and the picture keeps a JPEG file, profile,
   * EXIF, XMP and resolution of this file.
   */
  metadata(options?: { signal?: AbortSignal }): Promise<Metadata>;
}

/** What the index says of a picture of a file of several. */
export interface Page {
  role: "page" | "frame" | "slice" | "level" | "thumbnail";
  /** Its name in errors, as "page 3". */
  name: string;
  form: Form;
  depth: number;
  /** Size in pixels. */
  width: number;
  height: number;
  /** Seconds that a frame is shown; null for other roles. */
  duration: number | null;
  /** Place of a slice along its series in millimetres; null for other roles. */
  position: number | null;
  /**
   * Number of the picture in the file, from 0 and with renditions, whose models and pixels this one
   * goes on with; null if it decodes alone.
   */
  continues: number | null;
  /** Bytes that this saves. */
  saved: number;
  /** Levels and thumbnails of this picture. */
  renditions: Page[];
}

/** The pictures of a file, which are fetched when they are opened. */
export interface Book {
  /** How often frames are shown, one after the other; 0 for without end. */
  readonly loops: number;
  /** Pages, frames or slices; empty for a file of one picture, which `open()` opens. */
  readonly pages: Page[];
  /** Bytes that were fetched from a server, and the number of requests. */
  readonly traffic: { bytes: number; requests: number };
  /** Opens a picture, by its number from 1 or as one of `pages` or of their `renditions`. */
  open(which?: number | Page, options?: { signal?: AbortSignal }): Promise<Picture>;
}

export interface Settings {
  /** The module: where it is, its bytes, or compiled; mmp.wasm beside the scripts by default. */
  wasm?: string | URL | BufferSource | WebAssembly.Module;
  /** Most workers, each of which decodes one tile at a time; 0 decodes in the calling thread. */
  workers?: number;
  /** Where the script of a worker is, or a function that makes a worker of it. */
  worker?: string | URL | (() => Worker);
}

export interface Decoder {
  open(file: File, options?: PictureOptions): Promise<Picture>;
  /** Reads the index of a file of several pictures; a file of one picture opens, too. */
  openBook(file: File, options?: OpenOptions): Promise<Book>;
  decode(file: File, options?: DecodeOptions): Promise<Decoded>;
  /** Returns the JPEG file that a picture keeps, bit for bit; null if it keeps none. */
  jpegFile(file: File, options?: PictureOptions): Promise<Uint8Array | null>;
  /** Ends the workers; tiles that are being decoded are rejected. */
  close(): Promise<void>;
}

/** Returns a decoder with workers of its own, which start as they are needed. */
export function createDecoder(settings?: Settings): Decoder;
/** Reads the header of a file. */
export const open: Decoder["open"];
/** Reads the index of a file of several pictures. */
export const openBook: Decoder["openBook"];
/** Decodes a file. */
export const decode: Decoder["decode"];
/** Returns the JPEG file that a picture keeps; null if it keeps none. */
export const jpegFile: Decoder["jpegFile"];
/** Ends the workers of `open`, `decode` and `jpegFile`. */
export function close(): Promise<void>;

/** Base of all errors. */
export class MmpError extends Error {}
/** An argument is outside its allowed range, or of another type. */
export class ParameterError extends MmpError {}
/** The module cannot be loaded or run, or stopped without naming a broken rule. */
export class DecoderFault extends MmpError {}
/** The bytes of a file cannot be fetched, or the file changed between two requests. */
export class SourceError extends MmpError {}
/** Bytes cannot be decoded to a picture. */
export class FormatError extends MmpError {
  /** Title of the section of docs/format/format.md whose rule is broken. */
  section: string;
  /** Field, value and allowed range. */
  problem: string;
  /** Byte offset in the file, if it is known. */
  offset: number | null;
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
