"""What all tests share: hypothesis profiles, and which tests can run here."""

import os

import pytest
from hypothesis import HealthCheck, settings

from mmpcodec import backends
from mmpcodec.backends import block_efforts

settings.register_profile(
    "ci", max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("long", max_examples=1000, parent=settings.get_profile("ci"))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# Collected for its doctests, it would stand for CuPy in all tests.
collect_ignore = ["support/emulated"]


@pytest.fixture
def plain_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let backends cpu and cuda search without shortcuts, as backend reference does."""
    monkeypatch.setattr(block_efforts, "EFFORTS", block_efforts.PLAIN_EFFORTS)
    monkeypatch.setattr(block_efforts, "OF_SMALL_PLANES", {})


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs a CUDA device where there is none, and say why."""
    if item.get_closest_marker("gpu"):
        reason = backends.status()["cuda"]
        if reason is not None:
            pytest.skip(reason)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--bench", action="store_true", help="time the operations of tests/agreement/test_table.py"
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the times that ``--bench`` measured."""
    rows = [
        value
        for report in terminalreporter.getreports("passed")
        for name, value in report.user_properties
        if name == "bench"
    ]
    if rows:
        terminalreporter.write_sep("=", "median milliseconds, and times faster than the reference")
        line = "{:26} {:28} {:26} {:>10} {:>10} {:>10}"
        titles = "operation", "input", "backend", "wall", "processor", "faster"
        terminalreporter.write_line(line.format(*titles))
        for *words, wall, processor, ratio in rows:
            numbers = f"{wall:.3f}", f"{processor:.3f}", f"{ratio:.1f}"
            terminalreporter.write_line(line.format(*words, *numbers))
