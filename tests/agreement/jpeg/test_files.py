"""The reference and the native code keep JPEG files alike."""

import io
import random

import numpy as np
import pytest
from PIL import Image
from skimage import data

from mmpcodec import _cpu
from mmpcodec.errors import FormatError
from mmpcodec.reference.jpeg.codec import decode_file, encode_file
from mmpcodec.reference.jpeg.description import NumberReader

MOST = 1 << 28
PHOTOGRAPH = np.ascontiguousarray(data.astronaut()[60:84, 200:245])


def made(samples=PHOTOGRAPH, mode=None, **options):
    file, picture = io.BytesIO(), Image.fromarray(samples)
    (picture.convert(mode) if mode else picture).save(file, "JPEG", **options)
    return file.getvalue()


FILES = {
    "4:4:4": made(subsampling=0, quality=92),
    "4:2:2": made(subsampling=1, quality=60),
    "4:2:0, own tables": made(subsampling=2, quality=85, optimize=True),
    "gray": made(PHOTOGRAPH[:, :, 1], quality=95),
    "progressive": made(progressive=True, quality=80),
    "progressive, small steps": made(progressive=True, quality=97, subsampling=0),
    "restarts": made(restart_marker_blocks=3),
    "restarts, progressive": made(restart_marker_rows=1, progressive=True),
    "four components": made(mode="CMYK", quality=80),
    "large steps": made(quality=3),
    "steps of 16 bits": made(qtables=[[1, *range(201, 264)]] * 2),
    "one pixel": made(PHOTOGRAPH[:1, :1]),
}
BEFORE = np.random.default_rng(7).integers(0, 255, 1 << 18, np.uint8).tobytes()
"""Bytes that are stored: a file that has them is too large to be coded in several forms."""


@pytest.mark.parametrize("name", FILES)
def test_payloads_are_equal(name):
    file = FILES[name]
    payload, *_ = _cpu.encode_jpeg(file, 1, 1, MOST)
    assert encode_file(file, 1, MOST) == payload
    assert decode_file(payload, len(file), 1, MOST) == file


@pytest.mark.parametrize("form", [2, 3])
@pytest.mark.parametrize(
    "name",
    [
        "4:2:0, own tables",
        "gray",
        "four components",
        "progressive",
        "restarts",
        "restarts, progressive",
    ],
)
def test_payloads_of_forms_that_mix_are_equal(name, form):
    file = BEFORE + FILES[name]
    payload, used, levels, stored = _cpu.encode_jpeg(file, form, 1, MOST)
    assert (used, stored) == (form, len(BEFORE))
    assert levels > 200
    assert encode_file(file, form, MOST) == payload
    assert _cpu.decode_jpeg(payload, len(file), form, 1, MOST) == file


def test_a_small_file_has_the_form_with_the_fewest_bytes():
    file = FILES["gray"]
    payload, used, *_ = _cpu.encode_jpeg(file, 3, 1, MOST)
    sizes = {form: len(encode_file(file, form, MOST)) for form in (1, 2, 3)}
    assert sizes[used] == min(sizes.values()) == len(payload)


def test_thumbnails_and_noise_are_kept_alike():
    noise = np.random.default_rng(5).bytes(20000)
    outer, thumbnail = FILES["gray"], FILES["4:4:4"]
    segment = b"\xff\xe1" + (len(thumbnail) + 2).to_bytes(2, "big") + thumbnail
    file = b"before" + outer[:2] + segment + outer[2:] + noise
    payload, _, levels, stored = _cpu.encode_jpeg(file, 1, 1, MOST)
    assert levels > 600
    assert 3 << 12 <= stored <= len(noise)
    assert encode_file(file, 1, MOST) == payload


def changed(file, choices):
    changed = bytearray(file)
    for _ in range(choices.randint(1, 4)):
        place = choices.randrange(len(changed))
        kind = choices.randrange(3)
        if kind == 0:
            changed[place] ^= 1 << choices.randrange(8)
        elif kind == 1:
            del changed[place : place + choices.randint(1, 20)]
        else:
            changed[place:place] = choices.randbytes(choices.randint(1, 20))
    return bytes(changed)


@pytest.mark.parametrize("name", ["4:4:4", "progressive", "restarts"])
def test_damaged_files_decode_alike(name):
    """Encoders may cut a damaged scan at other places; decoders give the file back."""
    choices = random.Random(name)
    for _ in range(3):
        file = changed(FILES[name], choices)
        payload, *_ = _cpu.encode_jpeg(file, 1, 1, MOST)
        assert decode_file(payload, len(file), 1, MOST) == file
        own = encode_file(file, 1, MOST)
        assert _cpu.decode_jpeg(own, len(file), 1, 1, MOST) == file


def test_damaged_payloads_have_equal_faults():
    choices, file = random.Random(11), FILES["restarts"]
    payload, *_ = _cpu.encode_jpeg(file, 1, 1, MOST)
    refused = 0
    for _ in range(12):
        damaged = changed(payload, choices)
        found = []
        for decode in (
            lambda damaged=damaged: _cpu.decode_jpeg(damaged, len(file), 1, 1, MOST),
            lambda damaged=damaged: decode_file(damaged, len(file), 1, MOST),
        ):
            try:
                found.append(decode())
            except FormatError as error:
                found.append((type(error), str(error)))
                refused += 1
        assert found[0] == found[1]
    assert refused > 10


@pytest.mark.parametrize("form", [1, 2, 3])
def test_a_level_beyond_16_bits_is_refused_alike(form):
    file = FILES["4:4:4"]
    payload = encode_file(file, form, MOST)
    reader = NumberReader(payload)
    reader.number(len(file), "coded bytes")
    levels = reader.number(len(payload), "bytes of coded bytes")
    levels += reader.position
    # Zeros are decoded as ones, from the first level on.
    payload = payload[:levels] + bytes(len(payload) - levels)
    for decode in (
        lambda: _cpu.decode_jpeg(payload, len(file), form, 1, MOST),
        lambda: decode_file(payload, len(file), form, MOST),
    ):
        with pytest.raises(FormatError, match=r"Levels of a stripe.* does not fit 16 bits"):
            decode()
