"""mmpcodec as a ``Codec``."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import mmpcodec
from mmpcodec import backends
from mmpcodec.bench.codecs.base import (
    _SWITCH,
    GRAY,
    LAMBDAS,
    OURS,
    Codec,
    SampleKind,
    operating_points,
    refusing,
    spelled,
)
from mmpcodec.codec.candidates import candidates_at
from mmpcodec.errors import ParameterError
from mmpcodec.fingerprints import codec_fingerprint
from mmpcodec.format.container import MMP_SUFFIX
from mmpcodec.format.layers import fault_of_depth
from mmpcodec.params import AUTO, EncodeParams
from mmpcodec.presets import PRESETS
from mmpcodec.tools import BlockTools, trees_of


def presets(kind: SampleKind = GRAY) -> tuple[str, ...]:
    """Return a codec string for each preset that can code samples of a kind with loss."""
    return tuple(
        f"{OURS}:preset={name}"
        for name, tools in PRESETS.items()
        if not tools.lossless and fault_of_depth(tools, kind.depth) is None
    )


def ours(
    options: Mapping[str, str], lambdas: Sequence[float] = LAMBDAS, kind: SampleKind = GRAY
) -> Codec:
    """Return mmpcodec with some options as a codec.

    Parameters
    ----------
    options : mapping of str to str
        Options of ``mmpcodec.encode``, ``backend``, ``device``, ``threads`` and ``lambda``.
    lambdas : sequence of float
        Operating points if ``options`` has no ``lambda``.
    kind : SampleKind
        Samples that the codec gets.

    Returns
    -------
    Codec
        If the tools cannot code the depth, a codec that raises a ParameterError with the reason.

    Raises
    ------
    ParameterError
        For an unknown option, or a value outside its range.
    BackendUnavailable
        When the named backend cannot run here.
    """
    rest = dict(options)
    ladder = tuple(lambdas)
    if "lambda" in rest:
        ladder = operating_points("lambda", rest.pop("lambda"))
    name = spelled(OURS, {"preset": AUTO, **rest})
    backend_name = rest.pop("backend", "auto")
    device = rest.pop("device", None)
    threads = rest.pop("threads", None)
    values = {key: _value(value) for key, value in rest.items()}
    params = [EncodeParams.from_options(point, **values) for point in ladder]
    if device is not None:
        backend_name = backends.for_device(backend_name, device)
    backend = backends.get(backend_name)
    numbers = None if device is None else backends.numbers_of(device, backend)
    if threads is not None and not (threads.isdigit() and 1 <= int(threads) <= 1024):
        raise ParameterError(f"threads = {threads!r}: must be from 1 to 1024")
    count = None if threads is None else int(threads)
    decoder = backend.name if backend.decodes else backends.AUTO

    def encode(samples: np.ndarray, point: float) -> bytes:
        return mmpcodec.encode(
            samples,
            point,
            depth=kind.depth,
            backend=backend.name,
            device=numbers,
            threads=count,
            **values,
        )

    def edges(data: bytes) -> tuple[np.ndarray, np.ndarray] | None:
        trace = mmpcodec.inspect(data, decode=True, backend=decoder).trace
        assert trace is not None
        return trace.edges()

    settings = _settings(params[0])
    if threads is not None:
        settings += f", threads asked for: {threads}"
    codec = Codec(
        name=name,
        knob="lambda",
        ladder=ladder,
        settings=settings,
        versions={"mmpcodec": mmpcodec.__version__, "codec": codec_fingerprint()},
        encode=encode,
        decode=lambda data: mmpcodec.decode(data, backend=decoder, threads=count),
        backend=f"{backend.name} ({backend.describe()})",
        edges=edges,
        suffix=MMP_SUFFIX,
    )
    try:
        for each in params:
            candidates_at(each, kind.depth)
    except ParameterError as error:
        return refusing(codec, str(error))
    return codec


def _settings(params: EncodeParams) -> str:
    """Return the settings that change the files, in words."""
    tools = [each.tools for each in params.each_alone()]
    found = []
    if any(isinstance(each, BlockTools) for each in tools):
        found.append(f"effort {params.effort}")
    if any(map(trees_of, tools)):
        found.append(f"rate model {params.rate_model}")
    return ", ".join(found) or "lossless"


def _value(text: str) -> Any:
    """Return the value of an option: a bool, an integer or the text."""
    if text in _SWITCH:
        return _SWITCH[text]
    return int(text) if text.lstrip("-").isdigit() else text
