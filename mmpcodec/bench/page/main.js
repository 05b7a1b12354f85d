// Joins chart, viewer and tables to the choice of a picture and a metric.
(() => {
  const at = id => document.getElementById(id);
  const data = JSON.parse(at("data").textContent);
  const fixed = digits => value => value.toFixed(digits);
  const signed = digits => value => `${value > 0 ? "+" : ""}${value.toFixed(digits)}`;
  const column = (title, name, text, kind) => ({title, value: row => row[name], text, kind});

  const chart = makeChart(at("chart"), at("legend"), data);
  const viewer = makeViewer(data);
  const small = data.metric === "psnr" ? 2 : 5;
  makeTable(at("deltas"), [
    column("picture", "picture", String, "text"),
    column("codec", "codec", String, "text"),
    column("BD-rate %", "rate", signed(1)),
    column("PCHIP %", "rate_pchip", signed(1)),
    column(data.metric === "psnr" ? "BD dB" : "BD", "quality", signed(small)),
    column("PCHIP", "quality_pchip", signed(small)),
    column("overlap", "overlap", value => `${Math.round(100 * value)} %`),
    column("note", "problem", String, "text"),
    column("bugs", "bugs", String),
  ])(data.deltas);
  const results = makeTable(at("results"), [
    column("codec", "codec", String, "text"),
    column("point", "point", String),
    column("bytes", "bytes", String),
    column("bpp", "bpp", fixed(4)),
    column("PSNR dB", "psnr", fixed(2)),
    column("SSIM", "ssim", fixed(4)),
    column("MS-SSIM", "ms_ssim", fixed(4)),
    column("largest error", "max_error", String),
    column("encode s", "encode_seconds", fixed(3)),
    column("decode s", "decode_seconds", fixed(3)),
    column("encode MP/s", "encode_megapixels_per_second", fixed(2)),
    column("decode MP/s", "decode_megapixels_per_second", fixed(2)),
    column("backend", "backend", value => value.split(" ")[0], "text"),
    column("bugs", "error", String, "bug"),
  ]);

  function choosePicture() {
    const picture = data.pictures[at("picture").selectedIndex];
    chart(picture, at("metric").value);
    viewer(picture);
    at("results-picture").textContent = picture.name;
    results(picture.curves.flatMap(
      curve => curve.points.map(point => ({...point, codec: curve.codec}))));
  }

  at("picture").append(...data.pictures.map(
    picture => new Option(`${picture.name}, ${picture.width}x${picture.height}`)));
  at("metric").append(...Object.entries(data.metrics).map(([name, title]) => new Option(title, name)));
  at("metric").value = data.metric;
  at("picture").onchange = choosePicture;
  at("metric").onchange = () => chart(data.pictures[at("picture").selectedIndex], at("metric").value);
  choosePicture();
})();
