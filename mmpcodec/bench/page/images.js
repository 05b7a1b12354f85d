// The pictures of the page: what is drawn, the samples, their differences, and the edges of leaves
// or blocks.
function makeImages(ready) {
  const known = new Map();
  let last = {}, shown = null, leaving = new AbortController();

  // The entry of an image, which is decoded when it is first asked for.
  function load(name) {
    if (known.has(name)) return known.get(name);
    const id = `image-${name}`, {kind, white} = document.getElementById(id).dataset;
    const deep = !kind && white !== undefined;
    const entry = {id, kind, deep, white: Number(white || 255), drawn: null, problem: null};
    known.set(name, entry);
    decodeImage(entry, shown, leaving.signal).then(() => {
      entry.drawn = entry.deep || kind === "mmp" ? narrowed(entry) : entry.image;
    }).catch(error => {
      entry.problem = error.message;
    }).then(() => {
      if (known.get(name) === entry) ready();
    });
    return entry;
  }

  function narrowed(entry) {
    const samples = samplesOf(entry), [low, high] = shown.levels || [0, entry.white];
    return painted(entry.width, entry.height, k => (samples[k] - low) * 255 / (high - low));
  }

  return {
    // Forgets the images of another picture; samples of more than 8 bits show the levels of this
    // one.
    clear(picture) {
      leaving.abort();
      leaving = new AbortController();
      known.clear();
      shown = picture;
    },

    // Whether an image is being decoded, and why it cannot be.
    state(name) {
      const {drawn, problem} = load(name);
      return {waiting: !drawn && problem === null, problem};
    },

    drawn: name => load(name).drawn,

    // A minus B, times `gain`, around mid-gray; null while a picture is being decoded.
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

    // A picture in faint gray under the colours of its map; null while one of them is being
    // decoded. colours: the map's red, green, blue and share of the largest value, for each level.
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
