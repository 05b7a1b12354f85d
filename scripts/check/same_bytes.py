"""Compare the files of the cuda and cpu backends over pictures and a grid of parameters.

    python scripts/check/same_bytes.py PICTURE... [--jobs 8]

Both backends search for predicted blocks with the same shortcuts, so all files should be equal. The
script needs a CUDA device and exits with 1 if a file differs.
"""

import argparse
import itertools
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from mmpcodec import EncodeParams, pictures
from mmpcodec.backends.base import PlaneTask
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.backends.cuda.backend import CudaBackend

LAMBDAS = (0, 1, 10, 16, 24, 32, 64, 128, 512)
TREES = {
    "preset": ("plain", "classic", "text"),
    "partition": ("flexible", "dyadic"),
    "rate_model": ("adaptive", "log2"),
}
BLOCKS = {"preset": ("photo",), "fragment_size": (32, 64), "effort": (1, 2, 6)}


def cpu_payload(picture, params):
    return CpuBackend().encode(PlaneTask(picture, params), threads=1).payload


def each_of(values: dict[str, tuple]) -> list[dict[str, Any]]:
    """Return all combinations of the values of options."""
    return [
        dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values())
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+", type=Path)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_args()
    loaded = [pictures.read(path).samples for path in args.pictures]
    differ = compared = 0
    with ProcessPoolExecutor(args.jobs) as pool:
        for lam, options in itertools.product(LAMBDAS, [*each_of(TREES), *each_of(BLOCKS)]):
            if lam == 0 and options["preset"] == "photo":
                continue
            params = EncodeParams.from_options(lam, **options)
            expected = pool.map(cpu_payload, loaded, itertools.repeat(params))
            found = CudaBackend().encode_batch([PlaneTask(each, params) for each in loaded])
            for path, wanted, coded in zip(args.pictures, expected, found, strict=True):
                compared += 1
                if coded.payload != wanted:
                    differ += 1
                    print(f"{path.name} lambda {lam} {options}: differs")
    print(f"{compared} files of {len(loaded)} pictures compared, {differ} differ")
    sys.exit(differ > 0)


if __name__ == "__main__":
    main()
