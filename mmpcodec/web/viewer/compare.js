// Which pictures are on the stage, and where: one, two beside each other, two with a wipe between
// them, or all in a grid.
class Compare {
  static WAYS = ["one", "side", "wipe", "all"];
  static MOST = 9; // pictures of a grid
  way = "one";
  showsB = false;
  split = 0.5;

  // How many panes a stage has.
  grid(count, {width, height}) {
    if (this.way === "side") return width >= height ? [2, 1] : [1, 2];
    if (this.way !== "all") return [1, 1];
    const columns = Math.ceil(Math.sqrt(count * (width >= height ? 1 : 0.5)));
    return [columns, Math.ceil(count / columns)];
  }

  // The files that are shown, by number, of those that are chosen as A and B.
  shown(a, b, count) {
    if (this.way === "all") return [...Array(Math.min(count, Compare.MOST)).keys()];
    if (this.way === "one") return [this.showsB ? b : a];
    return [a, b];
  }

  // What a reader should know of the pictures on the stage, out of `count` files, in words.
  notes(pictures, count) {
    const sizes = new Set(pictures.map(({width, height}) => `${width}×${height}`)), notes = [];
    if (sizes.size > 1) notes.push("sizes differ: all pictures begin at column 0, row 0");
    if (this.way === "all" && count > Compare.MOST)
      notes.push(`the first ${Compare.MOST} of ${count} files`);
    return notes;
  }

  // Calls paint(place) for each shown picture, with the stage's pen clipped to its part. The origin
  // of the pen is the pane's, so each pane draws as if it were alone.
  draw(stage, shown, paint) {
    const {pen, canvas, pane} = stage;
    const clipped = (x, y, width, height, origin, place) => {
      pen.save();
      pen.beginPath();
      pen.rect(x, y, width, height);
      pen.clip();
      pen.translate(...origin);
      paint(place);
      pen.restore();
    };
    if (this.way === "wipe") {
      const place = Math.round(this.split * canvas.width);
      clipped(0, 0, place, canvas.height, [0, 0], 0);
      clipped(place, 0, canvas.width - place, canvas.height, [0, 0], 1);
      pen.fillStyle = "#fff";
      if (0 < place && place < canvas.width) pen.fillRect(place - 1, 0, 2, canvas.height);
      return;
    }
    shown.forEach((_, place) => {
      const column = place % stage.columns, row = Math.floor(place / stage.columns);
      const [x, y] = [column * pane.width, row * pane.height];
      clipped(x, y, pane.width, pane.height, [x, y], place);
    });
    pen.fillStyle = "#fff";
    for (let k = 1; k < stage.columns; k++) pen.fillRect(k * pane.width - 1, 0, 2, canvas.height);
    for (let k = 1; k < stage.rows; k++) pen.fillRect(0, k * pane.height - 1, canvas.width, 2);
  }
}
