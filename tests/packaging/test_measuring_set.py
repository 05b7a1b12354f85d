"""The list of the measuring set is well-formed, and the script gathers what it lists."""

import importlib
import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from mmpcodec import pictures

FOLDER = Path(__file__).parents[2] / "scripts" / "bench" / "measuring"
LEAST = {
    "photograph": 3,
    "jpeg": 8,
    "comic": 8,
    "aerial": 8,
    "document": 8,
    "document-gray": 2,
    "halftone": 6,
    "map": 8,
    "chart": 8,
    "chat": 6,
    "code": 8,
    "screen-light": 6,
    "screen-dark": 5,
    "ct": 6,
    "mr": 5,
    "angiogram": 5,
}
"""Least number of new tests in each class that the earlier set lacked."""

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the scripts are not here")


@pytest.fixture
def gather(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("gather")


@pytest.fixture
def listed(gather):
    return gather.rows()


@pytest.fixture
def clone(gather, monkeypatch, tmp_path):
    """A clone with a 9x7 gray picture, and the list of this picture."""
    samples = np.arange(63, dtype=np.uint8).reshape(7, 9)
    place = tmp_path / "clones" / "owner+name" / "repo"
    place.mkdir(parents=True)
    pictures.write(samples, place / "a.png")
    user = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "a.png"], [*user, "commit", "-qm", "a"]):
        subprocess.run(["git", "-C", place, *words], check=True)
    row = {"name": "a", "class": "map", "role": "test", "kind": "github", "source": "owner/name"}
    row |= {"version": "HEAD", "path": "a.png", "steps": {"crop": [2, 1, 4, 3]}}
    monkeypatch.setattr(gather, "LIST", tmp_path / "list.jsonl")
    gather.LIST.write_text(json.dumps(row) + "\n")
    return samples


def test_lines_are_complete(gather, listed):
    for row in listed:
        assert row["class"] in gather.CLASSES, row["name"]
        assert row["role"] in gather.ROLES, row["name"]
        assert all(row[key] for key in ("kind", "source", "path", "licence", "stated")), row["name"]
        assert row["kind"] in {"file", "own", "project"} or row["version"], row["name"]
        assert re.fullmatch("[0-9a-f]{64}", row["sha256"]), row["name"]
        assert row["width"] * row["height"] > 0
        assert 1 <= row["depth"] <= 16
        assert row["channels"] in {1, 3}


def test_only_earlier_pictures_have_an_unclear_licence(listed):
    for row in listed:
        assert row["since"] == "earlier" or "unclear" not in row["licence"], row["name"]


def test_no_picture_is_there_twice(listed):
    assert max(Counter(row["name"] for row in listed).values()) == 1
    assert max(Counter(row["sha256"] for row in listed).values()) == 1


def test_no_file_is_both_for_tests_and_for_training(listed):
    files = {role: set() for role in ("test", "train")}
    for row in listed:
        files[row["role"]].add((row["kind"], row["source"], row["path"]))
    assert not files["test"] & files["train"]


def test_classes_have_enough_new_pictures(listed):
    new = [row for row in listed if row["since"] != "earlier" and row["role"] == "test"]
    counts = Counter(row["class"] for row in new)
    assert {name: counts[name] for name in LEAST if counts[name] < LEAST[name]} == {}
    assert len(new) >= 100


def test_drawn_pictures_have_a_function(gather, listed):
    assert {row["path"] for row in listed if row["kind"] == "own"} == set(gather.PICTURES)


def test_page_is_made_from_the_list(gather, listed):
    page = importlib.import_module("page")
    text = page.PAGE.read_text("utf-8")
    assert page.filled(text, listed) == text, "run scripts/bench/measuring/page.py"


def test_picture_is_gathered_from_a_clone(gather, clone, tmp_path):
    words = ["--into", str(tmp_path / "a"), "--from", str(tmp_path / "clones")]
    assert gather.main([*words, "--fill", "--crops", str(tmp_path / "b"), "--side", "2"]) == 0
    found = pictures.read(tmp_path / "a" / "map" / "a.png").samples
    assert np.array_equal(found, clone[1:4, 2:6])
    assert pictures.read(tmp_path / "b" / "map" / "a.png").samples.shape == (2, 2)
    row = gather.rows()[0]
    assert (row["width"], row["height"], row["depth"], row["channels"]) == (4, 3, 8, 1)
    assert gather.main(words) == 0


def test_what_cannot_be_had_is_named(gather, clone, tmp_path, capsys, monkeypatch):
    def fail(*_, **__):
        raise OSError("no network")

    monkeypatch.setattr(gather, "urlopen", fail)
    assert gather.main(["--into", str(tmp_path / "a")]) == 1
    assert "map/a.png: github owner/name a.png: no network" in capsys.readouterr().err


def test_other_samples_are_named(gather, clone, tmp_path, capsys):
    gather.LIST.write_text(json.dumps(gather.rows()[0] | {"sha256": "0" * 64}) + "\n")
    words = ["--into", str(tmp_path / "a"), "--from", str(tmp_path / "clones")]
    assert gather.main(words) == 1
    assert "not those of the list" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("step", "value", "depth", "expected"),
    [
        ("window", [10, 20], 8, [0, 128, 255]),
        ("range", [10, 2], 2, [0, 3, 3]),
        ("invert", True, 5, [26, 16, 1]),
        ("crop", [1, 0, 2, 1], 5, [15, 30]),
    ],
)
def test_steps(gather, step, value, depth, expected):
    samples = np.array([[5, 15, 30]], np.uint8)
    found, own = gather.stepped(samples, 5, step, value)
    assert (found.tolist(), own) == ([expected], depth)


def test_part_is_the_middle_or_the_busiest(gather):
    samples = np.zeros((96, 160), np.uint8)
    samples[32:64, 64:96] = 99 * np.arange(32)
    picture = pictures.Picture(samples, depth=8)
    assert np.array_equal(gather.part(picture, 32).samples, samples[32:64, 64:96])
    samples[:32, :32] = 99 * np.arange(32)
    samples[32:64, 72:96] = 0
    assert np.array_equal(gather.part(picture, 32).samples, samples[:32, :32])


def test_alpha_is_laid_over_white(gather):
    samples = np.array([[[10, 20, 30, 255], [10, 20, 30, 0]]], np.uint8)
    assert gather.over_white(samples).tolist() == [[[10, 20, 30], [255, 255, 255]]]


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("clustered", 0.03),
        ("colours", 0.02),
        ("diffused", 0.02),
        ("ordered", 0.02),
        ("printed", 0.2),
    ],
)
def test_halftones_keep_the_mean(gather, name, error):
    """Inks that lie on each other make print lighter than the picture."""
    samples = np.full((96, 96, 3), 100, np.uint8)
    found, depth = gather.stepped(samples, 8, "halftone", name)
    assert found.mean() / (2**depth - 1) == pytest.approx(100 / 255, abs=error)
    assert len(np.unique(found)) > 1
