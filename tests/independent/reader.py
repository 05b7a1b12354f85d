"""Fields and numbers of section Container of the text."""


class Reader:
    def __init__(self, data):
        self.data = data
        self.position = 0

    def take(self, size):
        if size > len(self.data) - self.position:
            raise ValueError(f"truncated at byte {len(self.data)}")
        self.position += size
        return self.data[self.position - size : self.position]

    def number(self, name, allowed=range(2**62)):
        value = 0
        for i in range(9):
            byte = self.take(1)[0]
            value |= (byte & 127) << (7 * i)
            if byte < 128:
                break
        if byte >= 128 or (byte == 0 and i > 0):
            raise ValueError(f"{name} is not a number in shortest form")
        if value not in allowed:
            raise ValueError(f"{name} is {value}, which is not allowed")
        return value

    def crc(self):
        return self.take(4)

    def end(self, name):
        if self.position != len(self.data):
            raise ValueError(f"bytes follow the end of {name}")
