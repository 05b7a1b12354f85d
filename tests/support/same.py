"""Whether two codings of a picture are the same."""

import numpy as np


def assert_same(expected, found, name=""):
    """Compare payload, samples and trace of two codings."""
    pairs = enumerate(zip(expected.payload, found.payload, strict=False))
    first = next((i for i, (a, b) in pairs if a != b), None)
    assert first is None, f"{name}: payloads differ from byte {first} on"
    assert found.payload == expected.payload, name
    assert found.samples.dtype == expected.samples.dtype, name
    assert np.array_equal(found.samples, expected.samples), name
    assert found.trace.bits == expected.trace.bits, name
    for traced in ("units", "leaf_scales", "dictionary_sizes"):
        own, others = (getattr(coded.trace, traced) for coded in (found, expected))
        assert np.array_equal(own, others), f"{name}: {traced}"
