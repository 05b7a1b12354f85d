"""The page of a report: what is in it, and that memory does not grow with the pictures."""

import base64
import hashlib
import html
import io
import json
import re
import sys
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from mmpcodec import pictures
from mmpcodec.bench.codecs.base import Codec
from mmpcodec.bench.codecs.ours import ours
from mmpcodec.bench.codecs.peers import peers
from mmpcodec.bench.curves import grouped
from mmpcodec.bench.map_images import map_images
from mmpcodec.bench.metrics import MAPS, maps_of
from mmpcodec.bench.report import chosen_views, file_names, file_stems, write_curves, write_page
from mmpcodec.bench.results import Results, key_of
from mmpcodec.bench.sweep import Original, sweep
from mmpcodec.errors import MissingExtra
from mmpcodec.metadata import Metadata

DECODER = "const decoder = {};"
"""In place of the decoder of mmp files: its text is in the page."""
NASTY = "</script><b>&'.pgm"


@pytest.fixture
def results(tmp_path):
    return Results(tmp_path, create=True)


@pytest.fixture
def swept(results):
    """A small picture with a nasty name by our codec, one of Pillow's and one that fails."""
    rows, columns = np.indices((40, 56))
    samples = (128 + 70 * np.sin(rows / 5) + 50 * np.cos(columns / 4)).astype(np.uint8)

    def fail(samples, point):
        raise RuntimeError("<i>no</i>")

    failing = Codec("bad", "step", (1.0,), "none", {}, fail, fail)
    codecs = [
        ours({"preset": "plain"}, [8, 32, 128, 512]),
        *peers("jpeg:quality=10/30/60/90"),
        failing,
    ]
    list(sweep(Original(NASTY, samples), codecs, results))
    return grouped(results.rows())


def page_of(pictures, results, **options):
    path = results.folder / "report.html"
    write_page(pictures, results, path, **{"anchor": "jpeg"} | options)
    return path.read_text()


def blocks(page):
    """Contents of the page's blocks of data by name."""
    return dict(
        re.findall(r'<script type="[a-z/]+" id="([^"]+)"[^>]*>(.*?)</script>', page, re.DOTALL)
    )


def kinds(page):
    """What the page calls the file of each image, by the name of the image; None for PNG."""
    found = re.findall(r'id="(image-[0-9a-f]+)"(?: data-kind="([^"]+)")?', page)
    return {name: kind or None for name, kind in found}


@pytest.mark.parametrize("decoder", [None, DECODER])
def test_page_holds_everything(swept, results, decoder):
    page = page_of(swept, results, decoder=decoder)
    found = blocks(page)
    data = json.loads(found["data"])
    (picture,) = data["pictures"]
    assert picture["name"] == NASTY
    assert [curve["codec"] for curve in picture["curves"]] == ["mmp:preset=plain", "jpeg", "bad"]
    assert picture["curves"][2]["points"][0]["error"] == "RuntimeError: <i>no</i>"
    assert [len(view) for view in picture["views"]] == [2, 2]
    by_key = {key_of(row): row for row in results.rows()}
    for view in picture["views"]:
        for shown in view:
            row = by_key[shown["key"]]
            assert results.coded(row).stat().st_size == row["bytes"]
            own = shown["codec"] == "mmp:preset=plain"
            path = results.decoded(shown["key"]) if own and not decoder else results.coded(row)
            assert base64.b64decode(found[f"image-{shown['key']}"]) == path.read_bytes()
            kind = "image/jpeg" if not own else "mmp" if decoder else None
            assert kinds(page)[f"image-{shown['key']}"] == kind
            assert (f"image-{shown['key']}-tree" in found) == (shown["codec"] != "jpeg")
    original = results.original(swept[0].sha256)
    assert kinds(page)[f"image-{picture['id']}"] is None
    assert base64.b64decode(found[f"image-{picture['id']}"]) == original.read_bytes()
    mean, each, *others = data["deltas"]["psnr"]
    assert (mean["picture"], mean["mean"]) == ("mean", True)
    assert mean["rate"] == each["rate"]
    assert [d["problem"] for d in others] == [
        "without 1 of 1",
        "fewer than 4 points",
    ]
    assert [d["bugs"] for d in data["deltas"]["psnr"]] == [0, 0, 1, 1]


def notes(page):
    """What the page says of its pictures."""
    found = re.search(r'id="notes">(.*?)</p>', page)
    return found and found[1]


def test_page_says_how_pictures_are_shown(swept, results):
    decodes = page_of(swept, results, decoder=DECODER)
    assert DECODER in decodes
    assert notes(decodes) == (
        "This page decodes the mmp files themselves. The browser decodes the files of jpeg."
    )
    assert notes(page_of(swept, results)) == (
        "The browser decodes the files of jpeg. Of mmp, it shows PNGs of what the sweep decoded. "
        "To show mmp files, mmp report needs the decoder for browsers, decoder.js, which was not "
        "built; in a checkout of mmpcodec, make web builds it."
    )
    for path in (results.folder / "coded").iterdir():
        path.unlink()  # as in the results of earlier versions
    old = page_of(swept, results, decoder=DECODER)
    assert DECODER not in old
    assert notes(old) == "Of jpeg, mmp, it shows PNGs of what the sweep decoded."
    assert set(kinds(old).values()) == {None}
    none = page_of(swept, results, decoder=DECODER, views=0)
    assert (DECODER in none, notes(none), kinds(none)) == (False, None, {})


def test_the_policy_allows_the_scripts_of_the_page_only(swept, results):
    page = page_of(swept, results, decoder=DECODER)
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1])
    rules = dict(each.split(" ", 1) for each in policy.split("; "))
    assert (rules["default-src"], rules["connect-src"]) == ("'none'", "'none'")
    assert (rules["img-src"], rules["worker-src"]) == ("data: blob:", "blob:")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(each.encode()).digest()) for each in scripts]
    expected = [f"'sha256-{digest.decode()}'" for digest in digests]
    assert rules["script-src"].split() == [*expected, "'wasm-unsafe-eval'"]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert rules["style-src"] == f"'sha256-{digest}'"
    assert "style=" not in page.replace(style, "").split("<script>")[0]


def test_smaller_than_with_pngs(results):
    """With several peers, the files have a part of the bytes of PNGs."""
    samples = np.random.default_rng(3).normal(128, 20, (160, 200, 3)).cumsum(1) % 256
    picture = Original("rgb.png", samples.astype(np.uint8))
    codecs = [
        ours({"preset": "photo"}, [64, 256], picture.kind),
        *peers("jpeg:quality=10/30", picture.kind),
        *peers("webp:quality=10/30", picture.kind),
    ]
    list(sweep(picture, codecs, results))
    swept = grouped(results.rows())
    small = len(page_of(swept, results, decoder=DECODER))
    large = len(page_of(swept, results))
    for path in (results.folder / "coded").iterdir():
        path.unlink()
    assert small < large < len(page_of(swept, results))


def test_names_cannot_break_the_page(swept, results):
    page = page_of(swept, results)
    assert NASTY not in page
    assert "<i>no</i>" not in page
    assert page.count("</script>") == page.count("<script")


def test_page_asks_for_nothing(swept, results):
    page = page_of(swept, results)
    addresses = set(re.findall(r"https?://[^\"' ]+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}  # the name of SVG, not an address
    assert not re.search(r"\b(src|href)=", page)


@pytest.mark.parametrize(
    ("planes", "depth", "white"), [(1, 12, 4095), (1, 16, 40000), (3, 10, 1023), (4, 16, 65535)]
)
def test_deep_samples_are_stored_as_bytes(swept, results, planes, depth, white):
    (picture,) = swept
    curves = [
        replace(curve, rows=tuple({**row, "depth": depth, "white": white} for row in curve.rows))
        for curve in picture.curves
    ]
    random = np.random.default_rng(depth)
    shape = (40, 56) if planes == 1 else (40, 56, planes)
    samples = random.integers(0, white + 1, shape, dtype=np.uint16)
    original = results.original(picture.sha256)
    pictures.write(pictures.Picture(samples, depth, Metadata(white=white)), original)
    page = page_of([replace(picture, curves=tuple(curves))], results)
    found = blocks(page.replace(f' data-white="{white}"', ""))
    name = f"image-{picture.sha256[:16]}"
    assert f'id="{name}" data-white="{white}"' in page
    with Image.open(io.BytesIO(base64.b64decode(found[name]))) as image:
        upper, lower = np.asarray(image).astype(int).reshape(2, 40, 56, -1)
    expected = samples.reshape(40, 56, planes)[..., : min(planes, 3)]
    np.testing.assert_array_equal(256 * upper + lower, expected)
    assert not re.search('-tree" data-white', page)
    colours = samples if planes < 4 else samples[..., :3]
    (facts,) = json.loads(found["data"])["pictures"]
    assert facts["levels"] == [colours.min(), colours.max()]


def images_of_maps(page):
    """Samples and value of the highest level of each map of a page, by its name."""
    found = re.findall(r'id="image-([^"]+)" data-top="([^"]+)">(.*?)</script>', page)
    return {
        name: (np.asarray(Image.open(io.BytesIO(base64.b64decode(text)))), float(top))
        for name, top, text in found
    }


def test_maps_are_those_of_the_shown_files(swept, results):
    page = page_of(swept, results, maps=maps_of("ssimulacra2,butteraugli"))
    data = json.loads(blocks(page)["data"])
    (picture,) = data["pictures"]
    assert picture["maps"] == list(data["maps"]) == ["ssimulacra2", "butteraugli"]
    assert data["maps"]["butteraugli"] == {
        "title": "Butteraugli",
        "meaning": "visible error; 1 is just visible",
        "side": 8,
    }
    assert len(data["ramp"]) == 256
    keys = {shown["key"] for view in picture["views"] for shown in view}
    found = images_of_maps(page)
    assert found.keys() == {f"{key}-{name}" for key in keys for name in picture["maps"]}
    decoded = {key: results.decoded(key) for key in keys}
    for name in picture["maps"]:
        expected = map_images(MAPS[name], results.original(swept[0].sha256), decoded, 255)
        assert {found[f"{key}-{name}"][1] for key in keys} == {expected.top}
        for key in keys:
            np.testing.assert_array_equal(found[f"{key}-{name}"][0], expected.levels[key])


def test_a_page_without_maps_has_nothing_of_them(swept, results):
    found = blocks(plain := page_of(swept, results))
    assert "data-top" not in plain
    assert 'id="map"' not in plain
    data = json.loads(found["data"])
    assert (data["maps"], data["ramp"], data["pictures"][0]["maps"]) == ({}, [], [])
    none = page_of(swept, results, maps=maps_of("all"), views=0)
    assert images_of_maps(none) == {}


@pytest.mark.parametrize(("planes", "depth"), [(1, 16), (3, 12), (4, 8)])
def test_maps_of_deep_samples_and_colours(results, planes, depth):
    """A lossless file has no error; the map of the highest five bits is that of the metric."""
    pytest.importorskip("jinja2")
    rows, columns = np.indices((40, 57))
    wave = 0.5 + 0.25 * np.sin(rows / 5) + 0.2 * np.cos(columns / 4)
    levels = np.rint(wave * ((1 << depth) - 1)).astype(np.uint16 if depth > 8 else np.uint8)
    samples = levels if planes == 1 else np.dstack([levels] * planes)
    low = depth - 5
    codecs = [
        Codec("same", "step", (1.0,), "none", {}, lambda s, p: s.tobytes(), lambda data: samples),
        Codec(
            *("five", "step", (1.0,), "none", {}, lambda s, p: s.tobytes()),
            lambda data: samples >> low << low,
        ),
    ]
    list(sweep(Original("a.png", samples, depth), codecs, results))
    page = page_of(grouped(results.rows()), results, anchor="same", maps=maps_of("all"))
    found = images_of_maps(page)
    (view,) = json.loads(blocks(page)["data"])["pictures"][0]["views"]
    same, five = (shown["key"] for shown in view)
    white = (1 << depth) - 1
    for name, kind in MAPS.items():
        assert not found[f"{same}-{name}"][0].any()
        image, top = found[f"{five}-{name}"]
        assert (image.shape, image.max()) == ((20, 29), 63)
        opaque = samples[..., :3] if planes == 4 else samples
        expected = kind.function(opaque, opaque >> low << low, white=white)
        assert 0.6 * expected.max() < top <= expected.max()


def test_small_pictures_have_the_maps_that_fit(results):
    pytest.importorskip("jinja2")
    samples = np.random.default_rng(1).integers(0, 256, (9, 40), dtype=np.uint8)
    list(sweep(Original("small.pgm", samples), peers("webp:quality=50"), results))
    page = page_of(grouped(results.rows()), results, anchor="webp", maps=maps_of("all"))
    (picture,) = json.loads(blocks(page)["data"])["pictures"]
    assert picture["maps"] == ["ssimulacra2", "butteraugli"]
    assert {name.split("-")[1] for name in images_of_maps(page)} == set(picture["maps"])


def test_views(swept, results):
    (picture,) = swept
    both = chosen_views(picture, results, 2)
    assert [view[0]["codec"] for view in both] == ["mmp:preset=plain"] * 2
    assert both[0][0]["bytes"] < both[1][0]["bytes"]
    for lead, peer in both:
        sizes = [row["bytes"] for row in picture.curve("jpeg").good]
        assert peer["bytes"] == min(sizes, key=lambda size: abs(np.log(size / lead["bytes"])))
    assert len(chosen_views(picture, results, 9)) == 4
    assert chosen_views(picture, results, 0) == []
    assert "image-" not in "".join(blocks(page_of(swept, results, views=0)))
    # A picture that is gone is not shown.
    results.decoded(key_of(both[0][0])).unlink()
    assert both[0] not in chosen_views(picture, results, 4)


def test_curves_are_files(swept, results):
    (stem,) = write_curves(swept, results.folder)
    assert stem == "curves---script--b----pgm"
    assert (results.folder / f"{stem}.png").stat().st_size > 10000
    assert file_stems([*swept, *swept])  # the same picture has one stem


def test_all_files_are_named(swept, results):
    page_of(swept, results)
    list(write_curves(swept, results.folder))
    made = {path.name for path in results.folder.iterdir() if path.is_file()}
    assert made - {"results.jsonl", "claims"} == set(file_names(swept))


def test_equal_names_have_their_own_files(swept):
    other = type(swept[0])("f" * 64, NASTY, 1, 1, ())
    assert list(file_stems([swept[0], other]).values())[1].endswith("-pgm-2")


def test_names_of_files_are_no_longer_than_a_system_takes(swept, results):
    long = [type(swept[0])(key * 64, "\u00e4" * 300 + ".png", 1, 1, ()) for key in "ab"]
    first, second = file_stems(long).values()
    assert (len(first.encode()), second) == (199, f"{first}-2")
    stems = list(write_curves([*swept, *long], results.folder))
    assert all((results.folder / f"{stem}.svg").is_file() for stem in stems)


def copies(results, count):
    """Results of ``count`` pictures of noise."""
    shape = (200, 200)
    random = np.random.default_rng(0)
    codec = Codec(
        "stored",
        "step",
        (1.0,),
        "none",
        {},
        lambda samples, point: samples.tobytes(),
        lambda data: np.frombuffer(data, np.uint8).reshape(shape),
    )
    for number in range(count):
        noise = random.integers(0, 256, shape, dtype=np.uint8)
        list(sweep(Original(f"{number}.pgm", noise), [codec], results))
    return grouped(results.rows())


def test_memory_does_not_grow_with_the_pictures(tmp_path):
    pytest.importorskip("jinja2")
    peaks = []
    for count in (2, 12):
        results = Results(tmp_path / str(count), create=True)
        pictures = copies(results, count)
        write_page(pictures, results, results.folder / "report.html", "stored")
        tracemalloc.start()
        write_page(pictures, results, results.folder / "again.html", "stored")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    one = (tmp_path / "12" / "report.html").stat().st_size / 12
    assert peaks[1] < peaks[0] + one  # ten more pictures, less than one of them


def test_missing_package_names_the_extra(swept, results, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtra, match=r"jinja2; .*pip install '\.\[bench\]'"):
        page_of(swept, results)


def test_pictures_of_several_kinds(results):
    """Means and anchors are those of one kind; titles name form and depth."""
    pytest.importorskip("jinja2")
    rows, columns = np.indices((40, 56))
    waves = (128 + 70 * np.sin(rows / 5) + 50 * np.cos(columns / 4)).astype(np.uint8)
    deep = waves.astype(np.uint16) << 4
    for picture in (
        Original("gray.pgm", waves),
        Original("rgb.png", np.dstack([waves, waves[::-1], waves[:, ::-1]])),
        Original("deep.png", deep, 12),
    ):
        codecs = [
            ours({"preset": "photo"}, [8, 32, 128, 512], picture.kind),
            *peers("jpeg:quality=10/30/60/90", picture.kind),
        ]
        list(sweep(picture, codecs, results))
    path = results.folder / "report.html"
    write_page(grouped(results.rows()), results, path)
    text = path.read_text()
    data = json.loads(blocks(text)["data"])
    assert [picture["title"] for picture in data["pictures"]] == [
        "gray.pgm, 56x40",
        "rgb.png, 56x40, RGB of 8 bits",
        "deep.png, 56x40, gray of 12 bits",
    ]
    gray, rgb, deep_kind = "gray of 8 bits", "RGB of 8 bits", "gray of 9 to 16 bits"
    assert [(d["picture"], d["codec"]) for d in data["deltas"]["psnr"] if d.get("mean")] == [
        (f"mean, {gray}", "mmp:preset=photo"),
        (f"mean, {rgb}", "mmp:preset=photo"),
        (f"mean, {rgb}", "jpeg:chroma=420"),
        (f"mean, {deep_kind}", "jpeg"),
    ]
    anchors = f"jpeg ({gray}), jpeg:chroma=444 ({rgb}), mmp:preset=photo ({deep_kind})"
    assert f"Against {anchors}; " in " ".join(text.split())
    stored = base64.b64decode(blocks(text)[f"image-{data['pictures'][1]['id']}"])
    with Image.open(io.BytesIO(stored)) as image:
        assert (image.mode, image.size) == ("RGB", (56, 40))


@pytest.mark.parametrize("planes", [2, 4])
def test_alpha_is_left_out_as_by_the_metrics(results, planes):
    pytest.importorskip("jinja2")
    samples = np.random.default_rng(planes).integers(0, 256, (40, 56, planes)).astype(np.uint8)
    samples[:20, :, -1] = 0  # their colours count in the metrics
    original = Original("alpha.png", samples)
    codecs = [ours({"preset": "plain"}, [8]), *peers("webp:quality=50", original.kind)]
    list(sweep(original, codecs, results))
    found = blocks(page_of(grouped(results.rows()), results, anchor="webp"))
    stored = [data for name, data in found.items() if re.fullmatch("image-[0-9a-f]+", name)]
    assert len(stored) == 3
    shown = [np.asarray(Image.open(io.BytesIO(base64.b64decode(data)))) for data in stored]
    assert {image.shape for image in shown} == {(40, 56) if planes == 2 else (40, 56, 3)}
    np.testing.assert_array_equal(shown[0], samples[..., :-1].squeeze())
