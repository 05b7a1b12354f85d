"""``scripts/check/layers.py`` sees each broken rule, and nothing in a good file."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check" / "layers.py"
FOREIGN_PATH = "/".join(["", "home", "somebody", "data"])


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


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("mmpcodec/pictures.py", "import typer\n", "pictures.py:1: imports typer"),
        ("mmpcodec/a.py", "def f():\n    from rich import x\n", "a.py:2: imports rich.x"),
        ("mmpcodec/a.py", "import click.core\n", "a.py:1: imports click.core"),
        ("mmpcodec/a.py", "x = 1\nprint(x)\n", "a.py:2: calls print"),
        (
            "mmpcodec/reference/trees/tree.py",
            "from mmpcodec import backends\n",
            "mmpcodec.backends;",
        ),
        (
            "mmpcodec/reference/trees/tree.py",
            "from ..backends import cpu\n",
            "mmpcodec.backends.cpu;",
        ),
        ("mmpcodec/codec/utils.py", "", "the name 'utils'"),
        ("kernels/common/a.h", "", "the name 'common'"),
        ("tests/long.py", "x = 1\n" * 601, "has 601 lines"),
        ("notes.md", f"see {FOREIGN_PATH}\n", "notes.md:1: names a path of one machine"),
    ],
)
def test_broken_rule_is_found(tmp_path, name, text, problem):
    result = check(tmp_path, {name: text})
    assert result.returncode == 1
    assert problem in result.stdout


def test_good_files_pass(tmp_path):
    result = check(
        tmp_path,
        {
            "mmpcodec/cli/commands/encode.py": "import typer\nprint(typer)\n",
            "mmpcodec/codec/encoder.py": "from mmpcodec import backends\n",
            "mmpcodec/a.py": "import richer\nfrom . import b\nb.print()\n",
            "docs/guide.md": f"https://example.org{FOREIGN_PATH} and .{FOREIGN_PATH}\n",
            "scripts/show.py": "print(1)\n" * 600,
        },
    )
    assert result.stdout == "layers: all rules hold\n"
    assert result.returncode == 0
