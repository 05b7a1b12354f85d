// The levels of a large picture: smaller ones in the same file, of which a far view is drawn. The
// smallest comes first, then the one that has a sample for each pixel of the view.
class LevelOverview {
  static LARGEST = 2 ** 23; // pixels of a level that is decoded as a whole
  #views = new Map(); // by rendition: promise, then canvas, tiles and scale
  #bad = new Set();

  // renditions: of a picture, levels among them; open: opens one; ready: one has come.
  constructor(picture, renditions, open, ready) {
    Object.assign(this, {picture, open, ready});
    this.levels = renditions.filter(({width, height}) => width * height <= LevelOverview.LARGEST)
      .sort((a, b) => a.width - b.width);
  }

  // The levels of a picture that can be drawn from; null if there are none.
  static of(picture, ...how) {
    const renditions = (picture.file.renditions || []).filter(({role}) => role === "level");
    const found = new LevelOverview(picture, renditions, ...how);
    return found.levels.length ? found : null;
  }

  // Asks for the levels of a view; how many of them are missing.
  want(zoom) {
    const good = this.levels.filter(level => !this.#bad.has(level)), {width} = this.picture;
    if (!good.length) return 0;
    const longest = Math.max(width, this.picture.height);
    const fitting = good.find(level => Math.max(level.width, level.height) >= zoom * longest);
    const wanted = [good[0], fitting || good.at(-1)];
    for (const level of wanted) if (!this.#views.has(level)) this.#load(level);
    return wanted.filter(level => !this.#views.get(level).tiles).length;
  }

  // Whether no level can be decoded.
  get isBad() {
    return this.#bad.size === this.levels.length;
  }

  async #load(level) {
    this.#views.set(level, {});
    try {
      const picture = await this.open(level), tiles = [];
      for (let k = 0; k < picture.columns * picture.rows; k++) tiles.push(await picture.tile(k));
      this.#views.set(level, {picture, tiles});
    } catch {
      this.#bad.add(level); // the others do, or the picture itself
    }
    this.ready();
  }

  // The tiles of the largest level that is there, as samples.
  get parts() {
    return this.#best?.tiles || [];
  }

  get #best() {
    return this.levels.map(level => this.#views.get(level)).filter(view => view?.tiles).at(-1);
  }

  // Draws the largest level that is there, stretched to the picture.
  draw({pen, zoom, left, top}, levels) {
    const best = this.#best;
    if (!best) return;
    const {picture, tiles} = best, alike = picture.depth === levels.depth;
    if (!alike) best.own ||= new Levels(picture); // 8 bits of a picture of one bit
    const x = this.picture.width * zoom / picture.width;
    const y = this.picture.height * zoom / picture.height;
    for (const tile of tiles)
      for (const cell of drawnTile(tile, alike ? levels : best.own)) {
        const {width, height} = cell.canvas;
        const [x0, x1] = [0, width].map(w => Math.round((tile.x + cell.left + w) * x - left * zoom));
        const [y0, y1] = [0, height].map(h => Math.round((tile.y + cell.top + h) * y - top * zoom));
        pen.drawImage(cell.canvas, x0, y0, x1 - x0, y1 - y0);
      }
  }
}
