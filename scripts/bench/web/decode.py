"""Times of the decoder of mmpcodec/web in Node and Chromium, beside the cpu backend.

    PYTHONPATH=scripts/web python scripts/bench/web/decode.py PICTURE... [--cases CASE...]

The script prints a line of JSON for each picture and case, as docs/benchmarks/data/web.jsonl has
them: median wall times in ms of decoding from bytes to samples, after two runs that do not count.
The cpu backend has one thread. The last line says the bytes of the module of WebAssembly.
"""

import argparse
import gzip
import json
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from chromium import chromium, run_page

import mmpcodec
from mmpcodec import pictures
from mmpcodec.bench.timing import median_seconds

ROOT = Path(__file__).resolve().parents[3]
WEB = ROOT / "mmpcodec" / "web"
TIMES = Path(__file__).with_name("times.js")
CASES: dict[str, dict[str, Any]] = {
    "default": {},
    "photo": {"preset": "photo"},
    "text": {"preset": "text"},
    "mixed": {"preset": "mixed"},
    "lossless": {"preset": "lossless", "lam": 0},
}
IN_NODE = """
import { readFileSync } from "node:fs";
const { createDecoder } = await import(DECODER);
const { timesOf } = await import(TIMES);
const files = Object.fromEntries(NAMES.map((name) => [name, new Uint8Array(readFileSync(name))]));
console.log(JSON.stringify(await timesOf(createDecoder, files, RUNS, WORKERS)));
"""
IN_PAGE = """
import { createDecoder } from "/web/decoder/index.js";
import { timesOf } from "/bench/times.js";
export default async function () {
  const files = {};
  for (const name of NAMES)
    files[name] = new Uint8Array(await (await fetch(`/files/${name}`)).arrayBuffer());
  return timesOf(createDecoder, files, RUNS, WORKERS);
}
"""


def filled(script: str, **values: object) -> str:
    """Return a script with values for its words in capitals."""
    for word, value in values.items():
        script = script.replace(word, json.dumps(value))
    return script


def in_node(files: dict[str, bytes], runs: int, workers: int) -> dict[str, float]:
    """Return the times of files in Node."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            (Path(folder) / name).write_bytes(data)
        script = Path(folder) / "times.mjs"
        text = filled(
            IN_NODE,
            DECODER=(WEB / "decoder" / "index.js").as_uri(),
            TIMES=TIMES.as_uri(),
            NAMES=list(files),
            RUNS=runs,
            WORKERS=workers,
        )
        script.write_text(text)
        done = subprocess.run(
            ["node", script.name], cwd=folder, check=True, capture_output=True, text=True
        )
    return json.loads(done.stdout)


def in_page(files: dict[str, bytes], runs: int, workers: int) -> dict[str, float]:
    """Return the times of files in a page of Chromium; none without Chromium."""
    if chromium() is None:
        return {}
    script = filled(IN_PAGE, NAMES=list(files), RUNS=runs, WORKERS=workers)
    return run_page(script, {"web": WEB, "bench": TIMES.parent}, files, 500)


def main() -> None:
    """Encode the pictures, and print the times."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pictures", nargs="+", type=Path)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    files, rows = {}, {}
    for path in options.pictures:
        samples = pictures.read(path).samples
        for case in options.cases:
            name = f"{path.stem}-{case}"
            files[name] = mmpcodec.encode(samples, **CASES[case])
            height, width = samples.shape[:2]
            size = f"{width}x{height}"
            rows[name] = {"run": "web", "picture": path.stem, "size": size, "case": case}
            rows[name]["bytes"] = len(files[name])
    columns = {
        "cpu_ms": {
            name: 1000 * median_seconds(partial(mmpcodec.decode, data, threads=1), options.runs)
            for name, data in files.items()
        },
        "node_ms": in_node(files, options.runs, 0),
        "chromium_ms": in_page(files, options.runs, 0),
        "workers_ms": in_page(files, options.runs, 2),
    }
    for name, row in rows.items():
        times = {column: round(own[name], 1) for column, own in columns.items() if name in own}
        print(json.dumps(row | times))
    module = (WEB / "mmp.wasm").read_bytes()
    print(f"mmp.wasm: {len(module)} bytes, {len(gzip.compress(module, 9))} by gzip -9")


if __name__ == "__main__":
    main()
