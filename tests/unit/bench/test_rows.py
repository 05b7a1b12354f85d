"""Rows of results that were written by somebody else."""

import json

import pytest

from mmpcodec.bench.results import Results, key_of
from mmpcodec.bench.rows import EARLIER
from mmpcodec.errors import MmpError

ROW = {
    "picture": "0" * 64,
    "name": "a.png",
    "width": 4,
    "height": 3,
    "codec": "c",
    "knob": "k",
    "point": 1,
    "versions": {"c": "1"},
    "settings": "s",
    "machine": "m",
    "bytes": 10,
    "bpp": 6.7,
    "max_error": 3,
    "psnr": 30.5,
    "suffix": None,
}


@pytest.fixture
def results(tmp_path):
    """Results whose second line is ``line``."""

    def of(line):
        found = Results(tmp_path, create=True)
        found.path.write_text(f"{json.dumps(ROW)}\n{line}\n")
        return found

    return of


def test_rows_with_and_without_measurements(results):
    failed = {**ROW, "point": 2.5, "error": "why"}
    for name in ("bytes", "bpp", "max_error"):
        del failed[name]
    found = results(json.dumps(failed))
    found.refresh()
    assert found.rows() == [{**EARLIER, **ROW}, {**EARLIER, **failed}]
    assert len(found.done) == 2


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("picture", "../../secret", "'../../secret': must be 64 hexadecimal digits"),
        ("picture", "0" * 63 + "\n", "must be 64 hexadecimal digits"),
        ("picture", 5, "5: must be 64 hexadecimal digits"),
        ("suffix", "/../../x.png", "'/../../x.png': must be a point, then 1 to 16 small letters"),
        ("suffix", [1], "[1]: must be a point"),
        ("point", "x", "'x': must be a number"),
        ("point", None, "None: must be a number"),
        ("point", float("nan"), "nan: must be a number"),
        ("point", 10**400, "must be a number"),
        ("versions", [1], "[1]: must be an object of texts"),
        ("versions", {"a": 1}, "must be an object of texts"),
        ("codec", 5, "5: must be a text"),
        ("width", 0, "0: must be an integer from 1 to 2147483648"),
        ("height", 2.5, "2.5: must be an integer from 1"),
        ("bytes", True, "True: must be an integer from 1"),
        ("bpp", 0, "0: must be a number above 0"),
        ("psnr", "x", "'x': must be a number"),
        ("depth", 17, "17: must be an integer from 1 to 16"),
        ("error", None, "None: must be a text"),
        ("form", {}, "{}: must be a text"),
    ],
)
def test_wrong_fields(results, name, value, says):
    found = results(json.dumps({**ROW, "point": 2, name: value}))
    for read in (found.refresh, found.rows):
        with pytest.raises(MmpError) as caught:
            read()
        assert f"{found.path}: line 2: {name} = " in str(caught.value)
        assert says in str(caught.value)


def test_missing_fields_and_deep_lines(results):
    found = results(json.dumps({"picture": "0" * 64}))
    with pytest.raises(MmpError, match="line 2: name: is missing"):
        found.rows()
    with pytest.raises(MmpError, match="line 2: is no result of a sweep"):
        results("[" * 200_000).rows()


def test_files_of_results_are_no_links(results, tmp_path):
    found = results(json.dumps({**ROW, "suffix": ".jpg", "point": 2}))
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    row = found.rows()[1]
    key = key_of(row)
    ways = {
        f"pictures/{'0' * 64}.png": lambda: found.original("0" * 64),
        f"decoded/{key}.png": lambda: found.decoded(key),
        f"decoded/{key}.tree.png": lambda: found.tree(key),
        f"coded/{key}.jpg": lambda: found.coded(row),
        f"coded/{key}.webp": lambda: found.keep_coded(key, ".webp", b"data"),
        "claims": lambda: found.claim(key).__enter__(),
        "results.jsonl": lambda: Results(tmp_path),
    }
    for name, way in ways.items():
        (tmp_path / name).unlink(missing_ok=True)
        (tmp_path / name).symlink_to(secret)
        with pytest.raises(MmpError, match=f"{name}: is a link"):
            way()
    assert secret.read_bytes() == b"secret"


def test_texts_are_printable(results):
    found = results(json.dumps({**ROW, "point": 2, "name": "\udcff\x1b[2J.png"}))
    assert found.rows()[1]["name"] == r"\udcff\x1b[2J.png"
