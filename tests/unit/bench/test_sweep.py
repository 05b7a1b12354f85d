"""The sweep and its folder of results: what is measured, what is kept, what is done again."""

import hashlib
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mmpcodec
from mmpcodec import pictures
from mmpcodec.bench import metrics
from mmpcodec.bench.codecs.base import Codec, SampleKind
from mmpcodec.bench.codecs.ours import ours
from mmpcodec.bench.results import Results, key_of
from mmpcodec.bench.sweep import Original, sweep, warm_up
from mmpcodec.errors import MmpError
from mmpcodec.fingerprints import sha256_of
from mmpcodec.samples import Form
from mmpcodec.trace import leaf_edges


@pytest.fixture
def picture():
    """A 24x40 picture of waves."""
    rows, columns = np.indices((24, 40))
    return Original("waves.pgm", (128 + 90 * np.sin(rows / 4 + columns / 7)).astype(np.uint8))


@pytest.fixture
def results(tmp_path):
    return Results(tmp_path / "out", create=True)


@pytest.fixture
def coarse():
    """A codec that keeps every n-th level, and counts its calls in ``calls``."""
    calls = []

    def encode(samples, point):
        calls.append(point)
        return bytes([int(point)]) + bytes(samples.shape) + (samples // int(point)).tobytes()

    def decode(data):
        return np.frombuffer(data[3:], np.uint8).reshape(data[1], data[2]) * data[0]

    codec = Codec("coarse", "step", (2.0, 4.0, 8.0), "none", {"coarse": "1"}, encode, decode)
    object.__setattr__(codec, "calls", calls)
    return codec


def lines(results):
    return [json.loads(line) for line in results.path.read_text().splitlines()]


def test_a_row_says_everything(picture, results):
    codec = ours({"preset": "classic"}, [64])
    (row,) = sweep(picture, [codec], results)
    assert lines(results) == [row]
    data = mmpcodec.encode(picture.samples, 64, preset="classic")
    decoded = mmpcodec.decode(data)
    assert (row["codec"], row["knob"], row["point"]) == ("mmp:preset=classic", "lambda", 64)
    assert (row["name"], row["width"], row["height"]) == ("waves.pgm", 40, 24)
    assert (row["bytes"], row["bpp"]) == (len(data), 8 * len(data) / 960)
    quality = metrics.measure(picture.samples, decoded)
    assert (row["psnr"], row["ssim"]) == (quality.values["psnr"], quality.values["ssim"])
    assert (row["ms_ssim"], row["max_error"]) == (None, quality.max_error)
    assert row["encode_megapixels_per_second"] == 960e-6 / row["encode_seconds"]
    assert row["versions"]["mmpcodec"] == mmpcodec.__version__
    assert row["backend"].startswith("cpu (")
    assert "core" in row["machine"]
    assert (pictures.read(results.decoded(key_of(row))).samples == decoded).all()
    assert (pictures.read(results.original(row["picture"])).samples == picture.samples).all()
    assert results.coded(row).name == f"{key_of(row)}.mmp"
    assert results.coded(row).read_bytes() == data
    trace = mmpcodec.inspect(data, decode=True).trace
    top, left = leaf_edges(trace.leaf_scales[:24, :40])
    assert (pictures.read(results.tree(key_of(row))).samples == top + 2 * left).all()


def test_lossless_is_null_and_not_infinite(picture, results):
    (row,) = sweep(picture, [ours({}, [0])], results)
    assert (row["psnr"], row["max_error"]) == (None, 0)
    assert "Infinity" not in results.path.read_text()


def test_a_stopped_sweep_goes_on(picture, results, coarse):
    rows = sweep(picture, [coarse], results)
    next(rows)
    rows.close()
    again = Results(results.folder, create=True)
    assert [row["point"] for row in sweep(picture, [coarse], again)] == [4, 8]
    assert coarse.calls == [2, 4, 8]
    assert list(sweep(picture, [coarse], again)) == []


def test_new_versions_are_measured_again_and_the_last_counts(picture, results, coarse):
    list(sweep(picture, [coarse], results))
    newer = replace(coarse, versions={"coarse": "2"})
    assert len(list(sweep(picture, [newer], results))) == 3
    assert len(lines(results)) == 6
    assert [row["versions"]["coarse"] for row in results.rows()] == ["2"] * 3


def test_the_name_of_a_picture_does_not_matter(picture, results, coarse):
    list(sweep(picture, [coarse], results))
    assert list(sweep(replace(picture, name="copy.png"), [coarse], results)) == []


def test_a_failing_codec_is_a_row(picture, results, coarse):
    def fail(samples, point):
        if point == 4:
            raise RuntimeError("no\nsuch luck")
        return coarse.encode(samples, point)

    rows = list(sweep(picture, [replace(coarse, encode=fail)], results))
    assert [row.get("error") for row in rows] == [None, "RuntimeError: no such luck", None]
    assert "bytes" not in rows[1]
    # It counts as done, until it is asked for again.
    assert list(sweep(picture, [coarse], results)) == []
    (row,) = sweep(picture, [coarse], results, retry=True)
    assert (row["point"], "error" in row) == (4, False)
    assert list(sweep(picture, [coarse], results, retry=True)) == []


@pytest.mark.parametrize(
    ("decode", "message"),
    [
        (lambda data: np.zeros((3, 3), np.uint8), "ValueError: decodes to (3, 3) of uint8"),
        (lambda data: np.zeros((24, 40)), "ValueError: decodes to (24, 40) of float64"),
        (lambda data: 1 / 0, "ZeroDivisionError: division by zero"),
    ],
)
def test_what_does_not_come_back_failed(picture, results, coarse, decode, message):
    codec = replace(coarse, decode=decode, ladder=(2.0,))
    (row,) = sweep(picture, [codec], results)
    assert row["error"].startswith(message)


def test_interruption_is_not_a_failure(picture, results, coarse):
    def interrupt(samples, point):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(sweep(picture, [replace(coarse, encode=interrupt)], results))
    assert lines(results) == []


@pytest.mark.parametrize("kind", [SampleKind(Form.GRAY, 12), SampleKind(Form.RGB_ALPHA, 8)])
def test_results_get_the_metrics_that_they_lack(picture, results, kind):
    """Their decoded pictures are measured; nothing is coded again."""
    planes = kind.form.planes
    samples = np.dstack([picture.samples] * planes) if planes > 1 else picture.samples
    samples = (samples.astype(np.uint16) << 4) + 9 if kind.depth > 8 else samples
    picture = Original("waves.png", samples, kind.depth)
    calls = []

    def encode(samples, point):
        calls.append(point)
        return b"x" * int(point)

    codec = Codec(
        *("coarse", "step", (4.0,), "none", {"coarse": "1"}, encode),
        lambda data: samples // 8 * 8,
    )
    (first,) = sweep(picture, [codec], results)
    assert set(metrics.METRICS) & set(first) == {"psnr", "ssim", "ms_ssim"}
    every = metrics.metrics_of("all")
    (second,) = sweep(picture, [codec], results, metrics=every)
    shown = [
        each.without_alpha().samples for each in map(picture.picture, (None, samples // 8 * 8))
    ]
    white = picture.picture().white
    assert second == {**first, **metrics.measure(*shown, white=white, metrics=every).as_dict()}
    assert second["ssimulacra2"] < 100
    assert calls == [4]
    assert results.rows() == [second]
    assert list(sweep(picture, [codec], results)) == []
    results.decoded(key_of(second)).unlink()
    results.path.write_text(json.dumps(first) + "\n")
    assert list(sweep(picture, [codec], Results(results.folder), metrics=every)) == []


def test_times_are_medians(picture, results, coarse):
    (row,) = sweep(picture, [replace(coarse, ladder=(2.0,))], results, repeat=3)
    assert row["runs"] == 3
    assert coarse.calls == [2, 2, 2]


def test_warm_up_hides_errors(coarse):
    warm_up(replace(coarse, decode=lambda data: 1 / 0))
    assert coarse.calls == [8]


@pytest.mark.parametrize("torn", ['{"picture": "12', "null\n", "{}\n", "\x00\x00\n", "\n"])
def test_torn_lines_are_ignored_and_done_again(picture, results, coarse, torn):
    list(sweep(picture, [replace(coarse, ladder=(2.0,))], results))
    with open(results.path, "a") as stream:
        stream.write(torn)
    again = Results(results.folder)
    assert [row["point"] for row in sweep(picture, [coarse], again)] == [4, 8]
    assert [row["point"] for row in Results(results.folder).rows()] == [2, 4, 8]


WRITER = """
import sys
from mmpcodec.bench.results import Results, key_of
results = Results(sys.argv[1])
for point in range(200):
    row = dict(picture="0" * 64, name="n" * 5000, width=1, height=1, codec="c", knob="k",
               point=point, settings="s", machine="m", versions={}, error="e")
    with results.claim(key_of(row)) as claimed:
        results.refresh()
        if claimed and key_of(row) not in results.done:
            results.append(row)
"""


def test_processes_share_a_folder(results):
    command = [sys.executable, "-P", "-c", WRITER, str(results.folder)]
    writers = [subprocess.Popen(command) for _ in range(3)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    assert sorted(row["point"] for row in lines(results)) == list(range(200))


HOLDER = """
import sys
from mmpcodec.bench.results import Results
with Results(sys.argv[1]).claim(sys.argv[2]) as claimed:
    print(claimed, flush=True)
    sys.stdin.read()
"""


def test_a_claim_ends_with_its_process(picture, results, coarse):
    (row,) = sweep(picture, [replace(coarse, ladder=(2.0,))], results)
    results.path.write_text("")
    command = [sys.executable, "-P", "-c", HOLDER, str(results.folder), key_of(row)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as holder:
        assert holder.stdout.readline() == "True\n"
        fresh = Results(results.folder)
        assert [row["point"] for row in sweep(picture, [coarse], fresh)] == [4, 8]
        holder.kill()
    assert [row["point"] for row in sweep(picture, [coarse], fresh)] == [2]


def test_a_full_disk_stops_the_sweep(picture, results, coarse, monkeypatch):
    def full(self, *arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mmpcodec.bench.sweep.save_png", full)
    with pytest.raises(OSError, match="No space"):
        list(sweep(picture, [coarse], results))


def test_pictures_are_known_by_their_samples(tmp_path, picture):
    pictures.write(picture.samples, tmp_path / "a.pgm")
    expected = hashlib.sha256(Path(tmp_path / "a.pgm").read_bytes()).hexdigest()
    assert sha256_of(picture.samples) == expected


def test_folder_without_results(tmp_path):
    with pytest.raises(MmpError, match=r"holds no results of a sweep \(no results\.jsonl\)"):
        Results(tmp_path)
    with pytest.raises(MmpError, match=r"results\.jsonl: holds no results"):
        Results(tmp_path, create=True).rows()


@pytest.mark.parametrize(
    ("form", "depth", "white"),
    [(Form.RGB, 8, None), (Form.RGB_ALPHA, 8, None), (Form.GRAY, 12, 4000), (Form.RGB, 16, None)],
)
def test_rows_of_colours_alpha_and_depths(results, form, depth, white):
    shape = (24, 40, form.planes) if form.planes > 1 else (24, 40)
    kind = np.uint8 if depth == 8 else np.uint16
    samples = np.random.default_rng(depth).integers(0, 4000 if white else 1 << depth, shape)
    picture = Original("noise.png", samples.astype(kind), depth, white)
    (row,) = sweep(picture, [ours({}, [64], picture.kind)], results)
    assert (row["form"], row["depth"], row["white"]) == (
        form.title, depth, white or (1 << depth) - 1,
    )  # fmt: skip
    data = mmpcodec.encode(picture.samples, 64, depth=depth)
    decoded = mmpcodec.decode(data)
    assert (row["bytes"], row["bpp"]) == (len(data), 8 * len(data) / 960)
    colours = decoded[..., : form.colours] if form.planes > 1 else decoded
    expected = picture.samples[..., : form.colours] if form.planes > 1 else picture.samples
    error = np.mean((colours.astype(float) - expected) ** 2)
    assert row["psnr"] == pytest.approx(10 * np.log10((row["white"]) ** 2 / error))
    assert row.get("alpha_error") == (0 if form.has_alpha else None)
    for path, array in (
        (results.original(row["picture"]), picture.samples),
        (results.decoded(key_of(row)), decoded),
    ):
        stored = pictures.read(path)
        assert stored.depth == depth
        np.testing.assert_array_equal(stored.samples, array)
    assert pictures.read(results.tree(key_of(row))).samples.shape == (24, 40)
    assert list(sweep(picture, [ours({}, [64], picture.kind)], results)) == []


def test_equal_bytes_of_other_depths_and_whites_are_other_pictures(results, coarse):
    samples = np.zeros((24, 40), np.uint8)
    for one in (
        Original("8", samples),
        Original("7", samples, 7),
        Original("white", samples, 8, 200),
    ):
        assert len(list(sweep(one, [coarse], results))) == 3


def test_rows_of_earlier_versions_are_8_bit_gray_and_are_not_measured_again(
    picture, results, coarse
):
    list(sweep(picture, [coarse], results))
    old = [
        {key: value for key, value in row.items() if key not in ("form", "depth", "white")}
        for row in lines(results)
    ]
    results.path.write_text("".join(json.dumps(row) + "\n" for row in old))
    again = Results(results.folder)
    assert list(sweep(picture, [coarse], again)) == []
    assert {(row["form"], row["depth"]) for row in again.rows()} == {("gray", 8)}


def test_a_decoded_sample_beyond_the_depth_is_an_error(results, coarse):
    beyond = replace(coarse, decode=lambda data: np.full((24, 40), 200, np.uint8))
    (row,) = sweep(
        Original("7", np.zeros((24, 40), np.uint8), 7), [replace(beyond, ladder=(2.0,))], results
    )
    assert row["error"].startswith("ParameterError: depth = 7: the picture has a sample of 200")


@pytest.mark.parametrize(
    "kind", [SampleKind(), SampleKind(Form.RGB_ALPHA, 8), SampleKind(Form.GRAY, 12)]
)
def test_warm_up_gets_samples_of_the_kind(coarse, kind):
    seen = []
    warm_up(replace(coarse, encode=lambda samples, point: seen.append(samples) or b""), kind)
    (samples,) = seen
    assert samples.dtype == (np.uint8 if kind.depth == 8 else np.uint16)
    assert samples.shape == ((64, 64) if kind.form is Form.GRAY else (64, 64, kind.form.planes))
    assert 0.9 < samples.max() / ((1 << kind.depth) - 1) <= 1
