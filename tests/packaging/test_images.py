"""The table in ``images/README.md`` describes exactly the pictures beside it."""

import hashlib
import re
from pathlib import Path

import pytest
from PIL import Image

IMAGES = Path(__file__).parents[2] / "images"
COLUMNS = ("file", "size", "shows", "source", "made", "licence", "sha256")


def table_rows() -> dict[str, dict[str, str]]:
    lines = (IMAGES / "README.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    return {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in rows[2:]}


ROWS = table_rows()


def test_table_lists_every_picture():
    assert sorted(ROWS) == sorted(path.name for path in IMAGES.iterdir() if path.suffix != ".md")


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_picture_is_as_listed(row):
    path = IMAGES / row["file"]
    assert row["sha256"] == f"`{hashlib.sha256(path.read_bytes()).hexdigest()}`"
    with Image.open(path) as picture:
        assert picture.mode == "L"
        assert row["size"] == "{}x{}".format(*picture.size)


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_picture_may_be_shipped(row):
    assert re.fullmatch(r"CC0|public domain", row["licence"])
    assert row["source"]
    assert row["made"]
