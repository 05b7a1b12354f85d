"""The decoder of mmpcodec/web in Node, one process for the tests of a file."""

import pytest
from support.web.decoder import Node, missing


@pytest.fixture(scope="module")
def node():
    if reason := missing():
        pytest.skip(reason)
    process = Node()
    yield process
    process.end()
