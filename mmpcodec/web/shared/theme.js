// Light or dark: as the system says, unless the address or the reader names one.
const theme = (() => {
  const CHOICES = ["light", "dark"], dark = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;

  function apply() {
    document.documentElement.dataset.theme = chosen || (dark.matches ? "dark" : "light");
  }

  function choose(name) {
    chosen = CHOICES.includes(name) ? name : null;
    apply();
  }

  dark.addEventListener("change", apply);
  choose(new URLSearchParams(location.hash.slice(1)).get("theme"));
  return {choose, chosen: () => chosen};
})();
