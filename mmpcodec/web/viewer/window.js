// The controls of window and level: they show the levels of the picture in view, and change them.
// They have values, such as Hounsfield units, where a picture says what its samples measure.
class LevelControls {
  #at = id => document.getElementById(id);
  #view = null;
  #offered = "";

  constructor(draw) {
    const on = (id, kind, action) => this.#at(id).addEventListener(kind, () => {
      if (!this.#view) return;
      if (this.#at(id).value !== "" || kind === "click") action(this.#view.levels); // else as before
      draw();
    });
    const value = id => Number(this.#at(id).value);
    const byHand = change => levels => {
      levels.auto = false;
      change(levels);
    };
    const sample = id => this.#scale.sample(value(id));
    const width = () => value("window") / Math.abs(this.#scale.slope);
    on("window", "input", byHand(levels => levels.setWindow(width(), levels.level)));
    on("level", "input", byHand(levels => levels.setWindow(levels.window, sample("level"))));
    on("low", "change", byHand(levels => levels.set(sample("low"), levels.high)));
    on("high", "change", byHand(levels => levels.set(levels.low, sample("high"))));
    on("full", "click", byHand(levels => levels.set(0, levels.white)));
    on("auto", "click", () => this.#view.fitLevels());
    on("preset", "change", byHand(levels => levels.setValues(this.#preset())));
  }

  // What samples measure: themselves, if nothing is known.
  get #scale() {
    return this.#view.levels.calibration || new Calibration(1, 0, "", null);
  }

  #preset() {
    return this.#scale.presets.get(this.#at("preset").value);
  }

  // view: of the picture whose levels are shown; null hides the controls.
  show(view) {
    this.#view = view;
    const row = this.#at("levels");
    if (row.hidden === Boolean(view)) row.hidden = !view;
    if (!view) return;
    const {low, high, white, window, level, auto} = view.levels, scale = this.#scale;
    const step = Math.abs(scale.slope), value = each => Number(scale.value(each).toPrecision(9));
    const ends = (from, to) => [value(from), value(to)].sort((a, b) => a - b);
    for (const [id, least, most, now] of [
      ["window", step, white * step, Number((window * step).toPrecision(9))],
      ["level", ...ends(0, white), value(level)],
      ["low", ...ends(0, white - 1), value(low)],
      ["high", ...ends(1, white), value(high)],
    ]) {
      const node = this.#at(id);
      if (Number(node.max) !== most || Number(node.min) !== least)
        Object.assign(node, {min: least, max: most, step: id === "level" ? step / 2 : step});
      if (node !== document.activeElement || node.type === "range") node.value = now;
    }
    this.#at("auto").setAttribute("aria-pressed", auto);
    this.#at("unit").textContent = scale.unit;
    this.#offer(scale.presets, view.levels);
  }

  // Lists the presets; the one that is drawn is chosen.
  #offer(presets, levels) {
    const node = this.#at("preset"), names = [...presets.keys()], list = names.join("|");
    this.#at("presets").hidden = !names.length;
    if (this.#offered !== list) {
      this.#offered = list;
      node.replaceChildren(new Option("–", ""), ...names.map(name => new Option(name, name)));
    }
    node.value = names.find(name => levels.shows(presets.get(name))) || "";
  }
}
