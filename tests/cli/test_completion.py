"""What the shell offers, asked for by the protocol of its completion script."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import mmpcodec
from mmpcodec.bench.codecs.peers import PEERS
from mmpcodec.bench.metrics import NAMES
from mmpcodec.cli import app, completion
from mmpcodec.metadata import KINDS
from mmpcodec.pictures import registry
from mmpcodec.pictures.book_files.formats import only_books
from mmpcodec.planning.budget import OBJECTIVES
from mmpcodec.solvers import files as problem_files

MMP = "from mmpcodec.cli.start import main; main()"
"""Program of the tests that need a process: others call ``main`` in this one."""
PRESETS = ["auto", "best", *mmpcodec.PRESETS]
BACKENDS = ["auto", "cpu", "cuda", "reference"]


def variables(words, shell="bash"):
    """Environment with which a shell asks for words after a command line that ends in a TAB."""
    return {
        "_MMP_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
        "_TYPER_COMPLETE_ARGS": words,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }


def offered(words, shell="bash"):
    """The words that a shell would show."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(mmpcodec.__file__).parents[1]),
        **variables(words, shell),
    }
    return subprocess.check_output([sys.executable, "-c", MMP], env=environment, text=True)


@pytest.fixture
def tree(folder):
    """Files and folders to complete."""
    Path("scans").mkdir()
    for name in ("scan.png", "scan.mmp", "scan.txt", "scans/A.TIF", ".scan.png"):
        Path(name).touch()


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("mmp encode --preset ", PRESETS),
        ("mmp encode --preset p", ["photo", "plain"]),
        ("mmp budget --preset p", ["photo", "plain"]),
        ("mmp encode --backend ", BACKENDS),
        ("mmp solve knapsack --backend c", ["cpu", "cuda"]),
        ("mmp encode --partition ", ["flexible", "dyadic"]),
        ("mmp encode --rate-model ", ["adaptive", "log2"]),
        ("mmp encode --strip ", ["all", *KINDS]),
        ("mmp encode --effort ", list("123456789")),
        ("mmp decode --format ", [*registry.written(), *only_books()]),
        ("mmp report out --metric ", list(NAMES)),
        ("mmp budget --objective ", list(OBJECTIVES)),
        ("mmp sweep --peers jp", ["jpeg", "jpeg2000"]),
        ("mmp sweep --peers jpeg,webp,a", ["jpeg,webp,avif"]),
        ("mmp sweep --codec mmp:preset=p", ["mmp:preset=photo", "mmp:preset=plain"]),
        ("mmp highlight --offset o", ["otsu"]),
        ("mmp solve knapsack --format ", list(problem_files.KNAPSACK_FORMATS)),
        ("mmp solve subset-sum --method b", ["balanced"]),
        ("mmp solve select --nan ", ["raise", "omit"]),
        ("mmp pack --volumes ", ["all"]),
        ("mmp encode scan", ["scan.mmp", "scan.png", "scans/"]),
        ("mmp decode scan", ["scan.mmp", "scans/"]),
        ("mmp median scans/", ["scans/A.TIF"]),
        ("mmp compare scan.png scan.p", ["scan.png"]),
    ],
)
def test_values(tree, words, values, monkeypatch, capsys):
    for name, value in variables(words).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        app.main()
    assert capsys.readouterr().out.split() == values


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells(tree, shell):
    found = offered("mmp encode --preset p", shell)
    assert "photo" in found
    assert "plain" in found
    assert "text" not in found


def test_peers_are_those_of_the_sweep():
    assert {"jpeg", "jpeg2000", "webp", "avif", "jxl", "hevc"} == set(PEERS)
    complete = completion.lists(lambda: PEERS)
    assert complete("jpeg,") == [f"jpeg,{name}" for name in PEERS if name != "jpeg"]


def test_words():
    assert completion.words(["photo", "plain", "text"])("p") == ["photo", "plain"]
    assert completion.words(lambda: ["photo", "text"])("t") == ["text"]


def test_files(tree):
    complete = completion.files([".png", ".tif"])
    assert complete("") == ["scan.png", "scans/"]
    assert complete(".s") == [".scan.png"]
    assert complete("scan.") == ["scan.png"]
    # The shell completes these itself: a single folder, and names that need quotes.
    assert complete("scans") == []
    Path("scan it.png").touch()
    assert complete("scan") == []
    assert complete("none/") == []
