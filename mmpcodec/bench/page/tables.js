// Tables that sort by the heading that is pressed; what has no value goes last.
function makeTable(table, columns) {
  let rows = [], by = null, falling = false;

  function cell(row, column) {
    const node = document.createElement("td"), value = column.value(row);
    node.textContent = value === null || value === undefined ? "" : (column.text || String)(value);
    if (column.kind) node.className = column.kind;
    return node;
  }

  function draw() {
    const sorted = [...rows];
    if (by) sorted.sort((a, b) => {
      const [x, y] = [by.value(a), by.value(b)].map(v => v === undefined ? null : v);
      if (x === null || y === null) return (x === null) - (y === null);
      const order = typeof x === "string" ? x.localeCompare(y) : x - y;
      return falling ? -order : order;
    });
    const head = document.createElement("tr");
    for (const column of columns) {
      const node = document.createElement("th"), button = document.createElement("button");
      button.textContent = column.title + (column === by ? (falling ? " ▾" : " ▴") : "");
      button.onclick = () => {
        falling = column === by && !falling;
        by = column;
        draw();
      };
      if (column.kind === "text") node.className = "text";
      if (column === by) node.setAttribute("aria-sort", falling ? "descending" : "ascending");
      node.append(button);
      head.append(node);
    }
    const top = document.createElement("thead"), body = document.createElement("tbody");
    top.append(head);
    for (const row of sorted) {
      const line = document.createElement("tr");
      if (row.mean) line.className = "mean";
      line.append(...columns.map(column => cell(row, column)));
      body.append(line);
    }
    table.replaceChildren(top, body);
  }

  return newRows => {
    rows = newRows;
    draw();
  };
}
