// The codecs of a picture as buttons that hide a curve, with the quality of each at a rate.
class Legend {
  #items = new Map();

  constructor(list, styles, press) {
    Object.assign(this, {list, styles, press});
  }

  setCodecs(codecs) {
    this.#items = new Map(codecs.map(codec => [codec, this.#item(codec)]));
    this.list.replaceChildren(...[...this.#items.values()].map(item => item.node));
  }

  #item(codec) {
    const node = document.createElement("li"), button = document.createElement("button");
    const name = document.createElement("span"), value = document.createElement("b");
    const swatch = addSvg(button, "svg", {viewBox: "0 0 28 14", "aria-hidden": "true"});
    const style = this.styles.get(codec);
    addLine(swatch, "line", style, {x1: 0, x2: 28, y1: 7, y2: 7, "stroke-width": 2.5});
    addMarker(swatch, style, 14, 7, 4.5);
    name.textContent = codec;
    button.append(name, value);
    button.onclick = () => this.press(codec);
    node.append(button);
    return {node, button, value};
  }

  // shown: whether the curve of a codec is drawn; text: the quality of a codec.
  fill(shown, text) {
    for (const [codec, {button, value}] of this.#items) {
      button.setAttribute("aria-pressed", shown(codec));
      value.textContent = text(codec);
    }
  }
}
