"""Rules of the kernels' includes: each folder includes only what its row of the table names."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from checkout import Checkout

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def check_includes(checkout: Checkout, table: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Files of ``kernels`` include existing files of their own folder or of folders of their row.

    Parameters
    ----------
    checkout : Checkout
    table : dict of str to sequence of str
        For a folder or file stem below ``kernels``: the folders and stems that its files may
        include. ``*`` stands for one folder name. The longest row that fits a file counts.
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
            match = INCLUDE.match(line)
            if not match:
                continue
            included = PurePosixPath(match[1])
            if PurePosixPath("kernels") / included not in names:
                yield f'{path}:{number}: includes "{included}", which is no path below kernels'
            elif not any(_covers(allowed, included) for allowed in (own, *table[row])):
                allowed = ", ".join([own, *table[row]])
                yield f"{path}:{number}: includes {included}; it may include only {allowed}"


def _covers(row: str, path: PurePosixPath) -> bool:
    """Whether a row's folder holds the file, or its stem is the file's."""
    parts, heads = row.split("/"), path.with_suffix("").parts
    return len(heads) >= len(parts) and all(
        part in ("*", head) for part, head in zip(parts, heads, strict=False)
    )
