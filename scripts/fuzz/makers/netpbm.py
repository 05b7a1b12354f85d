"""PBM, PGM, PPM and PAM files: binary and plain, with comments and numbers that disagree."""

from parts.choices import Choices

_GAPS = (b" ", b"\n", b"\t", b"  ", b"\r\n", b" # comment\n", b"#\n")
_KINDS = (b"BLACKANDWHITE", b"GRAYSCALE", b"GRAYSCALE_ALPHA", b"RGB", b"RGB_ALPHA", b"CMYK", b"")
_NUMBERS = (b"-1", b"+3", b"0x10", b"1e9", b"", b"9" * 10, b"9" * 30, b"0" * 5000 + b"1", b"1.5")


def make(choices: Choices) -> bytes:
    """Make a file."""
    magic = choices.randint(1, 7)
    height, width = choices.side(), choices.side()
    highest = choices.choice((1, 255, 255, 4095, 65535, choices.randint(1, 65535)))
    if magic == 7:
        return _pam(choices, height, width, highest)
    planes = 3 if magic in (3, 6) else 1
    numbers = [width, height] if magic in (1, 4) else [width, height, highest]
    head = b"P%d" % magic + b"".join(_gap(choices) + _digits(choices, each) for each in numbers)
    count = height * width * planes
    if magic <= 3:
        most = 1 if magic == 1 else highest
        words = (b"%d" % choices.number(choices.randint(0, most), 20) for _ in range(count))
        contents = choices.broken(choices.choice(_GAPS).join(words))
        contents = choices.either(contents, contents + b" #" + contents, b"1" * 70000, contents * 2)
    elif magic == 4:
        contents = choices.content(-(-width // 8) * height)
    else:
        contents = _samples(choices, count, highest)
    return choices.broken(head) + choices.either(b"\n", b" ", b"x", b"") + choices.broken(contents)


def _samples(choices: Choices, count: int, highest: int) -> bytes:
    size = 2 if highest > 255 else 1
    if highest in (255, 65535):
        return choices.content(count * size)
    most = choices.number(highest, 8 * size)
    return b"".join(choices.randint(0, most).to_bytes(size, "big") for _ in range(count))


def _pam(choices: Choices, height: int, width: int, highest: int) -> bytes:
    planes = choices.randint(1, 4)
    kind = choices.either(
        (b"GRAYSCALE", b"GRAYSCALE_ALPHA", b"RGB", b"RGB_ALPHA")[planes - 1], *_KINDS
    )
    lines = [
        b"P7",
        b"WIDTH " + _digits(choices, width),
        b"HEIGHT " + _digits(choices, height),
        b"DEPTH " + _digits(choices, planes),
        b"MAXVAL " + _digits(choices, highest),
        b"TUPLTYPE " + kind,
    ]
    if choices.once_in(4):
        lines.append(choices.choice((b"# comment", b"", b"KEY value", b"#" * 70000, b"A B C")))
    head = b"\n".join([lines[0], *choices.shuffled(lines[1:]), b"ENDHDR", b""])
    contents = _samples(choices, height * width * planes, highest)
    return choices.broken(head) + choices.broken(contents)


def _gap(choices: Choices) -> bytes:
    return choices.either(choices.choice(_GAPS), b"", b" " * 70000, b"#" + b"c" * 70000 + b"\n")


def _digits(choices: Choices, number: int) -> bytes:
    return choices.either(b"%d" % choices.number(number), *_NUMBERS)
