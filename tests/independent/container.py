"""A decoder of the mmp format, written from docs/format/format.md alone.

Plain rather than fast: it shows that the text suffices. decode() gives the samples and the facts
of a file; a stream that no decoder may accept raises ValueError. Names are those of the sections
and of the formulas of the text. Here are Container, Tiles, Metadata, Layers, Colours, Post filter.
"""

import numpy as np
from independent.blocks import blocks
from independent.border_filter import border_filter
from independent.file import (
    BLOCKS,
    FINE_LUMA,
    FIXED_FILTERS,
    IN_SET,
    LOSSLESS,
    TREES,
    Reader,
    built,
    checked,
    crc_of,
    has_filter,
    parsed,
    tools_of,
)
from independent.fixed_filters import activities, fixed_filters
from independent.jpeg.kept import kept_file
from independent.lossless.samples import lossless_samples
from independent.palette import Palette
from independent.rangecoder import RangeCoder
from independent.trees import fragments

MOST_SAMPLES = 2**26  # a limit of this decoder
CHANNELS = (1, 2, 3, 4)  # by form


def decode(data, shared=(), chain=None):
    """The samples of a file and its facts; of a kept JPEG file, this file in place of samples.

    ``shared`` are chunks of metadata records, ``chain`` is the Chain of a picture of a chain.
    """
    file = parsed(bytes(data))
    if built(file) != bytes(data):
        raise ValueError("sizes, checksums or trailer are not those of the fields")
    form, width, height = file.form, file.width, file.height
    depth, level_bits, first = depth_of(file)
    checked("width", width, range(1, 2**24 + 1))
    checked("height", height, range(1, 2**24 + 1))
    if file.tile_size:
        checked("tile size", file.tile_size, range(64, 2**24 + 1))
        checked("border step", file.border_step, range(65536))
    checked("number of tool sets", len(file.sets), range(17))
    sets = [tools_of(BLOCKS, numbers) for numbers in file.sets]
    facts = {"form": form, "depth": depth, "width": width, "height": height}
    checked("number of chunks", len(file.chunks), range(65537))
    facts |= {"tile_size": file.tile_size, "metadata": metadata((*file.chunks, *shared), depth)}
    if chain is not None:
        check_chainable(file)
    if any(own.jpeg for own in file.tiles):
        return kept_jpeg(file), facts
    # Tiles
    if width * height * CHANNELS[form] > MOST_SAMPLES:
        raise ValueError("more samples than this decoder allows")
    side = file.tile_size or max(width, height)
    corners = [(y, x) for y in range(0, height, side) for x in range(0, width, side)]
    samples = np.zeros((height, width, CHANNELS[form]), np.uint8 if depth <= 8 else np.uint16)
    fixed = np.zeros((height, width), bool)
    for (y, x), own in zip(corners, file.tiles, strict=True):
        here = np.s_[y : y + side, x : x + side]
        shape = samples[here].shape[:2]
        samples[here], fixed[here] = tile(own, shape, form, level_bits, file.crcs, sets, chain)
    border_filter(samples, fixed, file.border_step, file.tile_size, level_bits)
    samples += samples.dtype.type(first)
    return (samples[:, :, 0] if form == 0 else samples), facts


def kept_jpeg(file):
    """The JPEG file that is the only tile."""
    own = file.tiles[0]
    if file.depth != 8 or file.form not in (0, 2) or file.tile_size or own.layout:
        raise ValueError("a kept JPEG file has alpha, a tile size, or another depth or layout")
    found = kept_file(own.jpeg.form, own.jpeg.size, own.jpeg.payload, file.width, file.height)
    if own.samples_crc != crc_of(found):
        raise ValueError("samples CRC is wrong")
    return found


def check_chainable(file):
    """What Collections says of a picture of a chain, without what ``two_values`` checks."""
    own = file.tiles[0]
    if file.form > 0 or file.count > 1 or file.levels or own.palette or own.jpeg:
        raise ValueError("a picture of a chain has colour, alpha, tiles, levels, palette or JPEG")


def depth_of(file):
    """The bits of a sample and of a level, and the sample that level 0 stands for."""
    depth = checked("depth", file.depth, range(1, 33))
    if depth <= 16:
        return depth, depth, 0
    depth -= 16
    if depth <= 8 or file.form in (1, 3):
        raise ValueError("levels need more than 8 bits and no alpha")
    bits = checked("level bits", file.levels[0], range(8, depth))
    return depth, bits, checked("first sample", file.levels[1], range(2**depth - 2**bits + 1))


def metadata(chunks, depth):
    found = {"icc": b"", "exif": b"", "xmp": b"", "resolution": None, "text": [], "white": None}
    found |= {"colours": None, "dicom": []}
    seen = set()
    for kind, content in chunks:
        chunk = Reader(content)
        if kind in seen and kind in (1, 2, 3, 4, 6, 7, 8):
            raise ValueError(f"a second chunk of kind {kind}")
        seen.add(kind)
        if kind in (1, 2, 3):
            name = ("icc", "exif", "xmp")[kind - 1]
            found[name] = chunk.rest()
            if not found[name]:
                raise ValueError(f"{name} is empty")
        elif kind == 4:
            unit = ("none", "inch", "centimetre", "metre")[chunk.number("unit", range(4))]
            numbers = [chunk.number("resolution", range(1, 2**32)) for _ in range(4)]
            found["resolution"] = (tuple(numbers[:2]), tuple(numbers[2:]), unit)
        elif kind == 5:
            key = chunk.take(chunk.number("size of key")).decode("utf-8")
            text = chunk.rest().decode("utf-8")
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
        elif kind == 9:
            found["dicom"].append(chunk.rest())
            if not found["dicom"][-1]:
                raise ValueError("DICOM is empty")
        else:
            continue
        chunk.end("a chunk")
    return found


def tile(own, shape, form, depth, crcs, sets, chain=None):
    """The samples of a tile, an array (height, width, channels), and its fixed pixels."""
    layout = own.layout
    if form > 0:
        checked("layout", layout, range(2 if form == 1 else 4 if depth <= 14 else 3))
    palette = Palette(own.palette, form, layout) if own.palette else None
    bits = max(depth, 8)
    if palette is not None and not palette.transparent:
        planes = [np.zeros(shape, np.int64)] * palette.channels
        if form in (1, 3):
            planes += layer(own.layers[0], *shape, bits, layout, 1, [], sets)[0]
    elif layout == 0:
        (together,) = own.layers
        planes, bits = layer(together, *shape, depth, layout, CHANNELS[form], [], sets, chain)
    else:
        planes = []
        for number, each in enumerate(own.layers):
            earlier = planes[:] if number < (1, 1, 3, 3)[form] else []
            of_plane = bits + 2 if layout == FINE_LUMA and number < 3 else bits
            planes += layer(each, *shape, of_plane, layout, 1, earlier, sets)[0]
    samples = np.stack(planes, axis=2)
    if layout == 2:
        samples[:, :, :3] = colours(*planes[:3], bits)
    if layout == FINE_LUMA:
        samples[:, :, :3] = colour_rotation(
            planes[:3], bits, *(byte - 128 for byte in own.rotation)
        )
    if bits > depth:
        samples = (samples * (2**depth - 1) + 127) // 255
    colour = own.layers[:-1] if form in (1, 3) and layout > 0 else own.layers
    fixed = np.full(shape, all(each.coding == LOSSLESS for each in colour))
    if palette is not None:
        samples, drawn = palette.draw(samples, depth)
        fixed |= drawn
    found = crc_of(samples.astype(">u2" if depth > 8 else "u1").tobytes())
    if own.samples_crc != found[-crcs[1] :]:
        raise ValueError("samples CRC is wrong")
    return samples, fixed


def colours(luma, co, cg, depth):
    m = 2 ** (depth - 1)
    g = cg - m
    o = co - m
    return np.clip(np.stack([luma - g + o, luma + g, luma - g - o], axis=2), 0, 2**depth - 1)


def colour_rotation(planes, depth, x, y, z):
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


def layer(own, height, width, depth, layout, count, earlier, sets, chain=None):
    """The planes of a layer, arrays (height, width) of int64, and its depth."""
    coding = own.coding
    if coding < IN_SET:
        tools = tools_of(coding, own.tools)
    else:
        number = checked("coding", coding, range(IN_SET, IN_SET + 4 * len(sets))) - IN_SET
        tools, coding = dict(sets[number >> 2]), BLOCKS
        if number % 2:
            tools["fixed filters"] = checked("fixed filters", own.tools[0], FIXED_FILTERS)
    exact = coding == LOSSLESS
    if layout == 0 and count > 1 and not exact:
        raise ValueError("planes together are for lossless samples only")
    if not (exact and layout == 0):
        depth = max(depth, 8)
    if tools.get("cross component", 0) > len(earlier):
        raise ValueError(f"cross component is above {len(earlier)}")
    if (coding == TREES or tools.get("dictionary")) and depth != 8:
        raise ValueError("trees are for a depth of 8 only")
    if exact:
        return lossless_samples(own.payload, height, width, depth, count, tools, chain), depth
    coefficients = coefficients_of(own, tools) if has_filter(own.coding) else {}
    coder = RangeCoder(own.payload)
    if coding == TREES:
        picture = fragments(coder, height, width, depth, tools)
    else:
        picture, steps = blocks(coder, height, width, depth, tools, earlier)
    picture = picture[:height, :width]
    if tools.get("fixed filters"):
        picture = filtered(picture, depth, tools, steps)
    picture = post_filter(picture, depth, coefficients)
    coder.end()
    return [cross_component_filter(picture, depth, earlier, coefficients)], depth


def coefficients_of(own, tools):
    """The coefficients of the post filter and of the cross-component filter, by bit of their
    field."""
    least = 1 if own.coding >= IN_SET else 0
    filters = checked(
        "post filter", own.filter[0], range(least, 16 << tools.get("cross component", 0))
    )
    weights, found = Reader(own.filter[1:]), {}
    for k in range(6):
        if filters >> k & 1:
            found[k] = [byte - 64 for byte in weights.take(6 if k < 4 else 12)]
            if max(found[k]) > 127 - 64:
                raise ValueError(f"a coefficient of bit {k} of post filter is above 127")
    return found


def filtered(picture, depth, tools, steps):
    """The samples after Fixed filters; ``steps`` are those of the fragments, by row and column."""
    size, shown = tools["fragment size"], picture.copy()
    for step in set(steps.values()):
        own = fixed_filters(picture, depth, step, tools["fixed filters"])
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

    A = activities(picture, depth)[np.ix_(np.arange(height) // 4, np.arange(width) // 4)]
    activity_class = (A >= 98).astype(int) + (A >= 294) + (A >= 784)
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


def cross_component_filter(picture, depth, earlier, coefficients):
    """The samples after Cross-component filter; the coefficients are by bit of the field post
    filter."""
    total = np.full(picture.shape, 64)
    for k, plane in enumerate(earlier[:2]):
        p = np.pad(plane, 2, mode="edge")
        height, width = plane.shape
        taps = [(i, j) for i in range(-2, 3) for j in range(-2, 3) if 1 <= abs(i) + abs(j) <= 2]
        for w, (i, j) in zip(coefficients.get(4 + k, [0] * 12), taps, strict=True):
            total += w * (p[2 + i : 2 + i + height, 2 + j : 2 + j + width] - plane)
    return np.clip(picture + (total >> 7), 0, 2**depth - 1)
