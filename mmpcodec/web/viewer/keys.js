// Keys on the stage, and the list that explains them. The stage itself hears arrows, + and −.
function listenToKeys(canvas, list, keys) {
  for (const {name, text} of keys) {
    const key = document.createElement("dt"), meaning = document.createElement("dd");
    key.textContent = name;
    meaning.textContent = text;
    list.append(key, meaning);
  }
  canvas.addEventListener("keydown", event => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const found = keys.find(({key}) => key === event.key);
    if (!found) return;
    found.action();
    event.preventDefault();
  });
}
