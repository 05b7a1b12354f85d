"""Each operation of the search loop on the device against the reference."""

import numpy as np
import pytest
from support.device_steps import DeviceOperations, keys_of, split_keys
from support.strategies import CONTENT

from mmpcodec.params import EncodeParams
from mmpcodec.reference.entropy.symbols import SymbolWriter
from mmpcodec.reference.trees import dictionary as reference
from mmpcodec.reference.trees.costs import cost_map, index_costs, segments_of
from mmpcodec.reference.trees.learning import learn
from mmpcodec.reference.trees.models import Models
from mmpcodec.reference.trees.scales import LEAF, OUTSIDE, SCALES, rescale
from mmpcodec.reference.trees.tree import Neighbours, code_tree, optimal_tree, rebuild

PARAMS = [
    EncodeParams.from_options(32, preset="plain"),
    EncodeParams.from_options(0, dictionary_limit=300, preset="plain"),
    EncodeParams.from_options(512, preset="classic"),
    EncodeParams.from_options(20, partition="dyadic", rate_model="log2", preset="plain"),
    EncodeParams.from_options(16, preset="text", displaced_blocks=0),
    EncodeParams.from_options(
        8, preset="text", displaced_blocks=0, dictionary_limit=260, redundancy_radius=300
    ),
    EncodeParams.from_options(2, preset="classic", dictionary_limit=300, replacement=True),
]


def test_keys_sort_as_costs_then_elements():
    cost, index = np.array([-5, -5, 0, 7]), np.array([1, 65535, 0, 3])
    keys = keys_of(cost, index)
    assert (np.sort(keys) == keys).all()
    for expected, found in zip((cost, index), split_keys(keys), strict=True):
        assert (expected == found).all()


def trained(params, seed):
    """Dictionaries and models with random elements and uses; full ones where the limit is low."""
    rng = np.random.default_rng(seed)
    tools = params.coded_tools
    dictionaries, models = reference.make_dictionaries(tools), Models(tools)
    for scale, dictionary in dictionaries.items():
        area = scale.height * scale.width
        for content in CONTENT.values():
            segments = segments_of(content(rng, 16, 16), scale)
            noisy = np.clip(segments + rng.integers(-9, 9, (90, *segments.shape)), 0, 255)
            for element in noisy.astype(np.uint8).reshape(-1, area)[:180]:
                dictionary.insert(element, SCALES[rng.integers(len(SCALES))])
        for index in rng.integers(0, len(dictionary), 60):
            dictionary.use(int(index))
    models.flag_frequency[:] = rng.integers(1, 90, models.flag_frequency.shape)
    models.class_frequency[:] = rng.integers(1, 90, models.class_frequency.shape)
    return dictionaries, models


def costs_of(params, dictionaries, models):
    return {
        scale: index_costs(models, dictionary, params.lambda_fixed, params.rate_model)
        for scale, dictionary in dictionaries.items()
    }


def assert_dictionary(device, scale, expected):
    found = device.dictionary(scale)
    np.testing.assert_array_equal(found["samples"], expected.samples)
    np.testing.assert_array_equal(found["count"], expected.count)
    np.testing.assert_array_equal(found["element_class"], expected.element_class)


@pytest.fixture(params=PARAMS, ids=lambda p: f"{p.lam:g}-{p.rate_model}-{p.tools.partition.name}")
def loaded(request):
    params = request.param
    dictionaries, models = trained(params, 5)
    device = DeviceOperations(params, (48, 40))
    device.load(dictionaries, models)
    return params, dictionaries, models, device


@pytest.mark.gpu
def test_load_and_read_back(loaded):
    params, dictionaries, models, device = loaded
    costs = costs_of(params, dictionaries, models)
    for scale, dictionary in dictionaries.items():
        assert_dictionary(device, scale, dictionary)
        np.testing.assert_array_equal(device.dictionary(scale)["cost"], costs[scale])


@pytest.mark.gpu
@pytest.mark.parametrize("content", CONTENT)
def test_cost_map_reduction_and_search(loaded, content):
    params, dictionaries, models, device = loaded
    fragment = CONTENT[content](np.random.default_rng(1), 16, 16)
    costs = costs_of(params, dictionaries, models)
    for scale, dictionary in dictionaries.items():
        segments = segments_of(fragment, scale).astype(np.int64)
        elements = dictionary.samples.astype(np.int64)
        distortion = ((segments[:, None] - elements[None]) ** 2).sum(axis=2)
        expected = (distortion << 4) + costs[scale]
        found = device.cost_map(fragment, scale)
        np.testing.assert_array_equal(found, expected)
        least, index = device.reduce(found)
        np.testing.assert_array_equal(least, expected.min(axis=1))
        np.testing.assert_array_equal(index, expected.argmin(axis=1))
    expected = cost_map(fragment, dictionaries, costs)
    for blocks in (1, 3, 40):
        for name, wanted, found in zip(
            ("cost", "index"), expected, device.search(fragment, blocks), strict=True
        ):
            np.testing.assert_array_equal(found, wanted, f"{name} with {blocks} blocks")


@pytest.mark.gpu
def test_reduction_takes_the_lowest_of_equals():
    costs = np.random.default_rng(2).integers(-3, 3, (70, 1001)).astype(np.int32)
    costs[3] = np.iinfo(np.int32).max
    cost, index = DeviceOperations(PARAMS[0]).reduce(costs)
    np.testing.assert_array_equal(cost, costs.min(axis=1))
    np.testing.assert_array_equal(index, costs.argmin(axis=1))


@pytest.mark.gpu
@pytest.mark.parametrize("place", [(0, 0), (0, 16), (16, 0), (32, 32)])
@pytest.mark.parametrize("kind", ["searched", "equal costs"])
def test_tree_and_rebuilding(loaded, place, kind):
    params, dictionaries, models, device = loaded
    rng = np.random.default_rng(place[0] + place[1])
    fragment = CONTENT["text"](rng, 16, 16)
    cost, index = cost_map(fragment, dictionaries, costs_of(params, dictionaries, models))
    if kind == "equal costs":
        cost = np.where(cost < 1 << 40, rng.integers(0, 3, cost.shape) << 10, cost)
    reached = [scale.number for scale in dictionaries]
    leaf_scales = rng.choice(reached, (48, 48)).astype(np.int8)
    neighbours = Neighbours(leaf_scales, *place)
    expected = optimal_tree(cost, index, models, neighbours, params.lambda_fixed)
    found = device.tree(fragment, cost, index, leaf_scales, *place)
    assert found == expected
    np.testing.assert_array_equal(device.rebuild(found), rebuild(expected, dictionaries))


@pytest.mark.gpu
@pytest.mark.parametrize("source", SCALES, ids=lambda s: f"{s.height}x{s.width}")
def test_rescale(source):
    rng = np.random.default_rng(source.number)
    device = DeviceOperations(PARAMS[0])
    for low in (0, 127):
        block = rng.integers(0, 256, (source.height, source.width), dtype=np.uint8)
        block = np.where(block > low, block, 255 * (block > 9)).astype(np.uint8)
        for target, found in device.rescale(block, source).items():
            np.testing.assert_array_equal(found, rescale(block, target), f"{source} to {target}")


@pytest.mark.gpu
@pytest.mark.parametrize("params", PARAMS, ids=lambda p: f"{p.lam:g}-{p.rate_model}")
def test_insertion_leaves_out_duplicates_and_stops_when_full(params):
    rng = np.random.default_rng(8)
    device = DeviceOperations(params)
    for scale, expected in reference.make_dictionaries(params.coded_tools).items():
        area = scale.height * scale.width
        fresh = rng.integers(0, 256, (150, area), dtype=np.uint8)
        elements = fresh[rng.integers(0, len(fresh), 400)]
        elements[7], elements[8:12] = 128, elements[0]
        origins = rng.integers(0, len(SCALES), len(elements))
        for element, origin in zip(elements, origins, strict=True):
            expected.insert(element, SCALES[origin])
        device.insert(scale, elements, origins)
        found = device.dictionary(scale)
        np.testing.assert_array_equal(found["samples"], expected.samples)
        np.testing.assert_array_equal(found["element_class"], expected.element_class)
        assert len(found["count"]) <= params.tools.dictionary_limit


@pytest.mark.gpu
@pytest.mark.parametrize("noise", [0, 2, 9])
@pytest.mark.parametrize("limit", [256, 300, 1000])
@pytest.mark.parametrize(("radius", "replacement"), [(0, True), (70, False), (70, True)])
def test_insertion_among_elements_alike(radius, replacement, limit, noise):
    """Cells overflow, elements give way to others of their batch, and the table is made anew."""
    rng = np.random.default_rng(limit + noise)
    options = {"redundancy_radius": radius, "replacement": replacement}
    params = EncodeParams.from_options(8, preset="plain", dictionary_limit=limit, **options)
    dictionaries = reference.make_dictionaries(params.coded_tools)
    kinds = {scale: rng.integers(0, 256, (40, scale.height * scale.width)) for scale in SCALES}

    def alike(scale, count):
        chosen = kinds[scale][rng.integers(0, len(kinds[scale]), count)]
        chosen += rng.integers(-noise, noise + 1, chosen.shape)
        return np.clip(chosen, 0, 255).astype(np.uint8)

    for scale, dictionary in dictionaries.items():
        for element in alike(scale, 60):
            dictionary.insert(element, scale)
        for index in rng.integers(0, len(dictionary), 200):
            dictionary.use(int(index))
    device = DeviceOperations(params)
    device.load(dictionaries, Models(params.coded_tools))
    for scale, expected in dictionaries.items():
        for count in (5, 70, 300):
            elements = alike(scale, count)
            origins = rng.integers(0, len(SCALES), count)
            origins[::3] = reference.DISPLACED_CLASS
            for element, origin in zip(elements, origins, strict=True):
                displaced = origin == reference.DISPLACED_CLASS
                expected.insert(element, None if displaced else SCALES[origin])
            device.insert(scale, elements, origins)
            assert_dictionary(device, scale, expected)


@pytest.mark.gpu
@pytest.mark.parametrize("content", CONTENT)
def test_learning(loaded, content):
    params, dictionaries, models, device = loaded
    fragment = CONTENT[content](np.random.default_rng(4), 16, 16)
    cost, index = cost_map(fragment, dictionaries, costs_of(params, dictionaries, models))
    neighbours = Neighbours(np.full((16, 16), OUTSIDE, np.int8), 0, 0)
    nodes = optimal_tree(cost, index, models, neighbours, params.lambda_fixed)
    assert any(node.flag != LEAF for node in nodes) or content == "flat"
    coded = rebuild(nodes, dictionaries)
    code_tree(SymbolWriter(), models, dictionaries, neighbours, nodes)
    learn(dictionaries, nodes, coded, params.coded_tools)
    device.learn(nodes, coded)
    costs = costs_of(params, dictionaries, models)
    for scale, dictionary in dictionaries.items():
        assert_dictionary(device, scale, dictionary)
        np.testing.assert_array_equal(device.dictionary(scale)["cost"], costs[scale])
