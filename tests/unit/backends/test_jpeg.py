"""JPEG files that the native code keeps, byte by byte."""

import base64
import random
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from skimage import data
from support.files.jpeg_files import changed, files, made, photograph, with_thumbnail

from mmpcodec import _cpu
from mmpcodec.errors import FormatError
from mmpcodec.format.jpeg import most_level_bytes
from mmpcodec.reference.jpeg import codec
from mmpcodec.reference.jpeg.bytes_coder import decode_bytes
from mmpcodec.reference.jpeg.description import STRIPE_COST, NumberReader, read_description

FORMS = (1, 2, 3)
MOST = 1 << 28


def kept(file, form=2, threads=1):
    """Return the payload, after it gave the file back."""
    payload, used, levels, stored = _cpu.encode_jpeg(file, form, threads, MOST)
    assert 1 <= used <= form
    assert _cpu.decode_jpeg(payload, len(file), used, threads, MOST) == file
    assert levels + stored <= len(file)
    assert len(payload) <= len(file) + 32
    return payload


FILES = files() | {
    "steps of 16 bits": made(photograph(), qtables=[[1, *range(201, 264)]] * 2),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", FILES)
def test_a_file_comes_back(name, form):
    kept(FILES[name], form)


def test_each_form_is_smaller_than_the_one_before():
    file = made(data.astronaut(), quality=90)
    sizes = [len(kept(file, form)) / len(file) for form in FORMS]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] < 0.76
    assert sizes[2] < 0.74


def test_small_files_are_kept_in_the_smallest_form():
    sizes = [len(kept(FILES["one pixel"], form)) for form in FORMS]
    assert sizes == sorted(sizes, reverse=True)
    assert _cpu.encode_jpeg(FILES["one pixel"], 3, 1, MOST)[1] == 1
    large = made(np.tile(photograph(256), (4, 4, 1)), quality=98)
    assert len(large) > 256 << 10
    assert _cpu.encode_jpeg(large, 3, 1, MOST)[1] == 3


def test_a_picture_in_the_file_is_coded_too():
    alone, _, levels_alone, _ = _cpu.encode_jpeg(made(photograph()), 2, 1, MOST)
    payload, _, levels, _ = _cpu.encode_jpeg(with_thumbnail(), 2, 1, MOST)
    assert levels > levels_alone + 500
    assert len(payload) < len(alone) + 600


@pytest.mark.parametrize("cut", [0.02, 0.3, 0.7, 0.99])
@pytest.mark.parametrize("name", ["4:2:0", "progressive", "restarts"])
def test_a_file_that_ends_too_early_comes_back(name, cut):
    file = FILES[name]
    kept(file[: int(cut * len(file))])


@pytest.mark.parametrize("name", ["4:2:0", "progressive"])
def test_what_stands_before_and_behind_the_picture_comes_back(name):
    rubbish = bytes(range(256))
    payload = kept(rubbish + FILES[name] + rubbish + FILES["gray"] + b"\xff\xd8\xff")
    assert len(payload) < len(FILES[name]) + len(FILES["gray"])


def test_noise_is_stored():
    noise = np.random.default_rng(5).bytes(1 << 16)
    payload, _, levels, stored = _cpu.encode_jpeg(b"\xff\xd8\xff" + noise, 2, 1, MOST)
    assert (levels, stored) == (0, len(noise) + 3)
    assert len(payload) <= len(noise) + 16
    payload, _, levels, stored = _cpu.encode_jpeg(FILES["4:2:0"] + noise, 2, 1, MOST)
    assert levels > 0
    assert 3 << 14 <= stored <= len(noise)


@pytest.mark.parametrize("file", [b"", b"\xff", b"\xff\xd8", b"\xff\xd8\xff"])
def test_files_of_a_few_bytes_come_back(file):
    kept(file, 3)


def test_a_picture_above_the_limit_is_kept_as_bytes():
    file = FILES["4:4:4"]
    payload, form, levels, _ = _cpu.encode_jpeg(file, 2, 1, 1000)
    assert levels == 0
    assert _cpu.decode_jpeg(payload, len(file), form, 1, 1000) == file
    payload, form, *_ = _cpu.encode_jpeg(file, 2, 1, MOST)
    least = STRIPE_COST + 1000
    with pytest.raises(FormatError, match="allowed are 1000"):
        _cpu.decode_jpeg(payload, len(file), form, 1, least)
    with pytest.raises(FormatError, match="pictures = 1, allowed are 0 to 0"):
        _cpu.decode_jpeg(payload, len(file), form, 1, STRIPE_COST - 1)


def test_pictures_beyond_the_limit_are_kept_as_bytes():
    """Each counts as a stripe, whose models take time, besides its levels."""
    one = made(photograph()[:8, :8, 0])
    file, most = 40 * one, most_level_bytes(1, 1)
    payload, _, scan_bytes, _ = _cpu.encode_jpeg(file, 1, 1, most)
    description = described(payload, file)
    assert [len(stripes) for _, stripes in description.pictures] == [1] * 31
    assert scan_bytes < 0.8 * 40 * len(one)
    assert codec.encode_file(file, 1, most) == payload
    assert _cpu.decode_jpeg(payload, len(file), 1, 1, most) == file
    assert codec.decode_file(payload, len(file), 1, most) == file


def test_a_picture_has_no_more_stripes_than_its_limit_allows():
    file = made(np.tile(photograph(256), (7, 10, 1)), quality=99, subsampling=0)
    levels = 3 * 64 * 224 * 347 * 2  # bytes, in whole blocks
    for most, count in ((MOST, 2), (levels + 2 * STRIPE_COST, 2), (levels + STRIPE_COST, 1)):
        payload, _, scan_bytes, _ = _cpu.encode_jpeg(file, 1, 1, most)
        assert scan_bytes > 2 * (1536 << 10)
        assert len(stripes_in(payload, file)) == count
        assert _cpu.decode_jpeg(payload, len(file), 1, 2, most) == file


def test_threads_do_not_change_the_payload():
    file = made(np.tile(photograph(256), (7, 10, 1)), quality=99, subsampling=0)
    assert len(file) > 2 * (1536 << 10)
    assert kept(file, 1, threads=4) == kept(file, 1, threads=1)


@pytest.mark.parametrize("name", FILES)
def test_damaged_files_come_back(name):
    choices = random.Random(name)
    for _ in range(30):
        kept(changed(FILES[name], choices), choices.choice((1, 1, 2)))


def test_damaged_payloads_are_refused_or_give_a_file():
    choices = random.Random(7)
    file = FILES["thumbnail"]
    payload, form, *_ = _cpu.encode_jpeg(file, 2, 1, MOST)
    refused = 0
    for _ in range(300):
        try:
            found = _cpu.decode_jpeg(changed(payload, choices), len(file), form, 1, MOST)
            assert len(found) == len(file)
        except FormatError:
            refused += 1
    assert refused > 200


def described(payload, file):
    """What a payload says of its parts."""
    reader = NumberReader(payload)
    coded, size = (reader.number(1 << 40, "bytes") for _ in range(2))
    own = payload[reader.position : reader.position + size]
    return read_description(decode_bytes(own, coded), len(file), 1 << 16)[0]


def stripes_in(payload, file):
    """Rows and bytes of the stripes of the only picture of a payload."""
    ((_, stripes),) = described(payload, file).pictures
    return stripes


def test_stripes_have_about_equal_bytes():
    noise = np.random.default_rng(2).integers(0, 256, (1500, 2400, 3)).astype(np.uint8)
    noise[:800] = 128  # nothing there
    file = made(noise, quality=97, subsampling=0)
    payload = kept(file, 1, threads=2)
    rows, sizes = zip(*stripes_in(payload, file), strict=True)
    assert len(rows) == 2
    assert sum(rows) == 188
    assert rows[0] > 130
    assert max(sizes) < 1.05 * min(sizes)


def test_the_reference_divides_stripes_by_their_costs(monkeypatch):
    monkeypatch.setattr(codec, "STRIPE_BYTES", 500)
    noise = np.random.default_rng(2).integers(0, 256, (120, 40, 3)).astype(np.uint8)
    noise[:64] = 128
    file = made(noise, quality=60, subsampling=0)
    payload = codec.encode_file(file, 1, MOST)
    assert codec.decode_file(payload, len(file), 1, MOST) == file
    assert _cpu.decode_jpeg(payload, len(file), 1, 2, MOST) == file
    rows, sizes = zip(*stripes_in(payload, file), strict=True)
    assert len(rows) == 4
    assert rows[0] > 8
    assert max(sizes[:3]) < 1.1 * min(sizes[:3])


EMPTY_SCAN = zlib.decompress(
    base64.b85decode(
        "c-s4a<NpH&Aul)2qv4E<j121-JQx`MXEKPnR%E6zF!=g1XfZG_a4>+u|9=d^CAZ6jit`=P^Y^D$rRpW;"
        "=l;LV;LIQ(#lyn$NZ{3KKB52AHc(JNSVBWeLQG7}@R+J>hLy3cjis@Lxr2Q`ZeVzPP<lqXoo``fK}tnT"
        "YEtt5+sVk_CYa<*PL5B;1^ypm5adW=Wr$^FRAOKfWMmd({C|W&lmX~=RKO1sW<(ceX8nJcfd%O4TMRtR"
        "j0{Wy%mNGyj90Dh167L&FfgO4)@Kw3D&znf!pO?B_#IG<gdhVGnj%JpDIdV9m>C)E85QMn{$FPR01j1e"
        "69"
    )
)
"""Damaged: a picture within the marker segments of another one has a scan without data, where the
data of the other one begins."""


@pytest.mark.parametrize("form", FORMS)
def test_scans_without_data_are_no_scans(form):
    kept(EMPTY_SCAN, form)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_a_picture_that_is_rebuilt_takes_no_more_memory():
    """2000 pictures, whose tables would take 57 MB together."""
    file = made(np.full((8, 8), 90, np.uint8), optimize=True) * 2000
    payload, used, *_ = _cpu.encode_jpeg(file, 1, 1, MOST)
    program = (
        "import sys; from mmpcodec import _cpu;"
        "size, form, most = map(int, sys.argv[1:]); payload = sys.stdin.buffer.read();"
        "peak = lambda: int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]);"
        "before = peak();"
        "assert len(_cpu.decode_jpeg(payload, size, form, 1, most)) == size;"
        "print(peak() - before)"
    )
    numbers = map(str, (len(file), used, MOST))
    command = [sys.executable, "-P", "-c", program, *numbers]
    grown = subprocess.run(command, input=payload, capture_output=True, check=True).stdout
    assert int(grown) < 20 << 10
