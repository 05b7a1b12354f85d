"""The tests see the package as its users do: installed, with its compiled module."""

import re
from importlib.metadata import requires

from mmpcodec import backends


def test_compiled_module_is_installed():
    # Otherwise every test of the cpu backend is skipped, or the source folder was imported.
    assert backends.status()["cpu"] is None, "run `make test` or `.venv/bin/pytest`"


def test_few_packages_are_needed_to_encode_and_decode():
    needed = {re.match(r"[\w-]+", line)[0] for line in requires("mmpcodec") if "extra" not in line}
    assert needed == {"numpy", "pillow", "tifffile", "typer"}
