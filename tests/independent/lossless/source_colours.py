"""Section Source colours of the text."""

import numpy as np
from independent.rangecoder import BinaryModels

GREEN_RED_BLUE, JPEG, PHOTO_CD = range(3)


class SourceColours:
    """The fields of a payload, its corrections, and the pixels that they make of its planes."""

    def __init__(self, height, width, coder=None):
        """Without a coder the payload has no fields."""
        self.height, self.width = height, width
        self.colours = self.rows_halved = self.columns_halved = self.y0 = self.x0 = 0
        self.corrections = {}  # of the planes 1 and 2: size with sign, by number of pixel
        if coder is not None:
            self.read(coder)

    def read(self, coder):
        self.colours = coder.plain(2)
        if self.colours == 3:
            raise ValueError("colours is 3, which is not allowed")
        if self.colours == GREEN_RED_BLUE:
            return
        self.rows_halved, self.columns_halved = coder.plain(1), coder.plain(1)
        self.y0 = coder.plain(1) if self.rows_halved else 0
        self.x0 = coder.plain(1) if self.columns_halved else 0
        if self.colours == PHOTO_CD and self.rows_halved != self.columns_halved:
            raise ValueError("only rows or only columns are halved in PhotoCD")

    @property
    def halved(self):
        return bool(self.rows_halved or self.columns_halved)

    def shape(self, number):
        """Rows and columns of a plane, by its number in the payload."""
        height, width = self.height, self.width
        if number in (1, 2) and self.rows_halved:
            height = ((height - 1 + self.y0) >> 1) + 3
        if number in (1, 2) and self.columns_halved:
            width = ((width - 1 + self.x0) >> 1) + 3
        return height, width

    def earlier(self, decoded):
        """P1 and P2 of the next plane, as far as they exist; ``decoded`` are all before it."""
        if not self.halved:
            return decoded[:-3:-1]
        return [[], [], decoded[1:2], decoded[:1]][len(decoded)]

    def read_corrections(self, coder, number):
        """The corrections behind the samples of a plane, if it has some."""
        if not self.halved or number not in (1, 2):
            return
        models = BinaryModels(coder)
        corrections = self.corrections[number] = {}
        following = 0
        while models.bit("last") == 0:
            place = following + coded_number(models, "gaps")
            negative = models.bit("sign")
            size = coded_number(models, "sizes") + 1
            if place >= self.height * self.width or size > 255:
                raise ValueError(f"a correction of {size} at pixel {place} is not allowed")
            corrections[place] = -size if negative else size
            following = place + 1

    def pixels(self, planes):
        """The first three planes of the payload as green, red and blue, then the others."""
        if self.colours == GREEN_RED_BLUE:
            return planes
        Y, *chromas = planes[:3]
        chromas = [self.chroma(chroma, number) for number, chroma in enumerate(chromas, 1)]
        return [*(jpeg if self.colours == JPEG else photo_cd)(Y, *chromas), *planes[3:]]

    def chroma(self, C, number):
        """The chroma of all pixels from a plane C, with its corrections."""
        y = np.arange(self.height)[:, None] + self.y0
        x = np.arange(self.width)[None, :] + self.x0
        i = (y >> 1) + 1 if self.rows_halved else y
        j = (x >> 1) + 1 if self.columns_halved else x
        down, right = y % 2, x % 2
        i_other, j_other = i + 2 * down - 1, j + 2 * right - 1
        if not self.halved:
            return C
        if self.colours == PHOTO_CD:
            found = C[i, j] + C[i, j + right] + C[i + down, j] + C[i + down, j + right]
            found = (found + 2) >> 2
        elif not self.rows_halved:
            found = (3 * C[i, j] + C[i, j_other] + 1 + right) >> 2
        elif not self.columns_halved:
            found = (3 * C[i, j] + C[i_other, j] + 1 + down) >> 2
        else:
            found = 9 * C[i, j] + 3 * C[i, j_other] + 3 * C[i_other, j] + C[i_other, j_other]
            found = (found + 8 - right) >> 4
        for place, correction in self.corrections.get(number, {}).items():
            at = divmod(place, self.width)
            found[at] = min(255, max(0, found[at] + correction))
        return found


def coded_number(models, name):
    length = 0
    while length < 31 and models.bit(name, length) == 1:
        length += 1
    found, left = 1, length
    while left > 0:
        k = min(left, 16)
        left -= k
        found = 2**k * found + models.coder.plain(k)
    return found - 1


def jpeg(Y, C, D):
    b, r = C - 128, D - 128
    green = Y + ((-22554 * b - 46802 * r + 32768) >> 16)
    red = Y + ((91881 * r + 32768) >> 16)
    blue = Y + ((116130 * b + 32768) >> 16)
    return [np.clip(colour, 0, 255) for colour in (green, red, blue)]


def photo_cd(Y, C, D):
    b, r = 145352 * (C - 156), 119374 * (D - 137)
    green = (89024 * Y - 12714 * (b >> 16) - 33358 * (r >> 16)) >> 16
    red = (89024 * Y + r) >> 16
    blue = (89024 * Y + b) >> 16
    return [np.clip(colour, 0, 255) for colour in (green, red, blue)]
