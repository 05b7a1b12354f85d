"""What all tests share: which of them can run here."""

import pytest

from mmpcodec import backends


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs a CUDA device where there is none, and say why."""
    if item.get_closest_marker("gpu"):
        reason = backends.status().get("cuda", "this version has no cuda backend")
        if reason is not None:
            pytest.skip(reason)
