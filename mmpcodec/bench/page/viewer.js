// Two versions of a picture: a wipe between them, a flip or their difference, with the leaves or
// blocks drawn in lines that stay thin, or under the map of a metric.
class Viewer {
  static WAYS = ["wipe", "flip", "difference"];
  static MIDDLE = "500";
  static GAIN = "8";
  #at = id => document.getElementById(id);
  #picture = null;
  #view = [];
  #sides = {a: null, b: null};
  #usual = {}; // codecs of the sides at first
  #way = "wipe";
  #showsB = false;

  // quality: the values of a point, as text.
  constructor(data, tell, quality) {
    Object.assign(this, {tell, quality});
    this.stage = new Stage(this.#at("canvas"), {
      draw: () => this.#draw(),
      tap: () => this.#way === "flip" && this.#turn(),
      moved: tell.moved,
    });
    this.images = makeImages(this.stage.draw);
    this.maps = new Maps(data, this.images);
    this.#listen();
  }

  show(picture, rate = 0, wanted = undefined) {
    if (picture !== this.#picture) {
      this.images.clear(picture);
      this.#sides = {a: null, b: null}; // else those of the last picture are decoded again
    }
    this.#picture = picture;
    this.#at("viewer").hidden = !picture.views.length;
    if (!picture.views.length) return;
    const rates = picture.views.map(([{codec, point}]) => this.#point(codec, point).bpp);
    this.#options("view", rates.map(bpp => `${bpp.toFixed(3)} bpp`), rate);
    this.maps.setPicture(picture, wanted && wanted.map);
    this.stage.setPicture(picture);
    this.#setView(wanted);
  }

  // What is as at first is left out.
  state() {
    if (!this.#picture || !this.#picture.views.length) return {};
    const value = id => this.#at(id).value, rate = this.#at("view").selectedIndex;
    const {scale, middle} = this.stage.look, [x, y] = middle.map(each => each.toFixed(1));
    return {
      ...rate && {rate},
      ...value("side-a") !== this.#usual.a && {a: value("side-a")},
      ...value("side-b") !== this.#usual.b && {b: value("side-b")},
      ...this.#way !== "wipe" && {by: this.#way},
      ...this.#way === "flip" && this.#showsB && {side: "b"},
      ...value("divider") !== Viewer.MIDDLE && {split: value("divider")},
      ...value("gain") !== Viewer.GAIN && {gain: value("gain")},
      ...this.#at("tree").checked && {tree: 1},
      ...this.maps.state(),
      ...!this.stage.fitted && {zoom: scale.toFixed(3), x, y},
    };
  }

  restore(picture, wanted) {
    const number = (name, otherwise) => {
      const value = Number.parseFloat(wanted.get(name));
      return Number.isFinite(value) ? value : otherwise;
    };
    this.#at("divider").value = number("split", Viewer.MIDDLE);
    this.#at("gain").value = wanted.get("gain");
    if (this.#at("gain").selectedIndex < 0) this.#at("gain").value = Viewer.GAIN;
    this.#at("tree").checked = wanted.has("tree");
    this.maps.restore(wanted);
    this.#showsB = wanted.get("side") === "b";
    const rate = Math.max(0, Math.trunc(number("rate", 0)));
    this.show(picture, rate, {
      a: wanted.get("a"), b: wanted.get("b"), map: wanted.get("map"),
    });
    if (!picture.views.length) return;
    this.#setWay(Viewer.WAYS.find(each => each === wanted.get("by")) || "wipe");
    const scale = number("zoom", 0);
    const middle = [number("x", picture.width / 2), number("y", picture.height / 2)];
    if (scale > 0) this.stage.look = {scale, middle};
  }

  #draw() {
    const {canvas} = this.stage, {a, b} = this.#sides;
    if (!a) return;
    this.maps.showLegend(this.#view[1].key, this.#way !== "difference");
    const shown = {wipe: "both", flip: this.#showsB ? "b" : "a"}[this.#way] || this.#way;
    if (shown === "both") this.#drawWipe(a, b);
    else if (shown === "difference") this.#drawDifference(a, b);
    else this.#drawSide(this.#sides[shown], 0, canvas.width);
    this.#sayState(shown === "a" || shown === "b" ? [this.#sides[shown]] : [...new Set([a, b])]);
    this.#at("caption-a").classList.toggle("away", shown === "b");
    this.#at("caption-b").classList.toggle("away", shown === "a");
    canvas.dataset.shown = shown;
  }

  #drawSide(side, from, to) {
    const mapped = this.maps.canvas(side), image = mapped || this.images.drawn(side.key);
    this.stage.paint(image, from, to, () => this.#drawTree(side));
  }

  // Says which of the pictures in view are being decoded, and which cannot be.
  #sayState(sides) {
    const texts = [], found = sides.map(({key}) => this.images.state(key));
    found.forEach(({waiting, problem}, k) => {
      if (waiting) texts.push(`Decoding ${sides[k].label} …`);
      if (problem) texts.push(`${sides[k].label} cannot be shown: ${problem}`);
    });
    const node = this.#at("decoding"), text = texts.join("\n");
    if (node.textContent !== text) node.textContent = text;
    node.classList.toggle("late", !found.some(({problem}) => problem)); // no flash of a short wait
    this.stage.canvas.dataset.waiting = found.filter(({waiting}) => waiting).length;
  }

  #drawTree(side) {
    const tree = side && side.tree && this.#at("tree").checked && this.images.edges(side.key);
    if (tree) drawTree(this.stage, tree);
  }

  #drawWipe(a, b) {
    const {canvas, pen} = this.stage;
    const place = Math.round(this.#at("divider").value / 1000 * canvas.width);
    this.#drawSide(a, 0, place);
    this.#drawSide(b, place, canvas.width);
    pen.fillStyle = "#fff";
    if (0 < place && place < canvas.width) pen.fillRect(place - 1, 0, 2, canvas.height);
  }

  #drawDifference(a, b) {
    const gain = Number(this.#at("gain").value), found = this.images.difference(a.key, b.key, gain);
    if (!found) return;
    const tree = [a, b].find(side => side.tree), caption = this.#at("caption-difference");
    this.stage.paint(found.canvas, 0, this.stage.canvas.width, () => this.#drawTree(tree));
    const text = found.largest
      ? `A − B, ${gain} times, around mid-gray: mean difference ${found.mean.toFixed(3)}, largest ` +
        `${found.largest} of ${found.white}`
      : "A and B are equal";
    if (caption.textContent !== text) caption.textContent = text;
  }

  #curve(codec) {
    return this.#picture.curves.find(curve => curve.codec === codec);
  }

  #point(codec, point) {
    return this.#curve(codec).points.find(p => p.point === point);
  }

  #options(id, texts, index) {
    this.#at(id).replaceChildren(...texts.map(text => new Option(text)));
    this.#at(id).selectedIndex = Math.min(index, texts.length - 1);
  }

  // A version of the picture, with its bytes compared with those of the first one.
  #version({codec, point, key, tree}, first) {
    const p = this.#point(codec, point), more = 100 * (p.bytes / first.bytes - 1);
    const sign = more >= 0 ? "+" : "−";
    const against = p === first ? "" : ` (${sign}${Math.abs(more).toFixed(1)} %)`;
    const quality = this.quality(p);
    const text = ` ${this.#curve(codec).knob} ${point}: ${p.bytes} bytes${against}, ${quality}`;
    return {label: codec, key, tree, text, mapped: true};
  }

  // Shows the chosen rate; the sides keep their codecs where the rate has them.
  #setView(wanted = {a: this.#at("side-a").value, b: this.#at("side-b").value}) {
    const {width, height, id, views} = this.#picture, rows = views[this.#at("view").selectedIndex];
    const first = this.#point(rows[0].codec, rows[0].point);
    const original = {label: "original", text: ` ${width}x${height}`, key: id};
    this.#view = [original, ...rows.map(row => this.#version(row, first))];
    const labels = this.#view.map(side => side.label);
    const peer = rows.findIndex(row => !row.codec.startsWith("mmp"));
    this.#usual = {a: labels[1], b: labels[peer + 1]};
    for (const each of ["a", "b"]) {
      const name = labels.includes(wanted[each]) ? wanted[each] : this.#usual[each];
      this.#options(`side-${each}`, labels, labels.indexOf(name));
    }
    this.#choose();
  }

  #choose() {
    for (const each of ["a", "b"]) {
      const side = this.#view[this.#at(`side-${each}`).selectedIndex];
      const name = document.createElement("strong");
      name.textContent = side.label;
      this.#at(`caption-${each}`).replaceChildren(name, side.text);
      this.#sides[each] = side;
    }
    this.stage.draw();
  }

  #setWay(value) {
    this.#way = value;
    for (const each of Viewer.WAYS) this.#at(each).setAttribute("aria-pressed", each === value);
    this.#at("divider").style.visibility = value === "wipe" ? "visible" : "hidden";
    this.#at("gain").disabled = value !== "difference";
    this.#at("caption-difference").textContent = "";
    this.stage.draw();
  }

  #turn() {
    if (this.#way === "flip") this.#showsB = !this.#showsB;
    this.#setWay("flip");
    this.tell.chose();
  }

  #nextMap() {
    this.maps.next();
    this.stage.draw();
    this.tell.chose();
  }

  #listen() {
    const {stage} = this, on = (id, kind, action) => this.#at(id).addEventListener(kind, action);
    const chosen = (id, kind, action) => on(id, kind, () => {
      action();
      this.tell.chose();
    });
    chosen("wipe", "click", () => this.#setWay("wipe"));
    chosen("difference", "click", () => this.#setWay("difference"));
    on("flip", "click", () => this.#turn());
    on("zoom-in", "click", () => stage.zoomTo(stage.zoom * 1.5));
    on("zoom-out", "click", () => stage.zoomTo(stage.zoom / 1.5));
    on("zoom-one", "click", () => stage.zoomTo(stage.pixelRatio));
    chosen("zoom-fit", "click", () => stage.fit());
    chosen("tree", "change", stage.draw);
    chosen("gain", "change", stage.draw);
    chosen("side-a", "change", () => this.#choose());
    chosen("side-b", "change", () => this.#choose());
    chosen("view", "change", () => this.#setView());
    if (this.maps.there) for (const id of ["map", "brighter"]) chosen(id, "change", stage.draw);
    on("divider", "input", () => {
      stage.draw();
      this.tell.moved();
    });
    on("canvas", "keydown", event => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.key === " ") this.#turn();
      else if (event.key === "m" && this.#way !== "difference") this.#nextMap();
      else return;
      event.preventDefault();
    });
  }
}
