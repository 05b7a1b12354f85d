"""PDF files: images, masks, forms, colour spaces and pages whose entries and sizes disagree."""

import zlib

from parts.choices import Choices

_SPACES = ("/DeviceGray", "/DeviceRGB", "/DeviceCMYK", "[/Indexed/DeviceRGB 3<ff000000ff000000ff>]")
_PLANES = dict(zip(_SPACES, (1, 3, 4, 1), strict=True))
_ODD_SPACES = (
    "null", "/Pattern", "[/ICCBased 3 0 R]", "[/Indexed/DeviceGray 99999 <00>]", "[/CalGray<<>>]",
    "[/Separation/A/DeviceGray<<>>]", "[[[[[]]]]]",
)  # fmt: skip
_DECODES = (
    "",
    "",
    "/Decode[1 0]",
    "/Decode[0 1]",
    "/Decode[0.2 9]",
    "/Decode[]",
    "/Decode[1e99 0]",
)
_MATRICES = (
    "40 0 0 30 0 0", "-40 0 0 30 40 0", "0 30 -40 0 40 0", "0 30 40 0 0 0", "39 3 -3 29 1 0",
    "1e9 0 0 1e9 0 0", "0 0 0 0 0 0", "40 0 0 30 -5 -5",
)  # fmt: skip


def make(choices: Choices) -> bytes:
    """Make a file of one page, or of two."""
    width, height = choices.side(), choices.side()
    masked = choices.choice(("", "", "/SMask 4 0 R", "/Mask 4 0 R", "/Mask[0 99]"))
    image = _image(choices, width, height, masked)
    as_mask = masked == "/Mask 4 0 R" or choices.odd()
    mask = _image(choices, width, height, choices.either("", "/SMask 3 0 R"), stencil=as_mask)
    matrix = choices.either(_MATRICES[0], *_MATRICES)
    drawn = f"q {matrix} cm /I Do Q".encode()
    entries = "/BBox[0 0 40 30]/Resources<</XObject<</I 3 0 R/F 5 0 R>>>>"
    form = _stream(choices, f"/Type/XObject/Subtype/Form{entries}".encode(), drawn)
    others = (b"", b" BT 3 Tr /F 9 Tf (x) Tj ET", b" 0 0 5 5 re f", b" q 0 0 9 9 re W n", b"q" * 9)
    contents = choices.choice((drawn, drawn, b"/F Do")) + choices.either(*others)
    pages = choices.choice((1, 1, 1, 2))
    turned = choices.either(0, 90, 180, 270, 45, -90)
    box = choices.either("0 0 40 30", "0 0 0 0", "40 30 0 0", "0 0 1e9 1e9", "5 5 20 20", "0 0")
    parts = [b"<</Type/Catalog/Pages 2 0 R>>", b"", image, mask, form]
    parts.append(_stream(choices, b"", contents))
    kids = []
    for _ in range(pages):
        text = (
            f"<</Type/Page/Parent 2 0 R/Contents 6 0 R/MediaBox[{box}]/Rotate {turned}"
            "/Resources<</XObject<</I 3 0 R/F 5 0 R>>>>>>"
        )
        parts.append(choices.broken(text.encode()))
        kids.append(f"{choices.number(len(parts), 8)} 0 R")
    count = choices.number(len(kids))
    parts[1] = f"<</Type/Pages/Count {count}/Kids[{' '.join(kids)}]>>".encode()
    return _file(choices, parts)


def _image(choices: Choices, width: int, height: int, more: str, *, stencil: bool = False) -> bytes:
    """Return an image, or a stencil of 1 bit."""
    space = choices.choice(_SPACES)
    bits = 1 if stencil else choices.choice((1, 2, 4, 8, 8, 16))
    row = (width * (1 if stencil else _PLANES[space]) * bits + 7) // 8
    data = choices.zipped(choices.content(row * height))
    kinds = (
        "/DCTDecode",
        "/CCITTFaxDecode",
        "/JPXDecode",
        "/LZWDecode",
        "[/FlateDecode/FlateDecode]",
    )
    kind = choices.either("/FlateDecode", *kinds, "/JBIG2Decode", "/RunLengthDecode", "null")
    # pdfium bounds its own memory alone: sides that are larger would be its findings.
    form = f"/Width {choices.number(width, 12)}/Height {choices.number(height, 12)}"
    form += f"/BitsPerComponent {choices.number(bits, 8)}"
    form += "/ImageMask true" if stencil else f"/ColorSpace {choices.either(space, *_ODD_SPACES)}"
    decode = choices.choice(_DECODES) if choices.once_in(3) else ""
    # pdfium takes memory for rows of any length, so that they are short here.
    matte = choices.either("", "/Matte[0]", "/DecodeParms<</Predictor 15/Columns 999>>")
    head = f"/Type/XObject/Subtype/Image/Filter {kind}{form}{decode}{matte}{more}"
    return _stream(choices, head.encode(), data)


def _stream(choices: Choices, entries: bytes, data: bytes) -> bytes:
    head = b"<<%b/Length %d>>" % (choices.broken(entries), choices.number(len(data)))
    return head + b"stream\n" + data + b"\nendstream"


def _file(choices: Choices, parts: list[bytes]) -> bytes:
    """Return a file of objects from number 1 on, some of them in a stream of objects."""
    data, places = b"%PDF-1.7\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (number, part)
    if choices.once_in(8):
        inner = zlib.compress(b"20 0 <</A 20 0 R>>")
        data += b"19 0 obj\n<</Type/ObjStm/N %d/First %d/Filter/FlateDecode/Length %d>>stream\n" % (
            choices.number(1),
            choices.number(5),
            len(inner),
        )
        data += choices.broken(inner) + b"\nendstream\nendobj\n"
    rows = [b"%010d 00000 n \n" % choices.number(place) for place in places]
    table = b"0000000000 65535 f \n" + b"".join(choices.shuffled(rows))
    at = choices.number(len(data))
    data += b"xref\n0 %d\n" % choices.number(len(parts) + 1) + table
    data += b"trailer\n<</Size %d/Root 1 0 R>>\n" % choices.number(len(parts) + 1)
    data += b"startxref\n%d\n%%%%EOF\n" % at
    return choices.damage(data) if choices.odd() else data
