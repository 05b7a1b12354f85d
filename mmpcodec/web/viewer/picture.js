// A picture that the browser decodes, to 8 bits a sample, as it is stored: the browser is given the
// fact that it is upright, because OpenPicture turns it. Source of the places of EXIF and XMP:
// ISO/IEC 10918-1, ISO 16684-3 and CIPA DC-008 (JPEG); W3C, "PNG Specification, Third Edition"; RFC
// 9649 (WebP).
async function nativePicture(file) {
  const bytes = new Uint8Array(await (await file.blob()).arrayBuffer());
  const {exif, xmp} = metadataIn(bytes), part = place => place && bytes.slice(...place);
  const metadata = {exif: part(exif), xmp: part(xmp)};
  if (exif) setUpright(bytes, exif);
  const options = {colorSpaceConversion: "none", premultiplyAlpha: "none"};
  const image = await createImageBitmap(new Blob([bytes]), options), {width, height} = image;
  const canvas = new OffscreenCanvas(width, height), pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0);
  const drawn = pen.getImageData(0, 0, width, height).data;
  const exact = isOpaque(drawn) ? drawn : readByWebGl(image); // a 2D canvas multiplies by alpha
  const {samples, form} = lean(exact || drawn), isRounded = !exact;
  return {
    header: {width, height, depth: 8, white: 255, tileSize: 0, form, isRounded, ...metadata},
    tile: async () => ({samples}),
  };
}

// Samples of an image, red, green, blue and alpha, in parts that are small enough for all devices;
// null if there is no WebGL.
function readByWebGl(image) {
  const SIDE = 2048, gl = new OffscreenCanvas(1, 1).getContext("webgl2");
  if (!gl) return null;
  const {width, height} = image, rgba = new Uint8Array(4 * width * height);
  gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
  gl.bindFramebuffer(gl.FRAMEBUFFER, gl.createFramebuffer());
  gl.pixelStorei(gl.PACK_ROW_LENGTH, width);
  for (let y = 0; y < height; y += SIDE)
    for (let x = 0; x < width; x += SIDE) {
      const size = [Math.min(SIDE, width - x), Math.min(SIDE, height - y)];
      gl.pixelStorei(gl.UNPACK_SKIP_PIXELS, x);
      gl.pixelStorei(gl.UNPACK_SKIP_ROWS, y);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, ...size, 0, gl.RGBA, gl.UNSIGNED_BYTE, image);
      const texture = gl.getParameter(gl.TEXTURE_BINDING_2D);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
      gl.readPixels(0, 0, ...size, gl.RGBA, gl.UNSIGNED_BYTE, rgba, 4 * (y * width + x));
    }
  const isGood = gl.getError() === gl.NO_ERROR && !gl.isContextLost();
  gl.getExtension("WEBGL_lose_context")?.loseContext(); // browsers keep few of them
  return isGood ? rgba : null;
}

function isOpaque(rgba) {
  for (let k = 3; k < rgba.length; k += 4) if (rgba[k] < 255) return false;
  return true;
}

// Samples without planes that say nothing: full opacity, and colours that are equal everywhere.
function lean(rgba) {
  const opaque = isOpaque(rgba);
  let gray = true;
  for (let k = 0; k < rgba.length && gray; k += 4)
    gray = rgba[k] === rgba[k + 1] && rgba[k] === rgba[k + 2];
  const kept = [...gray ? [0] : [0, 1, 2], ...opaque ? [] : [3]], planes = kept.length;
  const samples = new Uint8Array(rgba.length / 4 * planes);
  for (let p = 0; p < planes; p++)
    for (let k = kept[p], out = p; k < rgba.length; k += 4, out += planes) samples[out] = rgba[k];
  return {samples, form: (gray ? "gray" : "RGB") + (opaque ? "" : " with alpha")};
}

// Where a JPEG, PNG or WebP file has EXIF and XMP: start and end, or null.
function metadataIn(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const has = (text, at) => [...text].every((letter, k) => bytes[at + k] === letter.charCodeAt(0));
  const found = {exif: null, xmp: null}, EXIF = "Exif\0\0", XMP = ["http", "//ns.adobe.com/xap/1.0/\0"].join(":");
  const note = (kind, start, end) => found[kind] ||= [start, Math.min(end, bytes.length)];
  if (has("\xff\xd8", 0))
    for (let at = 2; at + 4 <= bytes.length && bytes[at] === 0xff && bytes[at + 1] !== 0xda;) {
      const start = at + 4, end = at + 2 + view.getUint16(at + 2), isApp1 = bytes[at + 1] === 0xe1;
      if (isApp1 && has(EXIF, start)) note("exif", start + EXIF.length, end);
      if (isApp1 && has(XMP, start)) note("xmp", start + XMP.length, end);
      at = bytes[at + 1] === 0xff ? at + 1 : end; // 0xff may fill the place before a marker
    }
  else if (has("\x89PNG", 0))
    for (let at = 8; at + 12 <= bytes.length;) {
      const start = at + 8, end = start + view.getUint32(at);
      if (has("eXIf", at + 4)) note("exif", start, end);
      if (has("iTXt", at + 4) && has("XML:com.adobe.xmp\0", start)) note("xmp", start, end);
      at = end + 4;
    }
  else if (has("RIFF", 0) && has("WEBP", 8))
    for (let at = 12; at + 8 <= bytes.length;) {
      const start = at + 8, size = view.getUint32(at + 4, true), end = start + size;
      if (has("EXIF", at)) note("exif", start + (has(EXIF, start) ? EXIF.length : 0), end);
      if (has("XMP ", at)) note("xmp", start, end);
      at = end + size % 2;
    }
  return found;
}

// Offset, value and byte order of the orientation in EXIF; null if there is none from 1 to 8.
function orientationIn(exif) {
  const view = new DataView(exif.buffer, exif.byteOffset, exif.length);
  if (exif.length < 8) return null;
  const start = view.getUint32(0), little = start === 0x49492a00;
  const directory = view.getUint32(4, little);
  if (!little && start !== 0x4d4d002a || directory + 2 > exif.length) return null;
  const count = view.getUint16(directory, little);
  for (let k = 0, at = directory + 2; k < count && at + 12 <= exif.length; k++, at += 12) {
    if (view.getUint16(at, little) !== 274) continue;
    const value = view.getUint16(at + 8, little);
    return value >= 1 && value <= 8 ? {at: at + 8, value, little} : null;
  }
  return null;
}

// The orientation of a picture: that in EXIF; that in XMP, if EXIF names none; else 1.
function orientationOf(exif, xmp) {
  const found = exif && orientationIn(exif);
  if (found) return found.value;
  const text = xmp ? new TextDecoder("latin1").decode(xmp) : "";
  const named = text.match(/tiff:Orientation(?:\s*=\s*["']|\s*>)\s*([1-8])\s*["'<]/);
  return named ? Number(named[1]) : 1;
}

// Makes the orientation in the EXIF of a file 1; the CRC of a chunk of PNG follows it.
function setUpright(bytes, [start, end]) {
  const found = orientationIn(bytes.subarray(start, end));
  if (!found) return;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  view.setUint16(start + found.at, 1, found.little);
  if (bytes[0] !== 0x89) return;
  let crc = -1;
  for (const byte of bytes.subarray(start - 4, end)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc >>> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  if (end + 4 <= bytes.length) view.setUint32(end, ~crc);
}
