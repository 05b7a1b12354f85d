"""Chromium, and pages that it opens."""

import os

import pytest
from chromium import chromium
from support.web.pages import OF_A_FILE, watched

QUIET = (
    *("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = chromium()
    if program is None:
        pytest.skip("there is no Chromium; make test-browser fetches it")
    arguments = [*QUIET, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=program, args=arguments)
        yield started
        started.close()


@pytest.fixture
def opened(browser, report):
    """Opens the page of a report, as ``watched`` does."""
    with watched(browser, OF_A_FILE) as open_page:

        def open_report(hash="", path=report, **device):
            page = open_page(path.as_uri() + hash, **device)
            page.wait_for_timeout(200)
            return page

        yield open_report
