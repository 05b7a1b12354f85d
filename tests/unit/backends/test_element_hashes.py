"""Hashes of dictionary elements: keyed, so that no file can hold elements chosen for equal ones."""

import shutil
import subprocess
from pathlib import Path

import pytest

KERNELS = Path(__file__).parents[3] / "kernels"
COUNT = 1 << 16
FAMILIES = ("last samples", "first sample of each word", "a word that a fixed key would cancel")
PROGRAM = """
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>
#include "cpu/trees/looks.h"
using namespace mmp;
int main() {
    for (int family = 0; family < 3; ++family)
        for (int scale : {scale_number(1, 1), scale_number(0, 0)}) {
            const int area = scale_area(scale);
            std::vector<uint32_t> hashes;
            for (uint32_t number = 0; number < 65536; ++number) {
                uint8_t samples[kFragmentArea + 64];
                std::memset(samples, 128, sizeof samples);
                if (family == 0) std::memcpy(samples + area - 4, &number, 4);
                if (family == 1)
                    for (int i = 0; i < area / 8; ++i) samples[8 * i] = number >> (i % 2 ? 8 : 0);
                if (family == 2) {
                    const uint64_t first = 0xD1B54A32D192ED03;
                    std::memcpy(samples, &first, 8);
                    std::memcpy(samples + 8, &number, 4);
                }
                Look look;
                look_at(scale, samples, 1, &look);
                hashes.push_back(look.hash);
            }
            const uint32_t one = hashes[1];
            std::sort(hashes.begin(), hashes.end());
            const long different = std::unique(hashes.begin(), hashes.end()) - hashes.begin();
            std::printf("%d %d %ld %u\\n", family, area, different, one);
        }
}
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_elements_chosen_to_collide_do_not(tmp_path):
    program = tmp_path / "hashes"
    source = tmp_path / "hashes.cpp"
    source.write_text(PROGRAM)
    sources = [source, KERNELS / "cpu/trees/looks.cpp"]
    compiler = ["g++", "-std=c++20", "-O1", f"-I{KERNELS}"]
    subprocess.run([*compiler, "-o", program, *sources], check=True)
    runs = [
        [tuple(map(int, line.split())) for line in lines.splitlines()]
        for lines in (subprocess.check_output([program], text=True) for _ in range(2))
    ]
    for run in runs:
        assert [(family, area) for family, area, *_ in run] == [
            (family, area) for family in range(len(FAMILIES)) for area in (64, 256)
        ]
        for family, area, different, _ in run:
            # 65536 random hashes of 32 bits have half a collision on average.
            assert different >= COUNT - 8, f"{FAMILIES[family]}, {area} samples"
    keys = [[one for *_, one in run] for run in runs]
    assert all(first != second for first, second in zip(*keys, strict=True))
