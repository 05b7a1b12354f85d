"""The coding tools of the format: one table, the parameters made of it, and the presets.

Each field of ``Tools`` carries its row of the table: coding, range, default and need. The checks
of parameters, the fields of layer headers, the structures of the native backends, ``mmp info``,
and the generators of the tests read the list of tools from here.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from enum import IntEnum
from numbers import Integral
from typing import Any, NamedTuple, TypedDict

from mmpcodec.checks import check_int, check_member, check_switch
from mmpcodec.errors import ParameterError

TREES, BLOCKS, LOSSLESS = CODINGS = ("trees", "predicted blocks", "lossless samples")
"""The codings of a layer, by their number in its header."""


class Partition(IntEnum):
    """Splits that a segment may have: see section "Scales and partition" of the format."""

    FLEXIBLE = 0
    DYADIC = 1


@dataclass(frozen=True)
class Tool:
    """One row of the table of tools.

    Parameters
    ----------
    name : str
        Field of ``Tools``.
    kind : type
        bool, an IntEnum, int, or ``int | None`` where None lets an encoder derive the value.
    default : bool or int
    codings : tuple of str
        Codings in which the tool has an effect.
    low, high : int
        Least and largest value; 0 and 1 for a switch.
    values : tuple of int
        The allowed values, if they are not all integers from ``low`` to ``high``.
    low_in_file : int
        Least value in a file: above ``low`` where ``low`` has another meaning, that of ``zero``.
    zero : str
        What 0 does if it lies below ``low_in_file``, for errors.
    needs : str
        A switch of ``Tools``; while it is off, the tool must have its default. "" for none.
    """

    name: str
    kind: Any
    default: Any
    codings: tuple[str, ...]
    low: int
    high: int
    values: tuple[int, ...]
    low_in_file: int
    zero: str
    needs: str

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

    def fault(self, value: int, needed: bool) -> str | None:
        """Say what is wrong with a value of the range, or return None.

        Parameters
        ----------
        value : int
        needed : bool
            Whether the switch that the tool needs is on.
        """
        if self.needs and not needed:
            allowed: tuple[int, ...] = (int(self.default),)
        else:
            allowed = self.values
        if not allowed or value in allowed:
            return None
        with_need = "with" if needed else "without"
        return f"allowed {with_need} {self.needs} is {' or '.join(map(str, allowed))}"


def _tool(
    default: Any,
    *codings: str,
    low: int = 0,
    high: int = 1,
    values: tuple[int, ...] = (),
    low_in_file: int | None = None,
    zero: str = "",
    needs: str = "",
) -> Any:
    """Make a field of ``Tools`` that carries its row; ``values`` set the range."""
    if values:
        low, high = min(values), max(values)
    row = {
        "default": default,
        "codings": codings,
        "low": low,
        "high": high,
        "values": values,
        "low_in_file": low if low_in_file is None else low_in_file,
        "zero": zero,
        "needs": needs,
    }
    return field(default=default, metadata=row)


@dataclass(frozen=True)
class Tools:
    """The normative coding tools of a layer, as its header names them.

    Parameters
    ----------
    partition : Partition
        Splits that a segment may have.
    index_classes : bool
        Code an index as its class, then the element within the class. If False there is one class.
    flag_contexts : bool
        Choose the model of a flag by the scales of the leaves above and to the left.
    copy_radius : int
        Insert a new element into the scales at most this many halvings away, 0 to 8.
        8 reaches all 25 scales.
    dictionary_limit : int
        Most elements in the dictionary of one scale, 256 to 65536.
    displaced_blocks : int
        Insert decoded blocks at positions that are not multiples of their size too. 0 inserts
        none; 1 to 4 inserts blocks that lie 2**-displaced_blocks of their size apart, 4 at every
        position.
    redundancy_radius : int or None
        Leave out a new element if the dictionary holds one within this squared distance, 0 to
        65535. None lets an encoder take four times lambda.
    replacement : bool
        Let a new element replace one that was never used if the dictionary is full.
    post_filter : bool
        Filter the decoded picture where this lowers the rate-distortion cost. A file says so only
        if it does.
    prediction : bool
        Code predicted blocks: predict each block from its decoded surroundings and code the
        residual by a transform. The tools of trees then have no effect, unless ``dictionary`` is
        on.
    fragment_size : int
        Height and width of a fragment in samples: 16; with ``prediction`` also 32 and 64.
    least_squares : bool
        Allow prediction by weights fitted to the samples around a block.
    templates : int
        Places averaged by template prediction, whose surroundings resemble those of the block, 1
        to 4; 0 disables it. 0 without ``prediction``.
    step : int
        Quantisation step of the transform in 1/16 of an 8-bit gray level, 1 to 65535; 0 lets an
        encoder derive it from lambda. 0 without ``prediction``.
    dictionary : bool
        Let blocks of at most 16x16 samples be trees instead of predicted. False without
        ``prediction``, where everything is trees.
    pdpc : bool
        Blend a prediction with the decoded samples beside the block, more the nearer a sample is to
        them: position-dependent prediction combination.
    initial_states : bool
        Start the models of predicted blocks from states that were trained on photographs.
    cross_component : int
        Most planes of the same picture, coded earlier, that predict a block of a plane, 0 to 2. A
        file says how many a layer has.
    fixed_filters : int or None
        Scale of the fixed filters for each activity of the decoded samples, 0 to 3 halves: two bits
        for each of seven activities, the smoothest first; 0 filters nothing. None lets an encoder
        choose.
    dependent : bool
        Quantise dependently: the levels before a level choose the quantiser of its coefficient, out
        of two.
    ternary : bool
        Let a block be split into a quarter, a half and a quarter, besides into halves. Presets use
        it from effort 4 on.
    fine_contexts : bool
        Choose the models of a level by finer classes of its frequency and of the levels around it,
        and code whether it is 0 by the mean of two models.
    delta_step : bool
        Let each fragment have a step of its own. Encoders use it for regions of interest, and if
        they are tuned for the eye.
    trained_transforms : bool
        Let a block have a transform that was trained on photographs: it changes the low frequencies
        of the cosine transform. Presets use it from effort 3 on.
    derived_modes : bool
        Let the gradients of the decoded samples around a block say which angles are probable when
        its mode is coded.
    border_sines : bool
        Let the sine transform of a block at the upper or left border have cosines along the side
        that has no decoded samples before it.
    cross_component_filter : bool
        Filter a plane by the earlier planes where this lowers the rate-distortion cost. A file says
        so only if it does.
    quantisation_matrix : int
        How much coarser the quantisation step is for the highest frequency of a row or a column:
        1 plus half of this number of times, 0 to 15; in between in proportion. Encoders use it if
        they are tuned for the eye.
    lossless : bool
        Code lossless samples: lossless, whatever lambda is, unless ``max_error`` is above 0. Only
        the tools below then have an effect, and ``prediction`` must be False.
    lossless_form : int
        How many predictors and models predict a sample, 1 to 4; 1 is the fast mode. See
        ``LosslessForm``.
    max_error : int
        Most that a decoded sample differs from its source, 0 to 32767.

    Raises
    ------
    ParameterError
        If a value has another type, lies outside its range, or lacks the tool that it needs.
    """

    partition: Partition = _tool(Partition.FLEXIBLE, TREES, high=len(Partition) - 1)  # noqa: RUF009
    index_classes: bool = _tool(True, TREES)
    flag_contexts: bool = _tool(True, TREES)
    copy_radius: int = _tool(4, TREES, high=8)
    dictionary_limit: int = _tool(16384, TREES, low=256, high=65536)
    displaced_blocks: int = _tool(0, TREES, high=4)
    redundancy_radius: int | None = _tool(0, TREES, high=65535)
    replacement: bool = _tool(False, TREES)
    post_filter: bool = _tool(True, TREES, BLOCKS)
    prediction: bool = _tool(False, BLOCKS)
    fragment_size: int = _tool(16, BLOCKS, values=(16, 32, 64), needs="prediction")
    least_squares: bool = _tool(True, BLOCKS)
    templates: int = _tool(0, BLOCKS, high=4, needs="prediction")
    step: int = _tool(
        0, BLOCKS, high=65535, low_in_file=1, zero="to derive it from lambda", needs="prediction"
    )
    dictionary: bool = _tool(False, BLOCKS, needs="prediction")
    pdpc: bool = _tool(False, BLOCKS, needs="prediction")
    initial_states: bool = _tool(False, BLOCKS, needs="prediction")
    cross_component: int = _tool(0, BLOCKS, high=2, needs="prediction")
    fixed_filters: int | None = _tool(0, BLOCKS, high=(1 << 14) - 1, needs="prediction")
    dependent: bool = _tool(False, BLOCKS, needs="prediction")
    ternary: bool = _tool(False, BLOCKS, needs="prediction")
    fine_contexts: bool = _tool(False, BLOCKS, needs="prediction")
    delta_step: bool = _tool(False, BLOCKS, needs="prediction")
    trained_transforms: bool = _tool(False, BLOCKS, needs="prediction")
    derived_modes: bool = _tool(False, BLOCKS, needs="prediction")
    border_sines: bool = _tool(False, BLOCKS, needs="prediction")
    cross_component_filter: bool = _tool(False, BLOCKS, needs="prediction")
    quantisation_matrix: int = _tool(0, BLOCKS, high=15, needs="prediction")
    lossless: bool = _tool(False, LOSSLESS)
    lossless_form: int = _tool(2, LOSSLESS, low=1, high=4, needs="lossless")
    max_error: int = _tool(0, LOSSLESS, high=32767, needs="lossless")

    def __post_init__(self):
        for tool in TABLE.values():
            object.__setattr__(self, tool.name, tool.checked(getattr(self, tool.name)))
        if self.lossless and self.prediction:
            raise ParameterError("prediction = True: must be False with lossless")
        for tool in TABLE.values():
            if tool.needs:
                value = getattr(self, tool.name)
                number = tool.high if value is None else int(value)
                if fault := tool.fault(number, getattr(self, tool.needs)):
                    shown = value if value is None else number
                    raise ParameterError(f"{tool.name} = {shown}: {fault}")

    @property
    def form(self) -> "LosslessForm":
        """What the lossless form stands for, with the maximal error."""
        return LOSSLESS_FORMS[self.lossless_form]._replace(max_error=self.max_error)

    @property
    def without_loss(self) -> bool:
        """Whether the coding is lossless whatever lambda is."""
        return self.lossless and self.max_error == 0

    @property
    def codings(self) -> tuple[str, ...]:
        """The coding of a layer, one of ``CODINGS``, then the coding used inside it, if any."""
        if self.lossless:
            return (LOSSLESS,)
        if not self.prediction:
            return (TREES,)
        return (BLOCKS, TREES) if self.dictionary else (BLOCKS,)

    @property
    def without_effect(self) -> tuple[str, ...]:
        """Names of the tools that have no effect in the codings of this layer."""
        used = set(self.codings)
        return tuple(tool.name for tool in TABLE.values() if not used.intersection(tool.codings))


class ToolOptions(TypedDict, total=False):
    """Options of an encoder: tuning, palettes, range, and tools that override a preset.

    None stands for tuning and palettes as ``EncodeParams.from_options`` says, for the range that a
    picture uses, and keeps the value of the preset. A partition can also be given by its name or
    number. See ``Tools``.
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
    least_squares: bool | None
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
    derived_modes: bool | None
    border_sines: bool | None
    cross_component_filter: bool | None
    quantisation_matrix: int | None
    lossless: bool | None
    lossless_form: int | None
    max_error: int | str | None


TABLE = {row.name: Tool(row.name, row.type, **row.metadata) for row in fields(Tools)}
"""The table of tools: the row of each field of ``Tools``, in the order of the fields."""

TREE_TOOLS = tuple(name for name, row in TABLE.items() if row.codings == (TREES,))
"""Names of the tools in the header of a layer of trees, in the order of the format."""

BLOCK_TOOLS = tuple(
    name for name, row in TABLE.items() if row.codings == (BLOCKS,) and name != "prediction"
)
"""Names of the tools of predicted blocks, in the order of the format.

The number of the coding stands for prediction.
"""

LOSSLESS_TOOLS = tuple(
    name for name, row in TABLE.items() if row.codings == (LOSSLESS,) and name != "lossless"
)
"""Names of the tools of lossless samples, in the order of the format."""


class LosslessForm(NamedTuple):
    """What a decoder of lossless samples does: see section "Lossless samples" of the format.

    Parameters
    ----------
    predictors : int
        Predictors whose predictions of a sample are blended, 1 to 3.
    models : int
        Models that predict a bit: 8 or 16, or 2, which is the fast mode.
    weight_sets : int
        Sets of weights that mix the models, 1 or 4.
    last_stage : bool
        Whether the mixed probability is adapted once more.
    max_error : int
        Most that a decoded sample differs from its source.
    """

    predictors: int
    models: int
    weight_sets: int
    last_stage: bool
    max_error: int = 0


LOSSLESS_FORMS = (
    LosslessForm(1, 8, 1, last_stage=False),
    LosslessForm(1, 2, 1, last_stage=False),
    LosslessForm(1, 8, 4, last_stage=True),
    LosslessForm(1, 16, 4, last_stage=True),
    LosslessForm(3, 16, 4, last_stage=True),
)
"""The lossless forms by number. Form 0 codes the colours of palettes, and no file names it."""

DEFAULT_EFFORT = 2
"""Effort of the search for predicted blocks. A photograph of 12 megapixels takes seconds; decision
20 has rates and times."""
SLOW_TOOLS = {"trained_transforms": 3, "ternary": 4}
"""Tools that take long to search, and the effort from which presets have them."""
FORM_EFFORTS = {1: 1, 2: 2, 4: 3, 6: 4}
"""The efforts from which presets have a lossless form, and its number; decision 38 has times."""

_PREDICTION: dict[str, Any] = {
    **{name: TABLE[name].fullest for name in BLOCK_TOOLS},
    "prediction": True,
    "fragment_size": 64,
    "templates": 4,
    "step": 0,
    "dictionary": False,
    # They need to know what matters, and do not serve squared error.
    "delta_step": False,
    "quantisation_matrix": 0,
}
_TEXT: dict[str, Any] = {
    "dictionary_limit": 65536,
    "displaced_blocks": 2,
    "redundancy_radius": None,
    "replacement": True,
}
_PRESETS: dict[str, Tools] = {
    "photo": Tools(**_PREDICTION),
    "text": Tools(**_TEXT),
    "mixed": Tools(**{**_PREDICTION, **_TEXT, "dictionary": True, "fragment_size": 32}),
    "lossless": Tools(post_filter=False, lossless=True),
    "plain": Tools(),
    "classic": Tools(index_classes=False, flag_contexts=False, copy_radius=8, post_filter=False),
}


def preset_tools(name: str, effort: int = DEFAULT_EFFORT) -> Tools:
    """Return the tools of a preset at an effort from 1 to 9.

    Tools whose search takes too long at the effort are left out.
    """
    tools = _PRESETS[name]
    if tools.lossless:
        least = max(least for least in FORM_EFFORTS if least <= effort)
        return replace(tools, lossless_form=FORM_EFFORTS[least])
    if not tools.prediction:
        return tools
    slow: dict[str, Any] = {each: effort >= least for each, least in SLOW_TOOLS.items()}
    return replace(tools, **slow)


PRESETS: dict[str, Tools] = {name: preset_tools(name) for name in _PRESETS}
"""Named sets of tools at the default effort; "auto" is no set but tries several."""


EYE_FRAGMENT = 32
"""Size of fragments that is tuned for the eye: an area of one importance."""
EYE_WEIGHTS = 6
"""Strength of the quantisation matrix that is tuned for the eye, on photographs."""


EYE_TOOLS = frozenset({"delta_step", "quantisation_matrix"})
"""Tools that an encoder needs to be tuned for the eye."""


def for_eye(tools: Tools) -> Tools:
    """Return tools with those that serve the eye; decision 42 has measurements.

    Pages keep equal steps for all frequencies, because their strokes have high ones.
    """
    if not tools.prediction:
        return tools
    strength = 0 if tools.dictionary else EYE_WEIGHTS
    return replace(tools, fragment_size=EYE_FRAGMENT, delta_step=True, quantisation_matrix=strength)


def preset_of(tools: Tools) -> str | None:
    """Return the name of the preset that has these tools at some effort, or None.

    Examples
    --------
    >>> from mmpcodec.tools import PRESETS, preset_of
    >>> preset_of(PRESETS["text"])
    'text'
    """
    efforts = {1, *SLOW_TOOLS.values(), *FORM_EFFORTS}
    alike = (name for name in PRESETS if any(preset_tools(name, each) == tools for each in efforts))
    return next(alike, None)


def presets_where(holds: Callable[[Tools], bool]) -> str:
    """Return the presets of whose tools a condition holds, for messages; "" if there is none.

    Examples
    --------
    >>> from mmpcodec.tools import presets_where
    >>> presets_where(lambda tools: tools.prediction)
    'preset photo or mixed'
    """
    names = [name for name, tools in PRESETS.items() if holds(tools)]
    if not names:
        return ""
    return f"preset {' or '.join(filter(None, [', '.join(names[:-1]), names[-1]]))}"
