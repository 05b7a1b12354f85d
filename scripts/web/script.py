"""Write decoder.js into mmpcodec/web: the decoder as one script, for pages without a server.

    python scripts/web/script.py [--wasm FILE] [--out FILE]

Each module of mmpcodec/web/decoder that is needed becomes a function, which runs when it is first
imported. So names of two modules do not meet, and a worker has the same text as the page. The
script has mmp.wasm in it, by gzip and in base64, and defines ``decoder``; see page.js. The same
modules make the same bytes.
"""

import argparse
import base64
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

WEB = Path(__file__).resolve().parents[2] / "mmpcodec" / "web"
MODULES = WEB / "decoder"
PAGE, WORKER = "page.js", "worker.js"

SCRIPT = """\
// The decoder of mmp files as one script; scripts/web/script.py of mmpcodec writes it.
const decoder = (() => {
const modules = (first) => {
const made = {}, makers = {
%s};
const module = (name) => (made[name] ??= makers[name]());
return module(first);
};
const worker = `(${modules})(%s)`;
return modules(%s).decoderOfPage("%s", worker);
})();
"""
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "([^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(
    r"^export (?=(?:async function|function|class|const) (\w+|\[[^\]]*\]))", re.MULTILINE
)
_COMMENT = re.compile(r"^ *(?:/\*\*.*?\*/|//[^\n]*)\n", re.MULTILINE | re.DOTALL)


def needed(*names: str) -> Iterator[str]:
    """Yield the names of modules and of all that they import, each once."""
    waiting, seen = list(names), set(names)
    while waiting:
        name = waiting.pop(0)
        yield name
        for _, target in _IMPORT.findall((MODULES / name).read_text(encoding="utf-8")):
            found = imported(name, target)
            if found not in seen:
                seen.add(found)
                waiting.append(found)


def imported(name: str, target: str) -> str:
    """Return the name of a module below the folder that another one imports."""
    return (MODULES / name).parent.joinpath(target).resolve().relative_to(MODULES).as_posix()


def maker(name: str) -> str:
    """Return a module as an entry of an object: a function that returns what it exports.

    Raises
    ------
    ValueError
        If the module imports or exports in a way that this script does not know.
    """
    text = _COMMENT.sub("", (MODULES / name).read_text(encoding="utf-8"))
    exported = ", ".join(part.strip("[]") for part in _EXPORT.findall(text))
    body = _IMPORT.sub(
        lambda found: f"const {found[1]} = module({json.dumps(imported(name, found[2]))});\n", text
    )
    body = _EXPORT.sub("", body)
    if left := re.search(r"^(?:import\b(?!\()|export\b).*|.*import\.meta.*", body, re.MULTILINE):
        raise ValueError(f"{MODULES / name}: {left[0]!r} is no import or export that is known")
    return f"{json.dumps(name)}: () => {{\n{body}return {{ {exported} }};\n}},\n"


def script(wasm: bytes) -> str:
    """Return the decoder as one script, with the bytes of the module of WebAssembly."""
    makers = "".join(map(maker, sorted(needed(PAGE, WORKER))))
    packed = base64.b64encode(gzip.compress(wasm, 9, mtime=0)).decode()
    return SCRIPT % (makers, json.dumps(WORKER), json.dumps(PAGE), packed)


def main() -> None:
    """Write the script."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--wasm", type=Path, default=WEB / "mmp.wasm")
    parser.add_argument("--out", type=Path, default=WEB / "decoder.js")
    options = parser.parse_args()
    text = script(options.wasm.read_bytes())
    options.out.write_text(text, encoding="utf-8")
    print(f"{options.out}: {len(text.encode())} bytes")


if __name__ == "__main__":
    main()
