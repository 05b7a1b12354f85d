"""Sections Range coder and Binary models of the text."""


class RangeCoder:
    def __init__(self, payload):
        self.payload = payload
        self.position = 0
        self.range = 2**64 - 1
        self.offset = self.next_word() * 2**32 + self.next_word()

    def next_word(self):
        self.position += 4
        if self.position > len(self.payload) + 8:
            raise ValueError(f"payload ends after {len(self.payload)} bytes, before the picture")
        word = 0
        for place in range(self.position - 4, self.position):
            word = 256 * word + (self.payload[place] if place < len(self.payload) else 0)
        return word

    def place(self, total):
        """Where the symbol lies in 0 to total - 1; take() is to follow."""
        self.unit = self.range // total
        return min(self.offset // self.unit, total - 1)

    def take(self, cumulative, frequency):
        self.offset -= self.unit * cumulative
        self.range = self.unit * frequency
        if self.range < 2**32:
            self.range *= 2**32
            self.offset = (self.offset * 2**32 + self.next_word()) % 2**64

    def symbol(self, frequencies):
        """The number of a symbol in its alphabet."""
        place = self.place(sum(frequencies))
        cumulative = 0
        for number, frequency in enumerate(frequencies):
            if place < cumulative + frequency:
                self.take(cumulative, frequency)
                return number
            cumulative += frequency

    def bit(self, p):
        """A bit that is 1 with the probability p / 65536."""
        if self.place(65536) < p:
            self.take(0, p)
            return 1
        self.take(p, 65536 - p)
        return 0

    def plain(self, bits):
        number = self.place(2**bits)
        self.take(number, 1)
        return number

    def end(self):
        if self.position < len(self.payload):
            raise ValueError(
                f"payload has {len(self.payload)} bytes, the picture ends after {self.position}"
            )


class BinaryModels:
    """Binary models by their names: tuples such as ("split", a, b, c)."""

    def __init__(self, coder):
        self.coder = coder
        self.models = {}

    def bit(self, *name, start=(32768, 0)):
        bit = self.coder.bit(self.models.get(name, start)[0])
        self.learn(name, start, bit)
        return bit

    def mean_bit(self, *names, start):
        """A bit by the mean of two models, which both learn."""
        bit = self.coder.bit(sum(self.models.get(name, start)[0] for name in names) >> 1)
        for name in names:
            self.learn(name, start, bit)
        return bit

    def learn(self, name, start, bit):
        p, n = self.models.get(name, start)
        p += (((65408 if bit else 128) - p) * (131072 // (2 * n + 3))) >> 16
        self.models[name] = (p, min(64, n + 1))
