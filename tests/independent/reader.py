"""Fields and numbers of section Container of the text."""


class Reader:
    """Reads fields one after the other; ``places`` has the position of the first of each name."""

    def __init__(self, data: bytes):
        self.data = data
        self.position = 0
        self.places: dict[str, int] = {}

    def take(self, size: int, name: str = "") -> bytes:
        if size > len(self.data) - self.position:
            raise ValueError(f"truncated at byte {len(self.data)}")
        self.places.setdefault(name, self.position)
        self.position += size
        return self.data[self.position - size : self.position]

    def rest(self, name: str = "") -> bytes:
        return self.take(len(self.data) - self.position, name)

    def number(self, name: str, allowed: range = range(2**62)) -> int:
        value = 0
        for i in range(9):
            byte = self.take(1, name)[0]
            value |= (byte & 127) << (7 * i)
            if byte < 128:
                break
        if byte >= 128 or (byte == 0 and i > 0):
            raise ValueError(f"{name} is not a number in shortest form")
        if value not in allowed:
            raise ValueError(f"{name} is {value}, which is not allowed")
        return value

    def end(self, name: str) -> None:
        if self.position != len(self.data):
            raise ValueError(f"bytes follow the end of {name}")
