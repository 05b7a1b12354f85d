"""Books that commands read page by page: each damaged page is named."""

from pathlib import Path

import pytest
from support.books import collection, noisy

import mmpcodec
from mmpcodec.format.collection import Role

PAGES = [noisy((20, 30), 8, seed) for seed in range(5)]
FILES = [mmpcodec.encode(page.samples, 0) for page in PAGES]


def damaged(role, *numbers):
    """Return a file of five pictures, of which some are damaged."""
    facts = [(number,) * (role == Role.SLICE) for number in range(5)]
    data = bytearray(collection(PAGES, role, facts))
    for number in numbers:
        data[data.index(FILES[number - 1]) + len(FILES[number - 1]) - 5] ^= 255
    return bytes(data)


@pytest.mark.parametrize("where", [[], ["--cluster", "local", "--workers", "1"]])
@pytest.mark.parametrize(
    ("role", "command"),
    [
        (Role.PAGE, ["highlight", "bad.mmp", "-O", "out"]),
        (Role.SLICE, ["highlight", "bad.mmp", "-O", "out"]),
        (Role.PAGE, ["median", "bad.mmp", "--radius", 1, "-O", "out"]),
        (Role.SLICE, ["median", "bad.mmp", "--radius", 1, "--slices", 1, "-O", "out"]),
        (Role.PAGE, ["compare", "good.mmp", "bad.mmp"]),
    ],
)
def test_each_damaged_page_is_named(mmp, folder, role, command, where):
    if where:
        pytest.importorskip("distributed")
        if command[0] == "compare":
            pytest.skip("two files are compared without a cluster")
    Path("bad.mmp").write_bytes(damaged(role, 2, 4))
    Path("good.mmp").write_bytes(collection(PAGES, role, [(0,) * (role == Role.SLICE)] * 5))
    result = mmp(*command, *where)
    assert result.exit_code == 1
    (line,) = (line for line in result.stderr.splitlines() if "at byte" in line)
    assert line.startswith("mmp: bad.mmp: 2 of 5 pictures cannot be read: 2 and 4; ")
    name = role.name.lower()
    assert line.count("bad.mmp: Layers at byte") == 2
    assert all(f"{name} {number}: stream CRC" in line for number in (2, 4))


def test_a_single_damaged_page_and_one_that_is_asked_for(mmp, folder):
    Path("bad.mmp").write_bytes(damaged(Role.PAGE, 3))
    result = mmp("highlight", "bad.mmp", "-O", "out")
    assert result.stderr.startswith("mmp: bad.mmp: Layers at byte ")
    Path("bad.mmp").write_bytes(damaged(Role.PAGE, 3, 4))
    result = mmp("highlight", "bad.mmp", "-O", "out", "-f", "--page", 3)
    assert "page 3: stream CRC" in result.stderr
    assert "page 4" not in result.stderr
    assert mmp("highlight", "bad.mmp", "-O", "out", "-f", "--page", 5).exit_code == 0
