// Light or dark: as the system says, until the reader chooses; this browser keeps the choice.
const theme = (() => {
  const NAME = "mmpcodec-report-theme", root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let wanted = "system";

  function apply() {
    root.dataset.theme = wanted === "system" ? (dark.matches ? "dark" : "light") : wanted;
  }

  try {
    wanted = localStorage.getItem(NAME) || wanted;
  } catch {} // a browser may deny storage to files
  dark.addEventListener("change", apply);
  apply();
  return {
    wanted: () => wanted,
    choose(value) {
      wanted = value;
      apply();
      try {
        localStorage.setItem(NAME, value);
      } catch {} // the choice lasts until the page is closed
    },
  };
})();
