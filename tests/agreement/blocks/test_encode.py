"""Pictures in blocks: the compiled code writes the reference's bytes and reads them back."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.operations import check_picture
from support.same import assert_same
from support.strategies import (
    BASIC,
    CONTENT,
    block_params,
    deepened,
    earlier_planes,
    pictures,
    woven,
)

from mmpcodec import EncodeParams, FormatError
from mmpcodec.backends.base import PlaneTask
from mmpcodec.backends.block_efforts import PLAIN_EFFORTS
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.backends.reference import ReferenceBackend
from mmpcodec.presets import PRESETS
from mmpcodec.reference.blocks.coder import BlockPicture, code_block, code_blocks, code_flag
from mmpcodec.reference.blocks.partition import (
    CROSS_COMPONENT,
    TEMPLATES,
    TREE,
    WIDE_CROSS_COMPONENT,
    Block,
    is_outside,
)
from mmpcodec.reference.blocks.search.effort import MOST_MATCHED_STEP
from mmpcodec.reference.entropy.symbols import SymbolReader, SymbolWriter
from mmpcodec.reference.entropy.syntax import BLOCK_SYNTAX
from mmpcodec.reference.trees.scales import LEAF

REFERENCE, CPU = ReferenceBackend(), CpuBackend(efforts=PLAIN_EFFORTS)


def check(picture, params, threads=(1, 3)):
    check_picture("blocks", picture, params, threads=threads)


@given(pictures(max_side=20), block_params((1, 2, 4)), st.sampled_from([1, 2, 5]))
def test_any_picture_and_parameters(picture, params, threads):
    check(picture, params, [threads])


@given(pictures(max_side=8), block_params((5, 7, 9)))
def test_any_small_picture_with_much_effort(picture, params):
    check(picture, params, [2])


@pytest.mark.parametrize(
    ("fragment_size", "lam", "contents"),
    [
        (fragment_size, lam, (("natural", "text"), ("text", "natural"))[(i + j) % 2])
        for i, fragment_size in enumerate([16, 32, 64])
        for j, lam in enumerate([1e-5, 1, 32, 512, 2.0**20])
    ],
)
def test_grid(fragment_size, lam, contents):
    rng = np.random.default_rng(int(lam))
    params = EncodeParams.from_options(
        lam, preset="photo", fragment_size=fragment_size, effort=2, **BASIC
    )
    check(CONTENT["natural"](rng, 1, 1), params)
    for shape, content in zip([(5, 38), (33, 7)], contents, strict=True):
        check(CONTENT[content](rng, *shape), params)


@pytest.mark.parametrize(
    ("fragment_size", "templates", "height", "width"),
    [(16, 4, 33, 30), (32, 1, 36, 33), (64, 2, 66, 21)],
)
def test_templates(fragment_size, templates, height, width):
    picture = woven(np.random.default_rng(height), height, width)
    options = {"fragment_size": fragment_size, "templates": templates, "effort": 2, **BASIC}
    params = EncodeParams.from_options(60, preset="photo", **options)
    check(picture, params)
    units = CPU.encode(PlaneTask(picture, params)).trace.units
    assert (units[..., 2] == TEMPLATES).sum() > 6


def test_templates_serve_what_repeats_at_any_step():
    """Residuals of repeats do not grow with the step: a large step does not rule templates out."""
    glyph = (np.random.default_rng(2).random((9, 11)) < 0.5) * 60 + 60
    picture = np.tile(glyph, (6, 6))[:48, :64].astype(np.uint8)
    sizes = []
    for lam in (150, 300, 600):
        params = EncodeParams.from_options(lam, preset="photo", effort=1, fragment_size=32, **BASIC)
        assert params.coded_tools.step > 2 * MOST_MATCHED_STEP
        check(picture, params, [1])
        sizes.append(len(CPU.encode(PlaneTask(picture, params)).payload))
    assert sizes[0] > sizes[1] > sizes[2]


@pytest.mark.parametrize("dependent", [False, True])
@pytest.mark.parametrize("lam", [0.5, 40])
def test_fine_contexts(lam, dependent):
    options = {"cross_component": 0, "dependent": dependent, "effort": 2}
    params = EncodeParams.from_options(lam, preset="photo", **options)
    assert params.tools.fine_contexts
    check(CONTENT["natural"](np.random.default_rng(int(lam)), 18, 26), params, [1])


def blocks_of(picture, params, depth=8):
    """Check a picture, and return the blocks of its payload."""
    expected = check_picture("blocks", picture, params, depth, threads=[1])
    decoded = BlockPicture(picture.shape, params.coded_tools, depth)
    reader = SymbolReader(expected.payload, BLOCK_SYNTAX)
    nodes = [
        node
        for place in decoded.fragments(None)
        for node in code_blocks(reader, decoded, place, None)
    ]
    return [node.block for node in nodes if node.block]


@pytest.mark.parametrize(("lam", "dependent"), [(1, True), (20, False)])
def test_trained_transforms(lam, dependent):
    options = {"cross_component": 0, "dependent": dependent, "effort": 1}
    params = EncodeParams.from_options(lam, preset="photo", trained_transforms=True, **options)
    picture = CONTENT["natural"](np.random.default_rng(7), 21, 30)
    assert any(block.trained for block in blocks_of(picture, params))


@pytest.mark.parametrize(("lam", "depth"), [(4, 8), (100, 8), (1, 12), (40, 16)])
def test_transform_skip(lam, depth):
    rng = np.random.default_rng(depth)
    picture = CONTENT["natural"](rng, 26, 35)
    picture[4:22, 5:30] = CONTENT["text"](rng, 18, 25)
    if depth > 8:
        picture = deepened(rng, picture, depth)
    params = EncodeParams.from_options(
        lam, preset="photo", transform_skip=True, effort=1, cross_component=0
    )
    blocks = blocks_of(picture, params, depth)
    assert any(block.skipped for block in blocks)
    assert any(block.levels is not None and not block.skipped for block in blocks)
    weighted = EncodeParams.from_options(
        lam, preset="photo", transform_skip=True, effort=1, cross_component=0, quantisation_matrix=4
    )
    assert not any(block.skipped for block in blocks_of(picture, weighted, depth))


@pytest.mark.parametrize("fragment_size", [16, 64])
def test_border_sines(fragment_size):
    options = {"cross_component": 0, "fragment_size": fragment_size, "effort": 1}
    params = EncodeParams.from_options(12, preset="photo", **options)
    picture = CONTENT["natural"](np.random.default_rng(5), 22, 35)
    check(picture, params, [2])
    without = EncodeParams.from_options(12, preset="photo", border_sines=False, **options)
    assert (
        CPU.encode(PlaneTask(picture, params)).payload
        != CPU.encode(PlaneTask(picture, without)).payload
    )


@pytest.mark.parametrize(("fragment_size", "effort"), [(16, 2), (32, 1), (64, 2)])
def test_trees_among_predicted_blocks(fragment_size, effort):
    rng = np.random.default_rng(effort)
    picture = np.hstack([CONTENT["text"](rng, 33, 17), CONTENT["natural"](rng, 33, 10)])
    options = {"fragment_size": fragment_size, "effort": effort, **BASIC}
    params = EncodeParams.from_options(60, preset="mixed", **options)
    check(picture, params)
    kinds = CPU.encode(PlaneTask(picture, params)).trace.units[..., 3]
    assert min((kinds == TREE).sum(), (kinds != TREE).sum()) > 5


@pytest.mark.parametrize(
    ("preset", "height", "width", "planes"),
    [
        pytest.param("photo", 66, 30, 1, marks=pytest.mark.slow),
        ("photo", 66, 30, 2),
        ("mixed", 17, 30, 1),
        ("mixed", 17, 30, 2),
    ],
)
def test_cross_component(preset, height, width, planes):
    luma, other = earlier_planes((height, width), replace(PRESETS["photo"], cross_component=2))
    picture = (luma // 2 + other // 5 + np.arange(width) // 9).astype(np.uint8)
    # Without trained states, so that the modes do not change with the training.
    options = {"cross_component": planes, "initial_states": False, "effort": 1}
    params = EncodeParams.from_options(8, preset=preset, **options)
    expected = check_picture("blocks", picture, params, threads=(1, 3))
    modes = expected.trace.units[..., 2]
    assert (modes == CROSS_COMPONENT).sum() > 10
    assert (modes == WIDE_CROSS_COMPONENT).sum() > 5 or preset == "mixed"


def test_trees_teach_every_fragment_that_comes_later():
    """More fragments than one in both directions, a full dictionary and every tool."""
    rng = np.random.default_rng(3)
    picture = CONTENT["text"](rng, 45, 40)
    picture[20:35, 25:] = CONTENT["natural"](rng, 15, 15)
    options = {"dictionary_limit": 300, "copy_radius": 4, "fragment_size": 32, "effort": 1}
    options |= {"templates": 0, **BASIC}
    params = EncodeParams.from_options(4, preset="mixed", **options)
    check(picture, params)
    sizes = CPU.encode(PlaneTask(picture, params)).trace.dictionary_sizes
    assert max(sizes) == 300


@pytest.mark.parametrize(
    ("fragment_size", "displaced_blocks", "shape"),
    [(16, 2, (50, 37)), (32, 1, (36, 44)), (64, 4, (22, 96))],
)
def test_trees_copy_letters_off_the_grid(fragment_size, displaced_blocks, shape):
    rng = np.random.default_rng(fragment_size)
    letter = rng.integers(0, 2, (11, 9)) * 180
    picture = np.full(shape, 230, np.uint8)
    for row in range(1, shape[0] - 11, 13):
        for column in range(row % 5, shape[1] - 9, 10):
            picture[row : row + 11, column : column + 9] -= letter.astype(np.uint8)
    options = {"fragment_size": fragment_size, "effort": 1, "templates": 0, **BASIC}
    sizes = []
    for step in (0, displaced_blocks):
        params = EncodeParams.from_options(8, preset="mixed", displaced_blocks=step, **options)
        check(picture, params, [2])
        sizes.append(len(CPU.encode(PlaneTask(picture, params)).payload))
    assert sizes[1] < sizes[0]


def random_blocks(rng, shape, tools):
    """A payload of blocks that no search chose, most by templates, and what it decodes to."""
    picture, writer = BlockPicture(shape, tools), SymbolWriter(BLOCK_SYNTAX)

    def visit(place):
        if is_outside(place, picture.samples.shape):
            return
        wanted = LEAF if rng.random() < 0.1 else place.flags()[-1]
        flag = code_flag(writer, picture, place, wanted)
        if flag != LEAF:
            for part in place.parts(flag):
                visit(part)
            return
        there = TEMPLATES not in picture.absent_modes(place) and rng.random() < 0.9
        levels = np.zeros((min(place.height, 32), min(place.width, 32)), np.int64)
        levels[tuple(rng.integers(0, 3, 2))] = rng.integers(1, 4) * rng.choice([-1, 1])
        block = Block(TEMPLATES if there else 0, levels if rng.random() < 0.6 else None)
        code_block(writer, picture, place, block)
        picture.rebuild(place, block)

    for fragment in picture.fragments(None):
        visit(fragment)
    return writer.finish(), picture.shown()


@pytest.mark.parametrize("templates", [1, 2, 4])
@pytest.mark.parametrize(
    ("fragment_size", "height", "width", "step"), [(16, 62, 157, 140), (64, 71, 150, 2500)]
)
def test_places_all_over_the_window_and_equal_ones(fragment_size, height, width, step, templates):
    """With the smaller step some errors are just what may stay."""
    own = {"fragment_size": fragment_size, "templates": templates, "step": step}
    tools = replace(PRESETS["photo"], **(BASIC | own))
    rng = np.random.default_rng(templates)
    payload, samples = random_blocks(rng, (height, width), tools)
    assert np.array_equal(CPU.decode(payload, (height, width), tools).samples, samples)


@pytest.mark.parametrize(("height", "width"), [(68, 24), (20, 100)])
def test_several_fragments(height, width):
    picture = CONTENT["natural"](np.random.default_rng(1), height, width)
    check(picture, EncodeParams.from_options(32, preset="photo", effort=1, **BASIC))


@pytest.mark.parametrize(
    ("preset", "height", "width", "content", "lam"),
    [
        (*picture, content, (0.5, 60)[(i + j) % 2])
        for i, picture in enumerate([("photo", 70, 131), ("mixed", 33, 36)])
        for j, content in enumerate(CONTENT)
    ],
)
def test_larger_pictures_decode_alike(preset, height, width, content, lam):
    picture = CONTENT[content](np.random.default_rng(2), height, width)
    params = EncodeParams.from_options(lam, preset=preset, effort=2, **BASIC)
    coded = CPU.encode(PlaneTask(picture, params))
    decoded = REFERENCE.decode(coded.payload, picture.shape, params.coded_tools)
    assert_same(coded, decoded, content)


def outcome(backend, payload, shape, params):
    """The decoded samples, or the type and the text of the error."""
    try:
        earlier = earlier_planes(shape, params.tools)
        decoded = backend.decode(payload, shape, params.coded_tools, earlier=earlier)
        return decoded.samples.tobytes()
    except FormatError as error:
        return type(error).__name__, str(error)


@given(
    st.binary(max_size=120)
    | st.binary(min_size=20, max_size=60).map(lambda tail: b"\xff" * 9 + tail),
    st.integers(1, 70),
    st.integers(1, 70),
    block_params(),
)
def test_random_payloads_decode_alike(payload, height, width, params):
    expected = outcome(REFERENCE, payload, (height, width), params)
    assert outcome(CPU, payload, (height, width), params) == expected
    if not isinstance(expected, bytes):
        kind, text = expected
        assert kind in ("TruncatedStream", "CorruptStream")
        assert text.split(":")[0] in ("Range coder", "Modes", "Levels", "Delta step")


@pytest.mark.parametrize(
    ("preset", "content", "height", "width"),
    [("photo", "natural", 33, 34), ("mixed", "text", 18, 19)],
)
def test_damaged_payloads_decode_alike(preset, content, height, width):
    rng = np.random.default_rng(3)
    picture = CONTENT[content](rng, height, width)
    params = EncodeParams.from_options(30, preset=preset, effort=3, **BASIC)
    payload = CPU.encode(PlaneTask(picture, params)).payload
    damaged = [payload[:length] for length in range(0, len(payload), 24)]
    damaged += [payload + b"\x01"]
    for place in range(0, len(payload), 14):
        changed = bytearray(payload)
        changed[place] ^= int(rng.integers(1, 256))
        damaged.append(bytes(changed))
    results = [outcome(REFERENCE, data, picture.shape, params) for data in damaged]
    assert results == [outcome(CPU, data, picture.shape, params) for data in damaged]
    kinds = {result[0] for result in results if not isinstance(result, bytes)}
    assert kinds == {"TruncatedStream", "CorruptStream"}
