// A canvas that shows a part of a picture: fingers, mouse, wheel and keys move and zoom it. It can
// have several panes, which show the same part of different pictures.
class Stage {
  static GROUND = "#30363d";
  static MAX_ZOOM = 32;
  static GLIDE = 140; // milliseconds of a zoom by keys and buttons
  picture = null; // its width and height
  columns = 1; // panes
  rows = 1;
  zoom = 1; // pixels of the canvas for each sample
  left = 0; // samples
  top = 0;
  fitted = true;
  #pointers = new Map();
  #travel = 0; // pixels of the canvas since the first finger came down
  #gliding = 0;

  // draw: paints the canvas; tap: a press that moves nothing; moved: after each movement; hover:
  // mouse or finger are at a point of the canvas, or nowhere (null); height: pixels of the page for
  // a width; later: runs the drawing, which may come with the next frame; turned: takes a turn of
  // the wheel and says so, or leaves it to the zoom.
  constructor(canvas, {
    draw, tap, moved, hover = () => {}, height = null, later = null, turned = () => false,
  }) {
    Object.assign(this, {canvas, tap, moved, hover, turned, pen: canvas.getContext("2d")});
    if (height) this.height = height;
    const paint = () => {
      if (!this.picture) return;
      canvas.dataset.zoom = this.zoom;
      canvas.style.touchAction = this.fitted ? "pan-y" : "none"; // a finger moves page or picture
      this.pen.fillStyle = Stage.GROUND;
      this.pen.fillRect(0, 0, canvas.width, canvas.height);
      draw();
    };
    this.draw = later ? () => later(paint) : paint;
    this.#listen();
  }

  height(width) {
    const shape = this.picture.height / this.picture.width;
    return Math.round(Math.min(width * shape, window.innerHeight * 0.8));
  }

  // Pixels of the canvas of a pane.
  get pane() {
    const {canvas, columns, rows} = this;
    return {width: Math.floor(canvas.width / columns), height: Math.floor(canvas.height / rows)};
  }

  setPicture(picture) {
    this.picture = picture;
    this.fitted = true;
    this.resize();
  }

  fit() {
    const {width, height} = this.picture, {pane} = this;
    this.fitted = true;
    this.zoom = Math.min(pane.width / width, pane.height / height);
    this.left = (width - pane.width / this.zoom) / 2;
    this.top = (height - pane.height / this.zoom) / 2;
    this.draw();
  }

  // The point of the picture under (x, y) of the pane stays there.
  zoomTo(wanted, x = this.pane.width / 2, y = this.pane.height / 2) {
    const {width, height} = this.picture, {pane} = this;
    const least = Math.min(1, pane.width / width, pane.height / height) / 2;
    const next = Math.min(Stage.MAX_ZOOM, Math.max(least, wanted)), before = this.zoom;
    this.zoom = next;
    this.move(x / before - x / next, y / before - y / next);
  }

  // Zooms in small steps, frame by frame, unless the reader wants no motion.
  glideTo(wanted, x, y) {
    const from = this.zoom, begin = performance.now();
    cancelAnimationFrame(this.#gliding);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return this.zoomTo(wanted, x, y);
    const step = now => {
      const part = Math.min(1, Math.max(0, now - begin) / Stage.GLIDE);
      this.zoomTo(from * (wanted / from) ** part, x, y);
      if (part < 1) this.#gliding = requestAnimationFrame(step);
    };
    this.#gliding = requestAnimationFrame(step);
  }

  // Moves the window by x and y samples.
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
    const {pane, zoom} = this;
    const middle = [this.left + pane.width / zoom / 2, this.top + pane.height / zoom / 2];
    return {scale: zoom / this.pixelRatio, middle};
  }

  set look({scale, middle: [x, y]}) {
    this.zoom = Math.min(scale * this.pixelRatio, Stage.MAX_ZOOM);
    this.left = x - this.pane.width / this.zoom / 2;
    this.top = y - this.pane.height / this.zoom / 2;
    this.fitted = false;
    this.draw();
  }

  resize() {
    const {canvas, look} = this, width = canvas.clientWidth;
    if (!this.picture || !width) return;
    const height = this.height(width);
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

  // The point of its pane, from a point of the canvas.
  #inPane([x, y]) {
    return [x % this.pane.width, y % this.pane.height];
  }

  // The point of its pane where something happened.
  pointOf(event) {
    return this.#inPane(this.#place(event));
  }

  // The point of the picture, in samples, under a point of the canvas.
  sampleAt(point) {
    const [x, y] = this.#inPane(point);
    return [this.left + x / this.zoom, this.top + y / this.zoom];
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
    if (before > 0) this.zoomTo(wanted, ...this.#inPane([(x0 + ox) / 2, (y0 + oy) / 2]));
    this.move((x0 - x) / 2 / this.zoom, (y0 - y) / 2 / this.zoom); // with the fingers' middle
  }

  #listen() {
    const {canvas} = this, hear = (name, action, passive = true) =>
      canvas.addEventListener(name, action, {passive});
    hear("pointerdown", event => {
      canvas.setPointerCapture(event.pointerId);
      this.#pointers.set(event.pointerId, this.#place(event));
      if (this.#pointers.size === 1) this.#travel = 0;
      this.hover(this.#place(event));
    });
    hear("pointermove", event => {
      this.#drag(event);
      this.hover(this.#place(event));
    });
    hear("pointerleave", event => {
      if (event.pointerType !== "touch") this.hover(null); // what a finger touched can be read after
    });
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
      if (this.turned(event)) return;
      cancelAnimationFrame(this.#gliding);
      this.zoomTo(this.zoom * 2 ** (-event.deltaY / 250), ...this.pointOf(event));
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
