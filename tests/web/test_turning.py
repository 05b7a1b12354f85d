"""The viewer's scripts find orientations as Python does, and turn samples and places as it does."""

import base64
import io
import json
import shutil
import struct
import subprocess

import numpy as np
import pytest
from PIL import Image
from support.web.decoder import WEB

from mmpcodec.analysis.turning import turned, turned_place
from mmpcodec.metadata import Metadata
from mmpcodec.pictures.side.facts import orientation_of

CALLS = """
const { readFileSync } = await import("node:fs");
const text = process.argv.slice(1, 3).map(path => readFileSync(path, "utf8")).join("\\n");
const names = "{Turning, metadataIn, orientationOf, setUpright}";
const own = new Function(`${text}; return ${names};`)();
const bytes = text => text === null ? null : new Uint8Array(Buffer.from(text, "base64"));
const calls = {
  orientation: ({exif, xmp}) => own.orientationOf(bytes(exif), bytes(xmp)),
  turned: ({turn, width, height, planes, samples}) => {
    const turning = new own.Turning(turn, width, height);
    const found = turning.samples(new Uint8Array(samples), {width, height}, planes);
    return {width: turning.width, height: turning.height, samples: [...found]};
  },
  place: ({turn, width, height, place}) => {
    const turning = new own.Turning(turn, width, height), upright = turning.upright(place);
    return {upright, back: turning.back(upright)};
  },
  file: ({data}) => {
    const file = bytes(data), {exif, xmp} = own.metadataIn(file);
    const part = place => place && Buffer.from(file.slice(...place)).toString("base64");
    const found = {exif: part(exif), xmp: part(xmp)};
    if (exif) own.setUpright(file, exif);
    return {...found, upright: Buffer.from(file).toString("base64")};
  },
};
const asked = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(asked.map(each => calls[each.call](each))));
"""


def answers(*asked):
    """Call functions of the viewer in Node."""
    if shutil.which("node") is None:
        pytest.skip("there is no Node")
    paths = [str(WEB / "viewer" / name) for name in ("picture.js", "turning.js")]
    command = ["node", "--input-type=module", "-e", CALLS, *paths]
    ran = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def base64_of(data):
    return base64.b64encode(data).decode()


def exif(turn, order="<", before=0):
    """EXIF with an orientation after other entries."""
    start = b"II*\0" if order == "<" else b"MM\0*"
    entries = [struct.pack(f"{order}HHII", 256 + k, 3, 1, 0) for k in range(before)]
    entries.append(struct.pack(f"{order}HHIHH", 274, 3, 1, turn, 0))
    count = struct.pack(f"{order}IH", 8, len(entries))
    return start + count + b"".join(entries) + bytes(4)


def test_orientations_are_those_of_python():
    exifs = [exif(turn, order, before) for turn in range(11) for order in "<>" for before in (0, 3)]
    exifs += [b"", b"II", b"junk of some length", exif(6)[:12], exif(6)[:20], bytes(30)]
    xmps = [b"", b'<a tiff:Orientation="8"/>', b"<tiff:Orientation> 3 </tiff:Orientation>"]
    xmps += [b"tiff:Orientation='0'", b'tiff:Orientation="12"', b"\xff\xfe"]
    pairs = [(one, other) for one in exifs for other in xmps]
    found = answers(
        *({"call": "orientation", "exif": base64_of(e) or None, "xmp": base64_of(x) or None}
          for e, x in pairs)
    )  # fmt: skip
    assert found == [orientation_of(Metadata(exif=e, xmp=x)) for e, x in pairs]
    assert set(found) == set(range(1, 9))


@pytest.mark.parametrize("planes", [1, 3])
def test_samples_and_places_are_turned_as_those_of_python(planes):
    samples = np.arange(4 * 7 * planes, dtype=np.uint8).reshape(4, 7, planes)
    place = {"x": 2, "y": 1, "width": 4, "height": 2}
    asked = {"width": 7, "height": 4, "planes": planes, "samples": samples.ravel().tolist()}
    turns = range(1, 9)
    found = answers(
        *({"call": "turned", "turn": turn, **asked} for turn in turns),
        *({"call": "place", "turn": turn, "width": 7, "height": 4, "place": place}
          for turn in turns),
    )  # fmt: skip
    for turn, own, places in zip(turns, found[:8], found[8:], strict=True):
        expected = turned(samples, turn)
        assert (own["height"], own["width"]) == expected.shape[:2]
        assert own["samples"] == expected.ravel().tolist()
        left, top, width, height = turned_place(2, 1, 4, 2, (4, 7), turn)
        assert places["upright"] == {"x": left, "y": top, "width": width, "height": height}
        assert places["back"] == place


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("order", ["<", ">"])
def test_files_are_made_upright(format, order):
    """Only the orientation changes, and the file stays valid."""
    data = exif(6, order)
    samples = np.random.default_rng(1).integers(0, 256, (20, 30, 3)).astype(np.uint8)
    stream = io.BytesIO()
    more = {"lossless": True} if format == "WEBP" else {}
    xmp = b'<x:xmpmeta tiff:Orientation="8"/>'
    if format != "PNG":
        more["xmp"] = xmp
    Image.fromarray(samples).save(stream, format, exif=b"Exif\0\0" + data, **more)
    file = stream.getvalue()
    (found,) = answers({"call": "file", "data": base64_of(file)})
    assert found["exif"] == base64_of(data)
    assert found["xmp"] == (None if format == "PNG" else base64_of(xmp))
    upright = base64.b64decode(found["upright"])
    assert len(upright) == len(file)
    with Image.open(io.BytesIO(upright)) as image:
        assert image.getexif()[274] == 1
        image.verify()  # checks the CRCs of a PNG
    with Image.open(io.BytesIO(upright)) as image, Image.open(io.BytesIO(file)) as before:
        np.testing.assert_array_equal(np.asarray(image), np.asarray(before))


def test_no_bytes_make_the_search_for_metadata_fail():
    stream = io.BytesIO()
    Image.new("RGB", (9, 9)).save(stream, "PNG", exif=exif(6))
    png = stream.getvalue()
    heads = [
        b"\xff\xd8",
        b"\xff\xd8\xff",
        b"\xff\xd8\xff\xe1\xff\xff",
        b"RIFF\0\0\0\0WEBP",
        png[:40],
    ]
    junk = np.random.default_rng(1).bytes(200)
    files = [head + tail for head in heads for tail in (b"", b"\xff" * 9, bytes(9), junk)]
    files += [png[:size] for size in range(len(png))]
    assert len(answers(*({"call": "file", "data": base64_of(each)} for each in files))) == len(
        files
    )
