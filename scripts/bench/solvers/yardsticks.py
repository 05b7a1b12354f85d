"""Measure the algorithms of the source documents beside the solvers: subset sum and medians.

    python scripts/bench/solvers/yardsticks.py [--cuda] [--limit STEPS]

The algorithms are those that the documents describe, on whole arrays: in NumPy, or with --cuda in
CuPy on a device, where an array operation takes the place of a kernel. Faults of the printed
listings are mended. Each answer is compared with the solver's; a different one ends the run.
Prints the rows of docs/benchmarks/data/solvers.jsonl, with wall times in seconds or ms: of the
document, of its algorithm here, and of the solver.

- V. V. Curtis, "Algoritmos para o problema Subset-Sum em GPU", ITA 2013: YS (Yanasse and Soma) on
  an AMD FX-6100, K1, K2 and K3-32 on a GTX 560, tables 6.1 to 6.8. YS runs in numba, if
  that is installed.
- A. La Greca, "Subset Sum Problem in optimization form: a parallel approach", Milan 2023:
  enumeration in chunks on a Tesla T4, custom_1 of 36 items.
- A. C. de Lima, "Soluções para os problemas da soma máxima e do k-ésimo menor elemento de uma
  sequência usando o modelo BSP/CGM", UFMS 2015: medians by a bitonic split and by opposite trees
  (Garrigues and Manzanera), tables 6.1 and 6.2.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from subset_sum import half, p_class, uniform

from mmpcodec.solvers.selection import kth_smallest
from mmpcodec.solvers.subset_sum import subset_sum

Array = Any
"""A NumPy or CuPy array."""

DOCUMENT_S = {
    "Half": {30: (0.00, 0.00, 0.00, 0.00), 100: (0.07, 0.07, 0.08, 0.05)},
    "P": {30: (0.05, 0.07, 0.06, 0.06), 100: (1.64, 0.15, 0.21, 0.11)},
    "Uniform": {
        100: (0.02, 0.06, 0.06, 0.05),
        1000: (1.32, 0.08, 0.15, 0.06),
        10000: (16.08, 0.21, 1.00, 0.11),
    },
}
"""Seconds of YS, K1, K2 and K3-32 in Curtis' thesis, by class and number of items."""
LARGER_S = {
    "Half": {300: (0.88, 0.18, 0.30, 0.08), 1000: (10.32, 1.61, 2.76, 0.24)},
    "P": {300: (15.42, 0.82, 1.28, 0.32), 1000: (170.94, 9.39, 12.27, 1.33)},
}
CLASSES = {"Half": half, "P": p_class, "Uniform": uniform}
MEDIANS_MS = {20: (14.05, 222.06), 21: (29.98, 313.13), 22: (64.38, 365.89), 23: (138.62, 370.61)}
"""Milliseconds of the bitonic split and of opposite trees, by the logarithm of the size."""
CUSTOM_1 = ((1850000, 2), (120000, 12), (30000, 10), (1800, 6), (1250, 4), (400, 2))
CUSTOM_1_CAPACITY = 3690000
CUSTOM_1_S = 38.74
WINDOW = 1 << 16
"""Capacities that K2 handles at a time; 10752 in the thesis, the threads of its device."""
WORD = 64
LONG = 2.0
"""Seconds from which on a run is not repeated."""


def limits(weights: np.ndarray, capacity: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield item, weight, and the least and largest sum that the item can make and that matters.

    Weights fall. A sum matters if the later items can raise it to the greedy sum.
    """
    known = 0
    for weight in weights.tolist():
        known += weight if known + weight <= capacity else 0
    before, after = 0, int(weights.sum())
    for item, weight in enumerate(weights.tolist()):
        before, after = before + weight, after - weight
        yield item, weight, max(weight, known - after), min(capacity, before)


def first_items(xp: Any, weights: np.ndarray, capacity: int) -> Array:
    """Return for each sum the index of the item that has this weight; the number of items if none.

    The number 0 is the sum of no item, whose last item is before the first.
    """
    last = xp.full(capacity + 1, len(weights), np.int32)
    sums, items = np.unique(weights[weights <= capacity], return_index=True)
    last[xp.asarray(sums)] = xp.asarray(items + np.count_nonzero(weights > capacity), np.int32)
    last[0] = -1
    return last


def best_of(xp: Any, last: Array, count: int) -> int:
    """Return the largest sum that some items make."""
    return int(xp.flatnonzero(last < count)[-1])


def k1(xp: Any, weights: np.ndarray, capacity: int) -> int:
    """Return the largest sum: for each item all sums at once, as K1 does in one launch."""
    last = first_items(xp, weights, capacity)
    for item, weight, low, high in limits(weights, capacity):
        if low <= high:
            add(xp, last, item, weight, low, high)
    return best_of(xp, last, len(weights))


def add(xp: Any, last: Array, item: int, weight: int, low: int, high: int) -> None:
    """Set the last item of each sum from ``low`` to ``high`` that the item makes first."""
    sums = last[low : high + 1]
    made = (sums > item) & (last[low - weight : high + 1 - weight] < item)
    sums[made] = item


def k2(xp: Any, weights: np.ndarray, capacity: int) -> int:
    """Return the largest sum: for each window of sums all items, as K2 does in one launch.

    Items lighter than the window read sums inside it, so they follow as in ``k1``.
    """
    last = first_items(xp, weights, capacity)
    steps = [step for step in limits(weights, capacity) if step[2] <= step[3]]
    for begin in range(0, capacity + 1, WINDOW):
        for item, weight, low, high in steps:
            if weight < WINDOW:
                break
            low, high = max(low, begin), min(high, begin + WINDOW - 1)
            if low <= high:
                add(xp, last, item, weight, low, high)
    for item, weight, low, high in steps:
        if weight < WINDOW:
            add(xp, last, item, weight, low, high)
    return best_of(xp, last, len(weights))


def k3(xp: Any, weights: np.ndarray, capacity: int) -> int:
    """Return the largest sum from one bit for each sum, as K3 does, in words of 64 bits.

    The item of each new sum is stored, too, for the words that have new sums.
    """
    words = capacity // WORD + 1
    bits, last = xp.zeros(words + 1, np.uint64), xp.zeros((words, WORD), np.int32)
    bits[0] = 1
    places = xp.arange(WORD, dtype=np.uint64)
    for item, weight, low, high in limits(weights, capacity):
        if low > high:
            continue
        first, stop = low // WORD, high // WORD + 1
        away, shift = weight // WORD, weight % WORD
        moved = xp.zeros(stop - first, np.uint64)
        source = bits[max(first - away, 0) : stop - away]
        moved[len(moved) - len(source) :] = source << np.uint64(shift)
        if shift:
            carried = bits[max(first - away - 1, 0) : max(stop - away - 1, 0)]
            moved[len(moved) - len(carried) :] |= carried >> np.uint64(WORD - shift)
        fresh = moved & ~bits[first:stop]
        where = xp.flatnonzero(fresh)
        each = (fresh[where][:, None] >> places & np.uint64(1)).astype(bool)
        last[first + where] = xp.where(each, item, last[first + where])
        bits[first:stop] |= fresh
    some = bits[:words]
    some[-1] &= np.uint64((2 << capacity % WORD) - 1)
    top = int(xp.flatnonzero(some)[-1])
    return top * WORD + int(some[top]).bit_length() - 1


def ys() -> Callable[[np.ndarray, int], int] | None:
    """Return the algorithm of Yanasse and Soma, compiled; None without numba."""
    try:
        import numba
    except ImportError:
        return None

    @numba.njit
    def run(weights: np.ndarray, capacity: int) -> int:
        count = len(weights)
        last = np.full(capacity + 1, count, np.int32)
        for item in range(count - 1, -1, -1):
            if weights[item] <= capacity:
                last[weights[item]] = item
        best = 0
        for total in range(1, capacity + 1):
            if last[total] == count:
                continue
            best = total
            for item in range(last[total] + 1, count):
                larger = total + weights[item]
                if larger <= capacity and item < last[larger]:
                    last[larger] = item
        return best

    return lambda weights, capacity: int(run(weights, capacity))


def enumeration(xp: Any, weights: np.ndarray, capacity: int, light: int = 20) -> int:
    """Return the largest sum of all sets of items, in chunks of 2**light.

    A chunk has one set of the heavy items, and all sets of the ``light`` last items. A chunk whose
    least sum, that of the heavy items, is above the capacity is skipped.
    """
    heavy, rest = weights[:-light].tolist(), weights[-light:].tolist()
    sums = xp.zeros(1, np.int64)
    for weight in reversed(rest):
        sums = xp.concatenate([sums, sums + weight])
    best = 0
    for chunk in range(1 << len(heavy)):
        room = capacity - sum(w for bit, w in enumerate(reversed(heavy)) if chunk >> bit & 1)
        if room >= 0:
            best = max(best, capacity - room + int(xp.where(sums <= room, sums, 0).max()))
    return best


def bitonic(xp: Any, values: Array) -> Array:
    """Return the lower median of 2**k values: the largest of the lower half of a bitonic split.

    Sorting networks make the first half of the values ascend and the second half descend; then the
    less of each pair i, i + n/2 belong to the lower half.
    """
    size, values = len(values), values.copy()
    length = 2
    while length < size:
        falls = xp.arange(size // length) % 2 == 1
        distance = length // 2
        while distance:
            pairs = values.reshape(size // length, -1, 2, distance)
            less = xp.minimum(pairs[:, :, 0], pairs[:, :, 1])
            more = xp.maximum(pairs[:, :, 0], pairs[:, :, 1])
            turned = falls[:, None, None]
            pairs[:, :, 0], pairs[:, :, 1] = (
                xp.where(turned, more, less),
                xp.where(turned, less, more),
            )
            distance //= 2
        length *= 2
    return xp.minimum(values[: size // 2], values[size // 2 :]).max()


def opposite_trees(xp: Any, values: Array) -> Array:
    """Return the median of 2**k - 1 values.

    A tree on either side of the middle moves the largest of the lower and the least of the upper
    values to the middle, where they change sides. Random offsets choose the branches anew in each
    round. The rounds end when no value changes sides.
    """
    random = np.random.default_rng(0)
    values, size = values.copy(), len(values)
    middle, moves = (size - 1) // 2, True
    while moves:
        moves, leaves = False, (size + 1) // 4
        low, high = leaves - 1, size - leaves
        low_son, high_son = random.integers(leaves, size=2)
        while leaves > 1:
            dads, sons = leaves // 2, xp.arange(leaves)
            low_dad, high_dad = random.integers(dads, size=2)
            lower = low + dads - (xp.arange(dads) + low_dad) % dads
            upper = high - dads + (xp.arange(dads) + high_dad) % dads
            below = (low - (sons + low_son) % leaves).reshape(-1, 2)
            above = (high + (sons + high_son) % leaves).reshape(-1, 2)
            rise(xp, values, lower, below, largest=True)
            rise(xp, values, upper, above, largest=False)
            less, more = values[lower], values[upper]
            moves |= bool((less > more).any())
            values[lower], values[upper] = xp.minimum(less, more), xp.maximum(less, more)
            low, high, leaves = low + dads, high - dads, dads
            low_son, high_son = low_dad, high_dad
        three = values[middle - 1 : middle + 2].copy()
        moves |= bool((three[:-1] > three[1:]).any())
        values[middle - 1 : middle + 2] = xp.sort(three)
    return values[middle]


def rise(xp: Any, values: Array, dads: Array, sons: Array, *, largest: bool) -> None:
    """Exchange each dad with its largest (or least) son if the son is larger (or less)."""
    pairs = values[sons]
    which = (pairs.argmax if largest else pairs.argmin)(axis=1)
    son = sons[xp.arange(len(dads)), which]
    held, offered = values[dads], values[son]
    swaps = offered > held if largest else offered < held
    values[dads] = xp.where(swaps, offered, held)
    values[son] = xp.where(swaps, held, offered)


def seconds(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return the answer on the host and its wall time in seconds: of a short run, the second."""
    found = 0.0
    for _ in range(2):
        start = time.perf_counter()
        answer = work()
        answer = answer.item() if hasattr(answer, "item") else answer
        found = time.perf_counter() - start
        if found >= LONG:
            break
    return answer, found


def same(name: str, answer: Any, expected: Any) -> None:
    if answer != expected:
        raise SystemExit(f"{name}: {answer} instead of {expected}")


def shown(run: str, **cells: Any) -> None:
    rounded = {k: float(f"{v:.3g}") if isinstance(v, float) else v for k, v in cells.items()}
    print(json.dumps({"run": run} | rounded), flush=True)


def bench_sums(xp: Any, device: str, most: float) -> None:
    compiled = ys()
    if compiled is None:
        print("YS is left out: numba is not installed")
    else:
        compiled(np.array([2, 1]), 2)
    subset_sum([4, 2], 3, method="dense")
    for name, make in CLASSES.items():
        for count, published in (DOCUMENT_S[name] | LARGER_S.get(name, {})).items():
            weights, capacity = make(count)
            weights = -np.sort(-weights)
            if count * capacity > most:
                continue
            works = {"k1": k1, "k2": k2, "k3": k3}
            found, own = seconds(partial(subset_sum, weights, capacity, method="dense"))
            cells: dict[str, Any] = {"class": name, "items": count, "solver_s": own}
            for place, method in enumerate(("ys", "k1", "k2", "k3")):
                cells[f"thesis_{method}_s"] = published[place]
                if method == "ys" and compiled is None:
                    continue
                work: Any = compiled if method == "ys" else partial(works[method], xp)
                answer, cells[f"{method}_s"] = seconds(partial(work, weights, capacity))
                same(f"{name} {count} {method}", answer, found.sum)
            shown(f"yardsticks-sums-{device}", **cells)


def bench_enumeration(xp: Any, device: str) -> None:
    weights = np.repeat(*np.array(CUSTOM_1).T)
    # All 36 items take minutes on a processor; without eight of 120000 there are 28.
    some = weights if device == "cuda" else np.delete(weights, np.s_[2:10])
    room = CUSTOM_1_CAPACITY - int(weights.sum() - some.sum())
    found, own = seconds(partial(subset_sum, some, room))
    answer, here = seconds(partial(enumeration, xp, some, room))
    same("enumeration", answer, found.sum)
    cells = {"enumeration_s": here, "solver_s": own}
    if device == "cuda":
        cells["thesis_s"] = CUSTOM_1_S
    shown(f"yardsticks-enumeration-{device}", items=len(some), **cells)


def bench_medians(xp: Any, device: str) -> None:
    # The first calls compile the kernels of a device.
    some = xp.arange(1 << min(MEDIANS_MS))
    bitonic(xp, some)
    opposite_trees(xp, some[:-1])
    for power, published in MEDIANS_MS.items():
        numbers = np.random.default_rng(power).integers(-(2**31), 2**31, 1 << power, np.int32)
        values = xp.asarray(numbers)
        cells: dict[str, Any] = {"values": f"2^{power}"}
        for name, method, some in (
            ("bitonic", bitonic, values),
            ("trees", opposite_trees, values[:-1]),
        ):
            rank = (len(some) + 1) // 2
            expected, own = seconds(partial(kth_smallest, some, rank))
            answer, here = seconds(partial(method, xp, some))
            same(f"{name} 2^{power}", answer, expected)
            cells |= {f"{name}_ms": 1000 * here, "solver_ms": 1000 * own}
        cells |= {"thesis_bitonic_ms": published[0], "thesis_trees_ms": published[1]}
        shown(f"yardsticks-medians-{device}", **cells)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure algorithms of the source documents.")
    parser.add_argument("--cuda", action="store_true", help="Run them in CuPy on a device.")
    parser.add_argument(
        "--limit", type=float, default=2e10, help="Most items times capacity of a sum."
    )
    options = parser.parse_args()
    xp: Any = import_module("cupy" if options.cuda else "numpy")
    device = "cuda" if options.cuda else "cpu"
    bench_sums(xp, device, options.limit)
    bench_enumeration(xp, device)
    bench_medians(xp, device)


if __name__ == "__main__":
    main()
