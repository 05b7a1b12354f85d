// Stands in for the decoder: opens files whose first line is a header as JSON, before raw samples,
// tile by tile, of which it fetches only those that are asked for.
const decoder = (() => {
  async function open(source) {
    const read = typeof source === "string" ? ranges(source) : whole(source);
    const line = new TextDecoder().decode(await read(0, 256)).split("\n")[0];
    const header = JSON.parse(line), {width, height, tileSize, planes, depth} = header;
    const side = tileSize || Math.max(width, height), columns = Math.ceil(width / side);
    const unit = (depth > 8 ? 2 : 1) * planes, row = length => Math.min(side, length);
    const size = number => row(width - number % columns * side)
      * row(height - Math.floor(number / columns) * side) * unit;
    return {
      header,
      async tile(number, {signal}) {
        let start = 256;
        for (let k = 0; k < number; k++) start += size(k);
        const bytes = await read(start, start + size(number), signal);
        const {buffer, byteOffset, length} = bytes;
        return {samples: depth > 8 ? new Uint16Array(buffer, byteOffset, length / 2) : bytes};
      },
    };
  }

  const ranges = address => async (start, stop, signal) => {
    const headers = {Range: `bytes=${start}-${stop - 1}`};
    return new Uint8Array(await (await fetch(address, {headers, signal})).arrayBuffer());
  };

  const whole = source => async (start, stop) =>
    new Uint8Array(source instanceof Blob ? await source.arrayBuffer() : source).slice(start, stop);

  return {open};
})();
