"""Rules of Python imports: only downward, no circles, and forbidden imports and calls."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from checkout import Checkout


@dataclass(frozen=True)
class Import:
    """One imported dotted name, with the file and line that import it."""

    path: PurePosixPath
    line: int
    name: str


def imports(tree: ast.AST, path: PurePosixPath) -> Iterator[Import]:
    """Yield all imports of a module, also those inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(path, node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom):
            package = path.parent.parts
            above = package[: len(package) - node.level + 1] if node.level else ()
            for alias in node.names:
                name = ".".join([*above, *filter(None, [node.module]), alias.name])
                yield Import(path, node.lineno, name)


def begins(name: str, prefix: str) -> bool:
    """Return whether a dotted name equals the prefix or lies below it."""
    return name == prefix or name.startswith(prefix + ".")


def module_name(path: PurePosixPath) -> str:
    """Return the dotted name of a module, with ``.__init__`` for the file of a package.

    Each ``__main__`` counts as the ``__main__`` of the top package, because no module imports it.
    """
    parts = path.with_suffix("").parts
    return ".".join((parts[0], "__main__") if parts[-1] == "__main__" else parts)


def imported_modules(
    checkout: Checkout, package: str
) -> tuple[list[tuple[Import, str]], dict[str, PurePosixPath]]:
    """Return the imports of a package's modules by modules of the same package.

    Returns
    -------
    found : list of (Import, str)
        Each import with the name of the module that it loads. The compiled module ``_cpu``, which
        imports nothing, is left out.
    modules : dict of str to PurePosixPath
        Paths of the package's modules by name.
    """
    trees = checkout.python(package)
    modules = {module_name(path): path for path in trees}
    found = []
    for path, tree in trees.items():
        for each in imports(tree, path):
            if begins(each.name, package) and not begins(each.name, f"{package}._cpu"):
                home = each.name.rpartition(".")[0]
                candidates = (each.name, f"{each.name}.__init__", home, f"{home}.__init__")
                target = next((name for name in candidates if name in modules), None)
                if target and target != module_name(path):
                    found.append((each, target))
    return found, modules


def circles(edges: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Return the groups of two or more nodes that reach each other, by Tarjan's algorithm."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        number[node] = lowest[node] = len(number)
        path.append(node)
        for other in edges.get(node, ()):
            if other not in number:
                visit(other)
            if other in path:
                lowest[node] = min(lowest[node], lowest[other])
        if lowest[node] == number[node]:
            group = path[path.index(node) :]
            del path[path.index(node) :]
            if len(group) > 1:
                found.append(sorted(group))

    for node in sorted(edges):
        if node not in number:
            visit(node)
    return found


def check_floors(
    checkout: Checkout, package: str, floors: Sequence[Iterable[str]]
) -> Iterator[str]:
    """Check that a unit of the package imports only units of lower floors.

    A unit is a module or folder directly below the package. Yields one line for each fault.
    """
    floor_of = {unit: floor for floor, units in enumerate(floors, start=1) for unit in units}
    found, modules = imported_modules(checkout, package)
    for unit in sorted({name.split(".")[1] for name in modules} - floor_of.keys()):
        yield f"{package}/{unit}: stands on no floor; add it to FLOORS in scripts/check/layers.py"
    for each, target in found:
        own, other = module_name(each.path).split(".")[1], target.split(".")[1]
        if own != other and floor_of.get(own, 0) <= floor_of.get(other, 0):
            yield (
                f"{each.path}:{each.line}: imports {each.name}; {own} stands on floor "
                f"{floor_of.get(own)} and {other} on floor {floor_of.get(other)}"
            )


def check_circles(checkout: Checkout, package: str) -> Iterator[str]:
    """Check that no modules, and no rooms of a folder, import each other in a circle.

    A room is a module or folder directly below a folder.
    """
    found, modules = imported_modules(checkout, package)
    edges: dict[str, set[str]] = {}
    rooms: dict[str, dict[str, set[str]]] = {}
    for each, target in found:
        source = module_name(each.path)
        edges.setdefault(source, set()).add(target)
        own, other = source.split("."), target.split(".")
        shared = next(i for i in range(len(own)) if own[i] != other[i])
        folder = ".".join(own[:shared])
        rooms.setdefault(folder, {}).setdefault(own[shared], set()).add(other[shared])
    for group in circles(edges):
        yield f"{package}: modules import each other in a circle: {', '.join(group)}"
    for folder, room_edges in sorted(rooms.items()):
        for group in circles(room_edges):
            if any(f"{folder}.{room}" not in modules for room in group):
                yield f"{folder}: rooms import each other in a circle: {', '.join(group)}"


def check_forbidden(
    checkout: Checkout,
    folder: str,
    modules: Iterable[str],
    calls: Iterable[str],
    why: str,
    excepted: str | None = None,
) -> Iterator[str]:
    """Check that no file of a folder, except files below ``excepted``, uses forbidden names.

    ``modules`` may not be imported, ``calls`` may not be called.
    """
    for path, tree in checkout.python(*folder.split("/")).items():
        if excepted and path.is_relative_to(excepted):
            continue
        for each in imports(tree, path):
            if any(begins(each.name, module) for module in modules):
                yield f"{path}:{each.line}: imports {each.name}; {why}"
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in calls:
                yield f"{path}:{node.lineno}: calls {ast.unparse(node.func)}; {why}"
