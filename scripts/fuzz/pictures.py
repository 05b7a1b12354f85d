"""Feed the readers of pictures files that are nearly valid, under limits of memory and time.

    python scripts/fuzz/pictures.py [--inputs N | --seconds S] [--seed S] [--jobs J]
        [--formats tiff,png] [--out FOLDER]

It needs NumPy and Pillow, and reads the installed package or, with PYTHONPATH=., the checkout.
Inputs whose format needs a package that is missing count as MissingExtra. A finding is printed with
its recipe and its file is kept in --out, once for each cause. ``--recipe "png 1 42"`` tries one.

The exit code is 1 if there are findings.
"""

import trial
import workers
from makers import FORMATS, made


def prepare(format: str) -> None:
    """Bound the memory of this process, and import modules before memory is measured."""
    trial.prepare()
    for number in range(40):
        trial.tried(made(f"{format} warm {number}"), number)


def tried(recipe: str, number: int) -> trial.Outcome:
    """Make an input and try it."""
    return trial.tried(made(recipe), number)


if __name__ == "__main__":
    workers.main(
        workers.Entry(prepare, tried, made),
        tuple(FORMATS),
        __doc__.splitlines()[0],
        "formats",
        "build/fuzz/pictures",
    )
