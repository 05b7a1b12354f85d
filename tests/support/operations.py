"""One table of what each backend computes: operation, reference, backends, inputs.

``tests/agreement/test_table.py`` compares and times each row; others there compare more.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from mmpcodec import _cpu
from mmpcodec.backends.base import PlaneTask
from mmpcodec.backends.block_efforts import PLAIN_EFFORTS
from mmpcodec.backends.cpu import (
    CpuBackend,
    NativeBorderFilter,
    NativeCrossComponentFilter,
    NativeFixedFilters,
    NativePostFilter,
)
from mmpcodec.backends.cuda.backend import CudaBackend
from mmpcodec.backends.reference import ReferenceBackend
from mmpcodec.errors import FormatError
from mmpcodec.params import EncodeParams
from mmpcodec.reference.blocks.steps import one_step
from mmpcodec.reference.entropy.rangecoder import RangeDecoder, RangeEncoder
from mmpcodec.reference.entropy.rates import LOG2
from mmpcodec.reference.filters.border import BorderFilter
from mmpcodec.reference.filters.cross_component import CrossComponentFilter
from mmpcodec.reference.filters.fixed import FixedFilters
from mmpcodec.reference.filters.post import CLASSES, TAPS, PostFilter
from mmpcodec.reference.lossless import coder
from mmpcodec.reference.trees.costs import cost_map, map_region
from mmpcodec.reference.trees.dictionary import Dictionary
from mmpcodec.reference.trees.scales import SCALES, rescale
from mmpcodec.solvers import knapsack, max_sum, rank_filter, selection, subset_sum
from mmpcodec.tools import LosslessTools, Tools, TreeTools
from support.arrays import (
    TYPES,
    items_and_sum,
    items_and_value,
    of_types,
    values,
    weights_and_profits,
    with_type,
)
from support.same import assert_same
from support.strategies import BASIC, CONTENT, deepened, earlier_planes, woven

Call = Callable[..., Any]
LEVELS = CpuBackend.levels()
REFERENCE = ReferenceBackend()


@dataclass(frozen=True)
class Operation:
    """One operation in all its versions.

    Parameters
    ----------
    reference : callable
        The version that is right by definition.
    backends : mapping of str to callable
        The other versions; names that begin with "cuda" need a device.
    inputs : mapping of str to callable
        By name, what makes the positional arguments of all versions.
    """

    reference: Call
    backends: Mapping[str, Call]
    inputs: Mapping[str, Callable[[], tuple]] = field(default_factory=dict)

    def check(self, *arguments: Any, backends: Iterable[str] | None = None) -> Any:
        """Compare versions on one input; all of the processor unless some are named.

        Returns
        -------
        object
            The result of the reference.
        """
        expected = self.reference(*arguments)
        on_host = [name for name in self.backends if not name.startswith("cuda")]
        for name in on_host if backends is None else backends:
            assert_same(expected, self.backends[name](*arguments), name)
        return expected


# Entropy coding.


def intervals(seed: int, count: int) -> tuple[list[tuple[int, int, int]]]:
    """Random intervals of a range coder: cumulative, frequency and total."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        total = int(rng.integers(1, 1 << int(rng.integers(1, 18))))
        cumulative = int(rng.integers(total))
        found.append((cumulative, int(rng.integers(1, total - cumulative + 1)), total))
    return (found,)


def encoded_intervals(encoder: Call, stream: list[tuple[int, int, int]]) -> bytes:
    coder = encoder()
    for interval in stream:
        coder.encode(*interval)
    return coder.finish()


def decoded_targets(decoder: Call, payload: bytes, seed: int) -> tuple[list[int], str]:
    """Targets of random symbols until the payload ends, and the error that says so.

    The payload may be one that no encoder writes; then the offset can pass the range.
    """
    rng, coder, targets = np.random.default_rng(seed), decoder(payload), []
    while True:
        total = int(rng.integers(1, 1 << int(rng.integers(1, 18))))
        target = coder.target(total)
        targets.append(target)
        try:
            coder.consume(target, min(1 + total // 3, total - target))
        except FormatError as error:
            return targets, f"{type(error).__name__}: {error}"


# Trees.


def block_of(source: int, kind: str) -> tuple[np.ndarray, int]:
    """A block of a scale, with any samples or with black and white ones, and the scale's number."""
    rng, scale = np.random.default_rng(source), SCALES[source]
    block = rng.integers(0, 256, (scale.height, scale.width), dtype=np.uint8)
    return (np.where(block > 127, 255, 0).astype(np.uint8) if kind == "extremes" else block), source


def device_rescale(block: np.ndarray, source: int) -> list[np.ndarray]:
    from support.device_steps import DeviceOperations

    device = DeviceOperations(EncodeParams.from_options(32, preset="plain"))
    found = device.rescale(block, SCALES[source])
    return [found[target] for target in SCALES]


def searched(content: str, size: int) -> tuple[np.ndarray, dict, dict]:
    """A fragment, dictionaries of all scales and index costs, of which half are equal."""
    rng = np.random.default_rng(size)
    fragment = CONTENT[content](rng, 16, 16)
    dictionaries, costs = {}, {}
    for scale in SCALES:
        dictionary = Dictionary(scale, TreeTools(dictionary_limit=size))
        area = scale.height * scale.width
        while len(dictionary) < size and area > 1:
            source = CONTENT[content](rng, 16, 16)
            dictionary.insert(rescale(source, scale).ravel(), scale)
            dictionary.insert(rng.integers(0, 256, area, dtype=np.uint8), scale)
        own = rng.integers(0, 20000, len(dictionary))
        own[rng.random(len(dictionary)) < 0.5] = 640
        dictionaries[scale], costs[scale] = dictionary, own
    return fragment, dictionaries, costs


def reference_search(fragment: np.ndarray, dictionaries: dict, costs: dict) -> list:
    found = cost_map(fragment, dictionaries, costs)
    return [tuple(part[map_region(scale)] for part in found) for scale in dictionaries]


def native_search(level: str, fragment: np.ndarray, dictionaries: dict, costs: dict) -> list:
    return [
        tuple(
            _cpu.search_scale(
                fragment, scale.number, each.samples, costs[scale].astype(np.int32), level
            )
        )
        for scale, each in dictionaries.items()
    ]


# Pictures.


def encode(backend: Any, threads: int | None, plane: np.ndarray, params: EncodeParams, depth=8):
    earlier = earlier_planes(plane.shape, params.tools, depth)
    return backend.encode(PlaneTask(plane, params, depth=depth, earlier=earlier), threads=threads)


def decode(backend: Any, threads: int | None, payload: bytes, shape, tools: Tools, depth=8):
    earlier = earlier_planes(shape, tools, depth)
    return backend.decode(payload, shape, tools, depth=depth, earlier=earlier, threads=threads)


def device_encode(plane: np.ndarray, params: EncodeParams, depth: int = 8):
    return CudaBackend(plain=True).encode(PlaneTask(plane, params, depth=depth))


def plane(content: str, height: int, width: int, preset: str, lam: float, depth=8, **options):
    """The arguments of encoding a plane of simulated content."""
    rng = np.random.default_rng(height + depth)
    samples = {**CONTENT, "woven": woven}[content](rng, height, width)
    params = EncodeParams.from_options(lam, preset=preset, **options)
    return (samples, params) if depth == 8 else (deepened(rng, samples, depth), params, depth)


def payload(*arguments: Any, **options: Any) -> tuple:
    """The arguments of decoding the plane that ``plane`` makes."""
    samples, params, *depth = plane(*arguments, **options)
    coded = CpuBackend().encode(PlaneTask(samples, params, *depth))
    return coded.payload, samples.shape, params.coded_tools, *depth


def plane_pair(content: str, depth: int) -> tuple:
    """A source, its coded samples, coefficients of the post filter, lambda and depth."""
    rng = np.random.default_rng(len(content))
    samples = CONTENT[content](rng, 60, 75)
    source = np.clip(samples + rng.normal(0, 9, samples.shape), 0, 255).astype(np.uint8)
    source, samples = (deepened(rng, each, depth) for each in (source, samples))
    return source, samples, ((7,) * len(TAPS),) * CLASSES, 1 << 20, depth


def filtered(post_filter: PostFilter, source, samples, chosen, lambda_fixed, depth=8) -> tuple:
    """All that a post filter computes: filtered samples, sums of bands, and the fit."""
    shown = post_filter.apply(samples, chosen, depth)
    height = len(samples)
    sums = [
        (
            post_filter._gram(source, samples, *band, depth),
            post_filter._errors(source, samples, shown, *band, depth),
        )
        for band in sorted({(0, height), (height // 3, height - height // 4)})
    ]
    fitted = post_filter.fit_and_apply(source, samples, lambda_fixed, depth)
    return shown, str(shown.dtype), sums, fitted


def bank_pair(content: str, depth: int) -> tuple:
    """A source, its coded samples, value of the fixed filters, step and depth."""
    source, samples, *_ = plane_pair(content, depth)
    return source, samples, 0b11_10_01_00_11_10_01, 400, depth


def filtered_by_bank(bank: FixedFilters, source, samples, value, step, depth=8) -> tuple:
    """All that fixed filters computes: filtered samples, sums of bands, and the choice."""
    shown = bank.apply(samples, value, step, depth)
    height, steps = len(samples), one_step(step) if isinstance(step, int) else step
    sums = [
        bank._errors(source, samples, steps, *band, depth)
        for band in sorted({(0, height), (height // 3, height - height // 4)})
    ]
    return shown, str(shown.dtype), sums, bank.choose(source, samples, step, depth)


def pixels(depth: int) -> tuple:
    """Pixels of four planes, border step, depth, tile size, place and fixed pixels."""
    rng = np.random.default_rng(depth)
    planes = [deepened(rng, CONTENT["natural"](rng, 140, 150), depth) for _ in range(4)]
    return np.dstack(planes), 400, depth, 64, (30, 50), rng.random((140, 150)) < 0.01


def without_borders(own: BorderFilter, samples, *given) -> np.ndarray:
    """What the border filter makes of samples."""
    shown = samples.copy()
    own.apply(shown, *given)
    return shown


def planes_apart(content: str, count: int, depth: int) -> tuple:
    """A source, its coded samples, earlier planes, coefficients and depth; 150 columns."""
    rng = np.random.default_rng(count)
    source, samples, *earlier = (
        deepened(rng, CONTENT[content](rng, 31, 150), depth) for _ in range(2 + count)
    )
    coefficients = tuple(
        tuple(rng.integers(-64, 64, 12).tolist()) if number < count else () for number in range(2)
    )
    return source, samples, earlier, coefficients, depth


def filtered_by_planes(
    own: CrossComponentFilter, source, samples, earlier, coefficients, depth
) -> tuple:
    """All that a cross-component filter computes: filtered samples, sums of bands, and the fit."""
    shown = own.apply(samples, earlier, coefficients, depth)
    sums = [own._gram(source, samples, earlier, *band, depth) for band in ((0, 31), (9, 22))]
    return shown, str(shown.dtype), sums, own.fit_and_apply(source, samples, earlier, 1, depth)


def silent(done: int, total: int) -> None:
    pass


def planes(content: str, count: int, depth: int) -> tuple[np.ndarray, int]:
    """Planes that resemble each other, and their depth."""
    rng = np.random.default_rng(count)
    first = CONTENT[content](rng, 9, 13).astype(np.int64) * ((1 << depth) - 1) // 255
    noise = rng.integers(-1, 2, (count, *first.shape))
    return np.clip(first + noise, 0, (1 << depth) - 1).astype(np.uint16), depth


def lossless_reference(samples: np.ndarray, depth: int, tools: LosslessTools) -> tuple:
    """What encoding gives, then what decoding gives: bits by syntax element and rates of cells."""
    coded, shown, bits, cells = coder.encode_planes(samples, depth, tools, silent)
    decoded, *found = coder.decode_planes(coded, samples.shape, depth, tools, silent)
    return coded, shown, list(bits.values()), cells, decoded, list(found[0].values()), found[1]


def lossless_native(threads: int, samples: np.ndarray, depth: int, tools: LosslessTools) -> tuple:
    coded, shown, rates, cells = _cpu.encode_lossless(samples, depth, tools, threads, None)
    decoded, *found = _cpu.decode_lossless(coded, samples.shape, depth, tools, threads, None)
    bits, same_bits = ([each / 4096 for each in own] for own in (rates, found[0]))
    return coded, shown, bits, cells, decoded, same_bits, found[1]


def lossless_input(content: str, count: int, depth: int, form: str) -> tuple:
    return *planes(content, count, depth), LOSSLESS_INPUTS[form]


# Solvers: functions of arrays, with the backend as an option.


def solver(function: Call, facts: Call = lambda found: found, **inputs: Callable[[], tuple]):
    """A solver's function on each backend; ``facts`` drops names of backends and times."""

    def by(backend: str) -> Call:
        return lambda *arguments: facts(function(*arguments, backend=backend))

    return Operation(by("reference"), {name: by(name) for name in ("cpu", "cuda")}, inputs)


TREES = {
    "text": partial(plane, "text", 33, 40, "text", 20, displaced_blocks=0),
    "natural": partial(plane, "natural", 33, 40, "plain", 32),
    "noise, lossless": partial(plane, "noise", 17, 33, "plain", 0),
    "natural, classic": partial(plane, "natural", 17, 33, "classic", 128),
    "natural, full dictionaries": partial(
        plane, "natural", 33, 40, "plain", 8, dictionary_limit=300, replacement=True
    ),
}
BLOCKS = {
    "natural": partial(plane, "natural", 33, 38, "photo", 32, effort=2, **BASIC),
    "woven, templates": partial(plane, "woven", 41, 38, "photo", 60, effort=2, **BASIC),
    "text, fragments of 16": partial(
        plane, "text", 33, 26, "photo", 60, effort=2, **BASIC, fragment_size=16
    ),
}
WEIGHTED = {"quantisation_matrix": 6, "fragment_size": 64, "cross_component": 0}
BEYOND_CUDA = {
    "text, trees with copies": partial(plane, "text", 33, 40, "text", 20),
    "text, with trees": partial(plane, "text", 33, 26, "mixed", 60, effort=1, **BASIC),
    "natural, 12 bits": partial(plane, "natural", 21, 38, "photo", 3, 12, effort=2, **BASIC),
    "woven, 16 bits": partial(plane, "woven", 33, 35, "photo", 20, 16, effort=2, **BASIC),
    "natural, quantisation matrix": partial(
        plane, "natural", 66, 34, "photo", 30, effort=1, **WEIGHTED
    ),
    "natural, 12 bits, quantisation matrix": partial(
        plane, "natural", 21, 38, "photo", 3, 12, effort=2, **WEIGHTED
    ),
}

LOSSLESS_INPUTS = {
    **{f"form {number}": LosslessTools(number) for number in (1, 2, 3)},
    "form 1, error 2": LosslessTools(1, 2),
    "form 3, error 5": LosslessTools(3, 5),
}
"""Tools of lossless samples."""
LOSSLESS = ("natural", 1, 8), ("text", 3, 8), ("natural", 4, 16), ("noise", 2, 1)


def coded(inputs: Mapping[str, partial]) -> dict[str, Callable[[], tuple]]:
    """The same pictures, as payloads to decode."""
    return {name: partial(payload, *each.args, **each.keywords) for name, each in inputs.items()}


def encoders(threads: Iterable[int], levels: Iterable[str] = LEVELS[:1]) -> dict[str, Call]:
    return {
        f"cpu {level}, {count} threads": partial(
            encode, CpuBackend(level, efforts=PLAIN_EFFORTS), count
        )
        for level in levels
        for count in threads
    }


DECODERS = {f"cpu, {count} threads": partial(decode, CpuBackend(), count) for count in (1, 3)}
ENCODE, DECODE = partial(encode, REFERENCE, None), partial(decode, REFERENCE, None)
CUDA = {"cuda": device_encode}

OPERATIONS: dict[str, Operation] = {
    "log2": Operation(
        lambda count: LOG2[1:count],
        {"cpu": lambda count: np.array([_cpu.log2_rate(i) for i in range(1, count)])},
        {"every total": lambda: (len(LOG2),)},
    ),
    "range encoder": Operation(
        partial(encoded_intervals, RangeEncoder),
        {"cpu": partial(encoded_intervals, _cpu.RangeEncoder)},
        {"20000 symbols": partial(intervals, 11, 20000)},
    ),
    "range decoder": Operation(
        partial(decoded_targets, RangeDecoder),
        {"cpu": partial(decoded_targets, _cpu.RangeDecoder)},
        {
            "ones": lambda: (b"\xff" * 60, 12),
            "zeros": lambda: (bytes(60), 12),
            "any bytes": lambda: (np.random.default_rng(12).bytes(60), 12),
        },
    ),
    "rescale": Operation(
        lambda block, source: [rescale(block, target) for target in SCALES],
        {
            "cpu": lambda block, source: [
                _cpu.rescale(block, source, target.number) for target in SCALES
            ],
            "cuda": device_rescale,
        },
        {
            f"{scale.height}x{scale.width}, {kind}": partial(block_of, scale.number, kind)
            for scale in SCALES
            for kind in ("any", "extremes")
        },
    ),
    "search trees": Operation(
        reference_search,
        {f"cpu {level}": partial(native_search, level) for level in LEVELS},
        {
            f"{content}, {size} elements": partial(searched, content, size)
            for content in CONTENT
            for size in (256, 257, 700)
        },
    ),
    "encode trees": Operation(ENCODE, encoders((1, 2, 5), LEVELS) | CUDA, TREES),
    "decode trees": Operation(DECODE, DECODERS, coded(TREES)),
    "encode blocks": Operation(ENCODE, encoders((1, 2, 3, 5)) | CUDA, BLOCKS),
    "encode, not on cuda": Operation(ENCODE, encoders((1, 3)), BEYOND_CUDA),
    "decode blocks": Operation(DECODE, DECODERS, coded(BLOCKS | BEYOND_CUDA)),
    "lossless samples": Operation(
        lossless_reference,
        {"cpu": partial(lossless_native, 1), "cpu, 3 threads": partial(lossless_native, 3)},
        {
            f"{content}, {count} planes, {depth} bits, {form}": partial(
                lossless_input, content, count, depth, form
            )
            for content, count, depth in LOSSLESS
            for form in LOSSLESS_INPUTS
        },
    ),
    "border filter": Operation(
        partial(without_borders, BorderFilter()),
        {"cpu": partial(without_borders, NativeBorderFilter())},
        {f"{depth} bits": partial(pixels, depth) for depth in (8, 16)},
    ),
    "cross-component filter": Operation(
        partial(filtered_by_planes, CrossComponentFilter()),
        {"cpu": partial(filtered_by_planes, NativeCrossComponentFilter())},
        {
            f"{content}, {count} planes, {depth} bits": partial(planes_apart, content, count, depth)
            for content in ("noise", "natural")
            for count in (1, 2)
            for depth in (8, 10, 13, 16)
        },
    ),
    "fixed filters": Operation(
        partial(filtered_by_bank, FixedFilters()),
        {"cpu": partial(filtered_by_bank, NativeFixedFilters())},
        {
            f"{content}, {depth} bits": partial(bank_pair, content, depth)
            for content in CONTENT
            for depth in (8, 16)
        },
    ),
    "post filter": Operation(
        partial(filtered, PostFilter()),
        {"cpu": partial(filtered, NativePostFilter())},
        {
            f"{content}, {depth} bits": partial(plane_pair, content, depth)
            for content in CONTENT
            for depth in (8, 16)
        },
    ),
    "max_interval": solver(max_sum.max_interval, **of_types(300)),
    "interval_census": solver(max_sum.interval_census, **of_types(300)),
    "maximal_intervals": solver(max_sum.maximal_intervals, vars, **of_types(300)),
    "max_interval_of_shards": solver(
        lambda array, **more: max_sum.max_interval_of_shards(np.array_split(array, 3), **more),
        **of_types(2500),
    ),
    "max_rectangle": solver(max_sum.max_rectangle, **of_types((33, 20))),
    "rectangle_census": solver(max_sum.rectangle_census, **of_types((19, 20))),
    "max_box": solver(max_sum.max_box, **of_types((9, 7, 8))),
    "max_box of limited sides": solver(
        partial(max_sum.max_box, min_depth=2, max_height=3, max_width=5), **of_types((5, 6, 8))
    ),
    "box_census": solver(max_sum.box_census, **of_types((4, 5, 6))),
    "disjoint_boxes": solver(
        partial(max_sum.disjoint_boxes, k=2, allow_empty=True), **of_types((4, 3, 5))
    ),
    "median_filter": solver(
        with_type(rank_filter.median_filter),
        **{
            f"{each}, {size}": partial(lambda t, n: (np.abs(values((40, 50), t)), n), each, size)
            for each in ("u1", "u2", "i2", "f4", "f8")
            for size in (3, 4, 5, 7, 9, 21)
        },
    ),
    "rank_filter": solver(
        with_type(rank_filter.rank_filter),
        **{
            f"{each}, rank {rank} of {size}": partial(
                lambda t, r, n: (values((40, 50), t), r, n), each, rank, size
            )
            for each in ("u1", "u2", "i2", "f4", "f8")
            for rank, size in ((0, 3), (-1, 21), (5, 6))
        },
    ),
    "rank_filter, footprint": solver(
        with_type(partial(rank_filter.rank_filter, footprint=np.tri(6, 5))),
        **{
            each: partial(lambda t: (values((40, 50), t), 9), each)
            for each in ("u1", "u2", "i2", "f4", "f8")
        },
    ),
    "kth_smallest": solver(
        selection.kth_smallest,
        **{
            each: partial(lambda t: (values(30_019, t), [1, 3, 9000, 30_000]), each)
            for each in TYPES
            if each != "?"
        },
    ),
    "medians of lines": solver(
        partial(selection.median, axis=1, keepdims=True), **of_types((7, 41, 33))
    ),
    "medians along two axes": solver(
        partial(selection.median, axis=(0, 2), nan="omit"), **of_types((7, 41, 5))
    ),
    "subset_sum": solver(
        subset_sum.subset_sum,
        items_and_sum,
        **{
            f"{count} items": partial(lambda n: (weights_and_profits(n)[1], 50 * n + 7), count)
            for count in (3, 12, 60)
        },
    ),
    "knapsack": solver(
        partial(knapsack.knapsack, first_choice=True),
        items_and_value,
        **{
            f"{count} items": partial(lambda n: (*weights_and_profits(n), 45 * n), count)
            for count in (5, 40, 90)
        },
    ),
    "knapsack, copies": solver(
        partial(knapsack.knapsack, copies=3, first_choice=True),
        lambda found: (*items_and_value(found), found.counts),
        **{
            f"{count} items": partial(lambda n: (*weights_and_profits(n), 45 * n), count)
            for count in (5, 40)
        },
    ),
    "knapsack, number of items": solver(
        partial(knapsack.knapsack, copies=np.inf, least_items=3, most_items=7),
        lambda found: found.value,
        **{
            f"{count} items": partial(lambda n: (*weights_and_profits(n), 45 * n), count)
            for count in (5, 20)
        },
    ),
}


def check_picture(
    coding: str, plane: np.ndarray, params: EncodeParams, depth: int = 8, threads=None
) -> Any:
    """Compare encoding and decoding of a plane of trees or blocks on the processor.

    Parameters
    ----------
    coding : {"trees", "blocks"}
    plane : (H, W) uint8 or uint16 array
    params : EncodeParams
    depth : int
    threads : iterable of int or None
        Numbers of threads to encode with at the best SIMD level; None is every version.

    Returns
    -------
    Coded
        The picture as the reference codes it.
    """
    names = None if threads is None else [f"cpu {LEVELS[0]}, {each} threads" for each in threads]
    expected = OPERATIONS[f"encode {coding}"].check(plane, params, depth, backends=names)
    assert expected.samples.dtype == plane.dtype
    assert expected.trace.cell_rates.sum() == 4096 * sum(expected.trace.bits.values())
    check_decoding(coding, expected, params, depth)
    return expected


def check_decoding(coding: str, coded: Any, params: EncodeParams, depth: int = 8) -> None:
    """Compare what every backend decodes of a coded plane with what its encoder saw."""
    arguments = coded.payload, coded.samples.shape, params.coded_tools, depth
    assert_same(coded, OPERATIONS[f"decode {coding}"].check(*arguments), "decode, reference")
