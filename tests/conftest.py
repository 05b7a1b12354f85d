"""What all tests share: hypothesis profiles, and which tests can run here."""

import os

import pytest
from hypothesis import HealthCheck, settings

from mmpcodec import backends

settings.register_profile(
    "ci", max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("long", max_examples=1000, parent=settings.get_profile("ci"))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs a CUDA device where there is none, and say why."""
    if item.get_closest_marker("gpu"):
        reason = backends.status()["cuda"]
        if reason is not None:
            pytest.skip(reason)
