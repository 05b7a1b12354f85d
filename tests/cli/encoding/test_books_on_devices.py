"""Pages that a device encodes together have the bytes that each has alone."""

from pathlib import Path

import numpy as np
import pytest
from support.books import write_book
from support.strategies import natural, text_like

import mmpcodec
from mmpcodec.cli.encoding import sources
from mmpcodec.opening.contents import PictureBytes, contents_of
from mmpcodec.pictures.books import encoding

CUDA = pytest.param("cuda", marks=pytest.mark.gpu)


def page(number, shape=(90, 130), planes=1):
    rng = np.random.default_rng(number)
    found = np.stack([natural(rng, *shape) for _ in range(planes)], axis=2)
    found[60:80] = text_like(rng, 20, shape[1])[..., None]
    return found[..., 0] if planes == 1 else found


@pytest.fixture
def book():
    """Pages of several sizes and forms; the last one is of 1 bit, one of 12 bits."""
    pages = [page(number, (90 + number, 130)) for number in range(5)]
    pages += [page(6, planes=3), page(7, planes=4), page(8, (80, 64))]
    write_book("gray.mmp", pages)
    write_book("bits.mmp", [page(9) > 128, page(10) > 100])
    deep = page(11).astype(np.uint16) << 4
    write_book("deep.mmp", [deep, deep[:70]], depth=12)
    return ["gray.mmp", "bits.mmp", "deep.mmp"]


def files_of(path):
    """The file of each picture and level, without what they share."""
    data = memoryview(Path(path).read_bytes())
    contents = contents_of(data)
    return [bytes(PictureBytes(data, contents, entry)[:]) for entry in contents.entries]


@pytest.mark.parametrize("backend", ["cpu", CUDA])
@pytest.mark.parametrize(
    "options",
    [
        ["--preset", "plain"],
        ["--preset", "text", "--effort", "1"],
        ["--fast"],
        ["--lossless", "--effort", "1"],
        ["--fast", "--target-psnr", "35"],
    ],
    ids=["plain", "text", "auto", "lossless", "target"],
)
def test_pages_together_have_the_bytes_of_each_alone(mmp, book, options, backend):
    for source in book:
        how = [*options, "--quality", "60"] if "--target-psnr" not in options else options
        how = how if "--lossless" not in how else options
        named = [*how, "--backend", backend, "--verify"]
        result = mmp("encode", source, "-o", "together.mmp", "-f", *named)
        if source == "deep.mmp" and how[1] in ("plain", "text"):
            assert "depth is 12, allowed with preset" in result.stderr
            continue
        if backend == "cuda" and result.exit_code and "--lossless" in how:
            # Pages of 1 bit have other candidates, which a device codes.
            assert "it has no lossless samples" in result.stderr
            continue
        assert result.exit_code == 0, result.stderr
        together = files_of("together.mmp")
        for number, file in enumerate(together, 1):
            one = ("--page", str(number), "-o", "alone.mmp", "-f")
            assert mmp("encode", source, *one, *named).exit_code == 0
            assert Path("alone.mmp").read_bytes() == file, (source, number)


@pytest.mark.parametrize("backend", ["cpu", CUDA])
@pytest.mark.parametrize("most", [1, 2, 64])
def test_the_size_of_groups_does_not_matter(mmp, book, monkeypatch, most, backend):
    monkeypatch.setattr(sources, "GROUP", 64)
    how = ("--quality", "60", "--fast", "--backend", backend, "-f")
    assert mmp("encode", "gray.mmp", "-o", "whole.mmp", *how).exit_code == 0
    monkeypatch.setattr(sources, "GROUP", most)
    monkeypatch.setattr(encoding, "MOST_SAMPLES", 30_000)  # two pages
    assert mmp("encode", "gray.mmp", "-o", "parts.mmp", *how).exit_code == 0
    assert Path("whole.mmp").read_bytes() == Path("parts.mmp").read_bytes()


@pytest.mark.gpu
def test_a_device_gets_several_pages_in_a_call(mmp, book, monkeypatch):
    calls = []
    original = mmpcodec.encode_pictures

    def counted(arrays, *given, **options):
        calls.append(len(arrays))
        return original(arrays, *given, **options)

    monkeypatch.setattr(mmpcodec, "encode_pictures", counted)
    named = ("--backend", "cuda", "--preset", "plain", "--lambda", "40")
    result = mmp("encode", "gray.mmp", "-o", "a.mmp", *named, "--device", "0")
    assert result.exit_code == 0, result.stderr
    assert max(calls) > 1
    assert sum(calls) == 8
    result = mmp("encode", "gray.mmp", "-o", "b.mmp", *named[2:], "--backend", "cpu")
    assert files_of("a.mmp") == files_of("b.mmp")  # this preset has equal bytes everywhere


@pytest.mark.parametrize("backend", ["cpu", CUDA])
def test_levels_of_pages(mmp, monkeypatch, backend):
    bits = np.zeros((600, 700), bool)
    bits[100:300, 50:600] = True
    write_book("bits.mmp", [bits, ~bits])
    write_book("gray.mmp", [page(1, (600, 700)), page(2, (530, 610))])
    for source in ("bits.mmp", "gray.mmp"):
        how = ("--levels", "--fast", "--quality", "50", "--verify", "-f")
        result = mmp("encode", source, "-o", "a.mmp", "--backend", backend, *how)
        assert result.exit_code == 0, result.stderr
        # A level that needs too many bytes is left out, which the search of a device may change.
        assert len(files_of("a.mmp")) == 4 or (
            backend == "cuda" and "would take more than" in result.output
        )
        for number in (1, 2):
            one = ("--page", str(number), "-o", "alone.mmp", "--backend", backend)
            assert mmp("encode", source, *one, *how).exit_code == 0
            alone, together = mmpcodec.open("alone.mmp")[0], mmpcodec.open("a.mmp")[number - 1]
            np.testing.assert_array_equal(alone, together)
            for pair in zip(alone.renditions, together.renditions, strict=True):
                np.testing.assert_array_equal(*pair)
