"""``scripts/check/layers.py`` accepts a good checkout and names each rule that a bad one breaks."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check" / "layers.py"
ARCHITECTURE = Path(__file__).parents[2] / "docs" / "architecture.md"
FOREIGN_PATH = "/".join(["", "home", "somebody", "data"])

GOOD = {
    "README.md": "The search is in `mmpcodec/codec/encoder.py`; see [the format](docs/format.md).\n"
    "New decisions are `docs/decisions/NNNN-title.md`, tests `tests/unit/*/test_a.py`.\n",
    "docs/format.md": f"[up](../README.md) https://example.org{FOREIGN_PATH} .{FOREIGN_PATH}\n",
    "docs/decisions/0001-a.md": "",
    "mmpcodec/__init__.py": "from mmpcodec.codec.encoder import encode\n",
    "mmpcodec/errors.py": "class MmpError(Exception): ...\n",
    "mmpcodec/backends/__init__.py": "from mmpcodec import errors\nfrom mmpcodec import _cpu\n",
    "mmpcodec/backends/choice.py": "def choose(name): return name == 'cuda'\n",
    "mmpcodec/codec/encoder.py": "from mmpcodec import backends\nbackends.print('cuda')\n",
    "mmpcodec/codec/sizes.py": "from .encoder import backends\nimport richer\n",
    "mmpcodec/cli/app.py": "import typer\nimport mmpcodec\nprint(typer)\n",
    "mmpcodec/cli/__main__.py": "from mmpcodec.start import main\n",
    "mmpcodec/__main__.py": "from mmpcodec.cli import app\n",
    "kernels/shared/trees/scales.h": '#include "shared/integers.h"\n',
    "kernels/shared/integers.h": "",
    "kernels/cpu/trees/scales.h": '#include <vector>\n#include "shared/trees/scales.h"\n',
    "kernels/cpu/blocks/trees.cpp": '#include "cpu/trees/scales.h"\n',
    "kernels/cuda/solvers/max_sum/piece.cuh": '#include "cuda/device/warp.cuh"\n',
    "kernels/cuda/device/warp.cuh": "",
    "scripts/show.py": "print(1)\n" * 600,
    "tests/unit/codec/test_a.py": "",
} | {
    f"mmpcodec/reference/{stage}.py": ""
    for stage in (
        "entropy/cell_rates",
        "entropy/symbols",
        "entropy/syntax",
        "jpeg/sizes",
        "lossless/coder",
        "lossless/layer",
        "lossless/planes",
        "lossless/reading",
        "lossless/streams",
        "trees/coder",
        "trees/copy_search",
        "trees/fragments",
        "trees/scales",
        "trees/segments",
        "colour",
        "palette",
    )
}
"""A checkout in which every rule has something to accept."""


def lines(count, of="x = 1"):
    return f"{of}\n" * count


BAD = {
    "import of a higher floor": (
        {"mmpcodec/depth.py": "def f():\n    from mmpcodec.codec import encoder\n"},
        "mmpcodec/depth.py:2: imports mmpcodec.codec.encoder; depth stands on floor 2",
    ),
    "import of the own floor": (
        {"mmpcodec/solvers/a.py": "", "mmpcodec/pictures/a.py": "from ..solvers import a\n"},
        "mmpcodec/pictures/a.py:1: imports mmpcodec.solvers.a; pictures stands on floor",
    ),
    "unit without a floor": ({"mmpcodec/new.py": ""}, "mmpcodec/new: stands on no floor"),
    "circle of modules": (
        {"mmpcodec/cli/a.py": "from . import b\n", "mmpcodec/cli/b.py": "from . import a\n"},
        "modules import each other in a circle: mmpcodec.cli.a, mmpcodec.cli.b",
    ),
    "circle through a late import": (
        {"mmpcodec/cli/a.py": "def f():\n    from .app import typer\n"}
        | {"mmpcodec/cli/app.py": "from mmpcodec.cli.a import f\n"},
        "modules import each other in a circle: mmpcodec.cli.a, mmpcodec.cli.app",
    ),
    "circle of folders": (
        {"mmpcodec/cli/a/one.py": "from mmpcodec.cli.b import two\n", "mmpcodec/cli/b/two.py": ""}
        | {
            "mmpcodec/cli/b/one.py": "from mmpcodec.cli.a import two\n",
            "mmpcodec/cli/a/two.py": "",
        },
        "mmpcodec.cli: rooms import each other in a circle: a, b",
    ),
    "reference with a thread": (
        {"mmpcodec/reference/trees/scales.py": "import threading\n"},
        "scales.py:1: imports threading; the reference starts no thread",
    ),
    "reference with a file": (
        {"mmpcodec/reference/trees/scales.py": "open('x')\n"},
        "scales.py:1: calls open; the reference starts no thread, touches no file",
    ),
    "reference with a pool of threads": (
        {"mmpcodec/reference/trees/scales.py": "from concurrent.futures import Executor\n"},
        "scales.py:1: imports concurrent.futures.Executor; the reference",
    ),
    "library that prints": (
        {"mmpcodec/codec/sizes.py": "x = 1\nprint(x)\n"},
        "sizes.py:2: calls print; only mmpcodec/cli may",
    ),
    "library with typer": (
        {"mmpcodec/codec/sizes.py": "def f():\n    from rich import x\n"},
        "sizes.py:2: imports rich.x; only mmpcodec/cli may",
    ),
    "trees that include blocks": (
        {"kernels/cpu/trees/a.h": '#include "cpu/blocks/b.h"\n', "kernels/cpu/blocks/b.h": ""},
        "kernels/cpu/trees/a.h:1: includes cpu/blocks/b.h; it may include only cpu/trees, shared",
    ),
    "solver that includes a solver": (
        {"kernels/cuda/solvers/selection/a.cu": '#include "cuda/solvers/max_sum/piece.cuh"\n'},
        "selection/a.cu:1: includes cuda/solvers/max_sum/piece.cuh; it may include only",
    ),
    "shared that includes cpu": (
        {"kernels/shared/a.h": '#include "cpu/trees/scales.h"\n'},
        "kernels/shared/a.h:1: includes cpu/trees/scales.h; it may include only shared",
    ),
    "shared that includes a header of the system": (
        {"kernels/shared/a.h": "#include <stdint.h>\n"},
        "kernels/shared/a.h:1: devices have no headers of the system; see integers.h",
    ),
    "include by ..": (
        {"kernels/cpu/trees/a.h": '#include "../blocks/trees.cpp"\n'},
        'kernels/cpu/trees/a.h:1: includes "../blocks/trees.cpp", which is no path below kernels',
    ),
    "kernel folder without a row": (
        {"kernels/metal/a.h": ""},
        "kernels/metal/a.h: no row of INCLUDES",
    ),
    "stage without a kernel": (
        {"mmpcodec/reference/trees/leaves.py": ""},
        "trees/leaves.py: has no kernel of its name and no line in WITHOUT_KERNEL",
    ),
    "stage with a kernel and a reason": (
        {"kernels/cpu/trees/coder.h": ""},
        "trees/coder.py: has a kernel of its name and a line in WITHOUT_KERNEL",
    ),
    "phrase without a quantity": (
        {"docs/a.md": "A file of so many bytes.\n"},
        "docs/a.md:1: has 'so many'; name the quantity",
    ),
    "phrase without a subject": (
        {"mmpcodec/codec/sizes.py": "x = 1  # Callers are told.\n"},
        "mmpcodec/codec/sizes.py:1: has 'told'; name who says what",
    ),
    "second file for one thing": (
        {"mmpcodec/codec/sizes_2.py": ""},
        "mmpcodec/codec/sizes_2.py: the name ends in _2",
    ),
    "long function of Python": (
        {"scripts/a.py": "@cache\ndef f():\n" + lines(120, "    x = 1")},
        "scripts/a.py:2: f has 121 lines, more than 120",
    ),
    "long function of CUDA": (
        {
            "kernels/cuda/trees/a.cuh": "template <int N>\n"
            "__device__ __launch_bounds__(32) void grow(int k) {\n"
            '    auto f = [] { return "}"; };\n' + lines(120, "    k += 1;") + "}\n"
        },
        "kernels/cuda/trees/a.cuh:2: grow has 123 lines, more than 120",
    ),
    "long function of JavaScript": (
        {"mmpcodec/bench/page/a.js": "function grow(k) {\n" + lines(120, "  k += 1;") + "}\n"},
        "mmpcodec/bench/page/a.js:1: grow has 122 lines, more than 120",
    ),
    "vague name of a file": ({"mmpcodec/codec/utils.py": ""}, "the name 'utils'"),
    "vague name of a folder": ({"docs/common/a.md": ""}, "the name 'common'"),
    "path of a machine": (
        {"notes.md": f"see {FOREIGN_PATH}\n"},
        "notes.md:1: names a path of one machine",
    ),
    "backend compared by name": (
        {"mmpcodec/codec/sizes.py": "def f(name): return name in ('cpu', 'auto')\n"},
        "sizes.py:1: compares with 'cpu'",
    ),
    "backend matched by name": (
        {"mmpcodec/codec/sizes.py": "match 'x':\n    case 'cuda': pass\n"},
        "sizes.py:2: compares with 'cuda'",
    ),
    "class of one name twice": (
        {"mmpcodec/codec/sizes.py": "class Size: ...\n", "mmpcodec/cli/a.py": "class Size: ...\n"},
        "mmpcodec/cli/a.py: class Size also stands in mmpcodec/codec/sizes.py",
    ),
    "link to nothing": (
        {"docs/a.md": "[here](b.md#part)\n"},
        "docs/a.md: links to b.md, which does not exist",
    ),
    "path of a page": (
        {"docs/a.md": "`python scripts/gone.py --all`\n"},
        "docs/a.md: names scripts/gone.py, which does not exist",
    ),
    "path of a source": (
        {"kernels/cpu/trees/a.h": "// See docs/gone.md.\n"},
        "kernels/cpu/trees/a.h: names docs/gone.md, which does not exist",
    ),
} | {
    f"long file, {name}": ({name: lines(601, "")}, f"{name}: has 601 lines, more than 600")
    for name in (
        *("tests/a.py", "kernels/cpu/trees/a.cpp", "kernels/cuda/trees/a.cuh"),
        *("mmpcodec/bench/page/a.js", "scripts/a.sh"),
    )
}
"""What is changed in the good checkout, and the one breach that follows."""


def check(root: Path, files: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the script on a checkout of these files."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    subprocess.run(["git", "add", "."], cwd=root, check=True)
    return subprocess.run(
        [sys.executable, SCRIPT, root], check=False, capture_output=True, text=True
    )


def test_a_good_checkout_passes(tmp_path):
    result = check(tmp_path, GOOD)
    assert (result.stdout, result.stderr) == ("layers: all rules hold\n", "")
    assert result.returncode == 0


@pytest.mark.parametrize("rule", BAD)
def test_a_broken_rule_is_named(tmp_path, rule):
    changed, breach = BAD[rule]
    result = check(tmp_path, GOOD | changed)
    assert result.returncode == 1, result.stderr
    assert [line for line in result.stdout.splitlines() if breach not in line] == []
    assert breach in result.stdout


def test_a_folder_of_many_files_is_named(tmp_path):
    pairs = {f"scripts/a{i}.{suffix}": "" for i in range(17) for suffix in ("py", "sh")}
    records = {f"docs/decisions/{i:04}-a.md": "" for i in range(30)}
    result = check(tmp_path, GOOD | pairs | records)
    assert result.stdout == "scripts: has 18 file names, more than 17\n"


def test_the_architecture_page_has_the_same_floors():
    text = SCRIPT.read_text().split("\nFLOORS = ")[1].split('\n"""')[0]
    table = ARCHITECTURE.read_text().split("## Who may import whom")[1].split("\n## ")[0]
    rows = [re.findall(r"\w+", row) for row in re.findall(r"^\| (`[^|]+`) \|", table, re.MULTILINE)]
    assert [tuple(row) for row in rows if row != ["mmpcodec"]][::-1] == list(ast.literal_eval(text))
