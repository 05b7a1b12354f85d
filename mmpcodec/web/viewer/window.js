// The controls of window and level: they show the levels of the picture in view, and change them.
class LevelControls {
  #at = id => document.getElementById(id);
  #view = null;

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
    on("window", "input", byHand(levels => levels.setWindow(value("window"), levels.level)));
    on("level", "input", byHand(levels => levels.setWindow(levels.window, value("level"))));
    on("low", "change", byHand(levels => levels.set(value("low"), levels.high)));
    on("high", "change", byHand(levels => levels.set(levels.low, value("high"))));
    on("full", "click", byHand(levels => levels.set(0, levels.white)));
    on("auto", "click", () => this.#view.fitLevels());
  }

  // view: of the picture whose levels are shown; null hides the controls.
  show(view) {
    this.#view = view;
    const row = this.#at("levels");
    if (row.hidden === Boolean(view)) row.hidden = !view;
    if (!view) return;
    const {low, high, white, window, level, auto} = view.levels;
    for (const [id, most, value] of [["window", white, window], ["level", white, level],
      ["low", white - 1, low], ["high", white, high]]) {
      const node = this.#at(id);
      if (Number(node.max) !== most) node.max = most;
      if (node !== document.activeElement || node.type === "range") node.value = value;
    }
    this.#at("auto").setAttribute("aria-pressed", auto);
  }
}
