"""The coding tools of the format: a class for each coding, and the table of its tools.

Each field of the classes carries its row of the table: kind, range and default. The checks of
parameters, the fields of layer headers, the structures of the native backends, ``mmp info`` and the
generators of the tests read the tools from here.
"""

from dataclasses import dataclass, field, fields
from enum import IntEnum
from numbers import Integral
from typing import Any, ClassVar, TypedDict, TypeVar

from mmpcodec.checks import MOST_ERROR, check_int, check_member, check_switch
from mmpcodec.errors import ParameterError

TREES, BLOCKS, LOSSLESS = CODINGS = ("trees", "predicted blocks", "lossless samples")
"""The codings of a layer, by their number in its header."""


class Partition(IntEnum):
    """Splits that a segment may have: see section "Scales and partition" of the format."""

    FLEXIBLE = 0
    DYADIC = 1


@dataclass(frozen=True)
class Tool:
    """One row of the table of tools."""

    name: str
    """Name as option and attribute."""
    kind: Any
    """bool, an IntEnum, int, or ``int | None`` where None lets an encoder derive the value."""
    default: Any
    low: int = 0
    high: int = 1
    values: tuple[int, ...] = ()
    """The allowed values, if they are not all integers from ``low`` to ``high``."""
    low_in_file: int = 0
    """Least value in a file: above ``low`` where ``low`` has another meaning, that of ``zero``."""
    zero: str = ""
    """What 0 does if it lies below ``low_in_file``, for errors."""
    in_header: bool = True
    """Whether the fields of tools hold it. Other tools follow from the field post filter."""

    @property
    def title(self) -> str:
        """Name in the format and in messages about files: "copy radius"."""
        return self.name.replace("_", " ")

    @property
    def fullest(self) -> Any:
        """The largest value, or None where an encoder chooses the value."""
        return self.kind(self.high) if self.kind in (bool, int) else None

    def checked(self, value: Any) -> Any:
        """Return the value as the kind of the tool.

        Raises
        ------
        ParameterError
            If the value has another type or lies outside the range.
        """
        if self.kind is bool:
            return check_switch(self.name, value)
        if self.kind is Partition:
            return check_member(self.name, value, Partition)
        if value is None and self.kind is not int:
            return None
        if self.values:
            number = check_int(self.name, value)
            if number not in self.values:
                *most, last = map(str, self.values)
                raise ParameterError(f"{self.name} = {number}: must be {', '.join(most)} or {last}")
            return number
        if not self.zero:
            return check_int(self.name, value, self.low, self.high)
        if isinstance(value, Integral) and not isinstance(value, bool) and value == 0:
            return 0
        return check_int(self.name, value, self.low_in_file, self.high, f", or 0 {self.zero}")


def _tool(initial: Any, /, **row: Any) -> Any:
    """Make a field that carries its row; ``values`` set the range."""
    if values := row.get("values"):
        row |= {"low": min(values), "high": max(values)}
    return field(default=initial, metadata={"low_in_file": row.get("low", 0), **row})


class _Coded:
    """Base of the tools of a coding. Tools that only other codings have are off.

    A ``ParameterError`` says that a value has another type or lies outside its range.
    """

    coding: ClassVar[str]
    lossless: ClassVar[bool] = False
    step: int = 0
    post_filter: bool = False
    cross_component: int = 0
    fixed_filters: int | None = 0
    cross_component_filter: bool = False
    delta_step: bool = False
    quantisation_matrix: int = 0
    max_error: int = 0

    @property
    def without_loss(self) -> bool:
        """Whether the coding is lossless whatever lambda is."""
        return self.lossless and self.max_error == 0

    def __post_init__(self):
        for tool in TABLES[self.coding].values():
            if tool.name in vars(self):
                object.__setattr__(self, tool.name, tool.checked(getattr(self, tool.name)))


@dataclass(frozen=True)
class TreeTools(_Coded):
    """The tools of a layer of trees, or of the trees among predicted blocks."""

    coding: ClassVar[str] = TREES
    partition: Partition = _tool(Partition.FLEXIBLE, high=len(Partition) - 1)  # noqa: RUF009
    """Splits that a segment may have."""
    index_classes: bool = _tool(True)
    """Code an index as its class, then the element in the class. If False there is one class."""
    flag_contexts: bool = _tool(True)
    """Choose the model of a flag by the scales of the leaves above and to the left."""
    copy_radius: int = _tool(4, high=8)
    """Most halvings between a new element and the scales that take it; 8 reaches all 25 scales."""
    dictionary_limit: int = _tool(16384, low=256, high=65536)
    """Most elements in the dictionary of one scale."""
    displaced_blocks: int = _tool(0, high=4)
    """Let leaves copy decoded blocks that lie 2**-displaced_blocks of their size apart; 0 copies
    none. Without index classes it changes nothing."""
    redundancy_radius: int | None = _tool(0, high=65535)
    """Leave out a new element if the dictionary holds one within this squared distance. None lets
    an encoder take four times lambda."""
    replacement: bool = _tool(False)
    """Let a new element replace one that was never used if the dictionary is full."""
    post_filter: bool = _tool(True, in_header=False)
    """Filter the decoded picture where this lowers the rate-distortion cost."""


@dataclass(frozen=True)
class BlockTools(_Coded):
    """The tools of a layer of predicted blocks: its residuals are coded by a transform."""

    coding: ClassVar[str] = BLOCKS
    fragment_size: int = _tool(16, values=(16, 32, 64))
    """Height and width of a fragment in samples."""
    templates: int = _tool(0, high=4)
    """Places averaged by template prediction, whose surroundings resemble those of the block."""
    step: int = _tool(0, high=65535, low_in_file=1, zero="to derive it from lambda")
    """Quantisation step of the transform in 1/16 of an 8-bit gray level."""
    trees: TreeTools | None = _tool(None, name="dictionary", kind=bool, default=False)  # noqa: RUF009
    """Tools of the trees that blocks of at most 16x16 samples can be; None for no trees."""
    pdpc: bool = _tool(False)
    """Blend a prediction with the decoded samples beside the block, more the nearer a sample is to
    them: position-dependent prediction combination."""
    initial_states: bool = _tool(False)
    """Start the models from states that were trained on photographs."""
    cross_component: int = _tool(0, high=2)
    """Most planes of the same picture, coded earlier, that predict a block of a plane."""
    fixed_filters: int | None = _tool(0, high=(1 << 14) - 1)
    """Scale of the fixed filters in halves, 0 to 3: two bits for each of seven activities of the
    decoded samples, the smoothest first. None lets an encoder choose."""
    dependent: bool = _tool(False)
    """Let the levels before a level choose the quantiser of its coefficient, out of two."""
    ternary: bool = _tool(False)
    """Let a block be split into a quarter, a half and a quarter, besides into halves."""
    fine_contexts: bool = _tool(False)
    """Choose the models of a level by finer classes of its frequency and of the levels around it,
    and code whether it is 0 by the mean of two models."""
    delta_step: bool = _tool(False)
    """Let each fragment have a step of its own."""
    trained_transforms: bool = _tool(False)
    """Let a block have a transform that changes the low frequencies of the cosine transform; it was
    trained on photographs."""
    border_sines: bool = _tool(False)
    """Let the sine transform of a block at the upper or left border have cosines along the side
    that has no decoded samples before it."""
    transform_skip: bool = _tool(False)
    """Let a block of at most 16x16 samples have no transform: its levels are those of samples."""
    cross_component_filter: bool = _tool(False, in_header=False)
    """Filter a plane by the earlier planes where this lowers the rate-distortion cost."""
    quantisation_matrix: int = _tool(0, high=15)
    """How much coarser the step is for the highest frequency of a row or a column: 1 plus half of
    this number of times; in between in proportion."""
    post_filter: bool = _tool(True, in_header=False)
    """Filter the decoded picture where this lowers the rate-distortion cost."""

    def __post_init__(self):
        super().__post_init__()
        trees = self.trees
        if trees is not None and (not isinstance(trees, TreeTools) or trees.post_filter):
            raise ParameterError(
                f"trees = {trees!r}: must be None, or TreeTools(post_filter=False)"
            )

    @property
    def dictionary(self) -> bool:
        """Whether a block can be a tree: the tool of this name in a header."""
        return self.trees is not None


@dataclass(frozen=True)
class LosslessTools(_Coded):
    """The tools of a layer of lossless samples."""

    coding: ClassVar[str] = LOSSLESS
    lossless: ClassVar[bool] = True
    lossless_form: int = _tool(2, low=1, high=3)
    """Which predictors and models predict a sample, the least first; 1 is the fast mode."""
    max_error: int = _tool(0, high=MOST_ERROR)
    """Most that a decoded sample differs from its source; 0 is lossless."""


Tools = TreeTools | BlockTools | LosslessTools
"""The normative coding tools of a layer, as its header names them."""

AnyTools = TypeVar("AnyTools", bound=Tools)

KINDS: dict[str, type[Tools]] = {
    kind.coding: kind for kind in (TreeTools, BlockTools, LosslessTools)
}
"""The class of the tools of each coding."""


def _table(kind: type[Tools]) -> dict[str, Tool]:
    rows = (
        Tool(**{"name": row.name, "kind": row.type, "default": row.default, **row.metadata})
        for row in fields(kind)
    )
    return {row.name: row for row in rows}


TREE_TOOLS, BLOCK_TOOLS, LOSSLESS_TOOLS = map(_table, KINDS.values())
TABLES = dict(zip(CODINGS, (TREE_TOOLS, BLOCK_TOOLS, LOSSLESS_TOOLS), strict=True))
"""The tables of tools by coding: the row of each tool by its name, in the order of the format."""


def with_values(tools: AnyTools, **values: Any) -> AnyTools:
    """Return a copy of tools with other values, which are those of a file and so checked already.

    ``dataclasses.replace`` checks all values again, which takes as long as all else that is read of
    a small tile.
    """
    found = object.__new__(type(tools))
    vars(found).update(vars(tools), **values)
    return found


def trees_of(tools: Tools) -> TreeTools | None:
    """Return the tools of the trees of a layer or of those among its blocks; None without trees."""
    if isinstance(tools, BlockTools):
        return tools.trees
    return tools if isinstance(tools, TreeTools) else None


class ToolOptions(TypedDict, total=False):
    """Options of an encoder: tuning, palettes, range, and tools that override a preset.

    None stands for tuning and palettes as ``EncodeParams.from_options`` says, for the range that a
    picture uses, and keeps the value of the preset. A partition can also be given by its name or
    number. ``prediction``, ``dictionary``, ``lossless`` choose the coding: predicted blocks, trees
    among them, lossless samples. See ``TreeTools``, ``BlockTools`` and ``LosslessTools``.
    """

    tune: str | None
    palette: bool | None
    range: tuple[int, int] | None
    partition: Partition | str | int | None
    index_classes: bool | None
    flag_contexts: bool | None
    copy_radius: int | None
    dictionary_limit: int | None
    displaced_blocks: int | None
    redundancy_radius: int | None
    replacement: bool | None
    post_filter: bool | None
    prediction: bool | None
    fragment_size: int | None
    templates: int | None
    step: int | None
    dictionary: bool | None
    pdpc: bool | None
    initial_states: bool | None
    cross_component: int | None
    fixed_filters: int | None
    dependent: bool | None
    ternary: bool | None
    fine_contexts: bool | None
    delta_step: bool | None
    trained_transforms: bool | None
    border_sines: bool | None
    transform_skip: bool | None
    cross_component_filter: bool | None
    quantisation_matrix: int | None
    lossless: bool | None
    lossless_form: int | None
    max_error: int | str | None
