// Samples of a kept JPEG file, which the browser decodes.
import { UnreadableJpeg } from "./errors.js";
import { JPEG_SECTION } from "./format/jpeg.js";
import { asCoded, frameOf } from "./format/jpeg_file.js";

/** Height and width of the parts that are read of a decoded picture, in pixels. */
const SIDE = 2048;

/** @param {string} reason */
function unreadable(reason) {
  const says = `the samples of this kept JPEG file cannot be read: ${reason}`;
  return new UnreadableJpeg(JPEG_SECTION, `${says}; jpegFile gives the file, which is whole`);
}

/**
 * Returns the samples of a file as it codes them: not turned, and in no other colours.
 * @param {Uint8Array} file
 * @param {{ width: number, height: number }} size that the header of the mmp file says
 * @param {number} planes 1 or 3
 */
export async function samplesOfJpeg(file, size, planes) {
  const { createImageBitmap: decode, OffscreenCanvas: Canvas } = globalThis;
  if (!decode || !Canvas) throw unreadable("only browsers decode it, this system has no decoder");
  checkFrame(file, size, planes);
  let image;
  try {
    const options = { colorSpaceConversion: "none", premultiplyAlpha: "none" };
    const blob = new Blob(asCoded(file), { type: "image/jpeg" });
    image = await decode(blob, /** @type {ImageBitmapOptions} */ (options));
  } catch (error) {
    throw unreadable(`this browser cannot show it: ${/** @type {Error} */ (error).message}`);
  }
  try {
    checkSize(image, size);
    return samplesIn(image, planes, Canvas);
  } finally {
    image.close();
  }
}

/**
 * Checks what a file says of its picture: a browser would take memory for any size.
 * @param {Uint8Array} file
 * @param {{ width: number, height: number }} size
 * @param {number} planes
 */
function checkFrame(file, size, planes) {
  const frame = frameOf(file);
  if (!frame) throw unreadable("it names no picture");
  checkSize(frame, size);
  const isGray = frame.components === 1;
  if (isGray === (planes === 1)) return;
  const says = isGray ? "gray, the header says RGB" : "RGB, the header says gray";
  throw unreadable(`its picture is ${says}`);
}

/**
 * @param {{ width: number, height: number }} found
 * @param {{ width: number, height: number }} size
 */
function checkSize({ width, height }, size) {
  if (width === size.width && height === size.height) return;
  const says = `its picture is ${width}x${height}, the header says ${size.width}x${size.height}`;
  throw unreadable(says);
}

/**
 * Returns the samples of a decoded picture, in parts that are small enough for every canvas.
 * @param {ImageBitmap} image
 * @param {number} planes 1 takes the red samples, which are those of all colours
 * @param {typeof OffscreenCanvas} Canvas
 */
function samplesIn(image, planes, Canvas) {
  const { width, height } = image;
  const samples = new Uint8Array(width * height * planes);
  const canvas = new Canvas(Math.min(width, SIDE), Math.min(height, SIDE));
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  if (!pen) throw unreadable("this browser has no canvas for it");
  for (let y = 0; y < height; y += SIDE) {
    for (let x = 0; x < width; x += SIDE) {
      const [across, down] = [Math.min(SIDE, width - x), Math.min(SIDE, height - y)];
      pen.drawImage(image, x, y, across, down, 0, 0, across, down);
      const { data } = pen.getImageData(0, 0, across, down);
      for (let row = 0, from = 0; row < down; ++row) {
        let to = ((y + row) * width + x) * planes;
        for (const end = from + 4 * across; from < end; from += 4) {
          for (let plane = 0; plane < planes; ++plane) samples[to++] = data[from + plane];
        }
      }
    }
  }
  return samples;
}
