"""The manual pages are made from today's help, are sound roff, and are installed."""

import re
import shutil
import subprocess
import sys
from importlib.metadata import files
from pathlib import Path

import pytest

from mmpcodec.cli.app import NAMES

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "man").iterdir())


def test_the_pages_are_up_to_date(tmp_path):
    """``make man`` writes them again."""
    subprocess.run([sys.executable, "-P", ROOT / "scripts" / "man.py", tmp_path], check=True)
    written = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert written.keys() == {"mmp.1", *(f"mmp-{name}.1" for name in NAMES)}
    assert written == {path.name: path.read_text() for path in PAGES}


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_groff_has_no_warning(page):
    command = ["groff", "-man", "-ww", "-Tutf8", page]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    assert shown.stderr == ""
    text = re.sub("\x1b\\[[0-9;]*m|.\b", "", shown.stdout)
    assert re.search(r"^NAME\n +mmp", text, re.MULTILINE)
    assert "\nEXIT STATUS\n" in text


def test_the_pages_are_installed():
    installed = {path.name for path in files("mmpcodec") if path.match("share/man/man1/*.1")}
    assert installed == {path.name for path in PAGES}
