"""Volumes against every choice of files there is."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmpcodec.errors import LimitExceeded, ParameterError
from mmpcodec.planning.packing import pack, pack_all

files = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9)), max_size=8)


def best(left, sectors, room, worth):
    """The most worth of what fits."""
    return max(
        sum(worth[index] for index in chosen)
        for count in range(len(left) + 1)
        for chosen in itertools.combinations(left, count)
        if sum(sectors[index] for index in chosen) <= room
    )


def check(found, sizes, capacities, values, sector):
    """Every volume is the best of what was left for it, and no file is lost or doubled."""
    sectors = [-(-size // sector) for size in sizes]
    left = [i for i, size in enumerate(sectors) if size * sector <= max(capacities)]
    assert found.too_large == tuple(i for i in range(len(sizes)) if i not in left)
    for volume, capacity in zip(found.volumes, capacities, strict=True):
        room = capacity // sector
        worth = sectors if values is None else values
        assert volume.capacity == capacity
        assert volume.used == sector * sum(sectors[index] for index in volume.files) <= capacity
        most = best(left, sectors, room, worth)
        assert sum(worth[index] for index in volume.files) == most
        assert volume.value == (0 if values is None else most)
        assert volume.proven
        assert set(volume.files) <= set(left)
        left = [index for index in left if index not in volume.files]
    assert found.left_out == tuple(left)


@given(
    files, st.lists(st.integers(0, 60), min_size=1, max_size=3), st.booleans(), st.integers(1, 7)
)
def test_volumes_are_what_all_choices_say(given_files, capacities, valued, sector):
    sizes = [size for size, _ in given_files]
    values = [value for _, value in given_files] if valued else None
    check(pack(sizes, capacities, values=values, sector=sector), sizes, capacities, values, sector)


@given(files, st.integers(1, 60), st.booleans())
def test_all_files_that_fit_have_a_place(given_files, capacity, valued):
    sizes = [size for size, _ in given_files]
    values = [value for _, value in given_files] if valued else None
    found = pack_all(sizes, capacity, values=values)
    assert found.left_out == ()
    placed = sorted(index for volume in found.volumes for index in volume.files)
    assert placed == [index for index, size in enumerate(sizes) if size <= capacity]
    assert all(volume.used <= capacity for volume in found.volumes)
    assert all(volume.files for volume in found.volumes[1:])


def test_a_file_takes_whole_sectors():
    assert pack([2049, 2048], [4096 + 2047], sector=2048).volumes[0].files == (0,)
    assert pack([2049, 2048], [6144], sector=2048).volumes[0].files == (0, 1)
    assert pack([2049], [4095], sector=2048).too_large == (0,)


def test_most_value_is_not_the_densest_first():
    found = pack([6, 5, 5], [10], values=[7, 5, 5])
    assert found.volumes[0].files == (1, 2)
    assert found.volumes[0].value == found.volumes[0].most == 10


def test_large_values_with_a_common_divisor():
    found = pack([6, 5, 5], [10], values=[7 * 10**18, 5 * 10**18, 5 * 10**18])
    assert (found.volumes[0].value, found.volumes[0].most) == (10**19, 10**19)


def test_empty_files_go_on_the_first_volume():
    for values in (None, [0, 1, 0, 1]):
        found = pack([0, 3, 0, 4], [4, 4], values=values)
        assert set(found.volumes[0].files) >= {0, 2}


def test_without_time_the_best_so_far():
    sizes = [1000 + 7 * k % 97 for k in range(200)]
    volume = pack(sizes, [100_003], values=sizes, time_limit=0).volumes[0]
    assert volume.used <= 100_003
    assert volume.value <= volume.most


def test_wrong_arguments():
    with pytest.raises(ParameterError, match="volumes: must be one or more"):
        pack([1], [])
    with pytest.raises(ParameterError, match="volume = -1: must be from 0 up"):
        pack([1], [-1])
    with pytest.raises(ParameterError, match="size = -2: must be from 0 up"):
        pack([1, -2], [5])
    with pytest.raises(ParameterError, match="values: must be from 0 up, one for each file"):
        pack([1, 2], [5], values=[1])
    for sector in (0, (1 << 30) + 1):
        with pytest.raises(ParameterError, match=f"sector = {sector}: must be from 1"):
            pack([1], [5], sector=sector)


def test_memory_that_does_not_suffice_names_the_way_out(monkeypatch):
    def full(*_, **__):
        raise LimitExceeded("Memory of subset_sum", "too much")

    monkeypatch.setattr("mmpcodec.planning.packing.subset_sum", full)
    with pytest.raises(LimitExceeded, match="too much; larger sectors than 1 bytes need less"):
        pack([3, 4], [5])
