"""NPY files: headers of any text, shapes and types, versions and sizes that disagree."""

from parts.choices import Choices

_TYPES = ("|u1", "|b1", "<u2", ">u2")
_ODD_TYPES = ("<f4", "|O", "<U10", "|V0", "|S0", "<u8", "|i1", "<M8[s]", "3u1", "u1,u2", "")
_ODD_SHAPES = (
    "()", "(0,)", "(0, 5)", "(-1, 5)", "(5, -1)", "(True, 2)", "(2, 2, 0)", "(2, 2, 9)", "(1,) * 9",
    "(4294967296, 4294967296)", "(9223372036854775807, 2)", "None", "[2, 2]", "(2.0, 2)", "('a',)",
    "(100000, 100000, 4)", "(" * 300 + ")" * 300, "(" + "1," * 3000 + ")", "{}",
)  # fmt: skip


def make(choices: Choices) -> bytes:
    """Make a file."""
    sides = [choices.side(), choices.side()]
    if choices.once_in(2):
        sides.append(choices.randint(2, 4))
    kind = choices.choice(_TYPES)
    count = int(kind[-1])
    for side in sides:
        count *= side
    stated = [choices.number(side, 40) for side in sides]
    shape = choices.either(f"({', '.join(map(str, stated))})", *_ODD_SHAPES)
    shown = choices.either(kind, *_ODD_TYPES)
    descr = choices.either(repr(shown), "[('a', '|u1')]", "[" * 100, "None", "1", "'u1' * 9")
    order = choices.either(str(choices.once_in(3)), "None", "1", "'C'")
    fields = [f"'descr': {descr}", f"'fortran_order': {order}", f"'shape': {shape}"]
    text = "{" + ", ".join(choices.shuffled(fields)) + ", }"
    text = text.ljust(choices.either(54, 0, 1000, 9000, 20000)) + "\n"
    version = choices.choice((1, 1, 2))
    size_bytes = 2 if version == 1 else 4
    head = choices.broken(text.encode())
    size = choices.number(len(head), 8 * size_bytes).to_bytes(size_bytes, "little")
    numbers = bytes([choices.number(version, 8), choices.number(0, 8)])
    samples = choices.content(count)
    if kind == "|b1":
        samples = bytes(each & 1 for each in samples)
    return b"\x93NUMPY" + numbers + size + head + choices.broken(samples)
