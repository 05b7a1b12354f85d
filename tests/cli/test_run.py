"""Several inputs: all are tried, and the exit code says how it went."""

import json
from pathlib import Path

import numpy as np
import pytest

import mmpcodec
from mmpcodec import pictures


@pytest.fixture
def batch(samples):
    """Names of three pictures, the second of which cannot be read."""
    pictures.write(samples, "a.png")
    Path("b.png").write_bytes(b"nonsense")
    pictures.write(255 - samples, "c.pgm")
    return ["a.png", "b.png", "c.pgm"]


@pytest.mark.parametrize("jobs", [1, 2, 8])
def test_goes_on_after_a_failure(mmp, batch, jobs, files):
    Path("out").mkdir()
    result = mmp("encode", *batch, "-O", "out", "--json", "-j", jobs)
    assert result.exit_code == 3
    *facts, left = [json.loads(line) for line in result.stdout.splitlines()]
    assert [f["input"] for f in facts] == ["a.png", "c.pgm"]
    assert [f["output"] for f in facts] == ["out/a.mmp", "out/c.mmp"]
    reason, summary = result.stderr.splitlines()
    assert reason.startswith("mmp: b.png: is not a picture file of a known format")
    assert summary == "mmp: 1 of 3 inputs failed"
    assert left == {"input": "b.png", "output": "out/b.mmp", "error": reason.removeprefix("mmp: ")}
    assert sorted(path.name for path in Path("out").iterdir()) == ["a.mmp", "c.mmp"]
    assert files() == ["a.png", "b.png", "c.pgm", "out"]


def test_outputs_beside_their_inputs(mmp, batch, samples, files):
    Path("sub").mkdir()
    Path("c.pgm").rename("sub/c.d.pgm")
    assert mmp("encode", "a.png", "sub/c.d.pgm", "-l", 0).exit_code == 0
    assert files() == ["a.mmp", "a.png", "b.png", "sub"]
    np.testing.assert_array_equal(mmpcodec.decode(Path("sub/c.d.mmp").read_bytes()), 255 - samples)


def test_all_failed(mmp, batch):
    result = mmp("encode", "b.png", "no.png")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[1:] == [
        "mmp: no.png: No such file or directory",
        "mmp: 2 of 2 inputs failed",
    ]


def test_single_failure_has_no_summary(mmp, batch):
    result = mmp("encode", "b.png")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1


def test_quiet_still_tells_errors(mmp, batch):
    result = mmp("encode", *batch, "--quiet")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.count("\n") == 2


def test_decode_many(mmp, batch, samples):
    mmp("encode", *batch, "-l", 0)
    Path("b.mmp").write_bytes(Path("a.mmp").read_bytes()[:-4])
    result = mmp("decode", "a.mmp", "b.mmp", "c.mmp", "--format", "npy", "-j", 3)
    assert result.exit_code == 3
    assert result.stderr.startswith("mmp: b.mmp: Container at byte ")
    np.testing.assert_array_equal(np.load("a.npy"), samples)
    np.testing.assert_array_equal(np.load("c.npy"), 255 - samples)
    assert not Path("b.npy").exists()


def test_jobs_write_the_same_bytes(mmp, samples):
    names = [f"{i}.png" for i in range(4)]
    for i, name in enumerate(names):
        pictures.write(samples + np.uint8(i), name)
    Path("one").mkdir()
    Path("four").mkdir()
    assert mmp("encode", *names, "-O", "one").exit_code == 0
    assert mmp("encode", *names, "-O", "four", "-j", 4).exit_code == 0
    for i in range(4):
        assert Path(f"one/{i}.mmp").read_bytes() == Path(f"four/{i}.mmp").read_bytes()


@pytest.mark.parametrize(("arguments", "threads"), [([], 3), (["-j", 2], 1), (["-j", 1], 3)])
def test_threads_of_a_picture(mmp, batch, monkeypatch, arguments, threads):
    """Many pictures at a time take one thread each; otherwise the backend chooses."""
    seen = []
    encode = mmpcodec.encode_pictures

    def spy(*given, **options):
        seen.append(options["threads"] or 3)
        return encode(*given, **options)

    monkeypatch.setattr(mmpcodec, "encode_pictures", spy)
    assert mmp("encode", "a.png", *arguments).exit_code == 0
    assert mmp("encode", "c.pgm", "--threads", 2, *arguments).exit_code == 0
    assert seen == [threads, 2]


def test_a_bug_is_not_hidden(mmp, batch, monkeypatch):
    def broken(*arguments, **options):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(mmpcodec, "encode_pictures", broken)
    with pytest.raises(ZeroDivisionError, match="a bug"):
        mmp("encode", "a.png", "c.pgm", "-j", 2)
