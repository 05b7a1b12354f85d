"""Section Collections of the text: the pictures of a file of several."""

from independent.container import decode
from independent.file import MAGIC, VERSION, Reader, crc_of
from independent.lossless.two_values import Chain

HEAD = MAGIC + bytes([VERSION, 8])
END = b"MMC\x1a"
PICTURE, METADATA, INDEX = 1, 2, 3
PAGE, FRAME, SLICE, LEVEL, THUMBNAIL, CHAINED_PAGE, CHAINED_FRAME, CHAINED_SLICE = range(8)
ROLES = (
    *("page", "frame", "slice", "level", "thumbnail"),
    *("chained page", "chained frame", "chained slice"),
)
LONGEST_CHAIN = 64


def decode_collection(data):
    """How often frames are shown, and role, facts, samples and facts of the file of each picture.

    A function stands for each picture's last two, which may be damaged in a file that opens.
    """
    if data[: len(HEAD)] != HEAD:
        raise ValueError("not a file of several pictures")
    try:
        index = index_before(data, len(data))
    except ValueError:
        index = index_before(data, end_of_old_index(data))
    return contents(data, *index)


def index_before(data, end):
    """A reader at the fields of the index that ends at a byte, and where its record begins."""
    if end < len(HEAD) + 13 or data[end - 4 : end] != END:
        raise ValueError("no index")
    size = int.from_bytes(data[end - 13 : end - 8], "big")
    start = end - size
    if start < len(HEAD):
        raise ValueError(f"index has {size} bytes")
    kind, _, body, body_size = record(data[:end], start)
    if kind != INDEX or body + body_size != end:
        raise ValueError("no record of an index")
    if crc_of(data[body : end - 8]) != data[end - 8 : end - 4]:
        raise ValueError("CRC of the index")
    return data[body : end - 13], start


def record(data, place):
    """Kind, fields, place and size of the body of a record."""
    reader = Reader(data[place:])
    kind, size = reader.number("kind"), reader.number("body bytes")
    count = reader.number("field bytes", range(2049))
    if count and kind in (METADATA, INDEX):
        raise ValueError("fields of metadata or of the index")
    fields = reader.take(count)
    crc = crc_of(data[place : place + reader.position])
    if reader.take(4) != crc:
        raise ValueError("CRC of a record")
    return kind, fields, place + reader.position, size


def end_of_old_index(data):
    """The end of the last index, behind which a writer was stopped."""
    place, found = len(HEAD), None
    while place < len(data):
        try:
            kind, _, body, size = record(data, place)
        except ValueError as error:
            if "truncated" in str(error):
                break
            raise
        if body + size > len(data):
            break
        place = body + size
        if kind == INDEX:
            found = place
    if found in (None, len(data)):
        raise ValueError("no index")
    return found


def contents(data, fields, last):
    """What the index says; bodies lie before byte ``last``."""
    reader = Reader(fields)
    loops = reader.number("loops")

    def part(end):
        place = end + reader.number("place", range(last))
        size = reader.number("size")
        if place < len(HEAD) or place + size > last:
            raise ValueError("a body is beyond its file")
        return place, size

    records, pictures, end = [], [], 0
    for _ in range(reader.number("metadata records", range(65537))):
        records.append(part(end))
        end = sum(records[-1])
    end = 0
    for _ in range(reader.number("pictures")):
        place, size = part(end)
        end = place + size
        role, facts, form, own, back = entry(reader, pictures, len(records))
        if any(records[number][0] >= place for number in own):
            raise ValueError("metadata behind their picture")
        parts = [records[number] for number in own]
        chain = [*(pictures[-back][2] if back else []), (place, size, form)]
        if len(chain) > LONGEST_CHAIN:
            raise ValueError(f"a chain of {len(chain)} pictures")
        pictures.append((role, facts, chain, decoder(data, chain, parts)))
    reader.end("the index")
    return loops, [(ROLES[role], facts, read) for role, facts, _, read in pictures]


def entry(reader, before, records):
    """Role, facts, form, metadata and "pictures back" of a picture, 0 if it is not chained."""
    role = reader.number("role", range(8))
    facts, back = [], 0
    if role in (FRAME, CHAINED_FRAME):
        facts = [reader.number("duration"), reader.number("parts", range(1, 2**62))]
    if role in (SLICE, CHAINED_SLICE):
        folded = reader.number("position")
        facts = [folded // 2 if folded % 2 == 0 else -(folded + 1) // 2]
    if role in (LEVEL, THUMBNAIL):
        facts = [reader.number("number of a picture", range(len(before)))]
        if before[facts[0]][0] in (LEVEL, THUMBNAIL):
            raise ValueError("a rendition of a rendition")
    if role >= CHAINED_PAGE:
        back = reader.number("pictures back", range(1, len(before) + 1))
        if before[-back][0] in (LEVEL, THUMBNAIL):
            raise ValueError("a picture continues a rendition")
        facts += [back, reader.number("bytes saved")]
    form = reader.number("form", range(4)), reader.number("depth", range(1, 17))
    form += tuple(reader.number("side", range(1, 2**24 + 1)) for _ in range(2))
    shared = []
    for _ in range(reader.number("metadata records", range(min(16, records) + 1))):
        low = shared[-1] + 1 if shared else 0
        shared.append(reader.number("number of a metadata record", range(low, records)))
    return role, facts, form, shared, back


def decoder(data, chain, parts):
    """A function that gives the samples and the facts of the last picture of a chain."""

    def read():
        chunks = []
        for start, count in parts:
            body = data[start : start + count]
            if crc_of(body[:-4]) != body[-4:]:
                raise ValueError("CRC of metadata")
            reader = Reader(body[:-4])
            for _ in range(reader.number("chunks", range(65537))):
                kind = reader.number("kind")
                chunks.append((kind, reader.take(reader.number("chunk size"))))
            reader.end("metadata")
        shared = Chain() if len(chain) > 1 else None
        for number, (place, size, form) in enumerate(chain, 1):
            own = chunks if number == len(chain) else ()
            samples, facts = decode(data[place : place + size], own, shared)
            if (facts["form"], facts["depth"], facts["width"], facts["height"]) != form:
                raise ValueError("the index is of another picture")
            if shared and shared.pictures < number:
                raise ValueError("a picture of a chain is not of two values")
        return samples, facts

    return read
