"""The operations of the search loop on the device, one at a time.

The cuda backend runs them all in one kernel; here each can be called, tested and timed alone.
"""

from typing import Any

import numpy as np

from mmpcodec.backends.cuda.trees import rate_table
from mmpcodec.backends.cuda.trees_state import (
    CELLS,
    MAX_NODES,
    NODE_DTYPE,
    SEGMENTS,
    STATE_DTYPE,
    dictionary_sizes,
    element_bytes,
    make_state,
    plan_dictionaries,
    scale_places,
)
from mmpcodec.params import EncodeParams
from mmpcodec.reference.entropy.rates import LOG2
from mmpcodec.reference.trees.costs import (
    COST_FRACTION_BITS,
    MAP_SIZE,
    NO_COST,
    lagrangian,
    map_region,
    segments_of,
)
from mmpcodec.reference.trees.dictionary import CELL_SIZE, Dictionary
from mmpcodec.reference.trees.fragments import padded_shape
from mmpcodec.reference.trees.models import FLAG_CONTEXTS, Models
from mmpcodec.reference.trees.scales import FRAGMENT_SIZE, SCALES, Scale, reachable_scales
from mmpcodec.reference.trees.segments import Node, Segment
from mmpcodec.runtime import kernels

NO_KEY = np.uint64(0xFFFFFFFFFFFFFFFF)


def keys_of(cost: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Costs and elements as the device compares them: smaller cost first, then lower element."""
    flipped = (cost.astype(np.int64) + (1 << 31)).astype(np.uint64)
    return flipped << np.uint64(32) | index.astype(np.uint64)


def split_keys(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Costs and elements of keys, both int64."""
    cost = (keys >> np.uint64(32)).astype(np.int64) - (1 << 31)
    return cost, (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)


class DeviceOperations:
    """Dictionaries and models of one picture on the current device, new at first.

    Parameters
    ----------
    params : EncodeParams
    shape : (int, int)
        Height and width of the picture whose neighbours the tree looks at.
    """

    def __init__(self, params: EncodeParams, shape: tuple[int, int] = (16, 16)):
        import cupy

        self._cupy = cupy
        self.params = params
        tools = params.coded_tools
        self._device = cupy.cuda.Device().id
        self._plan = plan_dictionaries(tools)
        self._dictionaries = cupy.zeros(self._plan.size, np.uint8)
        self._first_class = cupy.zeros((len(SCALES), tools.dictionary_limit), np.uint8)
        self._samples = cupy.zeros(padded_shape(shape), np.uint8)
        self._leaf_scales = cupy.zeros(padded_shape(shape), np.int8)
        self._state = cupy.zeros(STATE_DTYPE.itemsize, np.uint8)
        state = make_state(params, shape, self._plan, self._dictionaries.data.ptr)
        picture = state["picture"]
        picture["samples"] = self._samples.data.ptr
        picture["leaf_scales"] = self._leaf_scales.data.ptr
        picture["first_class"] = self._first_class.data.ptr
        picture["class_room"] = tools.dictionary_limit
        picture["rates"] = rate_table(self._device).data.ptr
        self._write_state(state)
        self._kernel("trees/start", "start_pictures")((len(SCALES), 1), (self._state,))

    def _kernel(self, name: str, entry: str, threads: int = 1024):
        return kernels.function(name, entry, self._device, threads=threads)

    def _read_state(self) -> np.ndarray:
        return self._state.get().view(STATE_DTYPE)[0]

    def _write_state(self, state: np.ndarray) -> None:
        self._state.set(np.atleast_1d(state).view(np.uint8))

    def _array(self, scale: Scale, name: str, count: int, dtype: Any):
        """A dictionary's array on the device."""
        start = self._plan.offsets[scale, name]
        size = count * np.dtype(dtype).itemsize
        return self._dictionaries[start : start + size].view(dtype)

    def load(self, dictionaries: dict[Scale, Dictionary], models: Models) -> None:
        """Take over dictionaries and models of the reference."""
        for scale, dictionary in dictionaries.items():
            count = len(dictionary)
            offsets = element_bytes(scale, count)
            samples = np.zeros(int(offsets.max()) + 1, np.uint8)
            samples[offsets] = dictionary.samples
            self._array(scale, "samples", len(samples), np.uint8).set(samples)
            costs = (dictionary.samples.astype(np.int64) ** 2).sum(axis=1) << COST_FRACTION_BITS
            if self.params.rate_model == "adaptive":
                costs -= lagrangian(LOG2[dictionary.count], self.params.lambda_fixed)
            self._array(scale, "cost", count, np.int32).set(costs.astype(np.int32))
            self._array(scale, "count", count, np.uint32).set(dictionary.count.astype(np.uint32))
            self._array(scale, "element_class", count, np.uint8).set(dictionary.element_class)
            if (scale, "cells") in self._plan.offsets:
                self._array(scale, "cells", CELLS * CELL_SIZE, np.uint64).set(_cells(dictionary))
            if (scale, "insertion") in self._plan.offsets:
                numbers = np.arange(count, dtype=np.uint32)
                self._array(scale, "insertion", count, np.uint32).set(numbers)
        state = self._read_state()
        for scale, dictionary in dictionaries.items():
            classes, uses = dictionary.element_class, dictionary.count
            learnt = state["scales"][scale.number]
            slots = len(learnt["class_size"])
            learnt["class_size"] = np.bincount(classes, minlength=slots)
            learnt["class_total"] = np.bincount(classes, weights=uses, minlength=slots)
            learnt["start"], learnt["hand"] = dictionary.start, dictionary.hand
            state["learnt"][scale.number] = len(dictionary)
            learnt["class_frequency"] = models.class_frequency[scale.number]
            for context in range(FLAG_CONTEXTS):
                flags = models.flag_frequencies(scale, context)
                state["flag_frequency"][context, scale.number] = flags
        self._write_state(state)
        self._kernel("trees/steps/learn", "enter_elements")((len(SCALES),), (self._state,))
        self.learn([], np.zeros((FRAGMENT_SIZE, FRAGMENT_SIZE), np.uint8))

    def dictionary(self, scale: Scale) -> dict[str, np.ndarray]:
        """Samples, counts, classes and full index costs of a scale's elements.

        Returns
        -------
        dict
            ``samples`` (N, height * width) uint8, ``count`` uint32, ``element_class`` uint8 and
            ``cost`` int64: what an index costs, in 1/16 squared error.
        """
        state = self._read_state()
        count = dictionary_sizes(state)[scale.number]
        offsets = element_bytes(scale, count)
        samples = self._array(scale, "samples", int(offsets.max()) + 1, np.uint8).get()[offsets]
        element_class = self._array(scale, "element_class", count, np.uint8).get()
        own = self._array(scale, "cost", count, np.int32).get().astype(np.int64)
        norm = (samples.astype(np.int64) ** 2).sum(axis=1) << COST_FRACTION_BITS
        return {
            "samples": samples,
            "count": self._array(scale, "count", count, np.uint32).get(),
            "element_class": element_class,
            "cost": own - norm + state["class_cost"][scale.number][element_class],
        }

    def insert(self, scale: Scale, elements: np.ndarray, origins: np.ndarray) -> None:
        """Insert elements in order; redundant ones, and those without a place, are left out.

        Parameters
        ----------
        scale : Scale
        elements : (N, height * width) uint8 array
        origins : (N,) integer array
            Classes that they start in: numbers of the scales that they were made from, or
            ``DISPLACED_CLASS``.
        """
        if len(elements) == 0:
            return
        samples = self._cupy.asarray(np.ascontiguousarray(elements, np.uint8))
        made_from = self._cupy.asarray(np.ascontiguousarray(origins, np.uint8))
        arguments = self._state, np.int32(scale.number), samples, made_from, np.uint32(len(samples))
        self._kernel("trees/steps/learn", "insert_elements")((1,), arguments)

    def cost_map(self, fragment: np.ndarray, scale: Scale) -> np.ndarray:
        """J of all segments of a scale with all its elements.

        Parameters
        ----------
        fragment : (16, 16) uint8 array
        scale : Scale

        Returns
        -------
        (segments, N) int32 array
            In 1/16 squared error.
        """
        size = dictionary_sizes(self._read_state())[scale.number]
        costs = self._cupy.empty((1 << (scale.n + scale.m), size), np.int32)
        arguments = self._state, self._on_device(fragment), np.int32(scale.number), costs
        self._kernel("trees/steps/cost_map", "cost_map", threads=256)((64,), arguments)
        return costs.get()

    def reduce(self, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Smallest cost of each row, and the lowest index that has it.

        Parameters
        ----------
        costs : (rows, N) int32 array

        Returns
        -------
        cost, index : (rows,) int64 arrays
        """
        rows, size = costs.shape
        keys = self._cupy.empty(rows, np.uint64)
        arguments = self._cupy.asarray(np.ascontiguousarray(costs)), np.uint32(size), keys
        self._kernel("trees/steps/reduce", "reduce_costs", threads=256)((rows,), arguments)
        return split_keys(keys.get())

    def search(self, fragment: np.ndarray, blocks: int) -> tuple[np.ndarray, np.ndarray]:
        """The cost map of a fragment, reduced: as ``reference.trees.costs.cost_map``.

        Parameters
        ----------
        fragment : (16, 16) uint8 array
        blocks : int
            Blocks to share the work.
        """
        keys = self._cupy.full(SEGMENTS, NO_KEY)
        self._kernel("trees/steps/search", "search_segments")(
            (blocks,), (self._state, self._on_device(fragment), keys)
        )
        cost, index = split_keys(keys.get())
        costs = np.full((MAP_SIZE, MAP_SIZE), NO_COST)
        indices = np.zeros((MAP_SIZE, MAP_SIZE), np.int64)
        for scale, place in scale_places().items():
            if scale not in reachable_scales(self.params.tools.partition):
                continue
            region = map_region(scale)
            shape = costs[region].shape
            costs[region] = cost[place].reshape(shape) + _norms(fragment, scale)
            indices[region] = index[place].reshape(shape)
        return costs, indices

    def tree(
        self,
        fragment: np.ndarray,
        cost: np.ndarray,
        index: np.ndarray,
        leaf_scales: np.ndarray,
        row: int,
        column: int,
    ) -> list[Node]:
        """The tree of least cost, as ``reference.trees.tree.optimal_tree``.

        Parameters
        ----------
        fragment : (16, 16) uint8 array
        cost, index : (31, 31) int64 arrays
            Cost map of the fragment.
        leaf_scales : (H', W') int8 array
            Of the padded picture.
        row, column : int
            First sample of the fragment.
        """
        self._leaf_scales.set(leaf_scales)
        keys = np.full(SEGMENTS, NO_KEY)
        for scale, place in scale_places().items():
            if scale not in reachable_scales(self.params.tools.partition):
                continue
            region = map_region(scale)
            without_norm = cost[region] - _norms(fragment, scale)
            keys[place] = keys_of(without_norm.ravel(), index[region].ravel())
        nodes = self._cupy.zeros(MAX_NODES * NODE_DTYPE.itemsize, np.uint8)
        count = self._cupy.zeros(1, np.uint32)
        arguments = (
            self._state,
            self._on_device(fragment),
            self._cupy.asarray(keys),
            np.int32(row),
            np.int32(column),
            nodes,
            count,
        )
        self._kernel("trees/steps/tree", "choose_tree")((1,), arguments)
        return [_reference_node(node) for node in nodes.get().view(NODE_DTYPE)[: int(count[0])]]

    def rebuild(self, nodes: list[Node]) -> np.ndarray:
        """The (16, 16) uint8 samples that the elements of the leaves build."""
        samples = self._cupy.zeros((FRAGMENT_SIZE, FRAGMENT_SIZE), np.uint8)
        arguments = self._state, *self._nodes(nodes), samples
        self._kernel("trees/steps/rebuild", "rebuild_samples", threads=FRAGMENT_SIZE**2)(
            (1,), arguments
        )
        return samples.get()

    def learn(self, nodes: list[Node], coded: np.ndarray) -> None:
        """Count the leaves of a fragment's tree and learn its split segments.

        Parameters
        ----------
        nodes : list of Node
        coded : (16, 16) uint8 array
            The samples that the elements of the leaves build.
        """
        arguments = self._state, *self._nodes(nodes), self._on_device(coded)
        self._kernel("trees/steps/learn", "learn_fragment")((len(SCALES),), arguments)

    def rescale(self, block: np.ndarray, scale: Scale) -> dict[Scale, np.ndarray]:
        """A block of a scale brought to each scale, as ``reference.trees.scales.rescale``."""
        padded = np.zeros((FRAGMENT_SIZE, FRAGMENT_SIZE), np.uint8)
        padded[: scale.height, : scale.width] = block
        out = self._cupy.zeros((len(SCALES), FRAGMENT_SIZE**2), np.uint8)
        arguments = self._cupy.asarray(padded), np.int32(scale.number), out
        self._kernel("trees/steps/rescale", "rescale_block", threads=32)((len(SCALES),), arguments)
        return {
            to: samples[: to.height * to.width].reshape(to.height, to.width)
            for to, samples in zip(SCALES, out.get(), strict=True)
        }

    def _on_device(self, samples: np.ndarray):
        return self._cupy.asarray(np.ascontiguousarray(samples, np.uint8))

    def _nodes(self, nodes: list[Node]) -> tuple[Any, np.uint32]:
        packed = np.zeros(max(len(nodes), 1), NODE_DTYPE)
        for place, node in zip(packed, nodes, strict=False):
            segment = node.segment
            place["index"], place["flag"] = node.index or 0, node.flag
            place["scale"], place["k"], place["l"] = segment.scale.number, segment.k, segment.l
        return self._cupy.asarray(packed.view(np.uint8)), np.uint32(len(nodes))


def _cells(dictionary: Dictionary) -> np.ndarray:
    """The cells as the device keeps them, each element brought by the insertion of its number."""
    cells = np.zeros((CELLS, CELL_SIZE), np.uint64)
    for levels, members in dictionary.cells.items():
        number = 0
        for level in np.frombuffer(levels, np.int64).tolist():
            number = number << 2 | level
        for place, element in enumerate(members):
            total = int(dictionary.samples[element].sum())
            cells[number, place] = (element + 1) << 32 | total << 16 | element
    return cells.ravel()


def _norms(fragment: np.ndarray, scale: Scale) -> np.ndarray:
    """Squared norms of a scale's segments by row and column, in 1/16 squared error."""
    norms = (segments_of(fragment, scale).astype(np.int64) ** 2).sum(axis=1)
    return norms.reshape(1 << scale.n, 1 << scale.m) << COST_FRACTION_BITS


def _reference_node(node: np.ndarray) -> Node:
    segment = Segment(SCALES[int(node["scale"])], int(node["k"]), int(node["l"]))
    flag = int(node["flag"])
    return Node(segment, flag, int(node["index"]) if flag == 0 else None)
