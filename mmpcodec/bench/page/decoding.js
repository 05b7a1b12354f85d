// Decodes the images of the page: mmp files by the page's decoder, all others by the browser. A PNG
// with a level of white, "deep", has two bytes a sample: all upper, below them all lower.

// Fills the entry of an image: its size, and its samples or what gives them.
async function decodeImage(entry, picture, signal) {
  const {kind} = entry;
  if (kind === "mmp") Object.assign(entry, await decodedMmp(entry, picture, signal));
  else Object.assign(entry, await decodedByBrowser(entry, kind || "image/png"));
  if (kind) checkSize(entry, picture);
}

async function decodedMmp({id, white}, picture, signal) {
  const limits = {maxSamples: Infinity, maxDimension: Infinity}; // the sweep decoded them too
  const file = await decoder.open(storedBytes(id), {limits, signal});
  checkSize(file.header, picture);
  const {width, height, planes, samples} = await file.decode({signal});
  return {width, height, samples: withFourPlanes(samples, planes, white)};
}

async function decodedByBrowser({id, deep}, type) {
  const image = new Image();
  await new Promise((resolve, reject) => {
    image.onload = resolve;
    image.onerror = () => reject(new Error(`this browser cannot decode its ${type}`));
    image.src = `data:${type};base64,${document.getElementById(id).textContent}`;
  });
  const {naturalWidth: width, naturalHeight: height} = image;
  return {image, width, height: deep ? height / 2 : height};
}

function checkSize({width, height}, picture) {
  if (width === picture.width && height === picture.height) return;
  throw new Error(`its file is ${width}x${height}, not ${picture.width}x${picture.height}`);
}

// Red, green, blue and full opacity, of samples that may be gray and have alpha.
function withFourPlanes(samples, planes, white) {
  const all = new samples.constructor(4 * samples.length / planes).fill(white);
  const [red, green, blue] = planes < 3 ? [0, 0, 0] : [0, 1, 2];
  for (let k = 0, from = 0; k < all.length; k += 4, from += planes) {
    all[k] = samples[from + red];
    all[k + 1] = samples[from + green];
    all[k + 2] = samples[from + blue];
  }
  return all;
}

function sheet(width, height) {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  return [canvas, canvas.getContext("2d", {willReadFrequently: true})];
}

function bytesOf(image) {
  const [canvas, pen] = sheet(image.naturalWidth, image.naturalHeight);
  pen.drawImage(image, 0, 0);
  return pen.getImageData(0, 0, canvas.width, canvas.height).data;
}

// Red, green, blue and opacity of each pixel.
function samplesOf(entry) {
  if (entry.samples) return entry.samples;
  const stored = bytesOf(entry.image);
  if (entry.deep) {
    entry.samples = new Uint16Array(stored.length / 2);
    const {length} = entry.samples;
    for (let k = 0; k < length; k++) entry.samples[k] = 256 * stored[k] + stored[length + k];
  } else entry.samples = stored;
  return entry.samples;
}

// A canvas whose bytes (k => byte) gives; each fourth byte is opaque.
function painted(width, height, byte) {
  const [canvas, pen] = sheet(width, height), pixels = pen.createImageData(width, height);
  for (let k = 0; k < pixels.data.length; k++) pixels.data[k] = k % 4 === 3 ? 255 : byte(k);
  pen.putImageData(pixels, 0, 0);
  return canvas;
}
