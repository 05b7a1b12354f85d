"""Rules of names: vague names, paths of a machine, names of backends, duplicate class names."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from checkout import Checkout

# After a word character or a dot, the text is part of an address or of a relative path.
MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:work|farm|home|root|Users)/")
SOURCE_PATH = re.compile(r"(?<![\w./~-])[\w.-]+(?:/[\w.-]+)+\.(?:md|py|h|cpp|cu|cuh|sh|js)\b")
PLACEHOLDER = re.compile(r"[A-Z]{3}")
LINK = re.compile(r"\]\(([^)\s#]+)[^)]*\)")
CODE = re.compile(r"`+([^`\n]+)`+")
BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def check_vague_names(checkout: Checkout, vague: set[str]) -> Iterator[str]:
    """Check that no file or folder has a vague name."""
    for path in checkout.files:
        found = vague.intersection([*path.parent.parts, path.stem])
        if found:
            yield f"{path}: the name {min(found)!r} does not say what is inside"


def check_phrases(
    checkout: Checkout, phrases: Mapping[str, str], excepted: Sequence[str]
) -> Iterator[str]:
    """Check that texts outside the excepted paths have none of the phrases, whose advice is given.

    A file whose name ends in ``_2`` is a second file for one thing.
    """
    for path, text in checkout.texts.items():
        if any(path.is_relative_to(other) for other in excepted):
            continue
        if path.stem.endswith("_2"):
            yield f"{path}: the name ends in _2; one thing has one file, another has another name"
        for number, line in enumerate(text.splitlines(), start=1):
            for phrase, advice in phrases.items():
                if re.search(rf"\b{phrase}\b", line, re.IGNORECASE):
                    yield f"{path}:{number}: has {phrase!r}; {advice}"


def check_machine_paths(checkout: Checkout) -> Iterator[str]:
    """Check that no text file contains a path of one machine."""
    for path, text in checkout.texts.items():
        for number, line in enumerate(text.splitlines(), start=1):
            if found := MACHINE_PATH.search(line):
                yield f"{path}:{number}: names a path of one machine, {found.group()}"


def check_backend_names(
    checkout: Checkout, names: set[str], excepted: Sequence[str]
) -> Iterator[str]:
    """Check that code outside the excepted paths compares no value with the name of a backend."""
    for path, tree in checkout.python("mmpcodec").items():
        if any(path.is_relative_to(other) for other in excepted):
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.Compare | ast.MatchValue):
                continue
            for constant in ast.walk(node):
                if isinstance(constant, ast.Constant) and constant.value in names:
                    yield (
                        f"{path}:{node.lineno}: compares with {constant.value!r}; ask a backend "
                        "what it can do"
                    )


def check_class_names(checkout: Checkout, package: str, shared: Mapping[str, str]) -> Iterator[str]:
    """Check that modules define public classes of one name only if ``shared`` lists the name."""
    homes = defaultdict(list)
    for path, tree in checkout.python(package).items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(path))
    for name, paths in sorted(homes.items()):
        if len(paths) > 1 and name not in shared:
            yield f"{paths[0]}: class {name} also stands in {', '.join(paths[1:])}"


def check_paths_in_pages(checkout: Checkout) -> Iterator[str]:
    """Check that each link and each path in code type of a Markdown page exists.

    A path in code type is checked if it begins with a top folder of the checkout and has no
    placeholder in capitals. ``*`` matches any name.
    """
    known = {*checkout.files, *(folder for path in checkout.files for folder in path.parents)}
    for page in checkout.files:
        if page.suffix != ".md":
            continue
        text = checkout.texts[page]
        for target in LINK.findall(BLOCK.sub("", text)):
            if "://" not in target and _normal(page.parent / target) not in known:
                yield f"{page}: links to {target}, which does not exist"
        words = (word.split(":")[0] for code in CODE.findall(text) for word in code.split())
        yield from _missing(page, words, known)


def check_paths_in_sources(checkout: Checkout, folders: Sequence[str]) -> Iterator[str]:
    """Check that each file path that the files of the given folders name exists."""
    for path in (path for folder in folders for path in checkout.below(folder)):
        yield from _missing(path, SOURCE_PATH.findall(checkout.texts[path]), set(checkout.files))


def _missing(path: PurePosixPath, words: Iterable[str], known: set[PurePosixPath]) -> Iterator[str]:
    """Yield a line for each word that is a path below a top folder and no known file or folder."""
    tops = {each.parts[0] for each in known if len(each.parts) > 1}
    for word in dict.fromkeys(words):
        named = PurePosixPath(word)
        if len(named.parts) < 2 or named.parts[0] not in tops or PLACEHOLDER.search(word):
            continue
        if named not in known and not any(each.match(word) for each in known):
            yield f"{path}: names {named}, which does not exist"


def _normal(path: PurePosixPath) -> PurePosixPath:
    """Return the path without ``..``."""
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        else:
            parts.append(part)
    return PurePosixPath(*parts)


def check_stages(checkout: Checkout, without_kernel: Mapping[str, str]) -> Iterator[str]:
    """Check that each stage of ``mmpcodec/reference`` has a kernel of its coding and name.

    Parameters
    ----------
    checkout : Checkout
    without_kernel : dict of str to str
        Stages that need no kernel, as "coding/name", and the reason.
    """
    kernels = {_stage(path.parts[2:]) for path in checkout.below("kernels")}
    stages = {
        _stage(path.parts[2:]): path
        for path in checkout.below("mmpcodec", "reference")
        if path.stem != "__init__"
    }
    for stage, path in sorted(stages.items()):
        if stage not in kernels and stage not in without_kernel:
            yield f"{path}: has no kernel of its name and no line in WITHOUT_KERNEL"
        if stage in kernels and stage in without_kernel:
            yield f"{path}: has a kernel of its name and a line in WITHOUT_KERNEL"
    for stage in sorted(without_kernel.keys() - stages.keys()):
        yield f"mmpcodec/reference: has no stage {stage}, which has a line in WITHOUT_KERNEL"


def _stage(parts: Sequence[str]) -> str:
    """Return "coding/stem" of a path below ``kernels/LANGUAGE`` or ``mmpcodec/reference``."""
    folder = parts[:1] if len(parts) > 1 else ()
    return "/".join([*folder, PurePosixPath(parts[-1]).stem])
