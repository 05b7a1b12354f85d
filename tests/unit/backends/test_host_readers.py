"""Which planes the host reads beside a device."""

import numpy as np
import pytest

from mmpcodec.backends.cuda.decoding.host import DEVICE_TIME, HOST_TIME, longest_for_host


def time_of(sizes, on_host, threads, readers):
    """Time until host and device have read their planes, if the host's share is spread evenly."""
    own, rest = np.array(sizes)[on_host], np.delete(sizes, on_host)
    host = max(own.sum() / threads, own.max(initial=0))
    device = max(rest.sum() / readers, rest.max(initial=0))
    return max(HOST_TIME * host, DEVICE_TIME * device)


@pytest.mark.parametrize("threads", [1, 2, 16])
@pytest.mark.parametrize("readers", [1, 40])
def test_no_other_number_of_the_longest_takes_less_time(threads, readers):
    sizes = np.random.default_rng(3).integers(1, 9000, 50)
    found = longest_for_host(sizes, threads, readers)
    longest = np.argsort(sizes)[::-1]
    assert sorted(sizes[found])[::-1] == list(sizes[longest[: len(found)]])
    times = [time_of(sizes, longest[:count], threads, readers) for count in range(51)]
    assert time_of(sizes, found, threads, readers) == min(times)


def test_one_plane_is_read_by_the_host():
    assert list(longest_for_host([70], 1, 1000)) == [0]


def test_planes_of_one_length_have_one_reader():
    sizes = [100] * 40
    assert len(longest_for_host(sizes, 1, 1000)) == 0
    assert len(longest_for_host(sizes, 5, 1000)) == 40
