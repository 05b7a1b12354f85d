"""Encode and decode a picture, print size, PSNR and seconds, and leave the results in demo/.

python scripts/demo.py
"""

from pathlib import Path
from time import perf_counter

import mmpcodec
from mmpcodec import pictures
from mmpcodec.analysis.drawings.error import side_by_side
from mmpcodec.bench.metrics.psnr import psnr

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "images" / "camera.pgm"
OUT = ROOT / "demo"
LAM = 32


def main() -> None:
    picture = pictures.read(PICTURE).samples
    OUT.mkdir(exist_ok=True)
    stream = OUT / "camera.mmp"

    start = perf_counter()
    encoding = mmpcodec.encode_picture(picture, mmpcodec.EncodeParams.from_options(LAM))
    encode_seconds = perf_counter() - start
    stream.write_bytes(encoding.data)

    start = perf_counter()
    decoded = mmpcodec.decode(stream.read_bytes())
    decode_seconds = perf_counter() - start

    edges = encoding.trace.edges()
    assert edges is not None
    panels = side_by_side(picture, decoded, edges)
    results = {"decoded.pgm": decoded, "decoded.png": decoded, "side-by-side.png": panels}
    for name, samples in results.items():
        pictures.write(samples, OUT / name)

    quality = psnr(picture, decoded, white=255)
    print(f"\n{PICTURE.relative_to(ROOT)} at lambda {LAM}")
    for name, value in (
        ("bytes", f"{len(encoding.data)}"),
        ("bits per pixel", f"{8 * len(encoding.data) / picture.size:.3f}"),
        ("PSNR (dB)", f"{quality:.2f}"),
        ("encode (s)", f"{encode_seconds:.3f}"),
        ("decode (s)", f"{decode_seconds:.3f}"),
        ("backend", encoding.backend),
    ):
        print(f"  {name:<14} {value:>10}")
    print("Written:")
    for path in (stream, *(OUT / name for name in results)):
        print(f"  {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
