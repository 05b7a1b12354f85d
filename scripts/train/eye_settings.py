"""Fit the settings of `--tune eye` (decision 42).

    python scripts/train/eye_settings.py PICTURE... [--side 224] [--processes N]

The middle of each picture is encoded with four lambdas. A set of settings is as good as the mean of
two BD-rates against the present settings: by SSIMULACRA2, and by the 3-norm of Butteraugli. The
search changes one setting at a time, up and down its list of values, and keeps a change that saves
more than 0.2 %. It prints each trial, and at the end the settings that it found; it writes nothing.
A picture without a BD-rate, because its files are lossless, does not count.
"""

import argparse
import itertools
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import mmpcodec
from mmpcodec import pictures, presets
from mmpcodec.bench.curves import Curve, delta
from mmpcodec.bench.metrics import measure, metric_of
from mmpcodec.codec import tile_coding
from mmpcodec.codec.weighting import masking

LAMBDAS = (6, 16, 40, 100)
METRICS = ("ssimulacra2", "butteraugli_3")
LEAST_GAIN = 0.2
"""Smallest gain in per cent for which a setting changes."""


@dataclass(frozen=True)
class Setting:
    """A constant, the modules that hold it, and the values that are tried, in order."""

    name: str
    modules: tuple[ModuleType, ...]
    values: tuple[Any, ...]

    @property
    def present(self) -> Any:
        """The value of the installed package."""
        return getattr(self.modules[0], self.name)

    def take(self, value: Any) -> None:
        """Encode with this value from now on."""
        for module in self.modules:
            setattr(module, self.name, value)


SETTINGS = (
    Setting("EYE_WEIGHTS", (presets, masking), tuple(range(16))),
    Setting("SEEN_CHROMA", (tile_coding,), (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)),
    Setting("SLOPE", (masking,), tuple((tenths, 10) for tenths in range(2, 15, 2))),
    Setting("LEAST_VARIANCE", (masking,), (15, 30, 60, 100, 160)),
)
Values = tuple[Any, ...]


def middle(path: Path, side: int) -> np.ndarray:
    """Return the middle of a picture of 8 bits, with sides of at most this length."""
    samples = pictures.read(path).samples
    top, left = (max(0, (length - side) // 2) for length in samples.shape[:2])
    return np.ascontiguousarray(samples[top : top + side, left : left + side])


def point(side: int, job: tuple[Values, Path, float]) -> dict[str, Any]:
    """Return the rate and the metrics of a file that is encoded with these settings."""
    values, path, lam = job
    for setting, value in zip(SETTINGS, values, strict=True):
        setting.take(value)
    # They hold what they computed with other settings.
    tile_coding.params_of_layer.cache_clear()
    tile_coding._tool_sets.cache_clear()
    samples = middle(path, side)
    data = mmpcodec.encode(samples, lam=lam, tune="eye", threads=1)
    found = measure(samples, mmpcodec.decode(data), metrics=[metric_of(name) for name in METRICS])
    pixels = samples.shape[0] * samples.shape[1]
    return {"bytes": len(data), "bpp": 8 * len(data) / pixels, **found.values}


class Trials:
    """Gains of settings against the present ones.

    Parameters
    ----------
    paths : sequence of Path
    side : int
        Longest side of the middle that is encoded.
    pool : ProcessPoolExecutor
    """

    def __init__(self, paths: Sequence[Path], side: int, pool: ProcessPoolExecutor):
        self._paths, self._pool, self._point = paths, pool, partial(point, side)
        present = tuple(setting.present for setting in SETTINGS)
        self._present, self._known = self._curves(present), {present: 0.0}

    def _curves(self, values: Values) -> list[Curve]:
        jobs = [(values, path, lam) for path in self._paths for lam in LAMBDAS]
        rows = list(self._pool.map(self._point, jobs))
        return [
            Curve("mmp", tuple(sorted(rows[first : first + len(LAMBDAS)], key=itemgetter("bytes"))))
            for first in range(0, len(rows), len(LAMBDAS))
        ]

    def rate(self, values: Values) -> float:
        """Return the mean of the BD-rates of both metrics, in per cent."""
        if values not in self._known:
            pairs = list(zip(self._present, self._curves(values), strict=True))
            rates = [[delta(*pair, metric).rate for pair in pairs] for metric in METRICS]
            means = np.nanmean(np.array(rates, float), axis=1)
            self._known[values] = float(means.mean())
            words = ", ".join(
                f"{name} {mean:+.2f} %" for name, mean in zip(METRICS, means, strict=True)
            )
            print(f"{values}: {words}", flush=True)
        return self._known[values]


def moved(values: Values, number: int, steps: int) -> Values | None:
    """Return settings with one of them moved along its list; None beyond its ends."""
    own = SETTINGS[number].values
    place = own.index(values[number]) + steps
    return (*values[:number], own[place], *values[number + 1 :]) if 0 <= place < len(own) else None


def search(trials: Trials) -> Values:
    """Return the best settings that a search along one setting at a time finds."""
    best = tuple(setting.present for setting in SETTINGS)
    before = None
    while before != best:
        before = best
        for number, steps in itertools.product(range(len(SETTINGS)), (1, -1)):
            tried = moved(best, number, steps)
            while tried and trials.rate(tried) < trials.rate(best) - LEAST_GAIN:
                best, tried = tried, moved(tried, number, steps)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+", type=Path, metavar="PICTURE")
    parser.add_argument("--side", type=int, default=224)
    parser.add_argument("--processes", type=int)
    given = parser.parse_args()
    with ProcessPoolExecutor(given.processes) as pool:
        found = search(Trials(given.pictures, given.side, pool))
    for setting, value in zip(SETTINGS, found, strict=True):
        print(f"{setting.name} = {value}")


if __name__ == "__main__":
    main()
