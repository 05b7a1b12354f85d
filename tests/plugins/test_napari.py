"""napari's door: the reader function, without napari, and the manifest."""

import re
import subprocess
import sys
from importlib import import_module
from importlib.metadata import entry_points
from importlib.resources import files
from importlib.util import find_spec

import numpy as np
import pytest
from support.tiled import SHAPES, large, samples_of, tiled

from mmpcodec import MissingExtra, PictureError
from mmpcodec.metadata import Metadata
from mmpcodec.plugins.napari import get_reader, read_layers

dask_array = pytest.importorskip("dask.array", reason="needs dask, of the extra cluster")

WHOLE = samples_of((130, 200), 4, 8)


def layers_of(folder, samples, depth=8, **metadata):
    (folder / "slide.1.mmp").write_bytes(tiled(samples, depth, metadata=Metadata(**metadata)))
    path = str(folder / "slide.1.mmp")
    return get_reader(path)(path)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("planes", "depth", "white"), [(1, 1, None), (1, 8, 200), (1, 12, None), (1, 16, 900)]
)
def test_gray_is_a_layer_from_black_to_white(tmp_path, shape, planes, depth, white):
    samples = samples_of(shape, planes, depth)
    [(data, options, kind)] = layers_of(tmp_path, samples, depth, white=white)
    assert isinstance(data, dask_array.Array)
    np.testing.assert_array_equal(data.compute(), samples)
    assert kind == "image"
    assert (options["name"], options["rgb"]) == ("slide.1", False)
    assert options["contrast_limits"] == [0, white or (1 << depth) - 1]
    assert options["metadata"]["depth"] == depth


@pytest.mark.parametrize("planes", [3, 4])
def test_colour_of_8_bits_is_a_layer(tmp_path, planes):
    [(data, options, _)] = layers_of(tmp_path, WHOLE[..., :planes])
    assert options["rgb"] is True
    assert "contrast_limits" not in options
    np.testing.assert_array_equal(data.compute(), WHOLE[..., :planes])


@pytest.mark.parametrize(
    ("planes", "depth", "white", "names"),
    [
        (2, 8, None, ["gray", "alpha"]),
        (3, 8, 200, ["red", "green", "blue"]),
        (3, 12, None, ["red", "green", "blue"]),
        (4, 16, 60000, ["red", "green", "blue", "alpha"]),
    ],
)
def test_other_colours_are_a_layer_each(tmp_path, planes, depth, white, names):
    samples = samples_of((130, 200), planes, depth)
    layers = layers_of(tmp_path, samples, depth, white=white)
    assert [options["name"] for _, options, _ in layers] == [f"slide.1 {name}" for name in names]
    most = (1 << depth) - 1
    for number, (name, (data, options, _)) in enumerate(zip(names, layers, strict=True)):
        np.testing.assert_array_equal(data.compute(), samples[..., number])
        is_alpha = name == "alpha"
        assert options["colormap"] == ("gray" if is_alpha else name)
        assert options["contrast_limits"] == [0, most if is_alpha else white or most]
        assert options["visible"] is not is_alpha
        assert options["blending"] == "additive"


def test_large_pictures_have_scales(tmp_path):
    data, tile = large(side=9000)
    (tmp_path / "large.mmp").write_bytes(data)
    [(scales, options, _)] = read_layers(tmp_path / "large.mmp")
    assert options["multiscale"] is True
    assert [each.shape for each in scales] == [(9000, 9000), (4500, 4500), (2250, 2250)]
    for number, each in enumerate(scales):
        step = 1 << number
        part = each[1000 // step : 1040 // step, :9].compute()
        np.testing.assert_array_equal(part, tile[:40:step, : 9 * step : step])


def test_several_files_are_a_layer_each(tmp_path):
    paths = [str(tmp_path / f"{name}.mmp") for name in "ab"]
    for path in paths:
        with open(path, "wb") as file:
            file.write(tiled(WHOLE))
    assert [options["name"] for _, options, _ in get_reader(paths)(paths)] == ["a", "b"]


def test_other_files_are_left_to_others(tmp_path):
    for path in ("a.png", tmp_path / "mmp", ["a.mmp", "b.png"], [], "folder.mmp/x"):
        assert get_reader(path) is None
    assert get_reader("s3://bucket/A.MMP") is read_layers
    assert get_reader(tmp_path / "none.mmp") is read_layers
    with pytest.raises(PictureError, match=r"none\.mmp: No such file"):
        read_layers(tmp_path / "none.mmp")


def test_missing_dask_is_reported(tmp_path, monkeypatch):
    for name in ("dask", "dask.array"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match="from_mmp needs Dask"):
        layers_of(tmp_path, WHOLE)


def manifest():
    return files("mmpcodec.plugins").joinpath("napari.yaml").read_text()


def test_the_manifest_names_the_reader():
    module, _, function = re.search(r"python_name: (\S+)", manifest())[1].partition(":")
    assert getattr(import_module(module), function) is get_reader
    commands = re.findall(r"(?:- id|command): (\S+)", manifest())
    assert len(commands) == 2
    assert len({*commands}) == 1
    assert re.search(r"^name: (\S+)$", manifest(), re.MULTILINE)[1] == "mmpcodec"
    [entry] = entry_points(group="napari.manifest", name="mmpcodec")
    assert entry.value == "mmpcodec.plugins:napari.yaml"


NPE2 = """
import sys, npe2
found = npe2.PluginManifest.from_distribution("mmpcodec")
found.validate_imports()
npe2.PluginManager.instance().discover()
[(data, options, kind)] = npe2.read([sys.argv[1]], stack=False)
print(found.name, [each.filename_patterns for each in found.contributions.readers])
print(options["name"], kind, data.shape, int(data.sum().compute()))
"""


@pytest.mark.skipif(find_spec("npe2") is None, reason="needs npe2")
def test_npe2_reads_by_the_manifest(tmp_path):
    path = tmp_path / "a.mmp"
    path.write_bytes(tiled(WHOLE))
    command = [sys.executable, "-P", "-c", NPE2, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        "mmpcodec [['*.mmp', '*.MMP']]",
        f"a image (130, 200, 4) {WHOLE.sum()}",
    ], done.stderr
