// Joins files, stage, tiles, layers and controls.
class Viewer {
  #at = id => document.getElementById(id);
  #views = new Map(); // promises of TileView by file, and what they became
  #levels = new Map(); // by depth and white, so that pictures which are compared look alike
  #cache = new TileCache();
  #compare = new Compare();
  #point = null; // of the canvas, under the mouse
  #frame = 0;
  #place = 0; // of the page of books, from 0
  #before = new Map(); // views that were shown before, by file: they show until tiles have come
  #wheel = 0; // pixels that the wheel has turned since the last slice
  #waiting = []; // for frames
  static SLICE = 50; // pixels of the wheel
  static MOST_VIEWS = 32; // pages that stay open

  constructor(entries, decoder) {
    this.decoder = decoder;
    this.files = entries.map((entry, number) => new PageFile(entry, number));
    this.facts = new Map();
    this.stage = new Stage(this.#at("canvas"), {
      draw: () => this.#paint(),
      tap: () => this.#measuring && this.#take(this.#point),
      moved: () => {},
      hover: point => this.#hover(point),
      height: () => this.#height(),
      turned: event => this.#turn(event),
      later: paint => {
        this.#frame ||= requestAnimationFrame(() => {
          this.#frame = 0;
          paint();
        });
      },
    });
    this.layers = new Layers(() => this.stage.draw());
    this.regions = new RegionBoxes({
      table: this.#at("region-table"), note: this.#at("region-note"), box: this.#at("region-box"),
    }, region => this.#zoomTo(region));
    this.controls = new LevelControls(() => this.stage.draw());
    this.ruler = new Ruler();
    this.strip = new Strip(this.#at("strip"), {
      open: file => this.#small(file), choose: place => this.#goTo(place),
    });
    this.bar = new BookBar({
      choose: place => this.#goTo(place), play: () => this.#play(), strip: this.strip,
      resized: () => this.stage.resize(),
    });
    this.player = new Player({
      ready: place => this.#ready(place), show: place => this.#show(place),
      changed: () => this.bar.plays(this.player.playing),
    });
    this.#listen();
    this.#offer();
    this.#choose();
  }

  // At least half of the window, and all of it that is left below the controls.
  #height() {
    const {canvas} = this.stage, top = canvas.getBoundingClientRect().top + window.scrollY;
    const below = 7 * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    return Math.round(Math.max(window.innerHeight * 0.5, window.innerHeight - top - below));
  }

  get #a() {
    return Math.max(0, this.#at("side-a").selectedIndex);
  }

  get #b() {
    return Math.max(0, this.#at("side-b").selectedIndex);
  }

  // The chosen files; of books that are known, their page.
  get #shown() {
    return this.#chosen.map(file => this.#pageOf(file));
  }

  get #chosen() {
    return this.#compare.shown(this.#a, this.#b, this.files.length)
      .map(number => this.files[number]).filter(Boolean);
  }

  #pageOf(file, place = this.#place) {
    const {opened} = file;
    return opened ? opened.pages[Math.min(place, opened.count - 1)] : file;
  }

  // The book whose pages the controls show: the first of those on the stage with several.
  get #book() {
    return this.#chosen.map(file => file.opened).find(book => book?.count > 1) || null;
  }

  // Lists the files as A and B, whose choices stay.
  #offer() {
    const chosen = [this.#at("side-a").selectedIndex, this.#at("side-b").selectedIndex];
    for (const [k, id] of ["side-a", "side-b"].entries()) {
      this.#at(id).replaceChildren(...this.files.map(file => new Option(file.name)));
      const usual = Math.min(k, this.files.length - 1);
      this.#at(id).selectedIndex = chosen[k] < 0 ? usual : chosen[k];
    }
    this.#at("b").hidden = this.#at("ways").hidden = this.files.length < 2;
    this.#at("all").hidden = this.files.length < 3;
  }

  // Opens a file once; draws when it is open.
  #open(file) {
    if (this.#views.has(file)) return this.#views.get(file);
    const entry = {view: null, problem: null};
    this.#views.set(file, entry);
    const opening = file.isBook ? this.#openBook(file) : this.#openView(file, entry);
    entry.opening = opening.catch(error => {
      entry.problem = `${file.name}: ${error.name}: ${error.message}`;
    }).then(() => this.#shown.includes(file) ? this.#arrange() : this.stage.draw());
    this.#forget();
    return entry;
  }

  async #openBook(file) {
    file.opened = await file.book(this.decoder);
    this.#choose();
  }

  async #openView(file, entry) {
    const picture = await OpenPicture.open(file, this.decoder), key = this.#keyOf(picture);
    const open = rendition =>
      OpenPicture.open(new Rendition(file, rendition), this.decoder);
    entry.view = new TileView(
      picture, this.#cache, this.#levels.get(key), open, () => this.stage.draw(),
    );
    this.#levels.set(key, entry.view.levels);
  }

  #keyOf({depth, white, calibration}) {
    return `${depth}/${white}/${calibration ? calibration.key : ""}`;
  }

  // Closes the pages that were opened first.
  #forget() {
    const kept = new Set([...this.#shown, ...this.#before.keys()]);
    const pages = [...this.#views.keys()].filter(file => file.book instanceof Book);
    for (const file of pages.slice(0, Math.max(0, pages.length - Viewer.MOST_VIEWS))) {
      if (kept.has(file)) continue;
      this.#views.get(file).view?.stop();
      this.#views.delete(file);
      this.facts.delete(file);
    }
  }

  // A small picture for the list.
  async #small(file) {
    const picture = await OpenPicture.open(file, this.decoder), tiles = [];
    for (let k = 0; k < picture.columns * picture.rows; k++) tiles.push(await picture.tile(k));
    const levels = new Levels(picture);
    if (levels.auto) levels.fit(tiles);
    const paint = (pen, scale) => {
      for (const tile of tiles)
        for (const {canvas, left, top} of drawnTile(tile, levels))
          pen.drawImage(canvas, (tile.x + left) * scale, (tile.y + top) * scale,
            canvas.width * scale, canvas.height * scale);
    };
    return {width: picture.width, height: picture.height, paint};
  }

  #factsOf(file) {
    if (!this.facts.has(file)) this.facts.set(file, new Facts(file));
    return this.facts.get(file);
  }

  // Facts take a while, so they are asked for when they are wanted.
  #wantFacts() {
    const kinds = [...this.layers.chosen ? ["layers"] : [], ...this.regions.wanted ? ["regions"] : []];
    for (const file of this.#shown)
      for (const kind of kinds) {
        const facts = this.#factsOf(file);
        if (!facts.get(kind)) facts.load(kind).then(() => this.stage.draw());
      }
  }

  // A choice of files, or of how they are compared, has changed.
  #choose() {
    this.stage.canvas.dataset.waiting = ""; // the drawing tells it
    if (!this.#book?.plays) this.player.stop();
    for (const file of this.#shown) this.#open(file);
    for (const [file, {view}] of this.#views) if (view && !this.#shown.includes(file)) view.stop();
    for (const way of Compare.WAYS)
      this.#at(way).setAttribute("aria-pressed", way === this.#compare.way);
    this.#at("divider").hidden = this.#compare.way !== "wipe";
    this.#arrange();
  }

  // Fits panes and size of the stage to the pictures that are open.
  #arrange() {
    const entries = this.#shown.map(file => this.#open(file)), book = this.#book;
    this.bar.show(book, book ? Math.min(this.#place, book.count - 1) : 0);
    const open = entries.map(entry => entry.view && entry.view.picture).filter(Boolean);
    this.#tellProblems(entries);
    this.#caption(entries);
    this.#wantFacts();
    if (!open.length) return;
    const {stage} = this, {canvas} = stage;
    const grid = this.#compare.grid(this.#shown.length, {
      width: canvas.clientWidth, height: this.#height(),
    });
    const size = {
      width: Math.max(...open.map(picture => picture.width)),
      height: Math.max(...open.map(picture => picture.height)),
    };
    const {look} = stage, same = stage.picture && stage.picture.width === size.width
      && stage.picture.height === size.height;
    const moved = grid[0] !== stage.columns || grid[1] !== stage.rows;
    [stage.columns, stage.rows] = grid;
    if (!same) return stage.setPicture(size);
    if (moved && stage.fitted) stage.fit();
    else if (moved) stage.look = look;
    else stage.draw();
  }

  // Says which files cannot be opened, and which have tiles that cannot be decoded.
  #tellProblems(entries) {
    const problems = entries.map(({view, problem}) => problem || view && view.problem);
    const text = problems.filter(Boolean).join("\n");
    this.#at("problem").hidden = !text;
    this.#write("problem", text);
  }

  #caption(entries) {
    const {way, showsB} = this.#compare;
    const labels = way === "one" ? [showsB ? "B" : "A"] : ["A", "B"];
    const texts = entries.map((entry, place) => {
      const node = document.createElement("p"), name = document.createElement("strong");
      const label = this.files.length < 2 || way === "all" ? "" : `${labels[place]}: `;
      name.textContent = label + this.#shown[place].name;
      const {view, problem} = entry;
      node.append(name, problem ? "cannot be shown" : view ? view.picture.facts : "opening …");
      return node;
    });
    this.#at("captions").replaceChildren(...texts);
    const names = this.#shown.map(file => file.name).join(", ");
    this.stage.canvas.setAttribute("aria-label", `Pictures: ${names}`);
  }

  #paint() {
    const {stage} = this, shown = this.#shown, chosen = this.#chosen;
    const entries = shown.map(file => this.#open(file));
    this.#cache.frame++;
    this.#compare.draw(stage, shown, place => {
      const {view} = entries[place], facts = this.#factsOf(shown[place]);
      const before = this.#beforeOf(chosen[place], view);
      if (!view) return before?.paint(stage);
      view.draw(stage, before);
      if (!view.waiting) this.#before.set(chosen[place], view);
      this.layers.draw(stage, facts);
      this.regions.draw(stage, facts);
      this.ruler.draw(stage, view.picture.pixel);
    });
    const views = entries.map(entry => entry.view).filter(Boolean);
    const notes = this.#compare.notes(views.map(view => view.picture), this.files.length);
    const progress = [...views.map(view => view.progress), ...notes].filter(Boolean);
    this.#write("progress", progress.join(" · "));
    this.#tellProblems(entries);
    this.controls.show(views.find(view => view.levels.deep) || null);
    this.layers.showLegend(this.#at("legend"), shown.map(file => this.#factsOf(file)));
    this.regions.show(shown[0].name, this.#factsOf(shown[0]));
    this.#at("rulers").hidden = !views.some(view => view.picture.pixel);
    this.#tellValues();
    this.#prepare(views.length === entries.length && views.every(view => !view.waiting));
    Object.assign(stage.canvas.dataset, {
      shown: shown.map(file => file.name).join("|"),
      waiting: views.reduce((sum, view) => sum + view.waiting, 0) + entries.length - views.length,
    });
  }

  // The view that shows until the tiles of another one of its size have come.
  #beforeOf(file, view) {
    const before = this.#before.get(file), size = this.stage.picture;
    if (!before || before === view || before.picture.width !== size.width
      || before.picture.height !== size.height) return null;
    return before;
  }

  // Frames that are waited for may have come; if nothing is missing, the next pages are opened.
  #prepare(complete) {
    this.#waiting = this.#waiting.filter(({place, done}) => {
      const good = this.#isReady(place);
      if (good) done();
      return !good;
    });
    const book = this.#book;
    if (!complete || !book || this.player.playing) return;
    for (const step of [1, -1])
      if (book.pages[this.#place + step]) this.#isReady(this.#place + step);
  }

  // Asks for a page of the book; whether it can be drawn, or cannot be opened.
  #isReady(place) {
    return this.#chosen.every(file => {
      const {view, problem} = this.#open(this.#pageOf(file, place));
      return problem || view?.want(this.stage);
    });
  }

  #ready(place) {
    if (this.#isReady(place)) return Promise.resolve();
    return new Promise(done => this.#waiting.push({place, done}));
  }

  // Shows a page by its place, from 0.
  #show(place) {
    this.#place = place;
    this.#choose();
  }

  // The reader has chosen a page.
  #goTo(place) {
    const book = this.#book;
    this.player.stop();
    if (!book || !(place >= 0)) return;
    const found = Math.min(place, book.count - 1);
    if (found === this.#place) return;
    this.#show(found);
    this.#at("said").textContent = `${book.role} ${found + 1} of ${book.count}`;
  }

  #play() {
    const book = this.#book;
    if (this.player.playing) return this.player.stop();
    if (book?.plays) this.player.play(book, Math.min(this.#place, book.count - 1));
  }

  // The wheel leafs through slices; with Ctrl it zooms, as it always does elsewhere.
  #turn({deltaY, deltaMode, ctrlKey}) {
    if (this.#book?.role !== "slice" || ctrlKey) return false;
    this.#wheel += deltaMode === 0 ? deltaY : deltaY * Viewer.SLICE;
    const steps = Math.trunc(this.#wheel / Viewer.SLICE);
    this.#wheel -= steps * Viewer.SLICE;
    if (steps) this.#goTo(Math.max(0, this.#place + steps));
    return true;
  }

  get #measuring() {
    return this.#at("measure").getAttribute("aria-pressed") === "true";
  }

  // Takes a point of the canvas as an end of the line that is measured.
  #take(point) {
    const pixel = this.#pixel;
    if (!pixel || !point) return;
    this.ruler.take(this.stage.sampleAt(point));
    const length = this.ruler.length(pixel);
    this.#at("said").textContent = length === null ? "first end" : millimetres(length);
    this.stage.draw();
  }

  // Of the first picture that says it.
  get #pixel() {
    const views = this.#shown.map(file => this.#open(file).view);
    return views.find(view => view?.picture.pixel)?.picture.pixel || null;
  }

  #write(id, text) {
    const node = this.#at(id);
    if (node.textContent !== text) node.textContent = text;
  }

  #hover(point) {
    this.#point = point;
    this.#tellValues();
  }

  // Coordinates and samples at a point of the canvas, in words.
  #valuesAt(point) {
    const {stage} = this, [x, y] = stage.sampleAt(point).map(Math.floor);
    const texts = this.#shown.flatMap(file => {
      const {view} = this.#open(file), found = view ? view.at(x, y) : null;
      if (found === null) return [];
      const {calibration} = view.picture, planes = found && found.length;
      const value = planes === 1 && calibration ? ` = ${calibration.text(found)}` : "";
      const text = found ? found.join(" ") + value : "…";
      return [`${this.#shown.length > 1 ? `${file.name}: ` : ""}${text}`];
    });
    const pixel = this.#pixel, length = pixel && this.ruler.length(pixel);
    const place = pixel ? ` (${[x * pixel[0], y * pixel[1]].map(millimetres).join(", ")})` : "";
    const line = length ? ` · line of ${millimetres(length)}` : "";
    return texts.length ? `column ${x}, row ${y}${place} · ${texts.join(" · ")}${line}` : "";
  }

  #tellValues() {
    const {picture, pane, zoom, pixelRatio} = this.stage;
    if (!picture) return;
    const scale = `${Number((100 * zoom / pixelRatio).toPrecision(3))} %`;
    const point = this.#point || [pane.width / 2, pane.height / 2];
    const values = this.#valuesAt(point);
    this.#write("values", [scale, values && (this.#point ? values : `middle: ${values}`)]
      .filter(Boolean).join(" · "));
  }

  #zoomTo({left, top, width, height}) {
    const {stage} = this, {pane} = stage;
    const zoom = 0.6 * Math.min(pane.width / width, pane.height / height);
    stage.look = {
      scale: zoom / stage.pixelRatio, middle: [left + width / 2, top + height / 2],
    };
    stage.canvas.focus({preventScroll: true});
    stage.canvas.scrollIntoView({block: "nearest"});
  }

  #setWay(way) {
    this.#compare.way = way;
    this.#compare.showsB = false;
    this.#choose();
  }

  #flip() {
    if (this.files.length < 2) return;
    const showsB = this.#compare.way === "one" && !this.#compare.showsB;
    Object.assign(this.#compare, {way: "one", showsB});
    this.#choose();
    this.#at("said").textContent = this.#shown[0].name;
  }

  #step(by) {
    const select = this.#at("side-a"), count = this.files.length;
    select.selectedIndex = (select.selectedIndex + by + count) % count;
    this.#compare.showsB = false;
    this.#choose();
    this.#at("said").textContent = this.files[select.selectedIndex].name;
  }

  #leaf(by) {
    if (this.#book) this.#goTo(this.#place + by);
    else this.#step(by);
  }

  async #add(list) {
    const given = await Promise.all([...list].map(PageFile.given));
    if (!given.length) return;
    this.files.push(...given);
    this.#offer();
    this.#at("side-a").selectedIndex = this.files.length - given.length;
    this.#choose();
  }

  #listen() {
    const {stage} = this, {canvas} = stage;
    const on = (id, kind, action) => this.#at(id).addEventListener(kind, action);
    for (const way of Compare.WAYS) on(way, "click", () => this.#setWay(way));
    for (const id of ["side-a", "side-b"])
      on(id, "change", () => {
        this.player.stop();
        this.#choose();
      });
    on("zoom-in", "click", () => stage.glideTo(stage.zoom * 1.5));
    on("zoom-out", "click", () => stage.glideTo(stage.zoom / 1.5));
    on("zoom-one", "click", () => stage.glideTo(stage.pixelRatio));
    on("zoom-fit", "click", () => stage.fit());
    on("divider", "input", () => {
      this.#compare.split = this.#at("divider").value / 1000;
      stage.draw();
    });
    on("ruler", "change", () => {
      this.ruler.wanted = this.#at("ruler").checked;
      stage.draw();
    });
    on("measure", "click", () => {
      const wanted = !this.#measuring;
      this.#at("measure").setAttribute("aria-pressed", wanted);
      document.body.classList.toggle("measuring", wanted);
      if (!wanted) this.ruler.ends = [];
      stage.draw();
    });
    on("layer", "change", () => this.#setLayer(this.#at("layer").value));
    on("regions", "change", () => this.#setRegions(this.#at("regions").checked));
    this.#at("theme").value = theme.chosen() || "system";
    on("theme", "change", () => theme.choose(this.#at("theme").value));
    on("open", "change", () => this.#add(this.#at("open").files));
    canvas.addEventListener("dblclick", event =>
      stage.glideTo(stage.zoom * 2, ...stage.pointOf(event)));
    const dropping = shows => document.body.classList.toggle("dropping", shows);
    for (const kind of ["dragover", "dragleave", "drop"])
      window.addEventListener(kind, event => {
        event.preventDefault();
        dropping(kind === "dragover");
        if (kind === "drop") this.#add(event.dataTransfer.files);
      });
    this.#listenToKeys();
  }

  #setLayer(key) {
    this.#at("layer").value = this.layers.chosen = key;
    this.#wantFacts();
    this.stage.draw();
  }

  #setRegions(wanted) {
    this.#at("regions").checked = this.regions.wanted = wanted;
    this.#wantFacts();
    this.stage.draw();
  }

  #listenToKeys() {
    const {stage} = this, key = (key, name, text, action) => ({key, name, text, action});
    const layers = ["", ...Object.keys(Layers.NAMES)];
    listenToKeys(stage.canvas, this.#at("keys"), [
      key("0", "0", "fit the picture into the window", () => stage.fit()),
      key("1", "1", "one sample for each pixel of the screen", () => stage.glideTo(stage.pixelRatio)),
      key(" ", "space", "flip between A and B", () => this.#flip()),
      key("PageDown", "Page down", "next page or slice; without pages the next file", () =>
        this.#leaf(1)),
      key("PageUp", "Page up", "previous page or slice; without pages the previous file", () =>
        this.#leaf(-1)),
      key("Home", "Home", "first page or slice", () => this.#goTo(0)),
      key("End", "End", "last page or slice", () => this.#goTo(Infinity)),
      key("n", "n", "next file", () => this.#step(1)),
      key("p", "p", "play frames, or pause", () => this.#play()),
      key("m", "m", "measure from the middle of the view to another middle, in millimetres", () => {
        const {pane} = stage;
        this.#take([pane.width / 2, pane.height / 2]);
      }),
      key("s", "s", "side by side", () => this.files.length > 1 && this.#setWay("side")),
      key("w", "w", "wipe", () => this.files.length > 1 && this.#setWay("wipe")),
      key("l", "l", "next layer", () =>
        this.#setLayer(layers[(layers.indexOf(this.layers.chosen) + 1) % layers.length])),
      key("r", "r", "bright regions", () => this.#setRegions(!this.regions.wanted)),
      key("Enter", "Enter", "say the samples in the middle of the view", () => {
        const {pane} = stage, text = this.#valuesAt([pane.width / 2, pane.height / 2]);
        this.#at("said").textContent = text || "outside of the picture";
      }),
    ]);
  }
}

new Viewer(JSON.parse(document.getElementById("files").textContent), decoder);
