"""A decoder of the mmp format, versions 1 and 2, written from docs/format/format.md alone.

Plain rather than fast: it shows that the text suffices. decode() gives the samples and the facts
of a file; a stream that no decoder may accept raises ValueError. Names are those of the sections
and of the formulas of the text. Here are Container, Tiles, Metadata, Layers, Tool sets, Starts,
Colours, Post filter.
"""

import hashlib
import zlib

import numpy as np
from independent.blocks import blocks
from independent.exact import exact_samples
from independent.exact_2 import exact_samples_2
from independent.filter_bank import filter_bank
from independent.palette import Palette
from independent.rangecoder import RangeCoder
from independent.reader import Reader
from independent.trees import fragments

MAGIC = bytes.fromhex("894D4D500D0A1A0A")
MOST_SAMPLES = 2**26  # a limit of this decoder
CHANNELS = (1, 2, 3, 4)  # by form
TREES, BLOCKS, EXACT, BLOCKS_2, EXACT_2, PALETTE = range(6)  # coding of a layer; of a palette
CODINGS = {1: 3, 2: 5}  # by version
IN_SET = 8  # in version 2 the first number that stands for a tool set
BLOCK_TOOLS = (
    ("fragment size", (16, 32, 64)),
    ("least squares", range(2)),
    ("templates", range(5)),
    ("step", range(1, 65536)),
    ("dictionary", range(2)),
)
SWITCHES = (  # of predicted blocks 2: bits, values
    ("fragment size", 2, (16, 32, 64)),
    ("least squares", 1, range(2)),
    ("templates", 3, range(5)),
    ("dictionary", 1, range(2)),
    ("pdpc", 1, range(2)),
    ("trained start", 1, range(2)),
    ("earlier planes", 2, range(3)),
    ("dependent", 1, range(2)),
    ("ternary", 1, range(2)),
    ("fine contexts", 1, range(2)),
    ("step changes", 1, range(2)),
    ("trained transforms", 1, range(2)),
    ("derived modes", 1, range(2)),
    ("border sines", 1, range(2)),
    ("frequency weights", 4, range(16)),
)
EXACT_SWITCHES = (  # of exact samples 2: bits, values
    ("predictors", 2, (1, 2, 3)),
    ("models", 2, (2, 8, 16)),
    ("weight sets", 1, (1, 4)),
    ("last stage", 1, range(2)),
)
TREE_TOOLS = (
    ("partition", range(2)),
    ("index classes", range(2)),
    ("flag contexts", range(2)),
    ("copy radius", range(9)),
    ("dictionary limit", range(256, 65537)),
    ("displaced blocks", range(5)),
    ("redundancy radius", range(65536)),
    ("replacement", range(2)),
)


def crc_of(data):
    return zlib.crc32(data).to_bytes(4, "big")


def decode(data, starts=()):
    """The samples of a file and its facts; starts are the files of the starts that are there."""
    reader = Reader(bytes(data))
    if reader.take(8) != MAGIC:
        raise ValueError("not an mmp file")
    version = reader.take(1)[0]
    if version not in (1, 2):
        raise ValueError("version is not 1 or 2")
    form = reader.number("form", range(4))
    depth, level_bits, first = depth_of(reader, form)
    facts = {
        "form": form,
        "depth": depth,
        "width": reader.number("width", range(1, 2**24 + 1)),
        "height": reader.number("height", range(1, 2**24 + 1)),
        "tile_size": reader.number("tile size"),
    }
    width, height = facts["width"], facts["height"]
    tile_size = facts["tile_size"]
    if tile_size != 0 and not 64 <= tile_size <= 2**24:
        raise ValueError(f"tile size is {tile_size}, allowed is 0 or 64 to 2^24")
    states, sets = None, []
    if version == 2:
        if reader.number("start", range(2)):
            states = states_of(reader.take(8), starts)
        sets = [tools_of(reader, BLOCKS_2) for _ in range(reader.number("tool sets", range(17)))]
    head = reader.data[8 : reader.position]
    facts["metadata"] = metadata(reader, depth)
    # Tiles
    if width * height * CHANNELS[form] > MOST_SAMPLES:
        raise ValueError("more samples than this decoder allows")
    side = tile_size or max(width, height)
    corners = [(y, x) for y in range(0, height, side) for x in range(0, width, side)]
    crcs = (4, 4)
    if version == 2 and 64 <= tile_size <= 256:
        crcs = (1, 1) if tile_size < 128 else (2, 1)
    least = 10 if version == 1 else sum(crcs) + 1
    table = reader.position
    if version == 1 or len(corners) == 1:
        sizes = [reader.number("tile bytes", range(least, 2**62)) for _ in corners]
    else:
        sizes = [least + more for more in remainders(reader, len(corners))]
    table = reader.data[table : reader.position]
    if crc_of(reader.data[: reader.position]) != reader.crc():
        raise ValueError("header CRC is wrong")
    samples = np.zeros((height, width, CHANNELS[form]), np.uint8 if depth <= 8 else np.uint16)
    for (y, x), size in zip(corners, sizes, strict=True):
        part = samples[y : y + side, x : x + side]
        part[...] = tile(
            reader.take(size), part.shape[:2], form, level_bits, version, crcs, sets, states
        )
        part += part.dtype.type(first)
    if version == 2 and len(corners) > 1:
        trailer = head + table + (len(head) + len(table) + 13).to_bytes(5, "big")
        if reader.take(len(trailer) + 8) != trailer + crc_of(trailer) + b"MMP\x1a":
            raise ValueError("trailer differs from the header")
    reader.end("the last tile or the trailer")
    return (samples[:, :, 0] if form == 0 else samples), facts


def depth_of(reader, form):
    """The bits of a sample and of a level, and the sample that level 0 stands for."""
    depth = reader.number("depth", range(1, 33))
    if depth <= 16:
        return depth, depth, 0
    depth -= 16
    if depth <= 8 or form in (1, 3):
        raise ValueError("levels need more than 8 bits and no alpha")
    bits = reader.number("level bits", range(8, depth))
    return depth, bits, reader.number("first sample", range(2**depth - 2**bits + 1))


def remainders(reader, count):
    """The sizes of several tiles of version 2, less the least size."""
    n = reader.number("bits of tile bytes", range(25))
    bits = ""

    def bit():
        nonlocal bits
        bits = bits or format(reader.take(1)[0], "08b")
        first, bits = bits[0], bits[1:]
        return int(first)

    values = []
    for _ in range(count):
        value = 0
        while bit():
            value += 1
        for _ in range(n):
            value = 2 * value + bit()
        values.append(value)
    if "1" in bits:
        raise ValueError("bits after tile bytes are not 0")
    return values


def states_of(name, starts):
    """Section Starts: the states of the start of a name."""
    for file in starts:
        if hashlib.sha256(file).digest()[:8] == name:
            reader = Reader(file)
            if reader.take(8) != bytes.fromhex("894D53540D0A1A0A"):
                raise ValueError("not the file of a start")
            states = reader.take(len(file) - 12)
            if reader.crc() != crc_of(file[:-4]):
                raise ValueError("CRC of the start is wrong")
            return states
    raise ValueError(f"there is no start {name.hex()}")


def metadata(reader, depth):
    found = {"icc": b"", "exif": b"", "xmp": b"", "resolution": None, "text": [], "white": None}
    found["colours"] = None
    seen = set()
    for _ in range(reader.number("number of chunks", range(65537))):
        kind = reader.number("kind of chunk")
        chunk = Reader(reader.take(reader.number("size of chunk")))
        if kind in seen and kind in (1, 2, 3, 4, 6, 7, 8):
            raise ValueError(f"a second chunk of kind {kind}")
        seen.add(kind)
        if kind in (1, 2, 3):
            name = ("icc", "exif", "xmp")[kind - 1]
            found[name] = chunk.take(len(chunk.data))
            if not found[name]:
                raise ValueError(f"{name} is empty")
        elif kind == 4:
            unit = ("none", "inch", "centimetre", "metre")[chunk.number("unit", range(4))]
            numbers = [chunk.number("resolution", range(1, 2**32)) for _ in range(4)]
            found["resolution"] = (tuple(numbers[:2]), tuple(numbers[2:]), unit)
        elif kind == 5:
            key = chunk.take(chunk.number("size of key")).decode("utf-8")
            text = chunk.take(len(chunk.data) - chunk.position).decode("utf-8")
            found["text"].append((key, text))
        elif kind == 6:
            found["white"] = chunk.number("white", range(1, 2**depth))
        elif kind == 7:
            low = chunk.number("low", range(2**depth - 1))
            found["range"] = [low, chunk.number("high", range(low + 1, 2**depth))]
        elif kind == 8:
            ranges = [range(256), range(256), range(2), range(2**31)]
            numbers = [chunk.number("colours", each) for each in ranges]
            if chunk.position < len(chunk.data):
                numbers += [chunk.number("colours", range(2**31)) for _ in range(8)]
            found["colours"] = tuple(numbers)
        else:
            continue
        chunk.end("a chunk")
    return found


def tile(data, shape, form, depth, version, crcs, sets, states):
    """The samples of a tile, an array (height, width, channels)."""
    reader = Reader(data)
    if reader.take(crcs[0]) != crc_of(data[crcs[0] :])[-crcs[0] :]:
        raise ValueError("stream CRC is wrong")
    samples_crc = reader.take(crcs[1])
    layout = 0
    if form > 0:
        fine = version == 2 and depth <= 14
        layout = reader.number("layout", range(2 if form == 1 else 4 if fine else 3))
    turn = reader.take(3) if layout == 3 else b""
    palette = None
    if version == 2 and data[reader.position : reader.position + 1] == bytes([PALETTE]):
        reader.take(1)
        palette = Palette(reader, exact_switches_of(reader), form, layout)
    without_colours = palette is not None and not palette.clear
    bits = max(depth, 8)
    if without_colours:
        planes = [np.zeros(shape, np.int64)] * palette.channels
        if form in (1, 3):
            alpha, _ = layer(reader, *shape, bits, layout, 1, version, [], True, sets, states)
            planes += alpha
    elif layout == 0:
        planes, bits = layer(
            reader, *shape, depth, layout, CHANNELS[form], version, [], True, sets, states
        )
    else:
        planes = []
        for number in range(CHANNELS[form]):
            earlier = planes[:] if number < (1, 1, 3, 3)[form] else []
            last = number == CHANNELS[form] - 1
            own = bits + 2 if layout == 3 and number < 3 else bits
            (plane,), _ = layer(
                reader, *shape, own, layout, 1, version, earlier, last, sets, states
            )
            planes.append(plane)
    reader.end("the last layer")
    samples = np.stack(planes, axis=2)
    if layout == 2:
        samples[:, :, :3] = colours(*planes[:3], bits)
    if layout == 3:
        samples[:, :, :3] = turned_colours(planes[:3], bits, *(byte - 128 for byte in turn))
    if bits > depth:
        samples = (samples * (2**depth - 1) + 127) // 255
    if palette is not None:
        samples = palette.draw(samples, depth)
    if samples_crc != crc_of(samples.astype(">u2" if depth > 8 else "u1").tobytes())[-crcs[1] :]:
        raise ValueError("samples CRC is wrong")
    return samples


def colours(luma, orange, green, depth):
    m = 2 ** (depth - 1)
    g = green - m
    o = orange - m
    return np.clip(np.stack([luma - g + o, luma + g, luma - g - o], axis=2), 0, 2**depth - 1)


def turned_colours(planes, depth, x, y, z):
    n = 128**2 + x * x + y * y + z * z
    rotation = [
        [128**2 + x * x - y * y - z * z, 2 * (x * y - 128 * z), 2 * (x * z + 128 * y)],
        [2 * (x * y + 128 * z), 128**2 - x * x + y * y - z * z, 2 * (y * z - 128 * x)],
        [2 * (x * z - 128 * y), 2 * (y * z + 128 * x), 128**2 - x * x - y * y + z * z],
    ]
    axes = [[28, 35, -20], [28, 0, 40], [28, -35, -20]]
    found = []
    for row in rotation:
        total = np.full(planes[0].shape, 2 ** (depth + 19) + 2**19)
        for plane, column in zip(planes, zip(*axes, strict=True), strict=True):
            whole = sum(a * b for a, b in zip(row, column, strict=True))
            total += (whole * 2**19 + 28 * n) // (56 * n) * (plane - 2 ** (depth + 1))
        found.append(np.clip(total >> 20, 0, 2**depth - 1))
    return np.stack(found, axis=2)


def tools_of(reader, coding):
    """The tools of a layer or of a tool set."""
    tools = {}
    if coding == BLOCKS:
        tools = {name: reader.number(name, allowed) for name, allowed in BLOCK_TOOLS}
    if coding == EXACT_2:
        tools = exact_switches_of(reader)
        tools["max error"] = reader.number("max error", range(2**15))
    if coding == BLOCKS_2:
        tools = switches_of(reader, SWITCHES)
        tools["step"] = reader.number("step", range(1, 65536))
        tools["filter bank"] = reader.number("filter bank", range(2**14))
    if coding == TREES or tools.get("dictionary"):
        tools |= {name: reader.number(name, allowed) for name, allowed in TREE_TOOLS}
    return tools


def exact_switches_of(reader):
    """The tools of exact samples 2 or of the numbers of a palette, without max error."""
    tools = switches_of(reader, EXACT_SWITCHES)
    others = tools["predictors"], tools["weight sets"], tools["last stage"]
    if tools["models"] == 2 and others != (1, 1, 0):
        raise ValueError("2 models have one predictor, one set of weights and no last stage")
    return tools


def switches_of(reader, table):
    """The tools in the field switches, whose bits are those of the table."""
    tools = {}
    switches = reader.number("switches", range(2 ** sum(bits for _, bits, _ in table)))
    for name, bits, values in table:
        if switches % 2**bits >= len(values):
            raise ValueError(f"{name} in switches is not allowed")
        tools[name] = values[switches % 2**bits]
        switches >>= bits
    return tools


def layer(reader, height, width, depth, layout, count, version, earlier, last, sets, states):
    """The planes of a layer, arrays (height, width) of int64, and its depth."""
    allowed = [*range(CODINGS[version]), *range(IN_SET, IN_SET + 4 * len(sets))]
    coding = reader.number("coding", allowed)
    exact = coding in (EXACT, EXACT_2)
    flags = None
    if coding >= IN_SET:
        number = coding - IN_SET
        tools, flags, coding = dict(sets[number >> 2]), number % 4, BLOCKS_2
    if layout == 0 and count > 1 and not exact:
        raise ValueError("planes together are for exact samples only")
    if not (exact and layout == 0):
        depth = max(depth, 8)
    if flags is None:
        tools = tools_of(reader, coding)
    elif flags % 2:
        tools["filter bank"] = reader.number("filter bank", range(2**14))
    if tools.get("earlier planes", 0) > len(earlier):
        raise ValueError(f"earlier planes is above {len(earlier)}")
    if (coding == TREES or tools.get("dictionary")) and depth != 8:
        raise ValueError("trees are for a depth of 8 only")
    coefficients = {}
    if not exact and flags not in (0, 1):
        values = 16 << tools.get("earlier planes", 0)
        filters = reader.number("post filter", range(0 if flags is None else 1, values))
        for k in range(6):
            if filters >> k & 1:
                coefficients[k] = [byte - 64 for byte in reader.take(6 if k < 4 else 12)]
                if max(coefficients[k]) > 127 - 64:
                    raise ValueError(f"a coefficient of bit {k} of post filter is above 127")
    if last and version == 2:
        size = len(reader.data) - reader.position
    else:
        size = reader.number("payload bytes")
    payload = reader.take(size)
    if coding == EXACT_2:
        return exact_samples_2(payload, height, width, depth, count, tools), depth
    coder = RangeCoder(payload)
    if coding == EXACT:
        planes = exact_samples(coder, height, width, depth, count)
    else:
        if coding == TREES:
            picture = fragments(coder, height, width, depth, tools)
        else:
            picture, steps = blocks(coder, height, width, depth, tools, earlier, states)
        picture = picture[:height, :width]
        if tools.get("filter bank"):
            picture = filtered(picture, depth, tools, steps)
        picture = post_filter(picture, depth, coefficients)
        planes = [planes_filter(picture, depth, earlier, coefficients)]
    coder.end()
    return planes, depth


def filtered(picture, depth, tools, steps):
    """The samples after Filter bank; ``steps`` are those of the fragments, by row and column."""
    size, shown = tools["fragment size"], picture.copy()
    for step in set(steps.values()):
        own = filter_bank(picture, depth, step, tools["filter bank"])
        for (i, j), other in steps.items():
            if other == step:
                here = np.s_[i * size : (i + 1) * size, j * size : (j + 1) * size]
                shown[here] = own[here]
    return shown


def post_filter(picture, depth, coefficients):
    """The samples that are shown; the coefficients are by activity class."""
    height, width = picture.shape
    x = np.pad(picture, 2, mode="edge")

    def shifted(array, i, j):
        return array[2 + i : 2 + i + height, 2 + j : 2 + j + width]

    a = abs(2 * picture - shifted(x, 0, -1) - shifted(x, 0, 1))
    a = np.pad(a + abs(2 * picture - shifted(x, -1, 0) - shifted(x, 1, 0)), 2, mode="edge")
    A = sum(shifted(a, i, j) for i in range(-2, 3) for j in range(-2, 3)) >> (depth - 8)
    activity_class = (A >= 50).astype(int) + (A >= 150) + (A >= 400)
    shown = picture.copy()
    for k in range(4):
        weights = coefficients.get(k, ())
        if not weights:
            continue
        total = 128 * picture + 64
        for w, (i, j) in zip(
            weights, ((0, 1), (0, 2), (1, -1), (1, 0), (1, 1), (2, 0)), strict=True
        ):
            total += w * (shifted(x, i, j) + shifted(x, -i, -j) - 2 * picture)
        filtered = np.clip(total >> 7, 0, 2**depth - 1)
        shown = np.where(activity_class == k, filtered, shown)
    return shown


def planes_filter(picture, depth, earlier, coefficients):
    """The samples after Planes filter; the coefficients are by bit of the field post filter."""
    total = np.full(picture.shape, 64)
    for k, plane in enumerate(earlier[:2]):
        p = np.pad(plane, 2, mode="edge")
        height, width = plane.shape
        taps = [(i, j) for i in range(-2, 3) for j in range(-2, 3) if 1 <= abs(i) + abs(j) <= 2]
        for w, (i, j) in zip(coefficients.get(4 + k, [0] * 12), taps, strict=True):
            total += w * (p[2 + i : 2 + i + height, 2 + j : 2 + j + width] - plane)
    return np.clip(picture + (total >> 7), 0, 2**depth - 1)
