"""Groups of pictures that are encoded at once, here by the cpu backend."""

from pathlib import Path

import numpy as np
import pytest

from mmpcodec import EncodeParams, MmpError, PictureError, encode
from mmpcodec.cli.encoding import sources
from mmpcodec.cli.encoding.sources import InGroups, Setting, work_of
from mmpcodec.cli.jobs import Job


def no_progress(done, total):
    return True


@pytest.fixture
def jobs(tmp_path):
    for i in range(5):
        samples = np.full((16, 16 + i), 30 * i, np.uint8)
        header = f"P5 {16 + i} 16 255\n".encode()
        (tmp_path / f"{i}.pgm").write_bytes(header + samples.tobytes())
    (tmp_path / "2.pgm").write_bytes(b"not a picture")
    return [Job(str(tmp_path / f"{i}.pgm")) for i in range(5)]


def test_each_picture_gets_its_own_file_or_error(jobs, monkeypatch):
    monkeypatch.setattr(sources, "GROUP", 3)
    groups = InGroups(Setting(EncodeParams(16), "cpu", None), jobs)
    for i, job in enumerate(jobs):
        if i == 2:
            with pytest.raises(PictureError, match=r"2\.pgm"):
                groups.of(job, no_progress)
            continue
        found, input_bytes, *_ = groups.of(job, no_progress)
        assert input_bytes == Path(job.source).stat().st_size
        assert found.data == encode(np.full((16, 16 + i), 30 * i, np.uint8), 16, preset="plain")
        assert (found.header.height, found.header.width) == (16, 16 + i)


def test_one_that_does_not_fit_does_not_stop_the_others(jobs, monkeypatch):
    encode_group = Setting.encode

    def small_device(self, pictures, progress):
        if any(picture.samples.shape[1] == 19 for picture in pictures):
            raise MmpError("does not fit")
        return encode_group(self, pictures, progress)

    monkeypatch.setattr(Setting, "encode", small_device)
    groups = InGroups(Setting(EncodeParams(16), "cpu", None), jobs)
    for i in (0, 1, 4):
        assert groups.of(jobs[i], no_progress)[0].header.width == 16 + i
    with pytest.raises(MmpError, match="does not fit"):
        groups.of(jobs[3], no_progress)


def test_work_is_counted_from_what_can_be_read(jobs):
    assert work_of(jobs) == 1 + 2 + 2 + 2
    assert work_of([Job("-"), Job("no such file")]) == 0
