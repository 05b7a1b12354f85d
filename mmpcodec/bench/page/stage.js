// A canvas that shows a part of a picture: fingers, mouse, wheel and keys move and zoom it.
class Stage {
  static GROUND = "#30363d";
  static MAX_ZOOM = 32;
  picture = null; // its width and height
  zoom = 1; // pixels of the canvas for each sample
  left = 0; // samples
  top = 0;
  fitted = true;
  #pointers = new Map();
  #travel = 0; // pixels of the canvas since the first finger came down

  // draw: paints the canvas; tap: a press that moves nothing; moved: after each movement.
  constructor(canvas, {draw, tap, moved}) {
    Object.assign(this, {canvas, tap, moved, pen: canvas.getContext("2d")});
    this.draw = () => {
      if (!this.picture) return;
      canvas.dataset.zoom = this.zoom;
      canvas.style.touchAction = this.fitted ? "pan-y" : "none"; // a finger moves page or picture
      this.pen.fillStyle = Stage.GROUND;
      this.pen.fillRect(0, 0, canvas.width, canvas.height);
      draw();
    };
    this.#listen();
  }

  setPicture(picture) {
    this.picture = picture;
    this.fitted = true;
    this.resize();
  }

  fit() {
    const {width, height} = this.picture, {canvas} = this;
    this.fitted = true;
    this.zoom = Math.min(canvas.width / width, canvas.height / height);
    this.left = (width - canvas.width / this.zoom) / 2;
    this.top = (height - canvas.height / this.zoom) / 2;
    this.draw();
  }

  // The point of the picture under (x, y) of the canvas stays there.
  zoomTo(wanted, x = this.canvas.width / 2, y = this.canvas.height / 2) {
    const {width, height} = this.picture;
    const least = Math.min(1, this.canvas.width / width, this.canvas.height / height) / 2;
    const next = Math.min(Stage.MAX_ZOOM, Math.max(least, wanted)), before = this.zoom;
    this.zoom = next;
    this.move(x / before - x / next, y / before - y / next);
  }

  // Moves the window by so many samples.
  move(x, y) {
    this.left += x;
    this.top += y;
    this.fitted = false;
    this.draw();
    this.moved();
  }

  get pixelRatio() {
    return window.devicePixelRatio || 1;
  }

  // Pixels of the screen for each sample, and the sample in the middle.
  get look() {
    const {canvas, zoom} = this;
    const middle = [this.left + canvas.width / zoom / 2, this.top + canvas.height / zoom / 2];
    return {scale: zoom / this.pixelRatio, middle};
  }

  set look({scale, middle: [x, y]}) {
    this.zoom = Math.min(scale * this.pixelRatio, Stage.MAX_ZOOM);
    this.left = x - this.canvas.width / this.zoom / 2;
    this.top = y - this.canvas.height / this.zoom / 2;
    this.fitted = false;
    this.draw();
  }

  resize() {
    const {canvas, look} = this, width = canvas.clientWidth;
    if (!this.picture || !width) return;
    const shape = this.picture.height / this.picture.width;
    const height = Math.round(Math.min(width * shape, window.innerHeight * 0.8));
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * this.pixelRatio);
    canvas.height = Math.round(height * this.pixelRatio);
    if (this.fitted) this.fit();
    else this.look = look;
  }

  // Draws an image of the size of the picture between two columns of the canvas.
  paint(image, from, to, over = () => {}) {
    if (!image || to <= from) return;
    const {pen, zoom} = this, {width, height} = this.picture;
    pen.save();
    pen.beginPath();
    pen.rect(from, 0, to - from, this.canvas.height);
    pen.clip();
    pen.imageSmoothingEnabled = zoom < 1;
    pen.drawImage(image, -this.left * zoom, -this.top * zoom, width * zoom, height * zoom);
    over();
    pen.restore();
  }

  #place(event) {
    const box = this.canvas.getBoundingClientRect(), unit = this.canvas.width / box.width;
    return [(event.clientX - box.left) * unit, (event.clientY - box.top) * unit];
  }

  #drag(event) {
    if (!this.#pointers.has(event.pointerId)) return;
    const [x0, y0] = this.#pointers.get(event.pointerId), [x, y] = this.#place(event);
    const [other] = [...this.#pointers].filter(([id]) => id !== event.pointerId).map(([, p]) => p);
    if (x === x0 && y === y0) return;
    this.#pointers.set(event.pointerId, [x, y]);
    this.#travel += Math.hypot(x - x0, y - y0);
    if (!other) return this.move((x0 - x) / this.zoom, (y0 - y) / this.zoom);
    const [ox, oy] = other, before = Math.hypot(x0 - ox, y0 - oy);
    const wanted = this.zoom * Math.hypot(x - ox, y - oy) / before;
    if (before > 0) this.zoomTo(wanted, (x0 + ox) / 2, (y0 + oy) / 2);
    this.move((x0 - x) / 2 / this.zoom, (y0 - y) / 2 / this.zoom); // with the fingers' middle
  }

  #listen() {
    const {canvas} = this, hear = (name, action, passive = true) =>
      canvas.addEventListener(name, action, {passive});
    hear("pointerdown", event => {
      canvas.setPointerCapture(event.pointerId);
      this.#pointers.set(event.pointerId, this.#place(event));
      if (this.#pointers.size === 1) this.#travel = 0;
    });
    hear("pointermove", event => this.#drag(event));
    hear("pointerup", event => {
      this.#pointers.delete(event.pointerId);
      if (this.#travel < 6) this.tap();
    });
    hear("pointercancel", event => this.#pointers.delete(event.pointerId));
    hear("touchstart", event => {
      if (event.touches.length > 1) event.preventDefault(); // two fingers never move the page
    }, false);
    hear("wheel", event => {
      event.preventDefault();
      this.zoomTo(this.zoom * 2 ** (-event.deltaY / 250), ...this.#place(event));
    }, false);
    hear("keydown", event => {
      const step = 40 / this.zoom, moves = {
        ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step],
      };
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.key === "+") this.zoomTo(this.zoom * 1.5);
      else if (event.key === "-") this.zoomTo(this.zoom / 1.5);
      else if (moves[event.key]) this.move(...moves[event.key]);
      else return;
      event.preventDefault();
    }, false);
    window.addEventListener("resize", () => this.resize());
  }
}
