"""The decoder in headless Chromium gives the samples of all conformance vectors."""

import json

import pytest
from chromium import chromium, run_page
from support.vectors import BAD, GOOD
from support.web.decoder import WEB, missing

SECONDS = 240
SCRIPT = """
import { createDecoder } from "/web/decoder/index.js";
const digits = (byte) => byte.toString(16).padStart(2, "0");
const hex = (bytes) => [...new Uint8Array(bytes)].map(digits).join("");
const swapped = (samples) => {
  const bytes = new DataView(new ArrayBuffer(2 * samples.length));
  samples.forEach((sample, at) => bytes.setUint16(2 * at, sample));
  return bytes.buffer;
};
export default async function () {
  const found = {}, { decode, close } = createDecoder({ workers: 2 });
  for (const name of NAMES) {
    try {
      const { samples } = await decode(`/files/${name}`);
      const bytes = samples instanceof Uint8Array ? samples : swapped(samples);
      found[name] = hex(await crypto.subtle.digest("SHA-256", bytes));
    } catch (error) {
      found[name] = error.name;
    }
  }
  await close();
  return found;
}
"""


@pytest.fixture(scope="module")
def found():
    if reason := missing() or (None if chromium() else "there is no chromium"):
        pytest.skip(reason)
    files = {each.name: (each / "stream.mmp").read_bytes() for each in [*GOOD, *BAD]}
    return run_page(SCRIPT.replace("NAMES", json.dumps(list(files))), {"web": WEB}, files, SECONDS)


def test_good_vectors_decode_to_their_samples(found):
    stated = {
        each.name: json.loads((each / "decoded.json").read_text())["samples_sha256"]
        for each in GOOD
    }
    assert {name: found[name] for name in stated} == stated


def test_bad_vectors_end_in_their_errors(found):
    stated = {each.name: json.loads((each / "error.json").read_text())["error"] for each in BAD}
    assert {name: found[name] for name in stated} == stated
