"""The tests see the package as its users do: installed, with its compiled module."""

from mmpcodec import backends


def test_compiled_module_is_installed():
    # Otherwise every test of the cpu backend is skipped, or the source folder was imported.
    assert backends.status()["cpu"] is None, "run `make test` or `.venv/bin/pytest`"
