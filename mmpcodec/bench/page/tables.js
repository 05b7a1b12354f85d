// Tables that sort by the heading that is pressed; what has no value goes last.
function makeTable(table, columns) {
  const head = document.createElement("thead"), body = document.createElement("tbody");
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
    for (const {column, node, button} of headings) {
      button.textContent = column.title + (column === by ? (falling ? " ▾" : " ▴") : "");
      if (column === by) node.setAttribute("aria-sort", falling ? "descending" : "ascending");
      else node.removeAttribute("aria-sort");
    }
    body.replaceChildren(...sorted.map(row => {
      const line = document.createElement("tr");
      if (row.mean) line.className = "mean";
      line.append(...columns.map(column => cell(row, column)));
      return line;
    }));
  }

  const headings = columns.map(column => {
    const node = document.createElement("th"), button = document.createElement("button");
    node.scope = "col";
    if (column.kind === "text") node.className = "text";
    button.onclick = () => {
      falling = column === by && !falling;
      by = column;
      draw();
    };
    node.append(button);
    return {column, node, button};
  });
  head.append(document.createElement("tr"));
  head.firstChild.append(...headings.map(each => each.node));
  table.append(head, body);

  return newRows => {
    rows = newRows;
    draw();
  };
}
