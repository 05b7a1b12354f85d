"""The codecs below the curves of a report: what they say of a codec without a curve."""

import numpy as np
import pytest

from mmpcodec.bench.codecs.ours import ours
from mmpcodec.bench.codecs.peers import peers
from mmpcodec.bench.curves import grouped
from mmpcodec.bench.report import write_page
from mmpcodec.bench.results import Results
from mmpcodec.bench.sweep import Original, sweep

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The page of two codecs with a curve, a lossless one and one that fails."""
    pytest.importorskip("jinja2")
    pytest.importorskip("bjontegaard")
    results = Results(tmp_path_factory.mktemp("sweep"), create=True)
    samples = np.random.default_rng(1).integers(0, 256, (40, 50, 4)).astype(np.uint8)
    codecs = [ours({"preset": each}, [8, 32]) for each in ("photo", "lossless")]
    original = Original("rgba.png", samples)
    codecs += [*peers("jpeg", original.kind), *peers("webp:quality=50", original.kind)]
    list(sweep(original, codecs, results))
    path = results.folder / "report.html"
    write_page(grouped(results.rows()), results, path)
    return path


def test_a_codec_without_a_curve_says_why(opened):
    page = opened(viewport={"width": 1100, "height": 900})

    def said():
        return page.locator("#legend b").all_inner_texts()

    assert said() == ["", "lossless", "failed", ""]
    page.locator("#metric").select_option("ssim")
    assert said() == ["", "", "failed", ""]
    page.locator("#metric").select_option("ms_ssim")  # 40x50 is too small
    assert said() == ["no values", "no values", "failed", "no values"]
