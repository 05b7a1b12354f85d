"""Tiles of pictures for viewers of other programs: IIIF Image API 3.0, level 1, and Deep Zoom.

Addresses name a file as the page shows it, percent-encoded, and perhaps a page of it, ``;7``:

- ``iiif/scan.mmp/info.json`` and ``iiif/scan.mmp/REGION/SIZE/0/default.jpg`` (or ``.png``);
- ``dzi/scan.mmp.dzi`` and ``dzi/scan.mmp_files/LEVEL/COLUMN_ROW.jpg``;
- ``pictures.json``, a list of all pictures with their addresses.

Names are looked up among the files of the server; no address is a path. Pictures are upright, with
8 bits a sample; each file is asked for the level that is just large enough. Sources: IIIF Image API
3.0, https://iiif.io/api/image/3.0/; Deep Zoom, the schema of 2008 of Microsoft.
"""

import io
import json
import math
import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote, unquote

from PIL import Image

from mmpcodec import pictures
from mmpcodec.codec.tiles.reduction import reduced_side
from mmpcodec.errors import MmpError
from mmpcodec.limits import DecodeLimits
from mmpcodec.opening.contents import contents_of
from mmpcodec.pictures import MmpReader, registry
from mmpcodec.runtime.machine import processors
from mmpcodec.web.upright import ScaledSource, UprightPicture, WholeSource

LISTED = "pictures.json"
TILE_ADDRESSES = ("iiif", "dzi", LISTED)
"""First parts of addresses."""
TILE = 512
"""Height and width of tiles in pixels."""
MOST_PIXELS = 1 << 24
"""Most pixels of an answer."""
MOST_OPEN = 8
"""Pictures that stay open."""
LIMITS = DecodeLimits(max_samples=1 << 28)
"""Of a region that is decoded; a larger picture can be seen from afar only if it has levels."""
JPEG_QUALITY = 90
PROTOCOL = "http://iiif.io/api/image"
CONTEXT = f"{PROTOCOL}/3/context.json"
LINKED_JSON = f'application/ld+json;profile="{CONTEXT}"'
KINDS = {"jpg": ("JPEG", "image/jpeg"), "png": ("PNG", "image/png")}
_NUMBER = "[0-9]{1,8}"
_REGION = re.compile(rf"full|square|({_NUMBER}),({_NUMBER}),({_NUMBER}),({_NUMBER})", re.ASCII)
_SIZE = re.compile(rf"max|({_NUMBER}),({_NUMBER})?|,({_NUMBER})", re.ASCII)
_UNSUPPORTED = re.compile(
    r"pct:.*|\^.*|!.*|[0-9]+(\.[0-9]+)?|color|gray|bitonal|tif|gif|jp2|pdf|webp", re.ASCII
)
_TILE = re.compile(rf"(.+)_files/([0-9]{{1,2}})/({_NUMBER})_({_NUMBER})\.(jpg|png)", re.ASCII)


class WrongAddress(MmpError):
    """An address cannot be answered.

    Parameters
    ----------
    status : HTTPStatus
    text : str
    """

    def __init__(self, status: HTTPStatus, text: str):
        super().__init__(text)
        self.status = status


def _bad(text: str) -> WrongAddress:
    return WrongAddress(HTTPStatus.BAD_REQUEST, text)


class TileAnswer(NamedTuple):
    """What a server sends: a type, bytes, and where they are if they are elsewhere."""

    kind: str
    body: bytes
    location: str | None = None


class NamedFile(Protocol):
    """A file of a server; see ``server.ServedFile``."""

    @property
    def source(self) -> str:
        """Path or URL."""

    @property
    def name(self) -> str:
        """As the page shows it."""

    def opened(self) -> Any:
        """Open its bytes in a context."""


class TileServer:
    """Answers addresses of IIIF and Deep Zoom for the files of a server, in any number of threads.

    Parameters
    ----------
    files : sequence of NamedFile
    """

    def __init__(self, files: Sequence[NamedFile]):
        self._files = {file.name: file for file in files}
        self._open: OrderedDict[tuple[str, int, str], UprightPicture] = OrderedDict()
        self._lock = threading.Lock()
        self._many = processors()
        self._slots = threading.Semaphore(self._many)

    def close(self) -> None:
        """Wait for what is being decoded, and begin nothing any more."""
        for _ in range(self._many):
            self._slots.acquire()

    def file_of(self, address: str) -> tuple[NamedFile, int, str]:
        """Return the file and the page of an address, and the rest of it.

        Parameters
        ----------
        address : str
            From "iiif/" or "dzi/" on, percent-encoded.

        Raises
        ------
        WrongAddress
            If it names none.
        """
        kind, _, rest = address.partition("/")
        name, after = unquote(rest.partition("/")[0]), rest.partition("/")[2]
        if kind == "dzi":
            name, after = unquote(rest), ""
            found = _TILE.fullmatch(name)
            if found is not None:
                name, after = found[1], "/".join(found.groups()[1:])
            elif name.endswith(".dzi"):
                name = name.removesuffix(".dzi")
            else:
                kind = ""
        if kind not in ("iiif", "dzi"):
            raise WrongAddress(HTTPStatus.NOT_FOUND, "there is no such address")
        own, page = name, "1"
        if name not in self._files:
            own, _, page = name.rpartition(";")
        if own not in self._files or not re.fullmatch(_NUMBER, page, re.ASCII):
            raise WrongAddress(HTTPStatus.NOT_FOUND, "there is no such picture")
        return self._files[own], int(page), after

    def answer(self, address: str, base: str, tag: str, *, linked: bool = False) -> TileAnswer:
        """Answer an address.

        Parameters
        ----------
        address : str
            As for ``file_of``, or "pictures.json".
        base : str
            Address of the server, with a "/" at its end.
        tag : str
            Text that differs when the file does.
        linked : bool
            Whether the client asks for JSON-LD by name.

        Raises
        ------
        WrongAddress
            If the address is none that can be answered.
        MmpError
            If the file cannot be read.
        """
        if address == LISTED:
            return _json(self._listed(base))
        file, page, rest = self.file_of(address)
        kind = address.partition("/")[0]
        name = f"{base}{kind}/{quote(_identifier(file.name, page), safe='')}"
        if kind == "iiif" and rest == "":
            return TileAnswer("text/plain; charset=utf-8", b"", f"{name}/info.json")
        with self._slots:
            picture = self._picture(file, page, tag)
            if kind == "iiif":
                if rest == "info.json":
                    return _json(_info(picture, name), LINKED_JSON if linked else None)
                return _image(picture, *_request(picture, rest))
            if rest == "":
                return TileAnswer("application/xml", _dzi(picture).encode())
            return _image(picture, *_deep_zoom(picture, rest))

    def _listed(self, base: str) -> list[dict[str, Any]]:
        listed = []
        for file in self._files.values():
            for page in range(1, _pages(file) + 1):
                own = quote(_identifier(file.name, page), safe="")
                addresses = {"iiif": f"{base}iiif/{own}/info.json", "dzi": f"{base}dzi/{own}.dzi"}
                listed.append({"name": file.name, "page": page, **addresses})
        return listed

    def _picture(self, file: NamedFile, page: int, tag: str) -> UprightPicture:
        key = file.name, page, tag
        with self._lock:
            if key in self._open:
                self._open.move_to_end(key)
                return self._open[key]
        found = UprightPicture(_reader(file, page))
        with self._lock:
            self._open[key] = found
            if len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)
        return found


def _identifier(name: str, page: int) -> str:
    return name if page == 1 else f"{name};{page}"


def _pages(file: NamedFile) -> int:
    with file.opened() as data:
        if not registry.is_mmp(bytes(data[: registry.MAGIC_END]), file.name):
            return 1
        return len(contents_of(data, LIMITS.max_pictures).pictures)


def _reader(file: NamedFile, page: int) -> ScaledSource:
    with file.opened() as data:
        if registry.is_mmp(bytes(data[: registry.MAGIC_END]), file.name):
            count = len(contents_of(data, LIMITS.max_pictures).pictures)
            check_page(file.name, page, count)
            return MmpReader(file.source, page=page, limits=LIMITS, keep_open=False)
        check_page(file.name, page, 1)
        return WholeSource(pictures.from_bytes(bytes(data[:]), file.name))


def check_page(name: str, page: int, count: int) -> None:
    """Check the number of a page, from 1.

    Raises
    ------
    WrongAddress
        If there is no such page.
    """
    if not 1 <= page <= count:
        text = f"{name}: there is no page {page}; it has 1 to {count}"
        raise WrongAddress(HTTPStatus.NOT_FOUND, text)


def _json(value: Any, kind: str | None = None) -> TileAnswer:
    return TileAnswer(kind or "application/json", json.dumps(value).encode())


def _info(picture: UprightPicture, name: str) -> dict[str, Any]:
    """Return the information of IIIF about a picture, whose address is ``name``."""
    width, height = picture.width, picture.height
    count = max(1, math.ceil(math.log2(max(width, height) / TILE)) + 1)
    factors = [1 << number for number in range(count)]
    sizes = [(reduced_side(width, each), reduced_side(height, each)) for each in factors[::-1]]
    return {
        "@context": CONTEXT,
        "id": name,
        "type": "ImageService3",
        "protocol": PROTOCOL,
        "profile": "level1",
        "width": width,
        "height": height,
        "maxArea": MOST_PIXELS,
        "sizes": [
            {"width": wide, "height": high} for wide, high in sizes if wide * high <= MOST_PIXELS
        ],
        "tiles": [{"width": TILE, "height": TILE, "scaleFactors": factors}],
        "preferredFormats": ["jpg"],
        "extraFormats": ["png"],
    }


def _request(
    picture: UprightPicture, rest: str
) -> tuple[tuple[int, int, int, int], tuple[int, int], str]:
    """Return region, size and format of REGION/SIZE/ROTATION/QUALITY.FORMAT."""
    parts = [unquote(each) for each in rest.split("/")]
    quality, _, kind = parts[-1].rpartition(".")
    if len(parts) != 4:
        raise _bad("the address is no REGION/SIZE/ROTATION/QUALITY.FORMAT")
    region, size = _REGION.fullmatch(parts[0]), _SIZE.fullmatch(parts[1])
    allowed = (
        ("region", parts[0], region is not None, "full, square or X,Y,W,H"),
        ("size", parts[1], size is not None, "max, W, or W,H or ,H"),
        ("rotation", parts[2], parts[2] == "0", "0"),
        ("quality", quality, quality == "default", "default"),
        ("format", kind, kind in KINDS, "jpg or png"),
    )
    for what, given, is_good, good in allowed:
        if not is_good:
            known = _UNSUPPORTED.fullmatch(given)
            status = HTTPStatus.NOT_IMPLEMENTED if known else HTTPStatus.BAD_REQUEST
            raise WrongAddress(status, f"{what} = {given[:40]!r}: must be {good}")
    assert region is not None
    assert size is not None
    area = _area(picture, region)
    return area, _size(area, size), kind


def _area(picture: UprightPicture, region: re.Match[str]) -> tuple[int, int, int, int]:
    width, height = picture.width, picture.height
    if region[0] == "full":
        return 0, 0, width, height
    if region[0] == "square":
        side = min(width, height)
        return (width - side) // 2, (height - side) // 2, side, side
    x, y, wide, high = map(int, region.groups())
    wide, high = min(wide, width - x), min(high, height - y)
    if wide <= 0 or high <= 0:
        raise _bad(f"region = {region[0]}: lies outside of {width}x{height} pixels, or is empty")
    return x, y, wide, high


def _size(area: tuple[int, int, int, int], size: re.Match[str]) -> tuple[int, int]:
    _, _, width, height = area
    if size[0] == "max":
        share = min(1.0, math.sqrt(MOST_PIXELS / (width * height)))
        return max(1, int(width * share)), max(1, int(height * share))
    wide, high = size[1], size[2] or size[3]
    across = int(wide) if wide else max(1, round(width * int(high) / height))
    down = int(high) if high else max(1, round(height * int(wide) / width))
    if not (1 <= across <= width and 1 <= down <= height):
        raise _bad(
            f"size = {size[0]}: must be from 1 pixel to {width},{height}, those of the region"
        )
    if across * down > MOST_PIXELS:
        raise _bad(f"size = {size[0]}: has more than {MOST_PIXELS} pixels")
    return across, down


def _dzi(picture: UprightPicture) -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<Image xmlns="http://schemas.microsoft.com/deepzoom/2008" Format="jpg" Overlap="0" '
        f'TileSize="{TILE}"><Size Width="{picture.width}" Height="{picture.height}"/></Image>\n'
    )


def _deep_zoom(
    picture: UprightPicture, rest: str
) -> tuple[tuple[int, int, int, int], tuple[int, int], str]:
    """Return region, size and format of LEVEL/COLUMN/ROW/FORMAT."""
    *numbers, kind = rest.split("/")
    level, column, row = map(int, numbers)
    last = math.ceil(math.log2(max(picture.width, picture.height)))
    if level > last:
        raise WrongAddress(HTTPStatus.NOT_FOUND, f"level {level}: must be 0 to {last}")
    factor = 1 << (last - level)
    side = TILE * factor
    x, y = column * side, row * side
    width, height = min(side, picture.width - x), min(side, picture.height - y)
    if width <= 0 or height <= 0:
        text = f"there is no tile {column}_{row} at level {level}"
        raise WrongAddress(HTTPStatus.NOT_FOUND, text)
    return (x, y, width, height), (reduced_side(width, factor), reduced_side(height, factor)), kind


def _image(
    picture: UprightPicture, region: tuple[int, int, int, int], size: tuple[int, int], kind: str
) -> TileAnswer:
    image = picture.image(region, size)
    name, media = KINDS[kind]
    options: dict[str, Any] = {"icc_profile": picture.icc} if picture.icc else {}
    if kind == "jpg":
        options["quality"] = JPEG_QUALITY
        if image.mode in ("LA", "RGBA"):  # JPEG has no alpha: the picture lies on white
            white = Image.new(image.mode, image.size, "white")
            image = Image.alpha_composite(white.convert("RGBA"), image.convert("RGBA"))
            image = image.convert("RGB")
    else:
        options["compress_level"] = 1
    stream = io.BytesIO()
    image.save(stream, name, **options)
    return TileAnswer(media, stream.getvalue())
