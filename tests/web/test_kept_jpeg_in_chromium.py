"""Samples of kept JPEG files in headless Chromium are nearly those of Pillow."""

import json
import warnings
from dataclasses import replace

import pytest
from chromium import chromium, run_page
from support.web.decoder import WEB, missing
from support.web.kept import FILES, jpeg, mmp_of, profile, samples

import mmpcodec
from mmpcodec.format import container
from mmpcodec.opening.header import read_header

SECONDS = 60
MOST_ERROR = 3
OTHERS = {
    "wide": jpeg(of=samples(3).repeat(30, axis=1)),
    "high": jpeg(of=samples(1).repeat(40, axis=0)),
    "other colours": jpeg(icc_profile=profile(b"RGB ")),
}
"""Files of more than one part that is read, and of a profile that no browser can use."""
REGION = [5, 7, 40, 30]
SCRIPT = """
import { createDecoder } from "/web/decoder/index.js";
const bytesOf = async (name) => new Uint8Array(await (await fetch(`/files/${name}`)).arrayBuffer());
const most = (one, other) =>
  one.reduce((sum, each, at) => Math.max(sum, Math.abs(each - other[at])), 0);
export default async function () {
  const found = {};
  for (const workers of [0, 2]) {
    const { decode, open, close } = createDecoder({ workers });
    for (const name of NAMES) {
      try {
        const picture = await open(`/files/${name}`);
        const part = await picture.region(...(picture.width > 1 ? REGION : [0, 0, 1, 1]));
        const { width, height, planes, samples } = await decode(`/files/${name}`);
        const expected = await bytesOf(`${name}.samples`);
        const own = new Uint8Array(part.samples.length);
        for (let row = 0; row < REGION[3]; ++row) {
          const from = ((REGION[1] + row) * width + REGION[0]) * planes;
          own.set(samples.subarray(from, from + REGION[2] * planes), row * REGION[2] * planes);
        }
        const sizes = [width, height, planes, samples.length];
        found[`${name} ${workers}`] = [sizes, most(samples, expected), most(part.samples, own)];
      } catch (error) {
        found[`${name} ${workers}`] = `${error.name}: ${error.message}`;
      }
    }
    await close();
  }
  return found;
}
"""


def claimed(file, width, height, form=2):
    """The mmp file of a JPEG file whose header says another size; the payload is right."""
    data = mmp_of(file, form)
    header = read_header(memoryview(data))
    tile = data[header.tile_offsets[0] :]
    other = replace(header, width=width, height=height)
    return container.write(container.with_sizes(other, (len(tile),)), [tile])


def of_text():
    """A file that is no JPEG, kept as one."""
    text = b"\xff\xd8\xff" + b"no picture at all " * 9
    return mmp_of(text)


REFUSED = {
    "other size": claimed(FILES["colour"], 84, 61),
    "text": of_text(),
    "no scan": mmp_of(FILES["colour"][: FILES["colour"].index(b"\xff\xda")]),
    "large": claimed(FILES["colour"], 60, 60),
}


@pytest.fixture(scope="module")
def found():
    if reason := missing() or (None if chromium() else "there is no chromium"):
        pytest.skip(reason)
    files = {}
    for name, data in (FILES | OTHERS).items():
        files[name] = mmp_of(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            files[f"{name}.samples"] = mmpcodec.decode(files[name]).tobytes()
    names = [name for name in files if not name.endswith(".samples")]
    script = SCRIPT.replace("NAMES", json.dumps([*names, *REFUSED]))
    served = {name.replace(" ", "%20"): data for name, data in (files | REFUSED).items()}
    return run_page(script.replace("REGION", json.dumps(REGION)), {"web": WEB}, served, SECONDS)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("name", [*FILES, *OTHERS])
def test_samples_are_those_of_pillow(found, name, workers):
    sizes, error, of_region = found[f"{name} {workers}"]
    header = read_header(memoryview(mmp_of((FILES | OTHERS)[name])))
    width, height, planes = header.width, header.height, header.planes
    assert sizes == [width, height, planes, width * height * planes]
    assert error <= MOST_ERROR
    assert of_region == 0


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_shown_is_named(found, name):
    for workers in (0, 2):
        said = found[f"{name} {workers}"]
        assert said.startswith("UnreadableJpeg: Kept JPEG files: the samples of this kept JPEG")
        assert "jpegFile gives the file, which is whole" in said
    assert "this browser cannot show it" in found["no scan 0"]
    assert "its picture is 83x61, the header says 84x61" in found["other size 0"]
