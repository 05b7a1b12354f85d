"""Rules of the kernels' includes: a folder includes only the folders in its row of a table."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from checkout import Checkout

SYSTEM = re.compile(r"^\s*#\s*include\s*<")
HEADERS_OF_HOSTS = {"shared/integers.h", "shared/tables.h"}
"""Files for devices that include headers of the system where a host compiles them."""
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def check_includes(checkout: Checkout, table: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Check that files of ``kernels`` include only existing files of allowed folders.

    Parameters
    ----------
    checkout : Checkout
    table : dict of str to sequence of str
        Folders and file stems that the files of a folder or stem below ``kernels`` may include,
        besides their own. ``*`` matches one folder name. The longest matching row counts.
    """
    names = set(checkout.files)
    for path in checkout.below("kernels"):
        inside = path.relative_to("kernels")
        rows = [row for row in table if _covers(row, inside)]
        if not rows:
            yield f"{path}: no row of INCLUDES in scripts/check/layers.py covers this file"
            continue
        row = max(rows, key=lambda row: row.count("/"))
        own = "/".join(inside.with_suffix("").parts[: row.count("/") + 1])
        for number, line in enumerate(checkout.texts[path].splitlines(), start=1):
            if SYSTEM.match(line) and _for_devices(inside):
                yield f"{path}:{number}: devices have no headers of the system; see integers.h"
            match = INCLUDE.match(line)
            if not match:
                continue
            included = PurePosixPath(match[1])
            if PurePosixPath("kernels") / included not in names:
                yield f'{path}:{number}: includes "{included}", which is no path below kernels'
            elif not any(_covers(allowed, included) for allowed in (own, *table[row])):
                allowed = ", ".join([own, *table[row]])
                yield f"{path}:{number}: includes {included}; it may include only {allowed}"


def _for_devices(inside: PurePosixPath) -> bool:
    return inside.parts[0] in ("cuda", "shared") and str(inside) not in HEADERS_OF_HOSTS


def _covers(row: str, path: PurePosixPath) -> bool:
    """Return whether a row's folder contains the file, or a row's stem is the stem of the file."""
    parts, heads = row.split("/"), path.with_suffix("").parts
    return len(heads) >= len(parts) and all(
        part in ("*", head) for part, head in zip(parts, heads, strict=False)
    )
