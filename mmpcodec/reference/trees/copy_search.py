"""Search for the cheapest copy of each segment. *Encoder only*."""

import numpy as np

from mmpcodec.reference.entropy.rates import LOG2
from mmpcodec.reference.trees.copies import Copies, copy_index, copy_place
from mmpcodec.reference.trees.costs import (
    COST_FRACTION_BITS,
    lagrangian,
    map_region,
    segments_of,
)
from mmpcodec.reference.trees.dictionary import DISPLACED_CLASS, Dictionary
from mmpcodec.reference.trees.models import Models
from mmpcodec.reference.trees.scales import Scale


class CopySearch:
    """The distinct copies of each scale, and the search for the cheapest one.

    Parameters
    ----------
    models : Models
    dictionaries : dict of Scale to Dictionary
    copies : Copies or None
        None if leaves can be no copies.
    """

    def __init__(
        self, models: Models, dictionaries: dict[Scale, Dictionary], copies: Copies | None
    ):
        self.models = models
        self.dictionaries = dictionaries
        self.found: dict[Scale, FoundCopies] = {}
        if copies:
            self.found = {
                scale: FoundCopies(scale, copies) for scale in filter(copies.takes, dictionaries)
            }

    def improve(
        self,
        fragment: np.ndarray,
        lambda_fixed: int,
        rate_model: str,
        cost: np.ndarray,
        index: np.ndarray,
    ) -> None:
        """Put copies that cost less than the cheapest elements into a cost map.

        Parameters
        ----------
        fragment : (16, 16) uint8 array
        lambda_fixed : int
            lambda in 1/65536 squared error per bit.
        rate_model : {"adaptive", "log2"}
        cost, index : (31, 31) int64 arrays
            From ``cost_map``; changed in place.
        """
        for scale, found in self.found.items():
            found.catch_up()
            if not len(found):
                continue
            rate = LOG2[found.copies.area_count]
            if rate_model != "log2":
                frequencies = self.models.class_frequencies(self.dictionaries[scale], found.copies)
                rate += LOG2[frequencies.sum()] - LOG2[frequencies[DISPLACED_CLASS]]
            own = lagrangian(rate, lambda_fixed) + lagrangian(
                LOG2[np.array(found.places)], lambda_fixed
            )
            found.improve(fragment, own, cost[map_region(scale)], index[map_region(scale)])


class FoundCopies:
    """The copies of a scale that are not redundant.

    Parameters
    ----------
    scale : Scale
    copies : Copies

    Attributes
    ----------
    indices : list of int
        Indices of the copies.
    places : list of int
        Number of places in the area of each copy.
    """

    def __init__(self, scale: Scale, copies: Copies):
        self.scale = scale
        self.copies = copies
        self.known = Dictionary(scale, copies.tools)
        self.indices: list[int] = []
        self.places: list[int] = []
        self._areas = 0

    def __len__(self) -> int:
        return len(self.indices)

    def catch_up(self) -> None:
        """Take the copies of the areas that are new."""
        for area in range(self._areas, len(self.copies.areas)):
            places = self.copies.places(self.scale, area)
            for place in places:
                index = copy_index(area, place)
                samples = self.copies.block(self.scale, index).ravel()
                number = self.known.insert(samples, None)
                if number is None:
                    continue
                element = number - self.known.start
                self.indices[element : element + 1] = [index]
                self.places[element : element + 1] = [len(places)]
        self._areas = len(self.copies.areas)

    def improve(
        self, fragment: np.ndarray, own: np.ndarray, cost: np.ndarray, index: np.ndarray
    ) -> None:
        """Put copies that cost less than the cheapest elements into the part of a cost map.

        Parameters
        ----------
        fragment : (16, 16) uint8 array
        own : (N,) int64 array
            Cost lambda * R of each copy.
        cost, index : (rows, columns) int64 arrays
            Least costs of the segments of the scale, and their indices; changed in place.
        """
        segments = segments_of(fragment, self.scale).astype(np.int64)
        elements = self.known.samples[self.known.start :].astype(np.int64)
        energy = (segments * segments).sum(axis=1)[:, None] + (elements * elements).sum(axis=1)
        distortion = energy - 2 * (segments @ elements.T)
        total = (distortion << COST_FRACTION_BITS) + own
        newest = len(self.copies.areas) - 1
        for number, best in enumerate(total.argmin(axis=1)):
            segment = np.unravel_index(number, cost.shape)
            reached = newest - copy_place(self.indices[best])[0] < self.copies.area_count
            if total[number, best] < cost[segment] and reached:
                cost[segment] = total[number, best]
                index[segment] = self.indices[best]
