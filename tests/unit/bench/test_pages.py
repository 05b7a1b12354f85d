"""The pages of docs/benchmarks hold the tables that scripts/bench/pages.py makes from the data."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "scripts" / "bench" / "pages.py"

pytestmark = pytest.mark.skipif(not SCRIPT.is_file(), reason="the scripts are not here")


@pytest.fixture(scope="module")
def pages():
    pytest.importorskip("bjontegaard")
    spec = importlib.util.spec_from_file_location("pages", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def runs(pages):
    return pages.read(ROOT / "docs" / "benchmarks" / "data")


def test_pages_are_made_from_the_data(pages, runs):
    for path in pages.pages():
        assert path.read_text() == pages.filled(path, runs), f"{path}: run `make bench-pages`"


def test_changed_data_change_the_page(pages, tmp_path):
    run = {"what": "Times", "command": "a; b", "date": "2026-01-01", "hardware": "A machine"}
    run["columns"] = {"picture": "picture", "encode_ms": "encode, ms"}
    rows = [{"picture": "lena", "encode_ms": 1234.5}, {"picture": "boat", "encode_ms": 0.5}]
    page = tmp_path / "page.md"
    page.write_text("Text.\n\n<!-- table: times -->\nold\n<!-- end -->\n\nMore.\n")
    made = pages.filled(page, {"times": (run, rows)})
    assert made == (
        "Text.\n\n<!-- table: times -->\n\n"
        "Times. Measured by `a`, then `b` (A machine; 2026-01-01).\n\n"
        "| picture | encode, ms |\n|---|---|\n| lena | 1,230 |\n| boat | 0.5 |\n\n"
        "<!-- end -->\n\nMore.\n"
    )
    page.write_text(made)
    assert pages.filled(page, {"times": (run, rows)}) == made
    assert pages.filled(page, {"times": (run, rows[:1])}) != made


def test_means_are_over_rows_that_have_all_numbers(pages):
    run = {"what": "", "command": "", "group": "class"}
    run["columns"] = {"picture": "picture", "bd_a_percent": "A, %", "bd_b_percent": "B, %"}
    rows = [
        {"picture": "lena", "class": "old", "bd_a_percent": -10.0, "bd_b_percent": 4.0},
        {"picture": "boat", "class": "old", "bd_a_percent": -20.0, "bd_b_percent": 6.0},
        {"picture": "page", "class": "text", "bd_a_percent": -90.0},
        {"picture": "scan", "class": "text", "bd_a_percent": -30.0, "bd_b_percent": 5.0},
    ]
    assert pages.made("of means", {"of": (run, rows)}).endswith(
        "| class | pictures | A, % | B, % |\n|---|---|---|---|\n"
        "| old | 2 | -15.0 | +5.0 |\n| text | 1 | -30.0 | +5.0 |\n| all | 3 | -20.0 | +5.0 |"
    )
    assert "| page | -90.0 |  |\n" in pages.made("of", {"of": (run, rows)})


def test_every_run_is_on_a_page(pages, runs):
    text = "".join(path.read_text() for path in pages.pages())
    shown = {name.split()[0] for name in re.findall(r"<!-- table: ([a-z0-9 -]+) -->", text)}
    assert shown == runs.keys()


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("encode_ms", 0.0018, "0.0018"),
        ("encode_ms", 12.0, "12"),
        ("encode_ms", 0.0, "0"),
        ("device_ms", 99999.0, "100,000"),
        ("bytes", 5359651, "5,359,651"),
        ("psnr_db", 35.5, "35.50"),
        ("bd_rate_db", 0.5, "+0.50"),
        ("share_percent", 14.2, "14.2"),
        ("path", "core", "core"),
        ("path", None, ""),
    ],
)
def test_cells(pages, key, value, text):
    assert pages.cell(key, value) == text


def test_gray_and_rgb_never_share_a_rate(pages):
    """A picture without a curve of the first codec makes no column."""

    def rows(picture, form, ratio, points=5):
        return [
            {
                "codec": codec,
                "picture": picture,
                "class": "photographs",
                "form": form,
                "depth": 8,
                "width": 100,
                "height": 100,
                "point": point,
                "bytes": round(share * 1000 * 2**point),
                "psnr_db": 30.0 + 3 * point,
                "encode_cpu_s": 0.01,
                "decode_cpu_s": 0.01,
            }
            for codec, share in (("first", 1), ("second", ratio))
            for point in range(points)
        ]

    measured = rows("a", "gray", 0.5) + rows("b", "RGB", 0.8) + rows("c", "RGB with alpha", 0.9, 2)
    measured.sort(key=lambda row: row["codec"])
    classes = pages.by_class(measured)
    assert {name: {row["picture"] for row in group} for name, group in classes.items()} == {
        "photographs": {"a"},
        "photographs in RGB": {"b"},
    }
    head, _, _, second = pages._summary(measured).splitlines()
    assert head.startswith("| codec | rate on photographs, % | rate on photographs in RGB, % |")
    assert second.startswith("| second | 50 | 80 |")
    for row in measured:
        row["depth"] = 12
    assert list(pages.by_class(measured)) == [
        "photographs of 12 bits",
        "photographs in RGB of 12 bits",
    ]
