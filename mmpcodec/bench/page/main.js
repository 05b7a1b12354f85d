// Joins chart, viewer, tables and address to the choice of a picture and a metric.
(() => {
  const at = id => document.getElementById(id);
  const data = JSON.parse(at("data").textContent);
  const fixed = digits => value => value.toFixed(digits);
  const signed = digits => value => `${value > 0 ? "+" : ""}${value.toFixed(digits)}`;
  const column = (title, name, text, kind) => ({title, value: row => row[name], text, kind});

  const tell = {chose: () => address.chose(), moved: () => address.moved()};
  const address = makeAddress(collect, restore);
  const chart = new Chart(data, tell);
  const viewer = new Viewer(data, tell, p => chart.quality(p, data.metric));
  const metrics = Object.entries(data.metrics);
  const results = makeTable(at("results"), [
    column("codec", "codec", String, "text"),
    column("point", "point", String),
    column("bytes", "bytes", String),
    column("bpp", "bpp", fixed(4)),
    ...metrics.map(([name, {title, unit, digits}]) =>
      column(`${title} ${unit}`.trim(), name, fixed(digits))),
    column("largest error", "max_error", String),
    column("encode s", "encode_seconds", fixed(3)),
    column("decode s", "decode_seconds", fixed(3)),
    column("encode MP/s", "encode_megapixels_per_second", fixed(2)),
    column("decode MP/s", "decode_megapixels_per_second", fixed(2)),
    column("backend", "backend", value => value.split(" ")[0], "text"),
    column("bugs", "error", String, "bug"),
  ]);
  let picture = null, metric = null;

  function showDeltas(name) {
    const {deltas, better, unit, digits} = data.metrics[name];
    at("deltas-metric").textContent = deltas;
    at("deltas-better").textContent = better;
    at("deltas").replaceChildren();
    makeTable(at("deltas"), [
      column("picture", "picture", String, "text"),
      column("codec", "codec", String, "text"),
      column("BD-rate %", "rate", signed(1)),
      column("PCHIP %", "rate_pchip", signed(1)),
      column(`BD ${unit}`.trim(), "quality", signed(digits)),
      column("PCHIP", "quality_pchip", signed(digits)),
      column("overlap", "overlap", value => `${Math.round(100 * value)} %`),
      column("note", "problem", String, "text"),
      column("bugs", "bugs", String),
    ])(data.deltas[name]);
  }

  function show() {
    const next = data.pictures[at("picture").selectedIndex];
    if (next !== picture) {
      picture = next;
      at("results-picture").textContent = picture.name;
      results(picture.curves.flatMap(
        curve => curve.points.map(point => ({...point, codec: curve.codec}))));
    }
    if (at("metric").value !== metric) {
      metric = at("metric").value;
      showDeltas(metric);
    }
    chart.show(picture, metric);
  }

  // Names and values of the address; what is as at first is left out.
  function collect() {
    const state = {...chart.state(), ...viewer.state()};
    if (picture !== data.pictures[0]) state.picture = picture.id;
    if (at("metric").value !== data.metric) state.metric = at("metric").value;
    if (theme.chosen()) state.theme = theme.chosen();
    return Object.entries(state).flatMap(
      ([name, values]) => [values].flat().map(value => [name, value]));
  }

  function restore(wanted) {
    const number = data.pictures.findIndex(each => each.id === wanted.get("picture"));
    const name = wanted.get("metric");
    at("picture").selectedIndex = Math.max(number, 0);
    at("metric").value = Object.hasOwn(data.metrics, name) ? name : data.metric;
    theme.choose(wanted.get("theme"));
    at("theme").value = theme.chosen() || "system";
    chart.restore(wanted);
    show();
    viewer.restore(picture, wanted);
  }

  at("picture").append(...data.pictures.map(
    picture => new Option(picture.title)));
  at("metric").append(...metrics.map(([name, {axis}]) => new Option(axis, name)));
  at("theme").onchange = () => {
    theme.choose(at("theme").value);
    address.chose();
  };
  at("picture").onchange = () => {
    show();
    viewer.show(picture);
    address.chose();
  };
  at("metric").onchange = () => {
    show();
    address.chose();
  };
  address.read();
})();
