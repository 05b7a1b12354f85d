"""What a command says of a file that is damaged or cut, of which it shows the rest."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import TYPE_CHECKING

from mmpcodec.errors import FormatError

if TYPE_CHECKING:
    from mmpcodec.codec.decoder import BadTile
    from mmpcodec.format.container import Header


@contextmanager
def naming_allow_partial(allow_partial: bool) -> Iterator[None]:
    """Name the option in errors of cut and damaged files, where it was not given."""
    try:
        yield
    except FormatError as error:
        if allow_partial:
            raise
        raise error.with_hint("--allow-partial") from None


def damage(
    header: "Header", bad: "Sequence[BadTile]", faults: Sequence[FormatError]
) -> Iterator[str]:
    """Yield a line for each fault of the header, bad tile, and run of missing tiles.

    Parameters
    ----------
    header : Header
    bad : sequence of BadTile
        In the order of the file.
    faults : sequence of FormatError
        Of the header.
    """
    from mmpcodec.format.tiles import bounds_of

    for fault in faults:
        yield f"{fault}; the samples are not affected, metadata can be"
    for (missing, _), found in groupby(
        enumerate(bad), lambda each: (each[1].missing, each[1].tile.number - each[0])
    ):
        run = [one for _, one in found]
        if not missing or len(run) == 1:
            yield from (f"{'missing: ' * one.missing}{one.error}" for one in run)
            continue
        tiles = [one.tile for one in run]
        yield (
            f"missing: tiles {tiles[0].number} to {tiles[-1].number} of {len(header.tile_bytes)}, "
            f"within {bounds_of(tiles)}; {_problem(run[-1])}"
        )


def remarks_on_index(name: str, faults: Sequence[FormatError]) -> list[str]:
    """Return what to say of the damaged index of a file of several pictures."""
    return [f"{name}: {fault}; later pages may be missing" for fault in faults]


def faults_beside(
    faults: Sequence[FormatError], of_index: Sequence[FormatError]
) -> list[FormatError]:
    """Return the faults of a picture that are none of the index of its file."""
    known = set(map(str, of_index))
    return [fault for fault in faults if str(fault) not in known]


def _problem(bad: "BadTile") -> str:
    """Return the problem of a tile, without the tile's name."""
    return bad.error.problem.split(": ", 1)[-1]
