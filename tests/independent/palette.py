"""Section Palette of the text."""

import numpy as np
from independent.exact_2 import exact_samples_2
from independent.reader import Reader

COLOUR_TOOLS = {"predictors": 1, "models": 8, "weight sets": 1, "last stage": 0, "max error": 0}


class Palette:
    """The fields of a palette, read behind the number of its coding and its switches."""

    def __init__(self, reader, switches, form, layout):
        entries = reader.number("entries", range(8192))
        self.n, self.clear = entries // 2 + 1, entries % 2
        self.tools = switches | {"max error": 0}
        self.channels = 3 if form >= 2 else 1
        layouts = range(1, 4) if self.clear else (1,)
        if form > 0 and layout not in layouts:
            raise ValueError(f"layout {layout} cannot have this palette")
        if self.clear or form in (1, 3):
            size = reader.number("payload bytes")
        else:
            size = len(reader.data) - reader.position
        payload = Reader(reader.take(size))
        self.colours = payload.take(payload.number("bytes of the colours"))
        self.numbers = payload.take(len(payload.data) - payload.position)

    def draw(self, samples, depth):
        """The samples (height, width, channels) of a tile with the palette drawn over them."""
        height, width, _ = samples.shape
        planes = exact_samples_2(self.colours, 1, self.n, depth, self.channels, COLOUR_TOOLS)
        most = self.n - 1 + self.clear
        (k,) = exact_samples_2(
            self.numbers, height, width, max(1, most.bit_length()), 1, self.tools
        )
        if k.max() > most:
            raise ValueError(f"a number is above {most}")
        for channel, plane in enumerate(planes):
            colour = np.append(plane[0], 0)[k]
            samples[:, :, channel] = np.where(k < self.n, colour, samples[:, :, channel])
        return samples
