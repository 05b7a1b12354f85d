"""Other codecs at their best settings, from Pillow, imagecodecs and PyAV.

``PEERS`` says which samples each of them codes. Each codec has its own ladder, because equal
quality numbers of two codecs do not mean equal quality.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from mmpcodec.bench.codecs import by_av, by_imagecodecs, by_pillow
from mmpcodec.bench.codecs.base import CHROMA, GRAY, Codec, SampleKind, parse, refusing
from mmpcodec.bench.codecs.settings import Settings
from mmpcodec.depth import BYTE, MAX_DEPTH
from mmpcodec.errors import MissingExtra, ParameterError

Build = Callable[[Settings, SampleKind], Codec]


@dataclass(frozen=True)
class Peer:
    """A codec, and what it codes.

    Parameters
    ----------
    build : callable
        Makes the codec of at most 8 bits a sample.
    options : tuple of str
        Names of its options.
    most_bits : int
        Most bits of a sample.
    alpha : bool
        Whether it codes alpha.
    deep : callable or None
        Makes the codec of more than 8 bits; None if ``build`` does.
    """

    build: Build
    options: tuple[str, ...]
    most_bits: int = BYTE
    alpha: bool = False
    deep: Build | None = None

    def fault(self, kind: SampleKind) -> str | None:
        """Return why the codec cannot code samples of a kind; None if it can."""
        if kind.depth > self.most_bits:
            return f"codes at most {self.most_bits} bits a sample, not {kind.depth}"
        return "codes no alpha" if kind.alpha and not self.alpha else None


TUNE = "tune"
"""Option of AVIF."""

PEERS = {
    "jpeg": Peer(by_pillow.jpeg, ("quality", CHROMA)),
    "jpeg2000": Peer(
        by_pillow.jpeg2000, ("ratio", "psnr"), MAX_DEPTH, alpha=True, deep=by_imagecodecs.jpeg2000
    ),
    "webp": Peer(by_pillow.webp, ("quality", "method"), alpha=True),
    "avif": Peer(
        by_pillow.avif,
        ("quality", "speed", TUNE, CHROMA),
        by_imagecodecs.AVIF_DEPTHS[-1],
        alpha=True,
        deep=by_imagecodecs.avif,
    ),
    "jxl": Peer(by_imagecodecs.jxl, ("distance", "effort"), MAX_DEPTH, alpha=True),
    "hevc": Peer(by_av.hevc, ("qp", "preset", "threads", CHROMA), by_av.DEPTHS[-1]),
}
"""The codecs of this module by their names."""

NAMES = tuple(PEERS)


def peers(text: str, kind: SampleKind = GRAY) -> list[Codec]:
    """Return the codecs that a string names.

    Parameters
    ----------
    text : str
        One of ``NAMES`` with options: the codec's knob, WebP's method, AVIF's tune and speed,
        JPEG XL's effort, x265's preset and threads, and chroma, 444 or 420, of JPEG, AVIF and HEVC.
        Examples are ``avif:tune=psnr,speed=6`` and ``jpeg:quality=20/40/80``. ``avif`` without a
        tune gives two codecs: one tuned for PSNR, if samples have at most 8 bits, and one with the
        library's default. Without chroma, RGB is coded at 4:4:4 and at 4:2:0 by two codecs.
    kind : SampleKind
        Samples that the codecs get.

    Returns
    -------
    list of Codec
        If the codec cannot code these samples, one codec that raises a ParameterError with the
        reason.

    Raises
    ------
    ParameterError
        For an unknown name or option.
    MissingExtra
        When a package is missing that the codec needs for 8 bits a sample.
    """
    name, options = parse(text)
    if name not in PEERS:
        raise ParameterError(f"peer {text!r}: must be one of {', '.join(NAMES)}")
    peer = PEERS[name]
    chosen = [Settings(name, each, peer.options) for each in _each(name, options, kind)]
    fault = peer.fault(kind) or _fault_of_tune(options, kind)
    if fault is None:
        if kind.depth <= BYTE or peer.deep is None:
            return [peer.build(settings, kind) for settings in chosen]
        try:
            return [peer.deep(settings, kind) for settings in chosen]
        except MissingExtra as error:
            fault = str(error).removeprefix(f"{name}: ")
    plain = peer.build(Settings(name, options, peer.options), GRAY)
    return [refusing(plain, fault)]


def _fault_of_tune(options: Mapping[str, str], kind: SampleKind) -> str | None:
    if kind.depth > BYTE and options.get(TUNE, by_pillow.NO_TUNE) != by_pillow.NO_TUNE:
        return f"codes more than 8 bits a sample only with {TUNE}={by_pillow.NO_TUNE}"
    return None


def _each(name: str, options: dict[str, str], kind: SampleKind) -> Iterator[dict[str, str]]:
    """Yield the options of each codec that a string names for samples of a kind."""
    known = PEERS[name].options
    settings = Settings(name, options, known)
    tunes: tuple[str | None, ...] = (None,)
    if TUNE in known and TUNE not in options:
        tunes = (by_pillow.NO_TUNE,) if kind.depth > BYTE else by_pillow.AVIF_TUNES[:2]
    chromas: tuple[str | None, ...] = (None,)
    if CHROMA in known and kind.colour:
        chromas = tuple(by_pillow.SUBSAMPLINGS)
    if CHROMA in options:
        given = settings.choice(CHROMA, tuple(by_pillow.SUBSAMPLINGS), "")
        chromas = (given if kind.colour else None,)
    rest = {key: value for key, value in options.items() if key != CHROMA}
    for tune in tunes:
        for chroma in chromas:
            more = {TUNE: tune, CHROMA: chroma}
            yield {**rest, **{key: value for key, value in more.items() if value is not None}}
