// Two versions of a picture on one canvas: a wipe between them or a flip, with zoom, and the
// leaves or blocks drawn in lines that stay thin.
function makeViewer(data) {
  const at = id => document.getElementById(id);
  const canvas = at("canvas"), context = canvas.getContext("2d");
  const LINE = "rgba(0, 144, 255, 0.85)", FRAGMENT_LINE = "rgba(255, 48, 0, 0.9)";
  const FRAGMENT = 16, MAX_ZOOM = 32;
  const images = new Map(), trees = new Map(), pointers = new Map();
  const sides = {a: null, b: null};
  let picture, view = [], flipping = false, showsB = false, zoom = 1, left = 0, top = 0;

  function load(name) {
    if (!images.has(name)) {
      const image = new Image();
      image.onload = draw;
      image.src = `data:image/png;base64,${at(`image-${name}`).textContent}`;
      images.set(name, image);
    }
    return images.get(name);
  }

  // One byte a sample: 1 where the first row of a leaf or block is, 2 where its first column is.
  function treeOf(name) {
    if (trees.has(name)) return trees.get(name);
    const image = load(`${name}-tree`);
    if (!image.complete || !image.naturalWidth) return null;
    const sheet = document.createElement("canvas");
    sheet.width = image.naturalWidth;
    sheet.height = image.naturalHeight;
    const pen = sheet.getContext("2d", {willReadFrequently: true});
    pen.drawImage(image, 0, 0);
    const rgba = pen.getImageData(0, 0, sheet.width, sheet.height).data;
    const edges = new Uint8Array(sheet.width * sheet.height);
    for (let k = 0; k < edges.length; k++) edges[k] = rgba[4 * k];
    trees.set(name, {edges, width: sheet.width, height: sheet.height});
    return trees.get(name);
  }

  function drawTree(tree) {
    const x0 = Math.max(0, Math.floor(left)), y0 = Math.max(0, Math.floor(top));
    const x1 = Math.min(tree.width, Math.ceil(left + canvas.width / zoom));
    const y1 = Math.min(tree.height, Math.ceil(top + canvas.height / zoom));
    const toX = x => Math.round((x - left) * zoom) + 0.5;
    const toY = y => Math.round((y - top) * zoom) + 0.5;
    context.lineWidth = 1;
    for (const [colour, wanted] of [[LINE, false], [FRAGMENT_LINE, true]]) {
      context.beginPath();
      for (let y = y0; y < y1; y++) {
        if ((y % FRAGMENT === 0) !== wanted) continue;
        for (let x = x0; x < x1; x++) {
          if (!(tree.edges[y * tree.width + x] & 1)) continue;
          const begin = x;
          while (x + 1 < x1 && tree.edges[y * tree.width + x + 1] & 1) x++;
          context.moveTo(toX(begin), toY(y));
          context.lineTo(toX(x + 1), toY(y));
        }
      }
      for (let x = x0; x < x1; x++) {
        if ((x % FRAGMENT === 0) !== wanted) continue;
        for (let y = y0; y < y1; y++) {
          if (!(tree.edges[y * tree.width + x] & 2)) continue;
          const begin = y;
          while (y + 1 < y1 && tree.edges[(y + 1) * tree.width + x] & 2) y++;
          context.moveTo(toX(x), toY(begin));
          context.lineTo(toX(x), toY(y + 1));
        }
      }
      context.strokeStyle = colour;
      context.stroke();
    }
  }

  function drawSide(side, from, to) {
    if (!side || to <= from) return;
    context.save();
    context.beginPath();
    context.rect(from, 0, to - from, canvas.height);
    context.clip();
    const image = load(side.key);
    if (image.complete && image.naturalWidth) {
      context.imageSmoothingEnabled = zoom < 1;
      context.drawImage(image, -left * zoom, -top * zoom,
        picture.width * zoom, picture.height * zoom);
      const tree = at("tree").checked && side.tree ? treeOf(side.key) : null;
      if (tree) drawTree(tree);
    }
    context.restore();
  }

  function draw() {
    if (!picture || !sides.a) return;
    context.fillStyle = "#30363d";
    context.fillRect(0, 0, canvas.width, canvas.height);
    if (flipping) {
      drawSide(showsB ? sides.b : sides.a, 0, canvas.width);
    } else {
      const place = Math.round(at("divider").value / 1000 * canvas.width);
      drawSide(sides.a, 0, place);
      drawSide(sides.b, place, canvas.width);
      context.fillStyle = "#fff";
      if (0 < place && place < canvas.width) context.fillRect(place - 1, 0, 2, canvas.height);
    }
    at("caption-a").style.opacity = flipping && showsB ? 0.35 : 1;
    at("caption-b").style.opacity = flipping && !showsB ? 0.35 : 1;
    canvas.dataset.shown = flipping ? (showsB ? "b" : "a") : "both";
    canvas.dataset.zoom = zoom;
  }

  function fit() {
    zoom = Math.min(canvas.width / picture.width, canvas.height / picture.height);
    left = (picture.width - canvas.width / zoom) / 2;
    top = (picture.height - canvas.height / zoom) / 2;
    draw();
  }

  // The point of the picture under (x, y) of the canvas stays there.
  function zoomTo(wanted, x = canvas.width / 2, y = canvas.height / 2) {
    const least = Math.min(1, canvas.width / picture.width, canvas.height / picture.height) / 2;
    const next = Math.min(MAX_ZOOM, Math.max(least, wanted));
    left += x / zoom - x / next;
    top += y / zoom - y / next;
    zoom = next;
    draw();
  }

  function resize() {
    const width = canvas.clientWidth, ratio = window.devicePixelRatio || 1;
    if (!picture || !width) return;
    const shape = picture.height / picture.width;
    const height = Math.round(Math.min(width * shape, window.innerHeight * 0.8));
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    fit();
  }

  function caption(node, side) {
    const name = document.createElement("strong");
    name.textContent = side.label;
    node.replaceChildren(name, side.text);
  }

  function choose() {
    for (const each of ["a", "b"]) {
      sides[each] = view[at(`side-${each}`).selectedIndex];
      caption(at(`caption-${each}`), sides[each]);
    }
    draw();
  }

  function options(select, texts, index) {
    select.replaceChildren(...texts.map(text => new Option(text)));
    select.selectedIndex = Math.min(index, texts.length - 1);
  }

  function setView() {
    const rows = picture.views[at("view").selectedIndex];
    const point = row => picture.curves.find(curve => curve.codec === row.codec)
      .points.find(p => p.point === row.point);
    const lead = point(rows[0]);
    const knob = row => picture.curves.find(curve => curve.codec === row.codec).knob;
    view = [{label: "original", text: ` ${picture.width}x${picture.height}`, key: picture.id}];
    for (const row of rows) {
      const p = point(row), more = 100 * (p.bytes / lead.bytes - 1);
      const against = row === rows[0] ? "" : ` (${more >= 0 ? "+" : "−"}${Math.abs(more).toFixed(1)} %)`;
      const psnr = p.psnr === null ? "lossless" : `${p.psnr.toFixed(2)} dB`;
      const ssim = p.ssim === null ? "" : `, SSIM ${p.ssim.toFixed(4)}`;
      view.push({label: row.codec, key: row.key, tree: row.tree,
        text: ` ${knob(row)} ${row.point}: ${p.bytes} bytes${against}, ${psnr}${ssim}`});
    }
    const labels = view.map(side => side.label);
    const old = {a: at("side-a").value, b: at("side-b").value};
    const keep = (name, other) => labels.includes(name) ? labels.indexOf(name) : other;
    const peer = rows.findIndex(row => !row.codec.startsWith("mmp"));
    options(at("side-a"), labels, keep(old.a, 1));
    options(at("side-b"), labels, keep(old.b, peer < 0 ? 0 : peer + 1));
    choose();
  }

  function setFlip(value) {
    flipping = value;
    at("flip").setAttribute("aria-pressed", value);
    at("wipe").setAttribute("aria-pressed", !value);
    at("divider").style.visibility = value ? "hidden" : "visible";
    draw();
  }

  function turn() {
    if (!flipping) return setFlip(true);
    showsB = !showsB;
    draw();
  }

  function place(event) {
    const box = canvas.getBoundingClientRect(), unit = canvas.width / box.width;
    return [(event.clientX - box.left) * unit, (event.clientY - box.top) * unit];
  }

  let moved = 0;
  canvas.addEventListener("pointerdown", event => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, place(event));
    if (pointers.size === 1) moved = 0;
  });
  canvas.addEventListener("pointermove", event => {
    if (!pointers.has(event.pointerId)) return;
    const [x0, y0] = pointers.get(event.pointerId), [x, y] = place(event);
    const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, p]) => p);
    pointers.set(event.pointerId, [x, y]);
    moved += Math.hypot(x - x0, y - y0);
    if (others.length) {
      const [ox, oy] = others[0];
      const before = Math.hypot(x0 - ox, y0 - oy), after = Math.hypot(x - ox, y - oy);
      if (before > 0) zoomTo(zoom * after / before, (x + ox) / 2, (y + oy) / 2);
    } else {
      left -= (x - x0) / zoom;
      top -= (y - y0) / zoom;
      draw();
    }
  });
  canvas.addEventListener("pointerup", event => {
    pointers.delete(event.pointerId);
    if (flipping && moved < 6) turn();
  });
  canvas.addEventListener("pointercancel", event => pointers.delete(event.pointerId));
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    zoomTo(zoom * 2 ** (-event.deltaY / 250), ...place(event));
  }, {passive: false});
  canvas.addEventListener("keydown", event => {
    const step = 40 / zoom, moves = {
      ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step],
    };
    if (event.key === " ") turn();
    else if (event.key === "+") zoomTo(zoom * 1.5);
    else if (event.key === "-") zoomTo(zoom / 1.5);
    else if (moves[event.key]) {
      left += moves[event.key][0];
      top += moves[event.key][1];
      draw();
    } else return;
    event.preventDefault();
  });
  at("wipe").onclick = () => setFlip(false);
  at("flip").onclick = turn;
  at("zoom-in").onclick = () => zoomTo(zoom * 1.5);
  at("zoom-out").onclick = () => zoomTo(zoom / 1.5);
  at("zoom-fit").onclick = fit;
  at("zoom-one").onclick = () => zoomTo(window.devicePixelRatio || 1);
  at("tree").onchange = draw;
  at("divider").oninput = draw;
  at("side-a").onchange = choose;
  at("side-b").onchange = choose;
  at("view").onchange = setView;
  window.addEventListener("resize", resize);

  return newPicture => {
    picture = newPicture;
    images.clear();
    trees.clear();
    at("viewer").hidden = !picture.views.length;
    if (!picture.views.length) return;
    const bpp = rows => picture.curves.find(curve => curve.codec === rows[0].codec)
      .points.find(p => p.point === rows[0].point).bpp;
    options(at("view"), picture.views.map(rows => `${bpp(rows).toFixed(3)} bpp`), 0);
    resize();
    setView();
  };
}
