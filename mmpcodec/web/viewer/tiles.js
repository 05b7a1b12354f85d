// Decoded tiles of all pictures, limited in bytes; those that were used longest ago go first. What
// is in view stays, so that no tile is decoded again and again.
class TileCache {
  static BYTES = 2 ** 28;
  frame = 0; // number of the drawing
  #entries = new Map();
  #bytes = 0;

  constructor(limit = TileCache.BYTES) {
    this.limit = limit;
  }

  get(key) {
    const entry = this.#entries.get(key);
    if (entry) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
      entry.frame = this.frame;
    }
    return entry;
  }

  put(key, entry) {
    this.drop(key);
    entry.frame = this.frame;
    entry.bytes = entry.samples.byteLength + 4 * entry.width * entry.height; // samples and canvas
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
    for (const [oldest, {frame}] of this.#entries) {
      if (this.#bytes <= this.limit || frame === this.frame) break;
      this.drop(oldest);
    }
  }

  drop(key) {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }

  // Entries of a picture.
  *of(picture) {
    for (const [key, entry] of this.#entries) if (key.startsWith(`${picture.id}/`)) yield entry;
  }

  get bytes() {
    return this.#bytes;
  }
}

// Most pixels of a side of a canvas; browsers refuse much larger ones.
const CELL = 4096;

// The canvases of a decoded tile, with the levels of a picture.
function drawnTile(tile, levels) {
  if (tile.cells && tile.version === levels.version) return tile.cells;
  const {table} = levels, {samples, planes, width, height} = tile;
  const opacity = planes % 2 === 0 ? 255 / (2 ** levels.depth - 1) : 0;
  const [green, blue] = planes > 2 ? [1, 2] : [0, 0];
  const cells = tile.cells || [];
  let number = 0;
  for (let top = 0; top < height; top += CELL)
    for (let left = 0; left < width; left += CELL, number++) {
      const columns = Math.min(CELL, width - left), rows = Math.min(CELL, height - top);
      cells[number] ||= {left, top, canvas: new OffscreenCanvas(columns, rows)};
      const pixels = new ImageData(columns, rows), {data} = pixels;
      for (let row = 0, out = 0; row < rows; row++) {
        let k = ((top + row) * width + left) * planes;
        for (let column = 0; column < columns; column++, k += planes, out += 4) {
          data[out] = table[samples[k]];
          data[out + 1] = table[samples[k + green]];
          data[out + 2] = table[samples[k + blue]];
          data[out + 3] = opacity ? samples[k + planes - 1] * opacity : 255;
        }
      }
      cells[number].canvas.getContext("2d").putImageData(pixels, 0, 0);
    }
  Object.assign(tile, {cells, version: levels.version});
  return cells;
}

// A large picture at a fraction of its size, filled as tiles are decoded: each of its samples is
// the mean of a square.
class Overview {
  static SIDE = 2048;
  filled = new Set(); // numbers of tiles

  constructor(picture) {
    this.picture = picture;
    this.step = Math.ceil(Math.max(picture.width, picture.height) / Overview.SIDE);
    this.width = Math.ceil(picture.width / this.step);
    this.height = Math.ceil(picture.height / this.step);
  }

  add(number, tile) {
    const {step, width} = this, {x, y, planes, samples} = tile;
    if (this.filled.has(number)) return;
    if (!this.samples) {
      this.planes = planes;
      this.samples = new samples.constructor(width * this.height * planes);
      this.canvas = new OffscreenCanvas(width, this.height);
      this.pen = this.canvas.getContext("2d");
    }
    const box = this.#box(tile);
    for (let row = box.top; row < box.bottom; row++)
      for (let column = box.left; column < box.right; column++) {
        const top = Math.max(row * step - y, 0), bottom = Math.min((row + 1) * step - y, tile.height);
        const left = Math.max(column * step - x, 0);
        const right = Math.min((column + 1) * step - x, tile.width);
        const count = (bottom - top) * (right - left);
        for (let p = 0; p < planes; p++) {
          let sum = 0;
          for (let i = top; i < bottom; i++)
            for (let j = left; j < right; j++) sum += samples[(i * tile.width + j) * planes + p];
          this.samples[(row * width + column) * planes + p] = Math.round(sum / count);
        }
      }
    this.filled.add(number);
    this.version ??= -1;
    if (this.levels && this.version === this.levels.version) this.#draw(box);
  }

  // The part of the overview that a place of the picture touches.
  #box({x, y, width, height}) {
    const {step} = this;
    return {
      left: Math.floor(x / step), top: Math.floor(y / step),
      right: Math.ceil((x + width) / step), bottom: Math.ceil((y + height) / step),
    };
  }

  // Samples of a part.
  #part(box) {
    const {planes} = this, width = box.right - box.left, height = box.bottom - box.top;
    const samples = new this.samples.constructor(width * height * planes);
    for (let row = 0; row < height; row++) {
      const from = ((box.top + row) * this.width + box.left) * planes;
      samples.set(this.samples.subarray(from, from + width * planes), row * width * planes);
    }
    return {samples, planes, width, height};
  }

  #draw(box) {
    for (const {left, top, canvas} of drawnTile(this.#part(box), this.levels))
      this.pen.drawImage(canvas, box.left + left, box.top + top);
  }

  drawn(levels) {
    if (!this.samples) return null;
    if (this.levels !== levels || this.version !== levels.version) {
      Object.assign(this, {levels, version: levels.version});
      this.pen.clearRect(0, 0, this.width, this.height);
      for (const box of this.#boxes) this.#draw(box);
    }
    return this.canvas;
  }

  get #boxes() {
    return [...this.filled].map(number => this.#box(this.picture.place(number)));
  }

  // What is filled, as tiles.
  get parts() {
    return this.#boxes.map(box => this.#part(box));
  }
}

// One picture on the stage: asks for the tiles in view, and draws what is decoded of them.
class TileView {
  static LARGE = 2 ** 23; // pixels of a picture; larger ones have an overview
  static DETAIL = 2 ** 24; // most pixels of large pictures in view that are drawn from tiles
  static OVERVIEW_TILES = 4096; // most tiles that are decoded for an overview
  static AT_ONCE = Math.min(8, Math.max(2, navigator.hardwareConcurrency || 2));
  static OF_A_TILE = ["CorruptStream", "TruncatedStream", "LimitExceeded"]; // errors, by name
  #loading = new Map(); // AbortController by number of the tile
  #own; // whether the automatic levels are those of this picture
  #fitted = 0; // tiles that the automatic levels have seen
  #arrived = 0;
  #failed = new Map(); // errors by number of the tile; the other tiles are shown
  #error = null; // of the file itself: no more of it is asked for
  overview = null; // of tiles
  coarse = null; // levels in place of it

  // levels: those of another picture, or null; open: opens a smaller rendition of the picture;
  // ready: a tile has come, or cannot be decoded.
  constructor(picture, cache, levels, open, ready) {
    Object.assign(this, {picture, cache, ready, levels: levels || new Levels(picture)});
    this.#own = !levels;
    if (picture.pixels <= TileView.LARGE) return;
    this.coarse = LevelOverview.of(picture, open, () => {
      if (this.coarse.isBad) this.coarse = null;
      else if (this.#own && this.levels.auto && !this.#fitted) this.levels.fit(this.samples);
      this.ready(this);
    });
    this.overview = new Overview(picture);
  }

  #tile(number) {
    return this.cache.get(`${this.picture.id}/${number}`);
  }

  // Numbers of the tiles that a stage shows; finds whether they are drawn from tiles.
  #numbersIn({zoom, left, top, pane, columns, rows}) {
    const {picture} = this, right = left + pane.width / zoom, bottom = top + pane.height / zoom;
    const wide = Math.min(right, picture.width) - Math.max(left, 0);
    const high = Math.min(bottom, picture.height) - Math.max(top, 0);
    if (wide <= 0 || high <= 0) return [];
    this.detailed = !this.overview || wide * high * columns * rows <= TileView.DETAIL;
    return picture.tilesIn(left, top, right, bottom);
  }

  // Asks for what a stage shows, and says whether all of it is there.
  want(stage) {
    const numbers = this.#numbersIn(stage);
    this.#ask(this.detailed ? numbers.filter(number => !this.#tile(number))
      : this.coarse ? [] : this.#unseen(numbers));
    if (this.coarse && numbers.length) this.waiting += this.coarse.want(stage.zoom);
    return !this.waiting;
  }

  // Draws the part of the picture that a stage shows, and asks for what is missing. There, `under`
  // shows through, a view of a picture of the same size, or squares.
  draw(stage, under = null) {
    const numbers = this.#numbersIn(stage);
    if (under && this.want(stage)) under = null;
    if (!numbers.length) return this.#ask([]);
    if (under) under.paint(stage);
    else this.#ground(stage);
    this.paint(stage);
    this.want(stage);
  }

  // Draws what is decoded.
  paint(stage) {
    const {pen, zoom, left, top} = stage, numbers = this.#numbersIn(stage);
    pen.imageSmoothingEnabled = zoom < 1;
    pen.imageSmoothingQuality = "high";
    const overview = this.overview && !this.coarse && this.overview.drawn(this.levels);
    if (this.coarse) this.coarse.draw(stage, this.levels);
    if (overview) {
      const {step, width, height} = this.overview;
      pen.drawImage(overview, -left * zoom, -top * zoom, step * width * zoom, step * height * zoom);
    }
    if (this.detailed) for (const number of numbers) this.#drawTile(stage, number);
  }

  // Tiles in view that the overview lacks.
  #unseen(numbers) {
    const {filled} = this.overview, room = TileView.OVERVIEW_TILES - filled.size;
    return numbers.filter(number => !filled.has(number)).slice(0, Math.max(0, room));
  }

  #drawTile({pen, zoom, left, top}, number) {
    const tile = this.#tile(number);
    if (!tile) return;
    for (const cell of drawnTile(tile, this.levels)) {
      const x = tile.x + cell.left, y = tile.y + cell.top, {canvas} = cell;
      // Whole pixels of the stage, so that no line shows between two tiles.
      const [x0, x1] = [x, x + canvas.width].map(each => Math.round((each - left) * zoom));
      const [y0, y1] = [y, y + canvas.height].map(each => Math.round((each - top) * zoom));
      pen.drawImage(canvas, x0, y0, x1 - x0, y1 - y0);
    }
  }

  // Squares where the picture is transparent or not decoded yet.
  #ground({pen, zoom, left, top}) {
    if (!TileView.squares) {
      const canvas = new OffscreenCanvas(16, 16), own = canvas.getContext("2d");
      own.fillStyle = "#6a7079";
      own.fillRect(0, 0, 16, 16);
      own.fillStyle = "#7c828b";
      own.fillRect(0, 0, 8, 8);
      own.fillRect(8, 8, 8, 8);
      TileView.squares = pen.createPattern(canvas, "repeat");
    }
    pen.fillStyle = TileView.squares;
    const {width, height} = this.picture;
    const [x0, x1] = [0, width].map(each => Math.round((each - left) * zoom));
    const [y0, y1] = [0, height].map(each => Math.round((each - top) * zoom));
    pen.fillRect(x0, y0, x1 - x0, y1 - y0);
  }

  // Loads the tiles that are wanted, the first ones first, and gives up what is no longer wanted.
  #ask(wanted) {
    const still = new Set(wanted);
    for (const [number, control] of this.#loading) if (!still.has(number)) {
      this.#loading.delete(number);
      control.abort();
    }
    const missing = this.#error ? [] : wanted.filter(number => !this.#failed.has(number));
    this.waiting = missing.length;
    for (const number of missing) {
      if (this.#loading.size >= TileView.AT_ONCE) break;
      if (!this.#loading.has(number)) this.#load(number);
    }
  }

  async #load(number) {
    const control = new AbortController(), keep = this.detailed;
    this.#loading.set(number, control);
    try {
      const tile = await this.picture.tile(number, control.signal);
      if (control.signal.aborted) return;
      if (keep) this.cache.put(`${this.picture.id}/${number}`, tile);
      if (this.overview) this.overview.add(number, tile);
      this.#arrived++;
      this.#fitLevels();
    } catch (error) {
      if (control.signal.aborted) return;
      if (TileView.OF_A_TILE.includes(error.name)) this.#failed.set(number, error);
      else this.#error = error;
    }
    this.#loading.delete(number);
    this.ready(this);
  }

  get samples() {
    const tiles = [...this.cache.of(this.picture)];
    return tiles.length || !this.overview ? tiles : (this.coarse || this.overview).parts;
  }

  // Automatic levels follow the first tiles: each time that twice as many are there.
  #fitLevels() {
    const whole = this.picture.columns * this.picture.rows === this.#arrived;
    if (!this.#own || !this.levels.auto || !whole && this.#arrived < 2 * this.#fitted) return;
    this.#fitted = this.#arrived;
    this.levels.fit(this.samples);
  }

  fitLevels() {
    this.levels.auto = true;
    this.levels.fit(this.samples);
  }

  stop() {
    this.#ask([]);
  }

  // Samples of a pixel; null outside, undefined where no tile is decoded.
  at(x, y) {
    const {width, height} = this.picture;
    if (x < 0 || y < 0 || x >= width || y >= height) return null;
    const tile = this.#tile(this.picture.numberAt(x, y));
    if (!tile) return undefined;
    const k = ((y - tile.y) * tile.width + x - tile.x) * tile.planes;
    return [...tile.samples.subarray(k, k + tile.planes)];
  }

  // What is wrong with the file, in words; "" if nothing is.
  get problem() {
    const [first] = this.#failed.values(), error = this.#error || first, {size} = this.#failed;
    if (!error) return "";
    const more = error === first && size > 1 ? `; ${size} tiles cannot be decoded` : "";
    return `${this.picture.name}: ${error.name}: ${error.message}${more}`;
  }

  // What is still missing, in words; "" if nothing is.
  get progress() {
    const {overview, coarse, picture} = this, tiles = picture.columns * picture.rows;
    if (!this.detailed && coarse) return this.waiting ? `${picture.name}: a smaller level` : "";
    if (!this.detailed && overview) {
      const {size} = overview.filled;
      if (!this.waiting && size < tiles && size >= TileView.OVERVIEW_TILES)
        return `${picture.name}: overview of ${size} of ${tiles} tiles; zoom in for the others`;
      return this.waiting ? `${picture.name}: overview, ${size} of ${tiles} tiles` : "";
    }
    if (!this.waiting) return "";
    return `${picture.name}: decoding` + (tiles > 1 ? `, ${this.waiting} tiles to come` : "");
  }
}
