"""``mmp decode``."""

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support.tiled import samples_of, tiled

import mmpcodec
from mmpcodec import pictures
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.metadata import Metadata, Resolution

KEYS = {
    "input",
    "output",
    "width",
    "height",
    "form",
    "depth",
    "bad_tiles",
    "header_faults",
    "input_bytes",
    "output_bytes",
    "format",
    "seconds",
    "backend",
}
WRITTEN = (*pictures.FORMATS, "pdf", "gif", "nii", "nii.gz", "zarr")


def test_default_is_png_beside_the_input(mmp, encoded, samples):
    result = mmp("decode", encoded)
    assert result.exit_code == 0
    assert re.fullmatch(
        rf"a\.mmp -> a\.png: 20x16, {Path(encoded).stat().st_size} -> "
        rf"{Path('a.png').stat().st_size} bytes, \d+\.\d\d s, backend (cpu|reference)\n",
        result.stdout,
    )
    assert Path("a.png").read_bytes()[:4] == b"\x89PNG"
    np.testing.assert_array_equal(pictures.read("a.png").samples, samples)


@pytest.mark.parametrize("name", ["b.pgm", "b.png", "b.tif", "b.tiff"])
def test_format_follows_the_name(mmp, encoded, samples, name):
    assert mmp("decode", encoded, "-o", name).exit_code == 0
    assert Path(name).read_bytes() == pictures.to_bytes(samples, pictures.format_of(name))


@pytest.mark.parametrize("format", sorted({*pictures.FORMATS} - {"pbm", "ppm"}))
def test_format_chooses_the_suffix(mmp, encoded, samples, format, files):
    assert mmp("decode", encoded, "--format", format).exit_code == 0
    assert files() == sorted(["a.mmp", f"a.{format}"])
    if format == "dcm":  # says more of its origin
        np.testing.assert_array_equal(pictures.read("a.dcm").samples, samples)
    else:
        assert Path(f"a.{format}").read_bytes() == pictures.to_bytes(samples, format)


def test_pages_of_1_bit_become_pbm_group_4_and_pdf(mmp):
    bits = np.random.default_rng(1).integers(0, 2, (33, 47)).astype(np.uint8)
    dpi = Resolution(Fraction(300), Fraction(300), "inch")
    page = pictures.Picture(bits, 1, Metadata(resolution=dpi))
    Path("page.mmp").write_bytes(mmpcodec.encode(bits, depth=1, metadata=page.metadata))
    for name in ("page.pbm", "page.pnm", "page.tif", "page.pdf"):
        if name == "page.pdf":
            pytest.importorskip("pikepdf")
            pytest.importorskip("pypdfium2")
        result = mmp("decode", "page.mmp", "-o", name)
        assert result.exit_code == 0, result.stderr
        lost = "cannot hold all of: resolution"
        assert (lost in result.stderr) == (name in ("page.pbm", "page.pnm"))
        found = pictures.read(name)
        np.testing.assert_array_equal(found.samples, bits)
        assert found.depth == 1
        assert found.metadata.resolution in (dpi, None)
    assert Path("page.pbm").read_bytes()[:2] == b"P4"
    with Image.open("page.tif") as image:
        assert (image.mode, image.info["compression"]) == ("1", "group4")
    assert b"CCITTFaxDecode" in Path("page.pdf").read_bytes()


def test_pbm_of_gray_is_refused_with_its_depth(mmp, encoded, files):
    result = mmp("decode", encoded, "-o", "a.pbm")
    assert result.exit_code == 1
    assert "'pbm' for 8 bits per sample, more than 1: must be one of pgm, pnm" in result.stderr
    assert files() == ["a.mmp"]


def test_format_wins_over_the_name(mmp, encoded, samples):
    assert mmp("decode", encoded, "-o", "raw.bin", "--format", "pgm").exit_code == 0
    np.testing.assert_array_equal(pictures.read("raw.bin").samples, samples)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "bmp"], f"format = 'bmp': must be one of {', '.join(WRITTEN)}"),
        (["-o", "b.bmp"], f"b.bmp: extension '.bmp' must be one of .{', .'.join(WRITTEN)}"),
        (["-o", "b"], f"b: extension '' must be one of .{', .'.join(WRITTEN)}"),
    ],
)
def test_other_formats_are_wrong_use(mmp, encoded, arguments, message, files):
    result = mmp("decode", encoded, *arguments)
    assert (result.exit_code, result.stderr) == (2, f"mmp: {message}\n")
    assert files() == ["a.mmp"]


def test_json(mmp, encoded):
    facts = json.loads(mmp("decode", encoded, "--json").stdout)
    assert set(facts) == KEYS
    assert facts["input"] == "a.mmp"
    assert facts["output"] == "a.png"
    assert facts["format"] == "png"
    assert (facts["width"], facts["height"]) == (20, 16)
    assert facts["output_bytes"] == Path("a.png").stat().st_size


def test_a_file_cut_at_either_end(mmp, files):
    picture = samples_of((130, 200), 1, 8)
    data = tiled(picture, effort=1)
    header = mmpcodec.inspect(data).header
    Path("end.mmp").write_bytes(data[: header.tile_offsets[5] + 1])
    Path("front.mmp").write_bytes(data[header.tile_offsets[2] + 1 :])
    assert mmp("decode", "end.mmp").exit_code == 1
    found = mmp("decode", "end.mmp", "--allow-partial")
    assert found.exit_code == 3
    assert "missing: tiles 5 to 11 of 12, within 200x66 at (0, 64); file has " in found.stderr
    found = mmp("decode", "front.mmp", "--allow-partial", "--json")
    assert found.exit_code == 3
    assert "missing: tiles 0 to 2 of 12, within 192x64 at (0, 0); " in found.stderr
    assert "the samples are not affected, metadata can be" in found.stderr
    facts = json.loads(found.stdout)
    assert (facts["bad_tiles"], facts["header_faults"]) == (3, 1)
    for name, missing in (("end.png", range(5, 12)), ("front.png", range(3))):
        expected = picture.copy()
        for number in missing:
            expected[header.tiles[number].slices] = 0
        np.testing.assert_array_equal(pictures.read(name).samples, expected)
    assert mmp("info", "front.mmp", "--allow-partial").exit_code == 3
    assert mmp("decode", "front.mmp", "--allow-partial", "-o", "front.zarr").exit_code == 3


def test_time_has_a_limit(mmp):
    Path("a.mmp").write_bytes(mmpcodec.encode(samples_of((64, 64), 1, 8), 0, preset="lossless"))
    for command in ("decode", "info", "compare", "highlight"):
        second = ["a.mmp"] if command == "compare" else []
        found = mmp(command, "a.mmp", *second, "--max-seconds", "0.00001")
        assert found.exit_code == 1, command
        assert "the limit is 1e-05 s" in found.stderr
        assert "max_seconds (--max-seconds) raises it" in found.stderr


def test_quiet(mmp, encoded):
    result = mmp("decode", encoded, "--quiet")
    assert (result.exit_code, result.output) == (0, "")


@pytest.mark.parametrize(
    ("option", "limit", "says"),
    [
        ("max-samples", 511, "picture is 20x16: 512 samples in whole 16x16 fragments"),
        ("max-dimension", 19, "picture is 20x16: 20 pixels in a row or column"),
        ("max-memory", 10**7, "decoding can take 10438400 bytes of memory"),
    ],
)
def test_limits(mmp, encoded, option, limit, says, files):
    result = mmp("decode", encoded, f"--{option}", limit)
    assert result.exit_code == 1
    advice = f"the limit is {limit}; {option.replace('-', '_')} (--{option}) raises it"
    assert result.stderr == f"mmp: a.mmp: Container: {says}, {advice}\n"
    assert files() == ["a.mmp"]


def test_limits_that_are_just_enough(mmp, encoded):
    assert mmp("decode", encoded, "--max-samples", 512, "--max-dimension", 20).exit_code == 0


def test_limit_of_nothing_is_wrong_use(mmp, encoded):
    result = mmp("decode", encoded, "--max-samples", 0)
    assert result.exit_code == 2
    assert "--max-samples" in result.stderr


def damage(data, place):
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: b"", "Container at byte 0: file is empty"),
        (lambda data: b"\x89PNG\r\n\x1a\n", "is not an mmp file; Container at byte 0: magic is "),
        (lambda data: data[:20], "Container at byte 20: only 2 of 4 bytes of header CRC"),
        (lambda data: data[:-1], "Container at byte "),
        (lambda data: data + b"x", "Container at byte "),
        (lambda data: damage(data, 8), "Container at byte 8: version is 2, allowed is 3"),
        (lambda data: damage(data, len(data) - 3), "Layers at byte 22: stream CRC is "),
    ],
)
def test_bad_files_give_one_line(mmp, encoded, change, reason, files):
    data = change(Path(encoded).read_bytes())
    Path(encoded).write_bytes(data)
    result = mmp("decode", encoded)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"mmp: a.mmp: {reason}")
    assert result.stderr.count("\n") == 1
    assert files() == ["a.mmp"]


def test_unknown_backend_is_wrong_use(mmp, encoded):
    result = mmp("decode", encoded, "--backend", "abacus")
    assert result.exit_code == 2
    assert "backend = 'abacus'" in result.stderr


@pytest.mark.parametrize(
    ("options", "threads"), [((), None), (("-j", 2), 1), (("-j", 2, "--threads", 3), 3)]
)
def test_threads_are_one_where_files_share_the_machine(mmp, encoded, monkeypatch, options, threads):
    reported = []
    decode_tiles = CpuBackend.decode_tiles

    def note(self, *arguments, **named):
        reported.append(named["threads"])
        return decode_tiles(self, *arguments, **named)

    monkeypatch.setattr(CpuBackend, "decode_tiles", note)
    assert mmp("decode", encoded, "--backend", "cpu", *options).exit_code == 0
    assert reported == [threads]


def test_format_and_name_of_the_output_agree(mmp, encoded, files):
    result = mmp("decode", encoded, "--format", "tif", "-o", "a.png")
    assert result.exit_code == 2
    assert result.stderr == "mmp: --format tif: a.png names another format\n"
    assert files() == ["a.mmp"]
    assert mmp("decode", encoded, "--format", "tif", "-o", "a.picture").exit_code == 0


def test_jpeg_and_webp_take_a_quality(mmp, encoded, samples):
    sizes = {}
    for name, quality in (("a.jpg", 20), ("b.jpg", 95), ("c.webp", 20), ("d.webp", 100)):
        assert mmp("decode", encoded, "-o", name, "--quality", quality).exit_code == 0
        sizes[name] = Path(name).stat().st_size
    assert sizes["a.jpg"] < sizes["b.jpg"]
    np.testing.assert_array_equal(pictures.read("d.webp").samples[..., 0], samples)
    refused = mmp("decode", encoded, "--quality", 50)
    assert (refused.exit_code, refused.stderr) == (2, "mmp: --quality 50: has no effect on png\n")


def test_png_takes_a_level(mmp, encoded, samples):
    sizes = {}
    for level in (None, 0, 1, 9):
        given = () if level is None else ("--png-level", level)
        assert mmp("decode", encoded, "-f", "-o", "a.png", *given).exit_code == 0
        np.testing.assert_array_equal(pictures.read("a.png").samples, samples)
        sizes[level] = Path("a.png").stat().st_size
    assert sizes[0] > samples.size > sizes[1] == sizes[None]
    refused = mmp("decode", encoded, "-o", "a.tif", "--png-level", 3)
    assert (refused.exit_code, refused.stderr) == (2, "mmp: --png-level 3: has no effect on tif\n")
    assert mmp("decode", encoded, "--png-level", 10).exit_code == 2


@pytest.mark.parametrize("command", ["decode", "info", "compare"])
def test_the_error_of_a_cut_file_names_the_option_that_opens_it(mmp, files, tmp_path, command):
    cut = tmp_path / "cut.mmp"
    samples = np.arange(128 * 128, dtype=np.uint16).reshape(128, 128).astype(np.uint8)
    data = mmpcodec.encode(samples, 0, tile_size=64)
    cut.write_bytes(data[: len(data) // 2])
    more = {"decode": ["-o", tmp_path / "a.png"], "compare": [cut]}.get(command, [])
    result = mmp(command, cut, *more)
    assert "--allow-partial decodes what is left" in result.stderr
