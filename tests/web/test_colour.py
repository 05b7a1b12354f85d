"""The colours of the decoder for browsers are those of the reference; needs no WebAssembly."""

import json
import shutil
import subprocess

import numpy as np
import pytest
from support.web.decoder import WEB

from mmpcodec.reference.colour import from_fine_luma, from_luma

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node")
COUNT = 200


def shown(call, planes, *arguments):
    """Return what a function of colour.js writes for planes, an array (3, COUNT)."""
    lists = json.dumps([plane.tolist() for plane in planes])
    script = (
        "const colour = await import('./decoder/colour.js');"
        f"const planes = {lists}.map((plane) => Uint16Array.from(plane));"
        f"const samples = new Uint16Array(3 * {COUNT});"
        f"colour.{call}(samples, 3, planes, ...{json.dumps(arguments)});"
        "console.log(JSON.stringify(Array.from(samples)));"
    )
    run = ["node", "--input-type=module", "--eval", script]
    found = subprocess.run(run, check=True, capture_output=True, cwd=WEB)
    return np.reshape(json.loads(found.stdout), (COUNT, 3)).T


@pytest.mark.parametrize("depth", [8, 12])
def test_luma(depth):
    planes = np.random.default_rng(0).integers(0, 1 << depth, (3, COUNT), np.uint16)
    kind = np.uint8 if depth == 8 else np.uint16
    expected = from_luma([plane.astype(kind) for plane in planes], depth, depth)
    np.testing.assert_array_equal(shown("fromLuma", planes, depth), expected)


@pytest.mark.parametrize("rotation", [(0, 0, 0), (9, -20, 127)])
@pytest.mark.parametrize("depth", [8, 12])
def test_fine_luma(depth, rotation):
    fine = depth + 2
    planes = np.random.default_rng(1).integers(0, 1 << fine, (3, COUNT), np.uint16)
    expected = from_fine_luma(list(planes), fine, depth, rotation)
    np.testing.assert_array_equal(shown("fromFineLuma", planes, fine, list(rotation)), expected)
