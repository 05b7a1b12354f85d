// Draws a map over a picture, which stays faintly seen where the map is dark. The map has one
// level, in the first of four bytes, for 2x2 pixels.
function drawMap({data, width}, levels, mapWidth, colours) {
  const FAINT = 0.3; // share of the picture's brightness
  for (let k = 0; k < data.length; k += 4) {
    const x = k / 4 % width, y = (k / 4 - x) / width;
    const at = 4 * levels[4 * ((y >> 1) * mapWidth + (x >> 1))];
    const gray = 0.299 * data[k] + 0.587 * data[k + 1] + 0.114 * data[k + 2];
    const faint = FAINT * gray * (1 - colours[at + 3] / 255);
    for (let c = 0; c < 3; c++) data[k + c] = colours[at + c] + faint;
  }
}

// The choice of a map of a metric, its colours and its legend. A page without maps has none of
// them.
class Maps {
  static LEVELS = 64; // level k stands for the value top * (k / 63) ** 2
  static BRIGHTER = "1";
  #at = id => document.getElementById(id);
  #known = new Map(); // colours of the levels by how much brighter they are
  #picture = null;
  #said = ""; // what the legend is of

  constructor({maps, ramp}, images) {
    Object.assign(this, {maps, images, there: Object.keys(maps).length > 0});
    this.ramp = ramp.map(hex => [0, 2, 4].map(k => Number.parseInt(hex.slice(k, k + 2), 16)));
    if (this.there) this.#drawRamp();
  }

  // Offers the maps of a picture; those that it is too small for say so.
  setPicture(picture, wanted = this.chosen) {
    this.#picture = picture;
    if (!this.there) return;
    this.#at("map").replaceChildren(new Option("none", ""), ...Object.keys(this.maps).map(name => {
      const {title, side} = this.maps[name], option = new Option(title, name);
      option.disabled = !picture.maps.includes(name);
      if (option.disabled) option.text += ` (none below ${side} samples a side)`;
      return option;
    }));
    this.#at("map").value = picture.maps.includes(wanted) ? wanted : "";
  }

  // The key of the metric, or "" without a map.
  get chosen() {
    return this.there ? this.#at("map").value : "";
  }

  next() {
    if (!this.there) return;
    const names = ["", ...this.#picture.maps];
    this.#at("map").value = names[(names.indexOf(this.chosen) + 1) % names.length];
  }

  state() {
    if (!this.there) return {};
    const brighter = this.#at("brighter").value;
    return {
      ...this.chosen && {map: this.chosen},
      ...brighter !== Maps.BRIGHTER && {brighter},
    };
  }

  restore(wanted) {
    if (!this.there) return;
    this.#at("brighter").value = wanted.get("brighter");
    if (this.#at("brighter").selectedIndex < 0) this.#at("brighter").value = Maps.BRIGHTER;
  }

  // The canvas of a decoded picture under its map; undefined without a map, as of the original.
  canvas({key, mapped}) {
    return this.chosen && mapped ? this.images.mapped(key, this.chosen, this.#colours()) : undefined;
  }

  #colours() {
    const brighter = this.#at("brighter").value, name = `${this.chosen} ${brighter}`;
    if (!this.#known.has(name)) {
      const table = new Uint8ClampedArray(4 * Maps.LEVELS), last = this.ramp.length - 1;
      for (let k = 0; k < Maps.LEVELS; k++) {
        const share = Math.min(1, Number(brighter) * (k / (Maps.LEVELS - 1)) ** 2);
        table.set([...this.ramp[Math.round(last * share)], 255 * share], 4 * k);
      }
      this.#known.set(name, table);
    }
    return this.#known.get(name);
  }

  #drawRamp() {
    const {ramp} = this, pen = this.#at("map-colours").getContext("2d");
    ramp.forEach(([red, green, blue], k) => {
      pen.fillStyle = `rgb(${red} ${green} ${blue})`;
      pen.fillRect(k, 0, 1, 1);
    });
  }

  // What the colours mean, where a map is on the stage; key: of a decoded picture of the view.
  showLegend(key, visible) {
    if (!this.there) return;
    for (const id of ["map", "brighter"]) this.#at(id).disabled = !visible;
    if (!this.chosen) this.#at("brighter").disabled = true;
    this.#at("map-legend").hidden = !visible || !this.chosen;
    const said = `${key} ${this.chosen} ${this.#at("brighter").value}`;
    if (!this.chosen || said === this.#said) return;
    this.#said = said;
    const {title, meaning} = this.maps[this.chosen], top = this.images.top(key, this.chosen);
    const brighter = Number(this.#at("brighter").value), text = share =>
      (share * top / brighter).toPrecision(3);
    const values = top ? ["0", text(0.5), brighter > 1 ? `${text(1)} and more` : text(1)]
      : ["0", "", "no file of this picture has an error"];
    this.#at("map-meaning").textContent = `${title}: ${meaning}. The scale is that of all ` +
      "files of this picture.";
    this.#at("map-values").replaceChildren(...values.map(value => {
      const node = document.createElement("span");
      node.textContent = value;
      return node;
    }));
  }
}
