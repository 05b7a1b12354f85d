// Times of decoding, in Node and in pages; decode.py runs it.

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

/** Returns the median of the times in ms of decoding each file, after two runs of each. */
export async function timesOf(createDecoder, files, runs, workers) {
  const decoder = createDecoder({ workers });
  const found = {};
  for (const [name, data] of Object.entries(files)) {
    const times = [];
    for (let run = -2; run < runs; ++run) {
      const began = performance.now();
      await decoder.decode(data);
      if (run >= 0) times.push(performance.now() - began);
    }
    found[name] = median(times);
  }
  await decoder.close();
  return found;
}
