"""The sets of tools that an encoder tries, and the backend of each. *Encoder only*."""

from collections.abc import Sequence
from dataclasses import replace

from mmpcodec import backends
from mmpcodec.backends.base import Backend
from mmpcodec.codec.layers.tasks import LOSSLESS
from mmpcodec.depth import coded_depth
from mmpcodec.errors import ParameterError
from mmpcodec.format.layers import fault_of_depth
from mmpcodec.params import AUTO, PSNR, EncodeParams
from mmpcodec.presets import preset_of, presets_where
from mmpcodec.tools import BLOCK_TOOLS, TREE_TOOLS, BlockTools, Tools


def fitted(params: EncodeParams, backend: str, depth: int) -> EncodeParams:
    """Return parameters whose presets have no tools that a named backend lacks.

    A set of tools stays as it is if the backend cannot code samples of the depth with the rest of
    its tools either. Tools that the caller chose stay. If tools are left out, the encoder is tuned
    for PSNR where it may choose, and colours do not have the fine layout.
    """
    backends.check_name(backend)
    if backend == backends.AUTO:
        return params
    named, before = backends.ROWS[backend].make(), params.sets
    ways = [named.able(tools, params.given) for tools in before]
    for place, tools in enumerate(ways):
        if named.lacks(tools, coded_depth(depth)):
            ways[place] = before[place]
    if tuple(ways) == before:
        return params
    tune = PSNR if params.tune == AUTO else params.tune
    return replace(params, tools=ways[0], candidates=tuple(ways[1:]), tune=tune, fine=False)


def left_out(params: EncodeParams, backend: str, depth: int) -> list[str]:
    """Return the titles of the tools of presets that a named backend leaves out."""
    left = fitted(params, backend, depth)
    pairs = list(zip(params.each_alone(), left.each_alone(), strict=True))
    changed = {
        name
        for one, other in pairs
        for name, _ in vars(one.tools).items() ^ vars(other.tools).items()
    }
    rows = TREE_TOOLS | BLOCK_TOOLS
    return [row.title for row in rows.values() if row.name in changed]


def candidates_at(
    params: EncodeParams, depth: int, backend: str = backends.AUTO
) -> list[EncodeParams]:
    """Return the parameters of each candidate set of tools that can code samples of a depth.

    Presets have no tools that a named backend lacks; see ``fitted``.

    Raises
    ------
    ParameterError
        When no candidate can.
    """
    candidates = fitted(params, backend, depth).each_alone()
    fitting = [
        candidate for candidate in candidates if fault_of_depth(candidate.tools, depth) is None
    ]
    if not fitting:
        preset = preset_of(candidates[0].tools)
        fault = fault_of_depth(candidates[0].tools, depth, preset and f"preset {preset}")
        able = presets_where(
            lambda tools: (
                (params.lam > 0 or not isinstance(tools, BlockTools))
                and fault_of_depth(tools, depth) is None
            )
        )
        raise ParameterError(f"{fault}; take {able}")
    return fitting


def backends_of(
    candidates: Sequence[EncodeParams], backend: str, depth: int, fragments: int
) -> dict[Tools, Backend]:
    """Return the backend for each set of tools, and for lossless samples, which code alpha."""
    tools = [candidate.tools for candidate in candidates]
    named = backends.get(backend)
    found = {}
    for each in dict.fromkeys([*tools, LOSSLESS]):
        aside = len(tools) > 1 or each not in tools
        name = backends.AUTO if aside and named.lacks(each, coded_depth(depth)) else backend
        effort = candidates[0].effort
        found[each] = backends.get(name, fragments, each, coded_depth(depth), effort=effort)
    return found
