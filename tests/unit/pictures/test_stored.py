"""Arrays in files, read part by part."""

import io
import os

import numpy as np
import pytest
import tifffile
from hypothesis import given
from hypothesis import strategies as st

from mmpcodec import pictures
from mmpcodec.errors import PictureError
from mmpcodec.pictures.stored import StoredArray


@given(st.data())
def test_parts_are_those_of_an_array(tmp_path_factory, data):
    shape = tuple(data.draw(st.lists(st.integers(1, 6), min_size=2, max_size=3)))
    kind = np.dtype(data.draw(st.sampled_from(["u1", ">u2", "<u2"])))
    order = data.draw(st.sampled_from("CF"))
    array = np.arange(np.prod(shape)).reshape(shape).astype(kind)
    index = tuple(
        slice(*sorted(data.draw(st.lists(st.integers(0, length), min_size=2, max_size=2))))
        for length in shape[: data.draw(st.integers(1, len(shape)))]
    )
    if not array[index].size:
        return
    content = b"head" + array.tobytes(order)
    path = tmp_path_factory.mktemp("stored") / "array"
    path.write_bytes(content)
    with path.open("rb") as stream:
        for source in (stream, io.BytesIO(content)):
            stored = StoredArray(source, kind, shape, 4, order)
            found = stored.read(index)
            stored.close()
            assert found.dtype == kind
            assert found.flags.c_contiguous
            assert found.flags.writeable
            assert np.array_equal(found, array[index])


@pytest.mark.parametrize("suffix", ["pgm", "npy", "tif"])
def test_a_file_that_shrinks_while_it_is_read(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    samples = np.arange(200 * 300).reshape(200, 300).astype(np.uint16)
    if suffix == "tif":
        tifffile.imwrite(path, samples)
    else:
        path.write_bytes(pictures.to_bytes(pictures.Picture(samples, 16), suffix))
    with pictures.opened(path) as reader:
        assert reader.read(slice(190, 200), slice(0, 300)).shape == (10, 300)
        os.truncate(path, path.stat().st_size - 1000)
        assert reader.read(slice(0, 10), slice(0, 300)).shape == (10, 300)
        with pytest.raises(PictureError, match="has become shorter"):
            reader.read(slice(190, 200), slice(0, 300))
