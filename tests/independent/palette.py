"""Section Palette of the text."""

import numpy as np
from independent.file import Reader, checked, form_of
from independent.lossless.samples import lossless_samples


class Palette:
    """A palette, from the fields of the file."""

    def __init__(self, fields, form, layout):
        entries = checked("entries", fields.entries, range(8192))
        self.n, self.transparent = entries // 2 + 1, entries % 2
        self.tools = form_of(checked("lossless form", fields.form, range(1, 4)))
        self.channels = 3 if form >= 2 else 1
        layouts = range(1, 4) if self.transparent else (1,)
        if form > 0 and layout not in layouts:
            raise ValueError(f"layout {layout} cannot have this palette")
        payload = Reader(fields.payload)
        self.colours = payload.take(payload.number("bytes of the colours"))
        self.numbers = payload.rest()

    def draw(self, samples, depth):
        """The samples (height, width, channels) of a tile with the palette drawn over them, and
        which pixels it draws."""
        height, width, _ = samples.shape
        planes = lossless_samples(self.colours, 1, self.n, depth, self.channels, self.tools)
        most = self.n - 1 + self.transparent
        (k,) = lossless_samples(
            self.numbers, height, width, max(1, most.bit_length()), 1, self.tools
        )
        if k.max() > most:
            raise ValueError(f"a number is above {most}")
        for channel, plane in enumerate(planes):
            colour = np.append(plane[0], 0)[k]
            samples[:, :, channel] = np.where(k < self.n, colour, samples[:, :, channel])
        return samples, k < self.n
