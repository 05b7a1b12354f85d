"""Chromium, and pages that it opens."""

import os
import shutil

import pytest
from support.web_decoder import until_drawn

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
QUIET = (
    *("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no chromium")
    arguments = [*QUIET, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield started
        started.close()


@pytest.fixture
def opened(browser, report):
    """Opens the page; at the end, nothing may have gone wrong in it or come from elsewhere."""
    contexts, problems, requests = [], [], []

    def open_page(hash="", path=report, **device):
        context = browser.new_context(**device)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: problems.append(said.text) if said.type == "error" else 0)
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri() + hash)
        until_drawn(page)
        page.wait_for_timeout(200)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
