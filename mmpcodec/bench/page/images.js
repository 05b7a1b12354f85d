// The pictures of the page: what is drawn, the samples, their differences, and the edges of leaves
// or blocks. An image with a level of white has two bytes a sample: all upper, below them all lower.
function makeImages(ready) {
  const known = new Map();
  let last = {}, levels = null; // the least and the largest level of the original

  function load(name) {
    if (known.has(name)) return known.get(name);
    const stored = document.getElementById(`image-${name}`), image = new Image();
    const deep = "white" in stored.dataset, white = Number(deep ? stored.dataset.white : 255);
    const entry = {image, deep, white, drawn: null};
    known.set(name, entry);
    image.onload = () => {
      if (known.get(name) !== entry) return;
      entry.width = image.naturalWidth;
      entry.height = entry.deep ? image.naturalHeight / 2 : image.naturalHeight;
      entry.drawn = entry.deep ? narrowed(entry) : image;
      ready();
    };
    image.src = `data:image/png;base64,${stored.textContent}`;
    return entry;
  }

  function sheet(width, height) {
    const canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = height;
    return [canvas, canvas.getContext("2d", {willReadFrequently: true})];
  }

  function bytes(image) {
    const [canvas, pen] = sheet(image.naturalWidth, image.naturalHeight);
    pen.drawImage(image, 0, 0);
    return pen.getImageData(0, 0, canvas.width, canvas.height).data;
  }

  // Red, green, blue and opacity of each pixel.
  function samplesOf(entry) {
    if (entry.samples) return entry.samples;
    const stored = bytes(entry.image);
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

  function narrowed(entry) {
    const samples = samplesOf(entry), [low, high] = levels || [0, entry.white];
    return painted(entry.width, entry.height, k => (samples[k] - low) * 255 / (high - low));
  }

  return {
    // Forgets the images of another picture; samples of more than 8 bits show its levels.
    clear(shown) {
      known.clear();
      levels = shown;
    },

    drawn: name => load(name).drawn,

    // A minus B, so many times, around mid-gray; null while a picture is being decoded.
    difference(a, b, gain) {
      const one = load(a), other = load(b);
      if (!one.drawn || !other.drawn) return null;
      if (last.one === one && last.other === other && last.gain === gain) return last;
      const x = samplesOf(one), y = samplesOf(other), {white} = one;
      let largest = 0, sum = 0;
      const canvas = painted(one.width, one.height, k => {
        const error = x[k] - y[k], size = Math.abs(error);
        if (size > largest) largest = size;
        sum += size;
        return 128 + gain * error * 255 / white;
      });
      const mean = sum / (3 * one.width * one.height);
      last = {one, other, gain, canvas, largest, mean, white};
      return last;
    },

    // A picture in faint gray under the colours of its map; null while one of them is being decoded.
    // colours: the map's red, green, blue and share of the largest value, for each level.
    mapped(name, map, colours) {
      const entry = load(name), over = load(`${name}-${map}`);
      if (!entry.drawn || !over.drawn) return null;
      if (entry.colours === colours) return entry.mapped;
      const [canvas, pen] = sheet(entry.width, entry.height);
      pen.drawImage(entry.drawn, 0, 0);
      const pixels = pen.getImageData(0, 0, entry.width, entry.height);
      drawMap(pixels, samplesOf(over), over.width, colours);
      pen.putImageData(pixels, 0, 0);
      Object.assign(entry, {colours, mapped: canvas});
      return canvas;
    },

    // The value of the highest level of a map.
    top: (name, map) => Number(document.getElementById(`image-${name}-${map}`).dataset.top),

    // One byte a pixel: 1 where the first row of a leaf or block is, 2 where its first column is.
    edges(name) {
      const entry = load(`${name}-tree`);
      if (!entry.drawn) return null;
      if (!entry.edges) {
        const rgba = samplesOf(entry);
        entry.edges = Uint8Array.from({length: rgba.length / 4}, (_, k) => rgba[4 * k]);
      }
      return entry;
    },
  };
}
