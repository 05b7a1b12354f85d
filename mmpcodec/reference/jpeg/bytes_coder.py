"""Bytes of any kind: eight contexts for each bit, mixed, after a preset text.

Source: section "Bytes" of ``docs/format/format.md``.
"""

from mmpcodec.reference.entropy.binary import BitCoder
from mmpcodec.reference.entropy.logistic_mixing import LogisticMixing
from mmpcodec.reference.entropy.symbols import SymbolCounter, SymbolReader, SymbolWriter
from mmpcodec.runtime.kernels import table

SYNTAX = ("bytes",)
HASH_BITS = 16
LEAST_MATCH, MOST_MATCH = 4, 15
"""Bytes that must be equal before a place for it to be a match, and the largest length."""
KEY_FACTOR, CONTEXT_FACTOR, MORE_FACTOR = 2654435761, 625341585, 789269575
WORD = (1 << 32) - 1


class ByteModels:
    """The models of bytes, and the bytes so far, which begin with the preset text."""

    def __init__(self):
        self.history = bytearray()
        self._mixing = LogisticMixing(8, range(2, 8))
        self._last: dict[int, int] = {}
        self._match = self._length = 0
        counter = SymbolCounter()
        for byte in usual_bytes():
            self.code(counter, byte)

    def code(self, coder: BitCoder, byte: int | None) -> int:
        """Code the byte behind the history, and append it.

        Parameters
        ----------
        coder : BitCoder
        byte : int or None
            The byte to encode; None decodes.

        Returns
        -------
        int
            0 to 255.
        """
        self._find_match()
        length = self._length if self._match else 0
        self._mixing.select(self._contexts(), [length])
        node = 1
        for place in reversed(range(8)):
            bit = None if byte is None else byte >> place & 1
            node = 2 * node + self._mixing.code(coder, "bytes", node, bit)
        self._append(node - 256)
        return node - 256

    def _before(self, back: int, count: int = 1) -> int:
        """Return bytes before the next one as a number, the one ``back`` places before lowest."""
        size = len(self.history)
        places = (size - back - i for i in range(count))
        return sum(self.history[at] << 8 * i for i, at in enumerate(places) if at >= 0)

    def _contexts(self) -> list[int]:
        four = self._before(1, 4)
        expected = self.history[self._match] + 1 if self._match else 0
        ending = 256 * self._before(12) + self._before(1) + ((len(self.history) & 1) << 16)
        numbers = {
            2: four & 0xFFFF,
            3: four & 0xFFFFFF,
            4: four,
            5: MORE_FACTOR * four + self._before(5, 2),
            6: 32 * expected + self._length,
            7: ending,
        }
        hashed = [
            ((number + i * KEY_FACTOR) * CONTEXT_FACTOR & WORD) ^ i for i, number in numbers.items()
        ]
        return [0, self._before(1), *hashed]

    def _find_match(self) -> None:
        """Find where the last four bytes occurred before, and note that they occur here."""
        size = len(self.history)
        if size < LEAST_MATCH:
            return
        key = (self._before(1, 4) * KEY_FACTOR & WORD) >> 32 - HASH_BITS
        place = self._last.get(key, 0)
        if not self._match and place:
            same = 0
            while (
                same < min(MOST_MATCH, place)
                and self.history[place - 1 - same] == self.history[size - 1 - same]
            ):
                same += 1
            if same >= LEAST_MATCH:
                self._match, self._length = place, same
        self._last[key] = size

    def _append(self, byte: int) -> None:
        if self._match and self.history[self._match] == byte:
            self._match += 1
            self._length = min(self._length + 1, MOST_MATCH)
        else:
            self._match = self._length = 0
        self.history.append(byte)


def usual_bytes() -> bytes:
    """Return the preset text: tables and headers that many JPEG files have."""
    return table("usual_bytes").tobytes()


def encode_bytes(data: bytes) -> bytes:
    """Return the payload of some bytes."""
    models, writer = ByteModels(), SymbolWriter(SYNTAX, coarse=True)
    for byte in data:
        models.code(writer, byte)
    return writer.finish()


def decode_bytes(payload: bytes, count: int) -> bytes:
    """Return ``count`` bytes of a payload."""
    models, reader = ByteModels(), SymbolReader(payload, SYNTAX, coarse=True)
    first = len(models.history)
    for _ in range(count):
        models.code(reader, None)
    reader.finish()
    return bytes(models.history[first:])
