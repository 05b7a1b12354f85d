"""The structures of the decoding kernels, filled in for many planes or tiles at once.

No CuPy here: the layout can be checked where there is no device.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mmpcodec.backends.cuda.native_tools import TOOLS_DTYPE, native_tools, states_offset
from mmpcodec.backends.tiles import TileTask
from mmpcodec.depth import BYTE
from mmpcodec.format.container import Header
from mmpcodec.format.layers import Layer, depth_of
from mmpcodec.format.layouts import Layout
from mmpcodec.reference.blocks.partition import UNIT, padded_shape
from mmpcodec.reference.colour import matrix_of
from mmpcodec.reference.filters import cross_component, post
from mmpcodec.tools import BlockTools

MOST_PLANES = 2
"""Most earlier planes that predict a plane."""
LEAF_BYTES = 16
ARRAYS = "leaves", "fragments", "coefficients", "changes", "units", "order"
PLANE_DTYPE = np.dtype(
    [
        *((name, "u8") for name in ("tables", "payload", "states", *ARRAYS, "samples")),
        ("earlier", "u8", MOST_PLANES),
        ("done", "u8"),
        *((name, "u4") for name in ("payload_size", "fault")),
        *((name, "i4") for name in ("height", "width", "shown_height", "shown_width", "depth")),
        ("tools", TOOLS_DTYPE),
    ],
    align=True,
)
FILTERED_DTYPE = np.dtype(
    [
        *((name, "u8") for name in ("samples", "out")),
        ("earlier", "u8", cross_component.MOST_PLANES),
        *((name, "u8") for name in ("changes", "filters")),
        *((name, "i4") for name in ("height", "width", "stride", "depth")),
        *((name, "i4") for name in ("step", "fragment_log2", "scales", "planes_read")),
        ("post", "i2", (post.CLASSES, len(post.TAPS))),
        ("cross_component", "i2", (cross_component.MOST_PLANES, len(cross_component.TAPS))),
    ],
    align=True,
)
JOINED_DTYPE = np.dtype(
    [
        ("planes", "u8", 4),
        *((name, "u8") for name in ("out", "crc_rows", "crc")),
        *((name, "i8") for name in ("row_stride", "pixel_stride")),
        *((name, "i4") for name in ("height", "width", "stride")),
        *((name, "i4") for name in ("row", "column", "rows", "columns")),
        *((name, "i4") for name in ("layout", "colours", "has_alpha")),
        *((name, "i4") for name in ("depth", "level_depth", "plane_depth", "first")),
        ("matrix", "i4", (3, 3)),
    ],
    align=True,
)
TICKET_DTYPE = np.dtype([("plane", "i4"), ("row", "i4")])


@dataclass(eq=False)
class DevicePlane:
    """A plane to decode: its layer, its arrays, and where its samples are.

    Parameters
    ----------
    layer : Layer
    shape : (int, int)
        Height and width.
    depth : int
        Bits of a sample.
    earlier : sequence of DevicePlane
        The planes of the tile that come before this one.
    arrays : dict
        Device address of each array.
    samples, other : int
        Device addresses of the samples and of the array that the next filter writes. Each filter
        exchanges them.
    on_host : bool
        Whether the host reads the symbols.
    """

    layer: Layer
    shape: tuple[int, int]
    depth: int
    earlier: "Sequence[DevicePlane]"
    arrays: dict[str, int] = field(default_factory=dict)
    samples: int = 0
    other: int = 0
    on_host: bool = False

    def __post_init__(self):
        assert isinstance(self.layer.tools, BlockTools)
        self.tools: BlockTools = self.layer.tools
        self.is_wide = self.depth > BYTE
        self.padded = padded_shape(self.shape)
        self.rows, self.columns = (-(-side // self.tools.fragment_size) for side in self.shape)
        taps = self.layer.cross_component_coefficients
        self.read = [plane for plane, own in zip(self.earlier, taps, strict=False) if own]
        """Earlier planes that the cross-component filter reads."""
        needed = [*self.earlier[: self.tools.cross_component], *self.read]
        self.round: int = max((1 + plane.round for plane in needed), default=0)
        """Number of planes that are decoded one after the other before this one."""
        filters = self.tools.fixed_filters, any(self.layer.coefficients), self.read
        self.filters = sum(map(bool, filters))

    @property
    def shown(self) -> int:
        """Device address of the samples after all filters."""
        return self.arrays["filtered" if self.filters % 2 else "samples"]

    def sizes(self) -> dict[str, tuple[int, bool]]:
        """Return the bytes of each array, and whether it must be zeros at the start.

        Arrays of symbols that the host reads are not among them.

        ``samples`` and ``filtered`` hold the samples before and after a filter, in turns.
        """
        area = self.padded[0] * self.padded[1]
        units, fragments = area // UNIT**2, self.rows * self.columns
        samples = area * (2 if self.is_wide else 1)
        read = {
            "fragments": (4 * (fragments + 1), True),
            "changes": (fragments, True),
            "units": (4 * units, True),
            "order": (4 * units, True),
            "leaves": (LEAF_BYTES * units, False),
            "coefficients": (4 * area, False),
        }
        return ({} if self.on_host else read) | {
            "done": (4 * self.rows, True),
            "samples": (samples, False),
            "filtered": (samples, False),
        }


def planes_of(header: Header, task: TileTask) -> list[DevicePlane]:
    """Return the planes of a tile."""
    stream, planes = task.stream, list[DevicePlane]()
    for layer in stream.layers:
        depth = depth_of(layer, stream.layout, header.level_depth)
        planes.append(DevicePlane(layer, task.size, depth, tuple(planes)))
    return planes


def coded_planes(planes: Sequence[DevicePlane], states: int, states_bytes: int) -> np.ndarray:
    """Return planes to read and to rebuild; ``tables`` and ``payload`` are not set yet.

    Parameters
    ----------
    planes : sequence of DevicePlane
    states : int
        Device address of the initial states of usual and then of small planes.
    states_bytes : int
        Bytes of both.

    Returns
    -------
    (N,) array of PLANE_DTYPE
    """
    found = np.zeros(len(planes), PLANE_DTYPE)
    set_arrays(found, planes)
    found["samples"] = [plane.samples for plane in planes]
    found["height"], found["width"] = np.array([plane.padded for plane in planes]).T
    found["shown_height"], found["shown_width"] = np.array([plane.shape for plane in planes]).T
    found["depth"] = [plane.depth for plane in planes]
    found["payload_size"] = [len(plane.layer.payload) for plane in planes]
    found["tools"] = [native_tools(plane.tools, plane.padded) for plane in planes]
    found["states"] = [
        plane.tools.initial_states
        and states + states_offset(plane.tools, plane.padded, states_bytes)
        for plane in planes
    ]
    for i, plane in enumerate(planes):
        if used := plane.earlier[: plane.tools.cross_component]:
            found["earlier"][i, : len(used)] = [one.shown for one in used]
    return found


def set_arrays(found: np.ndarray, planes: Sequence[DevicePlane]) -> None:
    """Set the addresses of arrays, 0 for those that the host does not have yet."""
    for name in (*ARRAYS, "done"):
        found[name] = [plane.arrays.get(name, 0) for plane in planes]


def filtered_planes(planes: Sequence[DevicePlane], filters: int) -> np.ndarray:
    """Return planes to filter, and exchange the two arrays of samples of each.

    Parameters
    ----------
    planes : sequence of DevicePlane
    filters : int
        Device address of the trained fixed filters.

    Returns
    -------
    (N,) array of FILTERED_DTYPE
    """
    found = np.zeros(len(planes), FILTERED_DTYPE)
    found["samples"] = [plane.samples for plane in planes]
    found["out"] = [plane.other for plane in planes]
    found["filters"] = filters
    found["height"], found["width"] = np.array([plane.shape for plane in planes]).T
    found["stride"] = [plane.padded[1] for plane in planes]
    found["depth"] = [plane.depth for plane in planes]
    found["step"] = [plane.tools.step for plane in planes]
    found["fragment_log2"] = [plane.tools.fragment_size.bit_length() - 1 for plane in planes]
    found["scales"] = [plane.tools.fixed_filters for plane in planes]
    for i, plane in enumerate(planes):
        if plane.tools.delta_step:
            found["changes"][i] = plane.arrays["changes"]
        for number, taps in enumerate(plane.layer.coefficients):
            if taps:
                found["post"][i, number] = taps
        if plane.read:
            found["planes_read"][i] = len(plane.read)
            found["earlier"][i, : len(plane.read)] = [one.shown for one in plane.read]
            weights = [taps for taps in plane.layer.cross_component_coefficients if taps]
            found["cross_component"][i, : len(weights)] = weights
        plane.samples, plane.other = plane.other, plane.samples
    return found


def tickets_of(planes: Sequence[DevicePlane], numbers: Sequence[int]) -> np.ndarray:
    """Return the rows of fragments of planes, the first rows of all planes first.

    Returns
    -------
    (N,) array of TICKET_DTYPE
    """
    rows = [planes[i].rows for i in numbers]
    tickets = np.zeros(sum(rows), TICKET_DTYPE)
    tickets["plane"] = np.repeat(numbers, rows)
    tickets["row"] = np.concatenate([np.arange(count) for count in rows])
    return tickets[np.argsort(tickets["row"], kind="stable")]


def joined_tiles(
    tiles: Sequence[tuple[Header, TileTask]], planes: Sequence[Sequence[DevicePlane]]
) -> np.ndarray:
    """Return tiles to join; ``crc`` and ``crc_rows`` are not set yet.

    Returns
    -------
    (N,) array of JOINED_DTYPE
    """
    found = np.zeros(len(tiles), JOINED_DTYPE)
    for i, ((header, task), own) in enumerate(zip(tiles, planes, strict=True)):
        tile, stream = found[i], task.stream
        samples: Any = task.samples
        tile["planes"][: len(own)] = [plane.shown for plane in own]
        tile["out"] = samples.data.ptr
        tile["row_stride"] = samples.strides[0] // samples.itemsize
        tile["pixel_stride"] = samples.strides[1] // samples.itemsize
        tile["height"], tile["width"] = task.size
        tile["stride"] = own[0].padded[1]
        tile["row"], tile["column"] = task.first
        tile["rows"], tile["columns"] = samples.shape[:2]
        tile["layout"], tile["first"] = stream.layout, header.first
        tile["colours"], tile["has_alpha"] = header.form.colours, header.form.has_alpha
        tile["depth"], tile["level_depth"] = header.depth, header.level_depth
        tile["plane_depth"] = own[0].depth
        if stream.layout is Layout.FINE_LUMA:
            tile["matrix"] = matrix_of(stream.rotation)
    return found
