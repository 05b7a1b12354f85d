"""The npm package has what it needs, and its tables and types are those of the Python package."""

import gzip
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support.vectors import FOLDER
from support.web.decoder import WEB, missing

import mmpcodec
from mmpcodec import DecodeLimits
from mmpcodec.errors import LimitExceeded
from mmpcodec.format.tool_fields import HEADER_TOOLS, SWITCHES
from mmpcodec.tools import BLOCKS, LOSSLESS, TREES

ROOT = WEB.parents[1]
TYPES = Path(__file__).with_name("types")
MOST_COMPRESSED = 480_000
"""Bytes by ``gzip -9`` of the module, and of all scripts one after the other."""

OF_EACH_CODING = [
    *("camera", "mixed-preset", "rgb-lossless", "tiles-photo", "lossless-colour-6"),
    *("palette-luma-alpha", "lossless-tiles", "cross-component-2"),
]

with_module = pytest.mark.skipif(missing() is not None, reason=str(missing()))
with_node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node")


def node(script):
    """Return what a script of Node writes, as JSON."""
    run = ["node", "--input-type=module", "--eval", script]
    return json.loads(subprocess.run(run, check=True, capture_output=True, cwd=WEB).stdout)


def package():
    return json.loads((WEB / "package.json").read_text())


def test_version_and_license_are_those_of_the_python_package():
    assert package()["version"] == mmpcodec.__version__
    assert package()["license"] == "MIT"
    assert (WEB / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


@with_module
@pytest.mark.skipif(shutil.which("npm") is None, reason="there is no npm")
def test_npm_packs_the_decoder_and_nothing_else():
    run = ["npm", "pack", "--dry-run", "--json", "--offline"]
    packed = json.loads(subprocess.run(run, check=True, capture_output=True, cwd=WEB).stdout)
    scripts = {path.relative_to(WEB).as_posix() for path in (WEB / "decoder").rglob("*.js")}
    beside = {"LICENSE", "README.md", "index.d.ts", "mmp.wasm", "package.json"}
    assert {file["path"] for file in packed[0]["files"]} == scripts | beside


@with_module
def test_module_and_scripts_are_small():
    scripts = b"".join(path.read_bytes() for path in sorted((WEB / "decoder").rglob("*.js")))
    module = (WEB / "mmp.wasm").read_bytes()
    assert len(gzip.compress(module, 9)) + len(gzip.compress(scripts, 9)) < MOST_COMPRESSED


@with_node
def test_all_that_is_exported_is_declared():
    exported = node(
        "console.log(JSON.stringify(Object.keys(await import('./decoder/index.js'))))",
    )
    declared = re.findall(
        r"^export (?:class|const|function) (\w+)", (WEB / "index.d.ts").read_text(), re.MULTILINE
    )
    # Pages get a Picture only from open().
    assert sorted(exported) == sorted([*declared, "Picture"])


@pytest.mark.skipif(shutil.which("tsc") is None, reason="there is no tsc, which checks types")
def test_types_fit():
    run = ["tsc", "--project", TYPES / "tsconfig.json"]
    found = subprocess.run(run, capture_output=True, text=True)
    assert found.stdout + found.stderr == ""


@with_node
def test_tables_of_tools_are_those_of_python():
    tables = node(
        "const t = await import('./decoder/format/tools.js');"
        "console.log(JSON.stringify({ trees: t.TREE_TOOLS, blocks: t.BLOCK_TOOLS,"
        " lossless: t.LOSSLESS_TOOLS }))"
    )

    def rows(coding):
        return [
            {
                "name": tool.name,
                "low": tool.low_in_file,
                "high": tool.high,
                "values": list(tool.values),
                "bits": SWITCHES.get(tool.name, 0) if coding == BLOCKS else 0,
            }
            for tool in HEADER_TOOLS[coding]
        ]

    def shown(table, of_switches=True):
        return [
            {"values": [], **row, "bits": row.get("bits", 0) if of_switches else 0} for row in table
        ]

    assert shown(tables["trees"], of_switches=False) == rows(TREES)
    assert shown(tables["blocks"]) == rows(BLOCKS)
    assert shown(tables["lossless"]) == rows(LOSSLESS)


@with_module
@with_node
@pytest.mark.parametrize("name", OF_EACH_CODING)
@pytest.mark.usefixtures("in_browsers")
def test_memory_is_estimated_as_in_python(name):
    stream = FOLDER / name / "stream.mmp"
    found = node(
        "import { readFileSync } from 'node:fs';"
        "const { createDecoder } = await import('./decoder/index.js');"
        "const { decode } = createDecoder({ workers: 0 });"
        f"const bytes = readFileSync({json.dumps(str(stream))});"
        "const failed = await decode(bytes, { limits: { maxMemory: 1 } }).catch((e) => e);"
        "console.log(JSON.stringify(failed.name + ' ' + failed.problem))"
    )
    with pytest.raises(LimitExceeded) as caught:
        mmpcodec.decode(stream.read_bytes(), limits=DecodeLimits(max_memory=1), threads=1)
    same = caught.value.problem.split("; ")[0]
    assert found == f"LimitExceeded {same}; limits.maxMemory raises it"


@with_node
@pytest.mark.parametrize(("processors", "workers"), [(7, 7), (99, 16)])
def test_workers_are_as_many_as_processors_where_there_is_no_navigator(processors, workers):
    found = node(
        f"""const os = process.getBuiltinModule("node:os");
        os.availableParallelism = () => {processors};
        Object.defineProperty(globalThis, "navigator", {{ value: undefined }});
        const {{ PROCESSORS }} = await import(`${{process.cwd()}}/decoder/pool.js`);
        console.log(JSON.stringify(PROCESSORS));"""
    )
    assert found == workers
