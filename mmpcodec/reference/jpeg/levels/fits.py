"""Predictions by weights that are fitted to the levels before.

Source: section "Levels of a stripe", "Fitted levels", of ``docs/format/format.md``.
"""

from collections.abc import Sequence

import numpy as np

from mmpcodec.reference.lossless.prediction import WEIGHT_BITS, solved

FADING = 4


class Fit:
    """One predictor.

    Parameters
    ----------
    priors : sequence of int
        Weights from which it starts, in 1/4096, as many as it has inputs.
    ridge : int
    """

    def __init__(self, priors: Sequence[int], ridge: int):
        self._sums = np.zeros((len(priors), len(priors) + 1), np.int64)
        self._weights = [4 * prior for prior in priors]
        self._pulls = [ridge * prior >> 12 for prior in priors]
        self._ridge, self._is_new = ridge, False

    def predict(self, inputs: Sequence[int]) -> int:
        """Return the weighted sum of the inputs."""
        products = (w * x for w, x in zip(self._weights, inputs, strict=True))
        return sum(products) >> WEIGHT_BITS

    def learn(self, inputs: Sequence[int], target: int) -> None:
        """Add the products of the inputs."""
        self._sums += np.outer(inputs, [*inputs, target])
        self._is_new = True

    def find_weights(self) -> None:
        """Fit the weights to the sums, if these have changed, and let the sums fade."""
        if self._is_new:
            self._weights = solved(self._sums, self._ridge, self._pulls)
            self._sums -= self._sums >> FADING
            self._is_new = False
