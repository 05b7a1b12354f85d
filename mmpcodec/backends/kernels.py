"""Loading CUDA kernels: each ``.cu`` file compiles by itself, once a device, cached on disk."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from mmpcodec.errors import KernelError

FOLDER = Path(__file__).parents[1] / "kernels"
STANDARD = "-std=c++17"


def sources() -> list[Path]:
    """The kernel files, one operation each."""
    return sorted((FOLDER / "cuda").glob("*.cu"))


@cache
def _digest() -> str:
    """Of all sources: CuPy's cache looks at the main file and the options only."""
    files = sorted(path for path in FOLDER.rglob("*") if path.is_file())
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


@cache
def load(name: str, device: int, defines: tuple[str, ...] = (), cooperative: bool = False) -> Any:
    """The compiled module of ``kernels/cuda/<name>.cu`` for a device.

    Raises
    ------
    KernelError
        When it does not compile; the message holds the compiler's.
    """
    import cupy

    path = FOLDER / "cuda" / f"{name}.cu"
    names = (f"MMP_SOURCES={_digest()}", *defines)
    options = (STANDARD, f"-I{FOLDER / 'cuda'}", *(f"-D{name}" for name in names))
    with cupy.cuda.Device(device):
        module = cupy.RawModule(
            code=path.read_text(), options=options, enable_cooperative_groups=cooperative
        )
        try:
            module.compile()
        except cupy.cuda.compiler.CompileException as error:
            raise KernelError(f"{path.name} does not compile: {error}") from error
    return module
