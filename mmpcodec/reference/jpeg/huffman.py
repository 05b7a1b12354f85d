"""Huffman tables of JPEG.

Source: ITU-T T.81, Annex C.
"""

from collections.abc import Sequence


class HuffmanTable:
    """A table.

    Parameters
    ----------
    counts : sequence of 16 int
        How many codes have 1 to 16 bits.
    symbols : bytes
        In the order of their codes.

    Attributes
    ----------
    known : bool
        Whether such codes exist.
    codes : dict of int to (code, length)
        If a symbol has two codes, the first one.
    symbols : dict of (code, length) to int
    """

    def __init__(self, counts: Sequence[int], symbols: bytes):
        self.codes: dict[int, tuple[int, int]] = {}
        self.symbols: dict[tuple[int, int], int] = {}
        self.known = True
        code, place = 0, 0
        for length, count in enumerate(counts, 1):
            for symbol in symbols[place : place + count]:
                if code >> length:
                    self.known = False
                    return
                self.codes.setdefault(symbol, (code, length))
                self.symbols[code, length] = symbol
                code += 1
            place += count
            code <<= 1
