"""Files of several pictures: records and an index whose fields, places and sizes disagree."""

from independent.file import MAGIC, VERSION, crc_of, number, parsed
from parts.choices import Choices

from makers import mmp

_END = b"MMC\x1a"
_PICTURE, _METADATA, _INDEX = 1, 2, 3
_PAGE, _FRAME, _SLICE, _LEVEL, _THUMBNAIL = range(5)


def make(choices: Choices) -> bytes:
    """Make a file."""
    data = MAGIC + bytes([VERSION, choices.either(8, 0, 9)])
    metadata: list[tuple[int, int]] = []
    pictures: list[tuple[int, int, bytes]] = []
    roles: list[int] = []
    for _ in range(choices.choice((0, 1, 1, 2))):
        body = _metadata(choices)
        data += _record(choices, _METADATA, body)
        metadata.append((len(data), len(body)))
        data += choices.broken(body)
    for _ in range(choices.choice((1, 1, 1, 1, 2, 5))):
        body = mmp.make(choices) if choices.once_in(4) else mmp.valid(choices)
        fields = _fields(choices, roles, len(metadata), body)
        data += _record(choices, _PICTURE, body, choices.broken(fields))
        pictures.append((len(data), len(body), fields))
        data += choices.broken(body)
        if choices.odd():
            data += _record(choices, choices.choice((0, 4, 300)), b"other") + b"other"
        if choices.once_in(8):
            data += _index(choices, metadata, pictures)
    for _ in range(choices.choice((1, 2)) if choices.once_in(6) else 0):
        body = mmp.valid(choices)
        fields = _fields(choices, [*roles, _PAGE], len(metadata), body, of_last=True)
        data += _record(choices, _PICTURE, body, fields)
        pictures.append((len(data), len(body), fields))
        data += body
    data += _index(choices, metadata, pictures)
    return choices.damage(data) if choices.odd() else data


def _record(choices: Choices, kind: int, body: bytes, fields: bytes = b"") -> bytes:
    numbers = choices.number(kind, 8), choices.number(len(body)), choices.number(len(fields), 14)
    head = b"".join(map(number, numbers)) + fields
    return head + choices.broken(crc_of(head))


def _metadata(choices: Choices) -> bytes:
    """Return the body of a metadata record: a profile, or texts."""
    kind = choices.choice((1, 2, 3, 5, 5, 9))
    content = choices.content(choices.choice((1, 80, 3000)))
    content = number(3) + b"key" + bytes(len(content)) if kind == 5 else content
    chunk = number(choices.number(kind, 4)) + number(choices.number(len(content))) + content
    count = choices.choice((1, 1, 1, 3)) if kind == 5 else 1
    body = number(choices.number(count)) + chunk * count
    return body + choices.broken(crc_of(body))


def _fields(
    choices: Choices, roles: list[int], records: int, body: bytes, *, of_last: bool = False
) -> bytes:
    """Return the fields of a picture, and note its role."""
    pages = [place for place, role in enumerate(roles) if role < _LEVEL]
    role = choices.choice((_PAGE, _PAGE, _FRAME, _SLICE))
    if pages and (of_last or choices.once_in(3)):
        role = choices.choice((_LEVEL, _THUMBNAIL))
    facts: dict[int, list[int]] = {
        _FRAME: [choices.number(40), choices.number(1000)],
        _SLICE: [choices.number(choices.getrandbits(30), 62)],
    }
    own = facts.get(role, [])
    if role >= _LEVEL:
        own = [choices.number(choices.choice(pages))]
    roles.append(role)
    try:
        file = parsed(body)
    except ValueError:
        form = [0, 8, 1, 1]
    else:
        depth = file.depth - 16 if file.depth > 16 else file.depth
        form = [file.form, depth, file.width, file.height]
    shared = [at for at in range(records) if choices.once_in(2)]
    numbers = [role, *own, *form, len(shared), *shared]
    return b"".join(number(choices.number(each, 62)) for each in numbers)


def _index(
    choices: Choices, metadata: list[tuple[int, int]], pictures: list[tuple[int, int, bytes]]
) -> bytes:
    """Return the record of an index."""
    parts = [number(choices.number(0, 62)), number(choices.number(len(metadata)))]
    end = 0
    for place, size in metadata:
        parts += [number(choices.number(max(place - end, 0))), number(choices.number(size))]
        end = place + size
    parts.append(number(choices.number(len(pictures))))
    end = 0
    for place, size, fields in choices.shuffled(pictures):
        parts += [number(choices.number(max(place - end, 0))), number(choices.number(size)), fields]
        end = place + size
    body = choices.broken(b"".join(parts))
    head = _record(choices, _INDEX, body + bytes(13))
    whole = len(head) + len(body) + 13
    checked = body + choices.number(whole, 40).to_bytes(5, "big")
    return head + checked + choices.broken(crc_of(checked)) + choices.broken(_END)
