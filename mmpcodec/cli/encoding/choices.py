"""What the options of encoding stand for together: ``--lossless``, ``--fast`` and ``--best``."""

from typing import TYPE_CHECKING, NamedTuple

from mmpcodec.cli.options import check_alone
from mmpcodec.params import AUTO, BEST, DEFAULT_EFFORT, MAX_EFFORT

if TYPE_CHECKING:
    from mmpcodec import Target

FAST_EFFORT = 1
LOSSLESS_FAST_PRESET = "exact"


class Choice(NamedTuple):
    """The preset and the effort of the search."""

    preset: str
    effort: int


def rate_of(
    lossless: bool,
    lam: float | None,
    quality: float | None,
    target_size: str | None,
    target_bpp: float | None,
    target_psnr: float | None,
) -> "tuple[float, Target | None]":
    """Return the lambda and the target that the options of the rate stand for.

    Raises
    ------
    ParameterError
        If more than one is given, or one is out of its range.
    """
    from mmpcodec.codec.rate_control.targets import lambda_or_target
    from mmpcodec.quantities import parse_bytes

    if lossless:
        others = {
            "--lambda": lam,
            "--quality": quality,
            "--target-size": target_size,
            "--target-bpp": target_bpp,
            "--target-psnr": target_psnr,
        }
        check_alone("--lossless", others)
        return 0, None
    size = None if target_size is None else parse_bytes("target_size", target_size)
    return lambda_or_target(lam, quality, size, target_bpp, target_psnr)


def search_of(
    preset: str | None, effort: int | None, *, fast: bool, best: bool, lossless: bool
) -> Choice:
    """Return the preset and the effort that the options stand for.

    ``--fast`` is effort 1, and preset exact for lossless files, whose coding has no effort.
    ``--best`` is preset best at effort 9.

    Parameters
    ----------
    preset, effort
        As given; None if not.
    fast, best : bool
        Whether the options are given.
    lossless : bool
        Whether lambda is 0.

    Raises
    ------
    ParameterError
        If two options contradict each other.
    """
    if fast:
        check_alone("--fast", {"--best": best, "--effort": effort})
        quick = LOSSLESS_FAST_PRESET if lossless else AUTO
        return Choice(preset or quick, FAST_EFFORT)
    if best:
        check_alone("--best", {"--preset": preset, "--effort": effort})
        return Choice(BEST, MAX_EFFORT)
    return Choice(preset or AUTO, DEFAULT_EFFORT if effort is None else effort)
