// What the page shows, in its address: #name=value&... A choice is a step that "back" undoes; a
// movement, such as zoom, changes the newest step.
function makeAddress(collect, restore) {
  const PAUSE = 250; // milliseconds; browsers allow few changes a second
  let timer = 0;

  function write(step) {
    clearTimeout(timer);
    timer = 0;
    const hash = `#${new URLSearchParams(collect())}`;
    if (hash === (location.hash || "#")) return;
    history[step ? "pushState" : "replaceState"](null, "", hash);
  }

  function read() {
    clearTimeout(timer);
    timer = 0;
    restore(new URLSearchParams(location.hash.slice(1)));
  }

  window.addEventListener("popstate", read);
  window.addEventListener("pagehide", () => timer && write(false));
  return {
    read,
    chose: () => write(true),
    moved() {
      clearTimeout(timer);
      timer = setTimeout(write, PAUSE, false);
    },
  };
}
