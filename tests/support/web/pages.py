"""Pages in Chromium: devices, what they show, and that nothing goes wrong in them."""

import contextlib

import numpy as np

from support.web.decoder import until_drawn

AXE_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
DESK = {"viewport": {"width": 1100, "height": 900}}
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
OF_A_FILE = ("file:", "data:", "blob:")
"""Beginnings of the addresses that a page without a server may ask for."""


def middle(page, side):
    """The RGB samples in the middle of the canvas, (side, side, 3) int array."""
    read = """side => {
        const canvas = document.getElementById("canvas");
        const x = Math.floor((canvas.width - side) / 2), y = Math.floor((canvas.height - side) / 2);
        return [...canvas.getContext("2d").getImageData(x, y, side, side).data];
    }"""
    return np.array(page.evaluate(read, side)).reshape(side, side, 4)[..., :3]


@contextlib.contextmanager
def watched(browser, own):
    """Opens pages; at the end, nothing may have gone wrong in them or come from elsewhere.

    ``own`` are the beginnings of addresses that they may ask for. ``expected`` is a list of parts
    of the errors that the console may say.
    """
    contexts, problems, requests, expected = [], [], [], []

    def open_page(address, *, wait=True, **device):
        context = browser.new_context(**device)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: problems.append(said.text) if said.type == "error" else 0)
        page.on("request", lambda request: requests.append(request.url))
        page.goto(address)
        if wait:
            until_drawn(page)
        return page

    open_page.requests, open_page.expected = requests, expected
    yield open_page
    for context in contexts:
        context.close()
    assert [said for said in problems if not any(part in said for part in expected)] == []
    assert [url for url in requests if not url.startswith(own)] == []
