"""The decoder as one script: the same bytes each time, all modules, and no imports."""

import json
import re
import shutil
import subprocess

import pytest
import script
from support.web.decoder import WEB

WASM = b"\0asm\1\0\0\0"
"""The smallest module of WebAssembly."""


def test_the_same_modules_make_the_same_script():
    made = script.script(WASM)
    assert made == script.script(WASM)
    assert made != script.script(WASM + b"\0")
    assert not re.search(r"^\s*(import [^(]|export )|import\.meta", made, re.MULTILINE)
    assert "</script" not in made.lower()  # it stands in a page


def test_all_modules_but_those_for_imports_are_in_it():
    folder = {path.relative_to(script.MODULES).as_posix() for path in script.MODULES.rglob("*.js")}
    assert set(script.needed(script.PAGE, script.WORKER)) == folder - {"index.js"}


@pytest.mark.parametrize(
    "text", ["export default 1;\n", 'import x from "./y.js";\n', "f(import.meta.url);\n"]
)
def test_an_unknown_way_to_import_or_export_is_refused(monkeypatch, tmp_path, text):
    monkeypatch.setattr(script, "MODULES", tmp_path)
    (tmp_path / "own.js").write_text(f"const a = 1;\n{text}")
    with pytest.raises(ValueError, match=r"own\.js: .* is no import or export that is known"):
        script.maker("own.js")


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node")
def test_modules_run_when_they_are_first_imported(monkeypatch, tmp_path):
    monkeypatch.setattr(script, "MODULES", tmp_path)
    (tmp_path / "format").mkdir()
    (tmp_path / "page.js").write_text(
        '// Comment.\nimport { count, same } from "./format/a.js";\n\n'
        "export const decoderOfPage = (wasm, worker) => ({ count: count(), same, wasm, worker });\n"
    )
    (tmp_path / "worker.js").write_text('import { same } from "./format/a.js";\nsame;\n')
    (tmp_path / "format" / "a.js").write_text(
        "/** Comment\n * of two lines. */\nexport function count() {\n  return same + 1;\n}\n"
        "export const [same, other] = [1, 2];\n"
    )
    code = script.script(WASM) + "\nconsole.log(JSON.stringify(decoder));"
    found = subprocess.run(["node", "--eval", code], check=True, capture_output=True, text=True)
    decoder = json.loads(found.stdout)
    assert (decoder["count"], decoder["same"]) == (2, 1)
    assert "Comment" not in decoder["worker"]
    assert "decoderOfPage" in decoder["worker"]


@pytest.mark.skipif(not (WEB / "decoder.js").exists(), reason="make web builds decoder.js")
def test_what_is_built_is_of_these_modules():
    built = (WEB / "decoder.js").read_text()
    assert built == script.script((WEB / "mmp.wasm").read_bytes())
