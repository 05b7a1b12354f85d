"""Compare two pictures, and draw their difference: the work on one pair of ``mmp compare``."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from mmpcodec.cli import output
from mmpcodec.cli.encoding.sources import picture_of
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.printing import error_text
from mmpcodec.cli.work import JobProgress
from mmpcodec.errors import PictureError
from mmpcodec.limits import DecodeLimits

if TYPE_CHECKING:
    from mmpcodec.bench.metrics import Metric, Quality
    from mmpcodec.metadata import Calibration
    from mmpcodec.picture import Picture


class Compared(NamedTuple):
    """The difference of a pair of pictures.

    Parameters
    ----------
    input, partner : str
        The original, and the picture that is compared with it.
    output : str or None
        Drawing of the difference.
    width, height, white : int
    quality : Quality
    levels : (int, int) or None
        Levels of black and white that the measures refer to, if they are not 0 and ``white``.
    calibration : Calibration or None
        What samples of the original measure.
    """

    input: str
    partner: str
    output: str | None
    width: int
    height: int
    white: int
    quality: "Quality"
    levels: tuple[int, int] | None = None
    calibration: "Calibration | None" = None

    def as_dict(self) -> dict[str, Any]:
        return {
            "a": self.input,
            "b": self.partner,
            "width": self.width,
            "height": self.height,
            "white": self.white,
            "range": list(self.levels or (0, self.white)),
            **self.quality.as_dict(),
            **({} if self.output is None else {"diff": self.output}),
        }

    def text(self, verbose: bool) -> str:
        names = [output.shown(name, "stdin") for name in (self.input, self.partner)]
        return f"{', '.join(names)}: {self.measures()}"

    def measures(self) -> str:
        """Return the measures in words."""
        from mmpcodec.bench.metrics import METRICS

        found = self.quality
        parts = [] if found.max_error else ["equal"]
        for key, value in found.values.items():
            if value is not None:
                parts.append(f"{METRICS[key].title} {METRICS[key].text(value)}")
        if self.levels is not None:
            parts.append(f"of levels {self.levels[0]} to {self.levels[1]}")
        error = f"largest error {error_text(found.max_error, self.calibration)}"
        return ", ".join([*parts, f"{error} of {self.white}"])


@dataclass(frozen=True)
class ComparePair:
    """Compares the source and the partner of a job; goes to the workers of a cluster as it is."""

    depth: int | None
    limits: DecodeLimits
    metrics: "tuple[Metric, ...]"
    levels: tuple[int, int] | None = None
    page: int | None = None

    def _read(self, job: Job, a: str, b: str) -> "tuple[Picture, Picture]":
        """Read both pictures, B without alpha.

        The page is that of A, and of B if it holds several pictures.
        """
        assert job.partner is not None
        first = picture_of(job.source, a, self.depth, self.limits, self.page)
        try:
            second = picture_of(job.partner, b, self.depth, self.limits)
        except PictureError:
            if self.page is None:
                raise
            second = picture_of(job.partner, b, self.depth, self.limits, self.page)
        return first, second.without_alpha()

    def __call__(self, job: Job, progress: JobProgress | None = None) -> Compared:
        """Measure the difference, and draw it if the job has a target.

        Raises
        ------
        PictureError
            If a picture cannot be read, or size, planes or level of white differ.
        FileError
            If a file cannot be read, or the drawing cannot be written.
        """
        from mmpcodec import pictures
        from mmpcodec.analysis.drawings.error import ERROR_GAIN, draw_error
        from mmpcodec.analysis.drawings.levels import shown_range
        from mmpcodec.bench.metrics import measure
        from mmpcodec.codec.levels import Levels

        assert job.partner is not None
        names = [output.shown(name, "stdin") for name in (job.source, job.partner)]
        original, second = self._read(job, *names)
        first = original.without_alpha()
        for what, one, other in (
            ("size", size_text(first.samples.shape), size_text(second.samples.shape)),
            ("level of white", first.white, second.white),
        ):
            if one != other:
                hint = "; --depth gives the bits of a file that does not tell" * (what != "size")
                raise PictureError(
                    f"{what} of {names[0]} is {one} and of {names[1]} {other}: must be equal{hint}"
                )
        # A coded file says to what its lambda and quality refer.
        said = self.levels or first.metadata.range or second.metadata.range
        metadata = replace(first.metadata, range=said)
        levels = Levels.of_picture(replace(original, metadata=metadata)).stored_range
        quality = measure(
            first.samples,
            second.samples,
            white=first.white,
            levels=levels,
            metrics=self.metrics,
        )
        if job.target is not None:
            low, high = shown_range(first.samples, first.depth, first.metadata)
            gain = ERROR_GAIN * 255 / (high - low)
            drawn = draw_error(first.samples, second.samples, gain=gain)
            output.write(job.target, pictures.to_bytes(drawn, "png"), force=job.overwrite)
        height, width = first.samples.shape[:2]
        return Compared(
            job.source,
            job.partner,
            job.target,
            width,
            height,
            first.white,
            quality,
            levels,
            first.metadata.calibration,
        )


def size_text(shape: tuple[int, ...]) -> str:
    """Return the width, height and kind of samples of a shape, in words."""
    return f"{shape[1]}x{shape[0]} {'gray' if len(shape) == 2 else 'colour'}"
