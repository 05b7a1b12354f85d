"""A cache of encoded pictures in a folder, so that no picture is encoded twice.

::

    SHA/KEY.point    SHA-256 of a picture; key of parameters and codec sources

A file of a point holds a SHA-256 of its names and of its other bytes, the squared error in eight
bytes, and the mmp file. A point that does not match its SHA-256 counts as absent. Points are
written atomically, so several processes may share a folder.
"""

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path

from mmpcodec.fingerprints import codec_fingerprint
from mmpcodec.params import EncodeParams
from mmpcodec.runtime.files import written_whole

_DIGEST = hashlib.sha256().digest_size
_DISTORTION = 8


def key_of(params: EncodeParams) -> str:
    """Return the key of a point: a hash of the parameters and of the sources of the codec."""
    ways = [asdict(each.coded_tools) for each in params.each_alone()]
    search = [params.rate_model, params.effort, params.classifies, params.palette, params.fine]
    aims = [params.lambda_fixed, params.tune, params.range]
    parts = [aims, ways, search, codec_fingerprint()]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


class PointCache:
    """Cache of points in a folder.

    Parameters
    ----------
    folder : path
        The first point that is stored creates the folder.
    """

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(folder)

    def path(self, picture: str, key: str) -> Path:
        """Return the path of a point, whether the point exists or not."""
        return self.folder / picture / f"{key}.point"

    def get(self, picture: str, key: str) -> tuple[int, bytes] | None:
        """Return the squared error and the file of a point; None if it is absent or damaged."""
        try:
            entry = self.path(picture, key).read_bytes()
        except FileNotFoundError:
            return None
        digest, rest = entry[:_DIGEST], entry[_DIGEST:]
        if digest != self._digest(picture, key, rest):
            return None
        return int.from_bytes(rest[:_DISTORTION]), rest[_DISTORTION:]

    def put(self, picture: str, key: str, distortion: int, data: bytes) -> None:
        """Store a point."""
        path = self.path(picture, key)
        path.parent.mkdir(parents=True, exist_ok=True)
        rest = distortion.to_bytes(_DISTORTION) + data
        with written_whole(path) as stream:
            stream.write(self._digest(picture, key, rest) + rest)

    @staticmethod
    def _digest(picture: str, key: str, rest: bytes) -> bytes:
        return hashlib.sha256(f"{picture}/{key}/".encode() + rest).digest()
