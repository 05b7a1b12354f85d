"""The functions of ``mmpcodec``: arguments, progress, threads, buffers, silence."""

import os
import re
import subprocess
import sys
import threading
from inspect import signature
from pathlib import Path

import numpy as np
import pytest
from support.strategies import natural, text_like
from support.vectors import DECODERS

import mmpcodec
from mmpcodec import BackendUnavailable, Cancelled, EncodeParams, ParameterError
from mmpcodec.options import EncodeOptions
from mmpcodec.params import TRIED
from mmpcodec.plugins.chunks import WithOptions
from mmpcodec.presets import TOOL_OPTIONS
from mmpcodec.reference.trees.scales import SCALES
from mmpcodec.tools import ToolOptions

PICTURE = natural(np.random.default_rng(0), 60, 70)


@pytest.mark.parametrize(
    ("array", "says"),
    [
        (np.zeros((4, 4), np.int32), "type int32"),
        (np.zeros((4, 4, 5), np.uint8), r"shape \(4, 4, 5\)"),
        (np.zeros((0, 4), np.uint8), r"shape \(0, 4\)"),
        (np.zeros((4, 0, 1), np.uint8), r"shape \(4, 0, 1\)"),
        (np.zeros((4, 4, 1, 1), np.uint8), r"shape \(4, 4, 1, 1\)"),
        ([[0.5]], "type float64"),
    ],
)
def test_unsupported_pictures_are_refused(array, says):
    with pytest.raises(ParameterError, match=f"{says}.*supported are"):
        mmpcodec.encode(array)


@pytest.mark.parametrize(
    "function",
    [
        mmpcodec.encode,
        mmpcodec.encode_batch,
        mmpcodec.encode_picture,
        mmpcodec.encode_pictures,
        mmpcodec.imwrite,
        EncodeParams.from_options,
        WithOptions,
    ],
)
def test_options_are_written_out(function):
    parameters = signature(function).parameters
    assert not any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    defaults = {"backend": "auto", "tile_size": None}
    if "params" not in parameters:
        defaults = {"preset": "auto", "effort": 2, "rate_model": "adaptive", "templates": None}
    assert {name: parameters[name].default for name in defaults} == defaults


def test_every_option_has_one_text():
    said = re.findall(r"^    (\w+) : ", EncodeOptions.__doc__, re.MULTILINE)
    tools = {name for name in ToolOptions.__annotations__ if name in TOOL_OPTIONS} - {"max_error"}
    assert sorted(said) == sorted(EncodeOptions.__annotations__.keys() - tools)


def test_none_stands_for_the_default_of_each_option():
    options = dict.fromkeys(EncodeOptions.__annotations__)
    assert mmpcodec.encode(PICTURE, **options) == mmpcodec.encode(PICTURE)
    params = EncodeParams.from_options(20, preset="plain")
    found = mmpcodec.encode_picture(PICTURE, params, tile_size=None, backend=None)
    assert found.data == mmpcodec.encode_picture(PICTURE, params).data


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"lam": -1}, "lam = -1: must be finite and not negative"),
        ({"lam": float("nan")}, "lam = nan"),
        ({"lam": "32"}, "must be a number"),
        (
            {"preset": "good"},
            "preset = 'good': must be one of auto, best, photo, text, mixed",
        ),
        ({"preset": ["text"]}, "preset = \\['text'\\]: must be one of auto"),
        ({"partition": "free"}, "partition = 'free': must be one of flexible, dyadic"),
        ({"dictionary_limit": 255}, "dictionary_limit = 255: must be from 256 to 65536"),
        ({"dictionary_limit": 300.0}, "must be an integer"),
        (
            {"preset": "text", "fragment_size": 32},
            "fragment_size = 32: has no effect with preset text; take preset photo or mixed",
        ),
        ({"fragment_size": 16.0}, "must be an integer"),
        (
            {"preset": "photo", "fragment_size": 24},
            "fragment_size = 24: must be 16, 32 or 64",
        ),
        (
            {"preset": "plain", "step": 7},
            "step = 7: has no effect with preset plain; take preset photo or mixed",
        ),
        (
            {"preset": "photo", "step": 65536},
            "step = 65536: must be from 1 to 65535, or 0 ",
        ),
        ({"copy_radius": 9}, "copy_radius = 9: must be from 0 to 8"),
        ({"rate_model": "lossless"}, "rate_model = 'lossless'"),
        ({"index_classes": 2}, "index_classes = 2: must be True or False"),
        ({"prediction": 2}, "prediction = 2: must be True or False"),
        ({"dictionary": "on"}, "dictionary = 'on': must be True or False"),
        ({"colour": 1}, "unknown option 'colour': known are lam, preset, .*target_size, .*step, "),
        ({"version": 2}, "unknown option 'version'"),
        ({"version": None}, "unknown option 'version'"),
        ({"threads": 0}, "threads = 0"),
        ({"progress": 3}, "progress = 3: must be None or a callable"),
        ({"lam": 10**400}, "lam = 10+: must be finite and not"),
        ({"target_bpp": 10**400}, "target_bpp = 10+: must be finite"),
        ({"target_psnr": float("nan")}, "target_psnr = nan: must be finite"),
        ({"target_size": np.float32(9)}, "must be an integer from 1"),
        ({"preset": np.array(["text", "photo"])}, "must be one of auto"),
        ({"post_filter": np.array([1, 2])}, "must be True or False"),
        ({"rate_model": np.array(["log2", "lossless"])}, "must be one of adaptive"),
        ({"backend": np.array(["cpu", "auto"])}, "must be one of auto"),
        ({"tile_size": 63}, "tile_size = 63: must be from 64 to 16777216"),
        ({"tile_size": 0.0}, "tile_size = 0.0: must be an integer"),
        ({"backend": "gpu"}, "backend = 'gpu': must be one of auto"),
        ({"backend": ["cpu"]}, "must be one of auto"),
    ],
)
def test_wrong_parameters_are_named(options, says):
    with pytest.raises(ParameterError, match=says):
        mmpcodec.encode(PICTURE, **options)


def test_any_lambda_works():
    sizes = [len(mmpcodec.encode(PICTURE, lam=lam)) for lam in (0, 1e-9, 0.5, 60, 2.0**20, 1e300)]
    assert sizes == sorted(sizes, reverse=True)
    assert mmpcodec.encode(PICTURE, lam=1e300) == mmpcodec.encode(PICTURE, lam=2.0**20)


def test_array_likes_and_strides():
    expected = mmpcodec.encode(np.ascontiguousarray(PICTURE[::2, ::-3]))
    assert mmpcodec.encode(PICTURE[::2, ::-3]) == expected
    read_only = PICTURE[::2, ::-3].copy()
    read_only.flags.writeable = False
    assert mmpcodec.encode(read_only) == expected


def test_numbers_of_numpy_are_those_of_python():
    plain = mmpcodec.encode(
        PICTURE, 24, preset="photo", effort=1, tile_size=64, templates=1, threads=1
    )
    numbers = {
        "effort": np.int64(1),
        "tile_size": np.uint16(64),
        "templates": np.int32(1),
        "threads": np.int8(1),
        "depth": np.uint8(8),
    }
    assert mmpcodec.encode(PICTURE, np.float32(24), preset="photo", **numbers) == plain
    params = EncodeParams.from_options(np.int64(24), preset="photo", effort=np.int64(1))
    assert (type(params.lam), type(params.effort)) == (float, int)
    for name, value in (("quality", 50), ("target_size", 2000), ("target_bpp", 3)):
        expected = mmpcodec.encode(PICTURE, preset="plain", **{name: value})
        assert mmpcodec.encode(PICTURE, preset="plain", **{name: np.int16(value)}) == expected
    for kind in (np.float32, np.float64):
        found = mmpcodec.encode(PICTURE, preset="plain", target_psnr=kind(35))
        assert found == mmpcodec.encode(PICTURE, preset="plain", target_psnr=35)
    assert EncodeParams.from_options(1, preset="plain", partition=np.int64(1)).tools.partition == 1


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, bool])
def test_one_plane_is_gray(kind):
    gray = (PICTURE > 99).astype(kind) if kind is bool else PICTURE.astype(kind)
    data = mmpcodec.encode(gray[..., None], 9, preset="photo")
    assert data == mmpcodec.encode(gray, 9, preset="photo")
    assert mmpcodec.decode(data).shape == gray.shape
    assert mmpcodec.encode_batch([gray[..., None], gray], 0) == 2 * [mmpcodec.encode(gray, 0)]


def test_bool_is_one_bit_a_sample():
    mask = np.random.default_rng(1).random((30, 40)) > 0.7
    for samples in (mask, np.dstack([mask, ~mask, mask])):
        data = mmpcodec.encode(samples, lam=0)
        assert data == mmpcodec.encode(samples.astype(np.uint8), lam=0, depth=1)
        assert mmpcodec.inspect(data).header.depth == 1
        decoded = mmpcodec.decode(data)
        assert decoded.dtype == np.uint8
        assert (decoded == samples).all()
    with pytest.raises(ParameterError, match="depth = 2: must be from 1 to 1 for bool"):
        mmpcodec.encode(mask, depth=2)


def test_byte_order_does_not_matter():
    deep = PICTURE.astype(np.uint16) * 257
    swapped = deep.astype(deep.dtype.newbyteorder())
    assert mmpcodec.encode(swapped, 0) == mmpcodec.encode(deep, 0)


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview, np.frombuffer])
def test_decode_takes_any_buffer(wrap):
    data = mmpcodec.encode(PICTURE)
    wrapped = np.frombuffer(data, np.uint8) if wrap is np.frombuffer else wrap(data)
    assert mmpcodec.decode(wrapped).shape == PICTURE.shape


@pytest.mark.parametrize("threads", [0, 1025, True, 1.5])
def test_decode_refuses_numbers_of_threads(threads):
    with pytest.raises(ParameterError, match=f"threads = {threads}: must be"):
        mmpcodec.decode(b"", threads=threads)


def test_decode_refuses_other_limits():
    with pytest.raises(ParameterError, match="limits = 5: must be DecodeLimits or None"):
        mmpcodec.decode(b"", limits=5)


def test_decode_refuses_what_is_not_bytes():
    with pytest.raises(ParameterError, match="data of type str"):
        mmpcodec.decode("file.mmp")


@pytest.mark.parametrize("backend", DECODERS)
def test_progress_counts_fragments_and_cancels(backend):
    calls = []
    options = {"backend": backend, "preset": "plain"}
    data = mmpcodec.encode(PICTURE, **options, progress=lambda *args: calls.append(args) or True)
    assert calls == [(0, 20), (5, 20), (10, 20), (15, 20), (20, 20)]
    with pytest.raises(Cancelled, match="after 5 of 20"):
        mmpcodec.encode(PICTURE, **options, progress=lambda done, total: done < 5)
    with pytest.raises(Cancelled):
        mmpcodec.decode(data, backend=backend, progress=lambda done, total: False)
    with pytest.raises(ZeroDivisionError):
        mmpcodec.encode(PICTURE, **options, progress=lambda done, total: done // 0)


@pytest.mark.parametrize("backend", DECODERS)
def test_progress_of_blocks_is_told_each_fragment(backend):
    calls = []
    mmpcodec.encode(
        PICTURE[:36, :40],
        preset="photo",
        fragment_size=32,
        effort=1,
        backend=backend,
        progress=lambda *args: calls.append(args) or True,
    )
    assert calls == [(0, 9), (4, 9), (6, 9), (8, 9), (9, 9)]


@pytest.mark.parametrize("threads", [1, 3])
def test_progress_of_several_presets_counts_them_as_one(threads):
    calls = []
    mmpcodec.encode(PICTURE, threads=threads, progress=lambda *args: calls.append(args) or True)
    done = [count for count, _ in calls]
    assert done == sorted(done)
    assert (done[0], calls[-1]) == (0, (20, 20))
    assert {total for _, total in calls} == {20}


def test_what_stops_one_preset_stops_all():
    reported = []

    def fail_late(done, total):
        reported.append(done)
        if done >= 5:
            raise KeyError("stop")

    for progress, error in ((fail_late, KeyError), (lambda done, total: done < 5, Cancelled)):
        with pytest.raises(error):
            mmpcodec.encode(PICTURE, threads=3, progress=progress)
    # Each of the others may have been at its call already.
    assert sum(done >= 5 for done in reported) <= len(TRIED)


def test_presets_side_by_side_are_those_one_by_one():
    for picture in (PICTURE, text_like(np.random.default_rng(2), 60, 70)):
        alone = [mmpcodec.encode(picture, 20, preset=preset) for preset in TRIED]
        costs = []
        for data in alone:
            error = mmpcodec.decode(data).astype(int) - picture
            costs.append((error * error).sum() + 20 * 8 * len(data))
        best = alone[int(np.argmin(costs))]
        for threads in (1, 2, 8):
            assert mmpcodec.encode(picture, 20, preset="best", threads=threads) == best


def test_inspect_explains_the_bits():
    data = mmpcodec.encode(PICTURE, lam=20, preset="plain")
    found = mmpcodec.inspect(data, decode=True)
    assert found.samples is not None
    assert found.trace is not None
    assert found.bits_per_pixel == 8 * len(data) / PICTURE.size
    bits = sum(found.trace.bits.values()) - found.trace.bits["filter"]
    assert bits == pytest.approx(8 * found.payload_size, abs=12)
    areas = [scale.height * scale.width for scale in SCALES]
    assert np.dot(found.trace.leaves(), areas) == 64 * 80
    assert sum(found.trace.depths()) == sum(found.trace.leaves())
    assert found.trace.dictionary_sizes.min() >= 256
    assert found.trace.leaf_scales.shape == (64, 80)
    assert mmpcodec.inspect(data).samples is None


def test_many_threads_at_once_get_the_same_bytes():
    pictures = [text_like(np.random.default_rng(i), 50, 40) for i in range(6)]
    expected = [mmpcodec.encode(p, threads=1) for p in pictures]
    results = [None] * len(pictures)

    def work(i):
        results[i] = mmpcodec.encode(pictures[i], threads=2)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(len(pictures))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == expected


def test_nothing_leaks():
    picture = np.full((512, 1024), 90, np.uint8)

    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    for count in (5, 60):
        before = resident()
        for _ in range(count):
            mmpcodec.decode(mmpcodec.encode(picture, preset="plain", threads=2))
    assert resident() - before < 10 * picture.nbytes


def test_the_library_is_silent(capfd):
    mmpcodec.decode(mmpcodec.encode(PICTURE, lam=3))
    assert capfd.readouterr() == ("", "")


def test_a_named_backend_never_falls_back(monkeypatch):
    from mmpcodec.backends import cpu

    monkeypatch.setattr(cpu, "_REASON", "no module today")
    with pytest.raises(BackendUnavailable, match="cannot run here: no module today"):
        mmpcodec.encode(PICTURE[:8, :8], backend="cpu")
    encoding = mmpcodec.encode_picture(PICTURE[:8, :8], EncodeParams())
    assert encoding.backend == "reference"


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="needs CPU affinity")
def test_keyboard_interrupt_stops_native_code():
    program = """
import _thread, signal, threading, numpy, mmpcodec
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in jobs of a shell's background
picture = numpy.random.default_rng(0).integers(0, 256, (2048, 2048), dtype=numpy.uint8)
threading.Timer(0.5, _thread.interrupt_main).start()
try:
    mmpcodec.encode(picture, lam=1, backend="cpu")
except KeyboardInterrupt:
    print("interrupted")
"""
    # -P: the installed package, not the source folder, which has no native code.
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "interrupted\n", done.stderr


def test_batch_gives_the_files_of_one_by_one():
    planes = [PICTURE, PICTURE[:20, :30], np.zeros((1, 1), np.uint8)]
    expected = [mmpcodec.encode(plane, 20, preset="classic") for plane in planes]
    assert mmpcodec.encode_batch(planes, 20, preset="classic") == expected
    assert mmpcodec.encode_batch([]) == []
    with pytest.raises(
        ParameterError, match=r"number 1: picture of shape \(2, 2\) and type float64"
    ):
        mmpcodec.encode_batch([PICTURE, np.zeros((2, 2))])


def test_picture_on_a_device_is_not_copied_behind_the_callers_back():
    class OnDevice:
        __cuda_array_interface__ = ()
        dtype, ndim, shape, size = np.dtype(np.uint8), 2, (4, 4), 16

    with pytest.raises(ParameterError, match=r"lies on a CUDA device.*cupy\.asnumpy"):
        mmpcodec.encode(OnDevice(), backend="cpu")
