"""Maps of metrics in a report in Chromium: their colours, their legend, and what keeps them."""

import json
import re
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
from support.web.pages import AXE_RULES, DESK, PHONE, middle

from mmpcodec import pictures
from mmpcodec.bench.curves import grouped
from mmpcodec.bench.map_images import map_images
from mmpcodec.bench.metrics import MAPS, maps_of
from mmpcodec.bench.report import write_page
from mmpcodec.bench.results import Results, key_of

pytestmark = pytest.mark.browser

FAINT = 0.3
"""Share of the brightness of the picture below a dark map."""


def waves(shape, depth):
    rows, columns = np.indices(shape)
    share = 0.5 + 0.25 * np.sin(rows / 9) + 0.2 * np.cos(columns / 5)
    return np.rint(share * ((1 << depth) - 1)).astype(np.uint16 if depth > 8 else np.uint8)


def coarse(samples, depth, bits):
    return samples >> (depth - bits) << (depth - bits)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Writes the page of pictures with two codecs each, as a sweep leaves them."""
    pytest.importorskip("jinja2")
    pytest.importorskip("bjontegaard")

    def write(*shown, maps="all"):
        results = Results(tmp_path_factory.mktemp("stored"), create=True)
        rows = []
        for number, (samples, depth) in enumerate(shown):
            whole = pictures.Picture(samples, depth)
            sha256 = f"{number:x}" * 64
            pictures.write(whole, results.original(sha256))
            for codec, bits in (("mmp", 5), ("jpeg", 4)):
                row = {"picture": sha256, "name": f"{number}.png", "codec": codec, "psnr": 30.0}
                row |= dict(zip(("height", "width"), samples.shape[:2], strict=True))
                row |= {"knob": "bits", "point": bits, "bytes": 900, "bpp": 0.6, "ssim": 0.9}
                row |= {"max_error": 9, "encode_seconds": 0.1, "decode_seconds": 0.1}
                row |= {"depth": depth, "white": whole.white, "versions": {}, "settings": ""}
                row |= {"ms_ssim": None, "backend": "cpu", "machine": "a machine"}
                decoded = pictures.Picture(coarse(samples, depth, bits), depth)
                pictures.write(decoded, results.decoded(key_of(row)))
                rows.append(row)
        path = results.folder / "report.html"
        write_page(grouped(rows), results, path, "jpeg", maps=maps_of(maps))
        return path

    return write


@pytest.fixture(scope="module")
def report(written):
    """The page of a picture of odd sides, and of one that is too small for a map of SSIM."""
    return written((waves((95, 127), 8), 8), (waves((9, 60), 8), 8))


def facts(path):
    """The data of a page."""
    return json.loads(re.findall(r'id="data">(.*?)</script>', path.read_text())[0])


def expected(path, metric, codec, brighter=1):
    """What a map of the first picture of a page looks like: (H, W, 3) floats, and its top."""
    results, data = Results(path.parent), facts(path)
    picture = data["pictures"][0]
    original = pictures.read(results.original("0" * 64))
    keys = {view["codec"]: view["key"] for view in picture["views"][0]}
    found = map_images(
        MAPS[metric],
        results.original("0" * 64),
        {key: results.decoded(key) for key in keys.values()},
        original.white,
    )
    levels = found.levels[keys[codec]].repeat(2, 0).repeat(2, 1)
    levels = levels[: picture["height"], : picture["width"]]
    share = np.minimum(1, brighter * (levels / 63) ** 2)[..., None]
    ramp = np.array([list(bytes.fromhex(each)) for each in data["ramp"]])
    decoded = pictures.read(results.decoded(keys[codec])).samples.astype(float)
    low, high = picture["levels"] or (0, original.white)
    gray = np.clip((decoded - low) * 255 / (high - low), 0, 255)
    if gray.ndim == 3:
        gray = gray @ [0.299, 0.587, 0.114]
    colours = ramp[np.rint(255 * share[..., 0]).astype(int)]
    return colours + FAINT * gray[..., None] * (1 - share), found.top


def holds(page, wanted, side=24):
    """Whether what the canvas shows at 1:1 is somewhere in a picture, but for rounding."""
    page.wait_for_timeout(300)
    windows = np.lib.stride_tricks.sliding_window_view(wanted, (side, side, 3))[:, :, 0]
    return (np.abs(windows - middle(page, side)) <= 2.5).all(axis=(2, 3, 4)).any()


def state(page):
    page.wait_for_timeout(400)
    return dict(parse_qsl(urlsplit(page.url).fragment))


def values(page):
    return page.locator("#map-values span").all_inner_texts()


@pytest.mark.parametrize("metric", MAPS)
def test_a_map_has_its_colours_and_legend(opened, report, metric):
    page = opened("#by=flip&zoom=1", **DESK)
    assert not page.locator("#map-legend").is_visible()
    assert page.locator("#brighter").is_disabled()
    page.locator("#map").select_option(metric)
    wanted, top = expected(report, metric, "mmp")
    assert holds(page, wanted)
    assert page.locator("#map-meaning").inner_text().startswith(MAPS[metric].metric.title + ": ")
    assert values(page) == ["0", *page.evaluate("t => [t / 2, t].map(x => x.toPrecision(3))", top)]
    page.locator("#canvas").click()  # flips
    assert not holds(page, wanted)
    assert holds(page, expected(report, metric, "jpeg")[0])
    page.locator("#brighter").select_option("4")
    assert holds(page, expected(report, metric, "jpeg", 4)[0])
    assert float(values(page)[2].removesuffix(" and more")) == pytest.approx(top / 4, rel=5e-3)
    page.locator("#map").select_option("")
    assert not page.locator("#map-legend").is_visible()
    assert (np.ptp(middle(page, 24), axis=2) == 0).all()  # the gray picture


def test_the_legend_has_the_colours_of_the_map(opened, report):
    page = opened("#map=ssim", **DESK)
    drawn = page.evaluate("""() => {
        const canvas = document.getElementById("map-colours");
        return [...canvas.getContext("2d").getImageData(0, 0, 256, 1).data];
    }""")
    colours = [bytes(drawn[k : k + 3]).hex() for k in range(0, 1024, 4)]
    assert colours == facts(report)["ramp"]


@pytest.mark.parametrize(("planes", "depth"), [(1, 12), (3, 16), (3, 8)])
def test_deep_samples_and_colours(opened, written, planes, depth):
    samples = waves((95, 127), depth)
    shown = samples if planes == 1 else np.stack([samples, samples[::-1], samples // 2], 2)
    path = written((shown, depth), maps="ssimulacra2")
    page = opened("#by=flip&zoom=1&map=ssimulacra2", path=path, **DESK)
    assert holds(page, expected(path, "ssimulacra2", "mmp")[0])


def test_both_sides_of_the_wipe_have_their_map(opened, report):
    page = opened("#zoom=1&map=butteraugli&split=0", **DESK)
    assert holds(page, expected(report, "butteraugli", "jpeg")[0])
    page.locator("#divider").fill("1000")
    assert holds(page, expected(report, "butteraugli", "mmp")[0])
    page.locator("#side-a").select_option("original")
    page.wait_for_timeout(200)
    assert (np.ptp(middle(page, 24), axis=2) == 0).all()  # the original, beside the map of B


def test_keys_choose_maps(opened):
    page = opened(**DESK)
    page.locator("#canvas").focus()
    seen = []
    for _ in range(4):
        page.keyboard.press("m")
        seen.append(page.locator("#map").input_value())
    assert seen == ["ssim", "ssimulacra2", "butteraugli", ""]
    page.keyboard.press("Control+m")
    assert page.locator("#map").input_value() == ""


def test_a_difference_has_no_map(opened):
    page = opened("#map=ssim", **DESK)
    plain = opened(**DESK)
    for each in (page, plain):
        each.locator("#difference").click()
    assert page.locator("#map").is_disabled()
    assert not page.locator("#map-legend").is_visible()
    assert (middle(page, 60) == middle(plain, 60)).all()
    page.locator("#wipe").click()
    assert page.locator("#map").is_enabled()
    assert page.locator("#map-legend").is_visible()


def test_the_address_keeps_the_map(opened):
    page = opened(**DESK)
    page.locator("#map").select_option("ssimulacra2")
    page.locator("#brighter").select_option("8")
    assert state(page) == {"map": "ssimulacra2", "brighter": "8"}
    before = middle(page, 80)
    page.reload()
    page.wait_for_timeout(400)
    assert page.locator("#map").input_value() == "ssimulacra2"
    assert (middle(page, 80) == before).all()
    page.go_back()
    assert state(page) == {"map": "ssimulacra2"}
    assert page.locator("#brighter").input_value() == "1"
    page.go_back()
    assert page.locator("#map").input_value() == ""


def test_foreign_addresses_have_no_map(opened):
    page = opened("#map=__proto__&brighter=3", **DESK)
    assert [page.locator(f"#{name}").input_value() for name in ("map", "brighter")] == ["", "1"]


def test_a_small_picture_says_so(opened):
    page = opened("#map=ssim", **DESK)
    page.locator("#picture").select_option(index=1)
    page.wait_for_timeout(300)
    ssim, eye = (page.locator(f"#map option[value={name}]") for name in ("ssim", "ssimulacra2"))
    assert ssim.inner_text() == "SSIM (none below 11 samples a side)"
    assert (ssim.is_disabled(), eye.is_disabled()) == (True, False)
    assert page.locator("#map").input_value() == ""
    page.locator("#map").select_option("butteraugli")
    page.locator("#picture").select_option(index=0)
    page.wait_for_timeout(300)
    assert page.locator("#map").input_value() == "butteraugli"


def test_a_page_without_maps_has_no_choice(opened, written):
    path = written((waves((95, 127), 8), 8), maps=None)
    page = opened("#map=ssim&brighter=2", path=path, **DESK)
    assert page.locator("#map").count() == 0
    page.locator("#canvas").press("m")
    page.locator("#flip").click()
    assert state(page) == {"by": "flip"}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("device", [DESK, PHONE], ids=["desk", "phone"])
def test_axe_finds_nothing(opened, device, theme):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed"
    )
    page = opened("#map=butteraugli&brighter=2", **device, color_scheme=theme)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    found = axe.Axe().run(page, options={"runOnly": AXE_RULES})
    assert found.response["violations"] == [], found.generate_report()
