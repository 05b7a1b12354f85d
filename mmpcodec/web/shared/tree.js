// Leaves or blocks of a picture on the stage, in lines one pixel wide; fragments have another
// colour. They begin at column 0 and row 0, or at those of tree.phase.
function drawTree(stage, tree) {
  const FRAGMENT = 16, {pen, pane, zoom, left, top} = stage, [column, row] = tree.phase || [0, 0];
  const x0 = Math.max(0, Math.floor(left)), y0 = Math.max(0, Math.floor(top));
  const x1 = Math.min(tree.width, Math.ceil(left + pane.width / zoom));
  const y1 = Math.min(tree.height, Math.ceil(top + pane.height / zoom));
  const toX = x => Math.round((x - left) * zoom) + 0.5;
  const toY = y => Math.round((y - top) * zoom) + 0.5;
  pen.lineWidth = 1;
  for (const [colour, wanted] of [["rgba(0, 144, 255, 0.85)", false], ["rgba(255, 48, 0, 0.9)", true]]) {
    pen.beginPath();
    for (let y = y0; y < y1; y++) {
      if (((y - row) % FRAGMENT === 0) !== wanted) continue;
      for (let x = x0; x < x1; x++) {
        if (!(tree.edges[y * tree.width + x] & 1)) continue;
        const begin = x;
        while (x + 1 < x1 && tree.edges[y * tree.width + x + 1] & 1) x++;
        pen.moveTo(toX(begin), toY(y));
        pen.lineTo(toX(x + 1), toY(y));
      }
    }
    for (let x = x0; x < x1; x++) {
      if (((x - column) % FRAGMENT === 0) !== wanted) continue;
      for (let y = y0; y < y1; y++) {
        if (!(tree.edges[y * tree.width + x] & 2)) continue;
        const begin = y;
        while (y + 1 < y1 && tree.edges[(y + 1) * tree.width + x] & 2) y++;
        pen.moveTo(toX(x), toY(begin));
        pen.lineTo(toX(x), toY(y + 1));
      }
    }
    pen.strokeStyle = colour;
    pen.stroke();
  }
}
