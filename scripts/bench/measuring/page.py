"""Write the tables of docs/benchmarks/pictures.md from the list of the measuring set.

    python scripts/bench/measuring/page.py

A table stands between the comments `<!-- list: NAME -->` and `<!-- end -->`; the text around it is
written by hand.
"""

import re
from collections.abc import Callable

from gather import CLASSES, ROOT, Row, rows

from mmpcodec.bench.tables import table

PAGE = ROOT / "docs/benchmarks/pictures.md"


def classes(listed: list[Row]) -> str:
    """Return the number of pictures and pixels of each class."""
    lines = []
    for name, shown in (*CLASSES.items(), ("all", "")):
        own = [row for row in listed if name in {row["class"], "all"}]
        tests = [row for row in own if row["role"] == "test"]
        pixels = sum(row["width"] * row["height"] for row in tests)
        new = sum(row["since"] != "earlier" for row in tests)
        counts = (len(tests), new, f"{pixels / 1e6:.1f}", len(own) - len(tests))
        lines.append([name, shown, *map(str, counts)])
    head = ["class", "shows", "tests", "new ones", "megapixels of tests", "for training"]
    return table(head, lines)


def sources(listed: list[Row]) -> str:
    """Return the pictures of each source, with their licence."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for row in listed:
        key = (
            row["kind"],
            row["source"],
            row["licence"],
            row["stated"],
            row.get("attribution", ""),
        )
        groups.setdefault(key, []).append(row["name"])
    lines = [[kind, *rest, ", ".join(names)] for (kind, *rest), names in sorted(groups.items())]
    return table(["kind", "source", "licence", "stated in", "by", "pictures"], lines)


TABLES: dict[str, Callable[[list[Row]], str]] = {"classes": classes, "sources": sources}


def filled(text: str, listed: list[Row]) -> str:
    """Return the text of the page with its tables made from the list."""
    return re.sub(
        r"(<!-- list: (\w+) -->\n).*?(<!-- end -->)",
        lambda found: f"{found[1]}\n{TABLES[found[2]](listed)}\n\n{found[3]}",
        text,
        flags=re.DOTALL,
    )


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text("utf-8"), rows()), "utf-8")
