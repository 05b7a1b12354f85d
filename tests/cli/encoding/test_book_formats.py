"""``mmp encode`` of PDF, NIfTI and animations: pages, slices and frames as the files have them."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support.picture_files import PDF_BOX, PDF_IMAGE, image_of, pdf_of

import mmpcodec
from mmpcodec.opening.contents import contents_of

GRAY = (np.arange(60 * 80).reshape(60, 80) // 7 % 256).astype(np.uint8)


@pytest.fixture
def pdf(folder):
    """A file of an image and a drawing."""
    pytest.importorskip("pypdfium2")
    pages = [
        (PDF_BOX, PDF_IMAGE, "/XObject<</I 3 0 R>>"),
        (PDF_BOX, b"0 0 1 rg 4 4 9 9 re f", ""),
    ]
    data = pdf_of(pages, [image_of(80, 60, "/DeviceGray", 8, GRAY.tobytes())])
    Path("a.pdf").write_bytes(data)
    return "a.pdf"


@pytest.mark.parametrize(("options", "dpi", "width"), [((), 300, 167), (("--dpi", 72), 72, 40)])
def test_pages_of_pdf_are_images_or_rendered(run, pdf, options, dpi, width):
    code, _, said = run("encode", pdf, "-o", "a.mmp", "--lossless", *options)
    assert code == 0
    assert "a.pdf: page 2: is more or other than a single image" in said
    assert f"(at {dpi} dpi)" in said
    image, drawing = mmpcodec.open("a.mmp")
    np.testing.assert_array_equal(image[...], GRAY)
    assert drawing.shape[1:] == (width, 3)
    assert drawing.metadata.resolution.x == dpi


def test_a_page_of_pdf_is_rendered_as_asked(run, pdf):
    assert run("encode", pdf, "-o", "a.mmp", "--page", 2, "--dpi", 144)[0] == 0
    assert mmpcodec.inspect(Path("a.mmp").read_bytes()).header.width == 80
    code, _, said = run("encode", pdf, "-o", "b.mmp", "--page", 2, "--strict")
    assert code == 1
    assert "strict reading refuses this" in said
    for wrong in (0, 4801, "x"):
        assert run("encode", pdf, "-o", "b.mmp", "--dpi", wrong)[0] == 2
    assert not Path("b.mmp").exists()


@pytest.mark.parametrize("suffix", [".nii", ".nii.gz"])
def test_a_volume_comes_back_as_it_was(run, folder, suffix):
    nibabel = pytest.importorskip("nibabel")
    values = np.linspace(-1000, 2500, 9 * 8 * 3).round().reshape(9, 8, 3)
    affine = np.array([[0, -2, 0, 5], [1.5, 0, 0, 6], [0, 0, 3, 7], [0, 0, 0, 1.0]])
    image = nibabel.Nifti1Image(values.astype(np.int16), affine)
    nibabel.save(image, f"a{suffix}")
    assert run("encode", f"a{suffix}", "-o", "a.mmp")[0] == 0
    volume = mmpcodec.open("a.mmp")
    assert [each.role for each in volume] == ["slice"] * 3
    assert [each.position for each in volume] == [7.0, 10.0, 13.0]
    calibration = volume[1].metadata.calibration
    np.testing.assert_array_equal(
        calibration.value(volume[1][...].astype(float)), values[:, :, 1].T
    )
    assert run("decode", "a.mmp", "-o", f"b{suffix}")[0] == 0
    again = nibabel.load(f"b{suffix}")
    np.testing.assert_array_equal(again.get_fdata(), values)
    np.testing.assert_array_equal(again.affine, affine)
    assert again.header.get_data_dtype() == np.int16


def test_a_volume_that_is_no_integers_is_refused(run, folder):
    nibabel = pytest.importorskip("nibabel")
    nibabel.save(nibabel.Nifti1Image(np.full((4, 4, 2), 0.5), np.eye(4)), "a.nii")
    code, _, said = run("encode", "a.nii", "-o", "a.mmp")
    assert code == 1
    assert "no integers, as 0.5 at voxel (0, 0) of slice 1" in said
    assert "set_data_dtype('int16')" in said


def test_animations_keep_durations_and_loops(run, folder):
    frames = [Image.fromarray(np.roll(GRAY, 9 * number, axis=1)) for number in range(3)]
    frames[0].save("a.gif", save_all=True, append_images=frames[1:], duration=[40, 50, 60], loop=1)
    assert run("encode", "a.gif", "-o", "a.mmp", "--lossless")[0] == 0
    found = mmpcodec.open("a.mmp")
    assert [each.duration for each in found] == [
        Fraction(4, 100),
        Fraction(5, 100),
        Fraction(6, 100),
    ]
    assert contents_of(memoryview(Path("a.mmp").read_bytes())).loops == 2
    for frame, picture in zip(frames, found, strict=True):
        np.testing.assert_array_equal(picture[...], np.asarray(frame))
