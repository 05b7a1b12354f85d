"""The tools of the codec: names, codings, ranges, defaults, and presets made of them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from numbers import Integral
from typing import Any

from mmpcodec.checks import check_int, check_switch
from mmpcodec.errors import ParameterError

MIN_DICTIONARY_LIMIT = 256


MAX_DICTIONARY_LIMIT = 65536


MAX_COPY_RADIUS = 8


MAX_DISPLACED_BLOCKS = 4


MAX_REDUNDANCY_RADIUS = (1 << 16) - 1


MAX_TEMPLATES = 4


FRAGMENT_SIZES = (16, 32, 64)


MAX_STEP = 65535


RANGES = {
    "copy_radius": (0, MAX_COPY_RADIUS),
    "dictionary_limit": (MIN_DICTIONARY_LIMIT, MAX_DICTIONARY_LIMIT),
    "displaced_blocks": (0, MAX_DISPLACED_BLOCKS),
    "redundancy_radius": (0, MAX_REDUNDANCY_RADIUS),
    "fragment_size": (min(FRAGMENT_SIZES), max(FRAGMENT_SIZES)),
    "templates": (0, MAX_TEMPLATES),
    "step": (0, MAX_STEP),
}
"""The least and the largest value of tools that are numbers."""


ALLOWED_WITH: dict[bool, dict[str, tuple[Sequence[int], str]]] = {
    False: {
        "fragment_size": (FRAGMENT_SIZES[:1], "16"),
        "dictionary": (range(1), "0"),
        "templates": (range(1), "0"),
        "step": (range(1), "0"),
    },
    True: {
        "fragment_size": (FRAGMENT_SIZES, " or ".join(map(str, FRAGMENT_SIZES))),
        "dictionary": (range(2), "0 to 1"),
        "templates": (range(MAX_TEMPLATES + 1), f"0 to {MAX_TEMPLATES}"),
        "step": (range(1, MAX_STEP + 1), f"1 to {MAX_STEP}"),
    },
}
"""Values, and they in words, of what depends on prediction."""


MIN_TILE_SIZE = 64


MAX_TILE_SIZE = 1 << 24


class Partition(IntEnum):
    """How a segment may be split: see section "Partition" of the format."""

    FLEXIBLE = 0
    DYADIC = 1


def fault_with(prediction: bool, name: str, value: int) -> str | None:
    """What is wrong with a field of ``ALLOWED_WITH``, with prediction or without; or None."""
    allowed, shown = ALLOWED_WITH[prediction][name]
    if value in allowed:
        return None
    return f"allowed {'with' if prediction else 'without'} prediction is {shown}"


def _partition(value: Any) -> Partition:
    if isinstance(value, str) and value.upper() in Partition.__members__:
        return Partition[value.upper()]
    if isinstance(value, Integral) and value in list(Partition):
        return Partition(int(value))
    names = ", ".join(name.lower() for name in Partition.__members__)
    raise ParameterError(f"partition = {value!r}: must be one of {names}")


@dataclass(frozen=True)
class Tools:
    """The normative coding tools of a picture, as its header names them.

    Parameters
    ----------
    partition : Partition
        Which splits a segment may have.
    index_classes : bool
        Code an index as class, then element within its class; otherwise there is one class.
    flag_contexts : bool
        Choose the flag model by the leaf scales of the fragments above and to the left.
    copy_radius : int
        A new element is copied to the scales at most this many halvings away, 0 to 8.
        8 reaches all 25 scales.
    dictionary_limit : int
        Most elements in the dictionary of one scale, 256 to 65536.
    displaced_blocks : int
        Insert decoded blocks that are not aligned to their size as well: 0 none, else v for those
        2**-v of their size apart, up to 4 for every place.
    redundancy_radius : int or None
        A new element is left out where one within this squared distance is near, 0 to 65535; None
        lets an encoder take four times lambda.
    replacement : bool
        In a full dictionary a new element takes the place of one that was never used.
    post_filter : bool
        Filter the decoded picture where that pays; a file says so only if it does.
    prediction : bool
        Predict blocks from what is decoded around them and code the rest by a transform; the tools
        of the dictionaries then have no part, unless ``dictionary`` is on.
    dictionary : bool
        Let blocks of at most 16x16 samples be trees of the dictionaries instead of predicted.
        Without prediction False: all is trees then.
    fragment_size : int
        Height and width of a fragment: 16, with prediction also 32 and 64.
    least_squares : bool
        Let blocks be predicted by weights that fit the samples around them.
    templates : int
        Let blocks be predicted by the average of so many places whose surroundings look like
        theirs, 1 to 4; 0 for none. Without prediction 0.
    step : int
        Size of a level of the transform in 1/16 of a gray level, 1 to 65535; 0 lets an encoder
        derive it from lambda. Without prediction 0.
    exact : bool
        Code sample by sample and without loss, whatever lambda is; all other tools then have no
        part, and prediction is off.
    """

    partition: Partition = Partition.FLEXIBLE
    index_classes: bool = True
    flag_contexts: bool = True
    copy_radius: int = 4
    dictionary_limit: int = 16384
    displaced_blocks: int = 0
    redundancy_radius: int | None = 0
    replacement: bool = False
    post_filter: bool = True
    prediction: bool = False
    dictionary: bool = False
    fragment_size: int = 16
    least_squares: bool = True
    templates: int = 0
    step: int = 0
    exact: bool = False

    def __post_init__(self):
        object.__setattr__(self, "partition", _partition(self.partition))
        for field in fields(self):
            if field.type is bool:
                value = check_switch(field.name, getattr(self, field.name))
                object.__setattr__(self, field.name, value)
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            if name != "redundancy_radius" or value is not None:
                object.__setattr__(self, name, check_int(name, value, low, high))
        if self.exact and self.prediction:
            raise ParameterError("prediction = True: must be False with exact")
        for name in ALLOWED_WITH[self.prediction]:
            number = int(getattr(self, name))  # a switch is 0 or 1
            left_open = name == "step" and number == 0
            if not left_open and (fault := fault_with(self.prediction, name, number)):
                raise ParameterError(f"{name} = {number}: {fault}")

    @property
    def without_part(self) -> tuple[str, ...]:
        """Names of the tools that do nothing beside these."""
        if self.exact:
            return (*TREE_TOOLS, *BLOCK_TOOLS, "post_filter")
        if not self.prediction:
            return (*BLOCK_TOOLS, "exact")
        return ("exact",) if self.dictionary else (*TREE_TOOLS, "exact")


TREE_TOOLS = (
    "partition",
    "index_classes",
    "flag_contexts",
    "copy_radius",
    "dictionary_limit",
    "displaced_blocks",
    "redundancy_radius",
    "replacement",
)
"""Tools that have no part where no tree of the dictionaries can be."""


BLOCK_TOOLS = ("prediction", "dictionary", "fragment_size", "least_squares", "templates", "step")
"""Tools that have no part without prediction."""


PRESETS: dict[str, Tools] = {
    "photo": Tools(prediction=True, fragment_size=64, templates=MAX_TEMPLATES),
    "text": Tools(
        dictionary_limit=MAX_DICTIONARY_LIMIT,
        displaced_blocks=2,
        redundancy_radius=None,
        replacement=True,
    ),
    "mixed": Tools(
        dictionary_limit=MAX_DICTIONARY_LIMIT,
        displaced_blocks=2,
        redundancy_radius=None,
        replacement=True,
        prediction=True,
        dictionary=True,
        fragment_size=32,
        templates=MAX_TEMPLATES,
    ),
    "exact": Tools(post_filter=False, exact=True),
    "plain": Tools(),
    "classic": Tools(index_classes=False, flag_contexts=False, copy_radius=8, post_filter=False),
}


MAX_DEPTH = 16
