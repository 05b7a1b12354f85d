// Bright regions as boxes over a picture, and a table whose rows zoom to a region.
class RegionBoxes {
  static COLOURS = ["#e63c32", "#2896f0", "#f5aa1e", "#3cbe5a", "#be5adc", "#00bebe"];
  static COLUMNS = [
    ["columns", ({left, width}) => `${left} to ${left + width - 1}`],
    ["rows", ({top, height}) => `${top} to ${top + height - 1}`],
    ["size", ({width, height}) => `${width}×${height}`],
    ["mean", ({mean}) => mean.toFixed(1)],
    ["deviation", ({deviation}) => deviation.toFixed(1)],
    ["sum", ({sum}) => Math.round(sum).toLocaleString("en")],
  ];
  wanted = false;
  #shown = null;

  // zoomTo: brings a region into view.
  constructor({table, note, box}, zoomTo) {
    Object.assign(this, {table, note, box, zoomTo});
  }

  draw({pen, zoom, left, top, pixelRatio: unit}, facts) {
    const regions = this.wanted && facts.get("regions")?.found;
    if (!regions) return;
    const line = 2 * unit, high = 20 * unit;
    pen.font = `600 ${14 * unit}px system-ui, sans-serif`;
    for (const region of [...regions.rows].reverse()) {
      const colour = RegionBoxes.COLOURS[(region.rank - 1) % RegionBoxes.COLOURS.length];
      const [x0, x1] = [0, region.width].map(w => Math.round((region.left + w - left) * zoom));
      const [y0, y1] = [0, region.height].map(h => Math.round((region.top + h - top) * zoom));
      pen.strokeStyle = pen.fillStyle = colour;
      pen.lineWidth = line;
      pen.strokeRect(x0 - line / 2, y0 - line / 2, x1 - x0 + line, y1 - y0 + line); // outside of it
      const text = String(region.rank), width = pen.measureText(text).width + 4 * line;
      const above = y0 >= high ? y0 - high : y0;
      pen.fillRect(x0 - line, above, width, high);
      pen.fillStyle = "#000";
      pen.fillText(text, x0 + line, above + 0.75 * high);
    }
  }

  // Fills the table with the regions of a file.
  show(name, facts) {
    const there = facts.get("regions");
    this.box.hidden = !this.wanted;
    if (!this.wanted || this.#shown === there && there) return;
    this.#shown = there;
    const found = there && there.found;
    this.table.hidden = !found || !found.rows.length;
    this.note.textContent = !there ? "The regions are being searched …"
      : !found ? there.problem || "The regions of this file are not known."
      : found.rows.length ? `${name}: rectangles that exceed level ${found.offset} of ` +
        `${found.white} by the largest sum. A row of the table brings its region into view.`
      : `${name}: no region exceeds level ${found.offset} of ${found.white}.`;
    if (!this.table.hidden) this.table.replaceChildren(this.#head(), this.#body(found.rows));
  }

  #head() {
    const head = document.createElement("thead"), row = head.insertRow();
    for (const title of ["region", ...RegionBoxes.COLUMNS.map(([name]) => name)]) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = title;
      row.append(cell);
    }
    return head;
  }

  #body(regions) {
    const body = document.createElement("tbody");
    for (const region of regions) {
      const row = body.insertRow(), button = document.createElement("button");
      button.textContent = `Region ${region.rank}`;
      button.onclick = () => this.zoomTo(region);
      row.insertCell().append(button);
      for (const [, text] of RegionBoxes.COLUMNS) row.insertCell().textContent = text(region);
    }
    return body;
  }
}
