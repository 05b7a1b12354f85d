"""Check the rules of the layers: imports, includes, and the sizes and names of files.

    python scripts/check/layers.py [ROOT]

ROOT is a git checkout, by default the current folder. The script prints one line for each broken
rule and exits with 1 if there is one. The tables in this file set the rules; the modules beside it
check them.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from checkout import Checkout
from imports import check_circles, check_floors, check_forbidden
from includes import check_includes
from sizes import check_files, check_folders, check_functions
from words import (
    check_backend_names,
    check_class_names,
    check_machine_paths,
    check_paths_in_pages,
    check_paths_in_sources,
    check_phrases,
    check_stages,
    check_vague_names,
)

FLOORS = (
    ("errors",),
    ("depth", "checks"),
    ("tools", "limits", "quality"),
    ("presets",),
    ("options",),
    ("params",),
    ("runtime", "metadata", "metrics"),
    ("samples",),
    ("picture",),
    ("reference",),
    ("format",),
    ("opening",),
    ("trace",),
    ("backends",),
    ("codec",),
    ("pictures", "solvers"),
    ("__init__",),
    ("fingerprints",),
    ("analysis",),
    ("web",),
    ("bench", "dask"),
    ("planning",),
    ("plugins", "cli"),
    ("__main__",),
)
"""Modules and folders of mmpcodec, lowest floor first; each imports only from lower floors."""

REFERENCE_WITHOUT = (
    *("concurrent", "multiprocessing", "os", "pathlib", "subprocess", "tempfile", "threading"),
    *("mmpcodec.backends", "mmpcodec.codec", "mmpcodec.runtime.tasks"),
)
COMMAND_LINE = ("click", "rich", "typer")

INCLUDES: dict[str, tuple[str, ...]] = {
    "shared": (),
    "cpu/runtime": ("shared",),
    "cpu/entropy": ("shared", "cpu/runtime"),
    "cpu/trees": ("shared", "cpu/runtime", "cpu/entropy"),
    "cpu/blocks": ("shared", "cpu/runtime", "cpu/entropy", "cpu/trees"),
    "cpu/lossless": ("shared", "cpu/runtime", "cpu/entropy"),
    "cpu/jpeg": ("shared", "cpu/runtime", "cpu/entropy", "cpu/lossless"),
    "cpu/filters": ("shared", "cpu/runtime"),
    "cpu/tiles": (
        *("shared", "cpu/runtime", "cpu/entropy"),
        *("cpu/trees", "cpu/blocks", "cpu/lossless", "cpu/filters"),
    ),
    "cpu/solvers/*": ("shared", "cpu/runtime"),
    "cpu/bindings": ("shared", "cpu"),
    "web": ("shared", "cpu"),
    "cuda/device": ("shared",),
    "cuda/trees": ("shared", "cuda/device"),
    "cuda/blocks": ("shared", "cuda/device", "cuda/trees"),
    "cuda/solvers/*": ("shared", "cuda/device"),
    "cuda/filters": ("shared",),
    "cuda/tiles": ("shared",),
}
"""Folders that the files of a folder of kernels may include besides their own folder.

Predicted blocks include trees, because a block may be a tree. No other coding includes another one.
"""

WITHOUT_KERNEL = {
    "entropy/cell_rates": "cpu/entropy/rates has the rates of cells and of syntax elements",
    "entropy/symbols": "the models of each coding call the range coder themselves",
    "entropy/syntax": "names, which the backends put to the numbers of a kernel",
    "jpeg/sizes": "cpu/jpeg/levels/stripe_coder codes sizes",
    "lossless/coder": "cpu/lossless/codec goes through the planes, plane_coder codes one",
    "lossless/layer": "cpu/lossless/codec goes through the blocks and rows",
    "lossless/planes": "the bindings take the planes of a picture as one array",
    "lossless/reading": "mmp info alone reads source colours without the samples",
    "lossless/streams": "cpu/lossless/codec joins and parts the streams of planes",
    "colour": "cpu/tiles/colours makes samples of planes; codec/colour makes planes",
    "palette": "cpu/tiles/colours draws palettes",
    "trees/coder": "cpu/trees/picture holds the state, cpu/trees/encoder and decoder walk through",
    "trees/copy_search": "cpu/trees/search/tree searches copies and elements",
    "trees/fragments": "cpu/trees/picture pads the plane",
    "trees/segments": "shared/trees/scales.h numbers the segments of a fragment",
}
"""Stages of mmpcodec/reference without a kernel of their coding and name, and the reason."""

MOST_LINES = 600
MOST_LINES_OF_FUNCTION = 120
MOST_NAMES_OF_FOLDER = 17
GROWING_FOLDERS = ("tests/conformance", "images", "docs/decisions", "docs/man")
PHRASES = {"so many": "name the quantity", "told": "name who says what"}
WITHOUT_PHRASES = (
    *("docs/decisions", "CONTRIBUTING.md", "CHANGELOG.md"),
    *("scripts/check", "tests/packaging/test_layers.py"),
)
"""Texts that may have phrases of ``PHRASES``: they are of their day, or name the rule."""
VAGUE_NAMES = {"util", "utils", "helper", "helpers", "common", "misc"}
BACKENDS = {"cpu", "cuda", "reference"}
SHARED_CLASS_NAMES = {
    "Curve": "rate and distortion of a codec in bench, profit by capacity in knapsack",
    "Header": "the header of one file format, in the module of the format",
    "Reduced": "the reduced problem of one solver, in the folder of the solver",
}
"""Names of public classes that several modules define, and the meaning in each module."""
CHOOSES_BACKENDS = ("mmpcodec/backends", "mmpcodec/solvers/dispatch.py")


def problems(root: Path) -> Iterator[str]:
    """Yield one line for each broken rule in a git checkout."""
    checkout = Checkout(root)
    yield from check_floors(checkout, "mmpcodec", FLOORS)
    yield from check_circles(checkout, "mmpcodec")
    yield from check_forbidden(
        checkout,
        "mmpcodec/reference",
        REFERENCE_WITHOUT,
        ("open",),
        "the reference starts no thread, touches no file and knows no backend",
    )
    yield from check_forbidden(
        checkout, "mmpcodec", COMMAND_LINE, ("print",), "only mmpcodec/cli may", "mmpcodec/cli"
    )
    yield from check_includes(checkout, INCLUDES)
    yield from check_stages(checkout, WITHOUT_KERNEL)
    yield from check_files(checkout, MOST_LINES)
    yield from check_functions(checkout, MOST_LINES_OF_FUNCTION)
    yield from check_folders(checkout, MOST_NAMES_OF_FOLDER, GROWING_FOLDERS)
    yield from check_vague_names(checkout, VAGUE_NAMES)
    yield from check_phrases(checkout, PHRASES, WITHOUT_PHRASES)
    yield from check_machine_paths(checkout)
    yield from check_backend_names(checkout, BACKENDS, CHOOSES_BACKENDS)
    yield from check_class_names(checkout, "mmpcodec", SHARED_CLASS_NAMES)
    yield from check_paths_in_pages(checkout)
    yield from check_paths_in_sources(checkout, ("mmpcodec", "kernels", "scripts"))


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    found = list(problems(root))
    print("\n".join(found) or "layers: all rules hold")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
