// What Python knows of a file beside its pixels: how it was coded, in layers over the picture, and
// its bright regions. It is in the page, or asked of the server when it is wanted first.
class Facts {
  #asked = {}; // promises by kind, "layers" or "regions"
  #found = {};

  constructor(file) {
    this.file = file;
  }

  // The facts of a kind, {found, problem}: problem says why there are none. Null while they are on
  // their way.
  get(kind) {
    return this.#found[kind] || null;
  }

  load(kind) {
    return this.#asked[kind] ||= this.file.facts(kind).then(
      facts => ({found: facts[kind], problem: facts.problems[kind] || null}),
      error => ({found: null, problem: error.message}),
    ).then(found => this.#found[kind] = found);
  }
}

// The chosen layer, its legend, and its drawing over a picture.
class Layers {
  static NAMES = {edges: "leaves or blocks", modes: "modes", bits: "bits per pixel"};
  static MOST_LINES = 2 ** 21; // pixels in view whose outlines are drawn
  #images = new WeakMap(); // by layer

  constructor(ready) {
    this.ready = ready;
    this.chosen = "";
  }

  // The chosen layer of some facts; undefined if they have none.
  of(facts) {
    return (facts.get("layers")?.found || []).find(layer => layer.key === this.chosen);
  }

  #image(layer) {
    if (!this.#images.has(layer)) {
      const image = new Image();
      image.onload = () => {
        this.#images.set(layer, layer.key === "edges" ? edgesOf(image, layer.phase) : image);
        this.ready();
      };
      image.src = `data:image/png;base64,${layer.png}`;
      this.#images.set(layer, null);
    }
    return this.#images.get(layer);
  }

  draw(stage, facts) {
    const layer = this.of(facts), image = layer && this.#image(layer);
    if (!image) return;
    const {pen, zoom, left, top, pane} = stage;
    if (layer.key === "edges") {
      const [wide, high] = [pane.width / zoom, pane.height / zoom];
      if (Math.min(wide, image.width) * Math.min(high, image.height) <= Layers.MOST_LINES)
        drawTree(stage, image);
      return;
    }
    pen.imageSmoothingEnabled = false;
    const [width, height] = [image.naturalWidth * zoom, image.naturalHeight * zoom];
    pen.drawImage(image, -left * zoom, -top * zoom, width, height);
  }

  // Shows what the colours mean; they may differ from file to file.
  showLegend(node, several) {
    node.hidden = !this.chosen;
    if (!this.chosen) return;
    const rows = several.map(facts => {
      const {file: {name}} = facts, there = facts.get("layers"), layer = this.of(facts);
      if (layer) return {name, text: layer.meaning, colours: layer.colours};
      return {name, colours: [], text: !there ? "This is being computed …"
        : there.problem || `This file has no ${Layers.NAMES[this.chosen]}.`};
    });
    const said = JSON.stringify(rows);
    if (node.dataset.said === said) return;
    node.dataset.said = said;
    node.replaceChildren(...rows.flatMap(row => this.#legendOf(row, rows.length > 1)));
  }

  #legendOf({name, text, colours}, named) {
    const meaning = document.createElement("p"), list = document.createElement("ul");
    meaning.textContent = named ? `${name}: ${text}` : text;
    for (const [title, colour] of colours) {
      const item = document.createElement("li"), swatch = document.createElement("i");
      swatch.style.backgroundColor = colour;
      item.append(swatch, title);
      list.append(item);
    }
    return colours.length ? [meaning, list] : [meaning];
  }
}

// One byte a pixel: 1 where the first row of a leaf or block is, 2 where its first column is. The
// phase is a column and a row of fragments.
function edgesOf(image, phase) {
  const {naturalWidth: width, naturalHeight: height} = image;
  const pen = new OffscreenCanvas(width, height).getContext("2d", {willReadFrequently: true});
  pen.drawImage(image, 0, 0);
  const rgba = pen.getImageData(0, 0, width, height).data, edges = new Uint8Array(width * height);
  for (let k = 0; k < edges.length; k++) edges[k] = rgba[4 * k];
  return {width, height, edges, phase};
}
