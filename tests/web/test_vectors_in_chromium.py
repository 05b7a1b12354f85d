"""The decoder in headless Chromium gives the samples of all conformance vectors."""

import json

import pytest
from chromium import chromium, run_page
from support.vectors import BAD, BAD_COLLECTIONS, BAD_JPEGS, FOLDER, GOOD
from support.web.decoder import WEB, missing

SECONDS = 240
COLLECTION = FOLDER / "collection-pages"
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
      const { samples } = await decode(`/files/${name}`, { page: PAGES[name] });
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
    vectors = [*GOOD, *BAD, *BAD_COLLECTIONS, *BAD_JPEGS, COLLECTION]
    files = {each.name: (each / "stream.mmp").read_bytes() for each in vectors}
    pages = {each.name: page_of(each) for each in BAD_COLLECTIONS} | {COLLECTION.name: 3}
    pages = {name: page for name, page in pages.items() if page}
    script = SCRIPT.replace("NAMES", json.dumps(list(files))).replace("PAGES", json.dumps(pages))
    return run_page(script, {"web": WEB}, files, SECONDS)


def page_of(vector):
    return json.loads((vector / "error.json").read_text()).get("page")


def test_a_page_of_a_collection_decodes_to_its_samples(found):
    stated = json.loads((COLLECTION / "decoded.json").read_text())["pictures"][2]
    assert found[COLLECTION.name] == stated["samples_sha256"]


def test_good_vectors_decode_to_their_samples(found):
    stated = {
        each.name: json.loads((each / "decoded.json").read_text())["samples_sha256"]
        for each in GOOD
    }
    assert {name: found[name] for name in stated} == stated


def test_bad_vectors_end_in_their_errors(found):
    stated = {
        each.name: json.loads((each / "error.json").read_text())["error"]
        for each in [*BAD, *BAD_COLLECTIONS, *BAD_JPEGS]
    }
    assert {name: found[name] for name in stated} == stated
