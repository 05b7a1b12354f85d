"""The record of a run: a line of JSON for each job that begins and for each that ends.

A run that ended early goes on with the same manifest: jobs that are done are left out, and outputs
that the run had begun may be written again.
"""

import contextlib
import hashlib
import io
import json
import os
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import mmpcodec
from mmpcodec.cli import output
from mmpcodec.cli.jobs import Job, Outputs
from mmpcodec.errors import FileError, ParameterError
from mmpcodec.fingerprints import codec_fingerprint
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import LOCK_PLACE, STANDARD, is_zarr, lock, make_durable

RUN, BEGUN, DONE, FAILED = "run", "begun", "done", "failed"
"""Events: a run starts; a job begins, is done, or has failed."""
_FIRST = b'{"event": "run"'
"""The first line of a manifest begins with this."""


class Record(NamedTuple):
    """What a job's worker saw of the files: the source before, and the output after the work.

    Parameters
    ----------
    source_bytes : int
    source_state : str
        Differs when the source differs: the store's hash, or the time of modification.
    output_bytes : int
    sha256 : str
        Of the output, as it is stored.
    seconds : float
    worker : str
        Address of the worker; empty if the client did the work.
    """

    source_bytes: int = 0
    source_state: str = ""
    output_bytes: int = 0
    sha256: str = ""
    seconds: float = 0.0
    worker: str = ""


def state_of(name: str) -> tuple[int, str]:
    """Return the size of a file or store in bytes, and a text that differs when it differs.

    Raises
    ------
    FileError, MissingExtra
        If it cannot be looked at.
    """
    found = stores.state_of(name)
    return found.size, found.state


def write_through(name: str) -> None:
    """Wait until a file or store would survive a power cut; a store at a URL keeps what it took.

    Raises
    ------
    FileError
        If the system cannot write it.
    """
    if stores.is_url(name) or name == STANDARD:
        return
    try:
        make_durable(name)
    except OSError as error:
        raise FileError.from_os(name, error) from error


def sha256_of(name: str) -> tuple[int, str]:
    """Return the size of a file, and the SHA-256 of its bytes.

    That of a zarr store is of its files, and their hashes are hashed in the order of their paths.
    """
    digest, size = hashlib.sha256(), 0
    if is_zarr(name):
        for place, folders, files in os.walk(name):
            folders.sort()
            for path in sorted(os.path.join(place, file) for file in files):
                own, hexadecimal = sha256_of(path)
                digest.update(f"{os.path.relpath(path, name)} {hexadecimal}\n".encode())
                size += own
        return size, digest.hexdigest()
    with output.read_by_parts(name) as data:
        for start in range(0, len(data), 1 << 22):
            part = data[start : start + (1 << 22)]
            digest.update(part)
            size += len(part)
    return size, digest.hexdigest()


class Manifest:
    """A manifest, locked against other runs while the context lasts.

    Parameters
    ----------
    path : str
        Path of this machine; the file is made if it is missing.
    command, parameters : str
        Name of the command, and what decides about its outputs besides the inputs.

    Raises
    ------
    FileError
        If the file cannot be read or written.
    ParameterError
        If another run uses it, or it is no manifest.
    """

    def __init__(self, path: str, command: str, parameters: str):
        if stores.is_url(path) or path in ("", STANDARD):
            raise ParameterError(f"--manifest {path}: must be a path, to which lines are added")
        if os.path.exists(path) and not os.path.isfile(path):
            raise ParameterError(f"--manifest {path}: must be a file")
        self.path = path
        self._run = {
            "command": command,
            "parameters": parameters,
            "version": mmpcodec.__version__,
            "codec": codec_fingerprint(),
        }
        self._digest = hashlib.sha256(json.dumps(self._run).encode()).hexdigest()[:16]
        self._lock = threading.Lock()
        self._rows: dict[tuple[str, str], dict[str, Any]] = {}
        try:
            self._file = open(path, "a+b", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise FileError.from_os(path, error) from error
        try:
            self._read()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> "Manifest":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _read(self) -> None:
        if not lock(self._file, LOCK_PLACE, wait=False):
            raise ParameterError(f"--manifest {self.path}: another run uses it")
        self._file.seek(0)
        whole = 0
        lines = io.BufferedReader(self._file)
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n") and (number > 1 or line.startswith(_FIRST)):
                break  # the last run was ended while it wrote this line
            whole += len(line)
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):  # a line may nest deeper than the parser
                row = None
            if problem := _problem(row, is_first=number == 1):
                raise ParameterError(
                    f"--manifest {self.path}: line {number} is no row of a manifest: {problem}"
                )
            if row["event"] != RUN:
                self._rows[row["source"], row["output"]] = row
        lines.detach()
        with self._named():
            self._file.truncate(whole)
        self._add([{"event": RUN, "run": self._digest, "time": _now(), **self._run}])

    def resumed(self, jobs: Sequence[Job], there: Outputs | None) -> list[Job]:
        """Leave out the jobs that are done, and let begun outputs be written again.

        A job is done if its source and parameters are those of its row, and its output has the
        size that the row says; on this machine also the SHA-256, for which outputs are read. Of
        one at a URL, the store must show the size. ``there`` is the result of ``outputs_at``.

        Raises
        ------
        ParameterError
            If the manifest is the output of a job.
        """
        own = os.path.realpath(self.path)
        for job in jobs:
            if job.target and os.path.realpath(job.target) == own:
                raise ParameterError(f"--manifest {self.path}: is the output of {job.name}")
        return [self._resumed(job, there) if job.to_do else job for job in jobs]

    def _resumed(self, job: Job, there: Outputs | None) -> Job:
        row = self._rows.get((_absolute(job.source), _absolute(job.target or "")))
        if row is None:
            return job
        if row["event"] == DONE and row["run"] == self._digest:
            with contextlib.suppress(FileError):
                size = _output_size(job.target or "", there)
                whole = size == row["output_bytes"] and _same_source(job, row)
                if whole and _same_output(job.target or "", row):
                    return job._replace(skipped=f"is done, as {self.path} says", resumed=True)
        return job._replace(overwrite=True)

    def begin(self, jobs: Sequence[Job]) -> None:
        """Note that jobs begin."""
        self._add([self._row(BEGUN, job) for job in jobs])

    def end(self, job: Job, record: Record, fault: str | None) -> None:
        """Note that a job is done, or why it failed."""
        row = {**self._row(FAILED if fault else DONE, job), **record._asdict()}
        self._add([{**row, "error": fault} if fault else row])

    def _row(self, event: str, job: Job) -> dict[str, Any]:
        names = {"source": _absolute(job.source), "output": _absolute(job.target or "")}
        return {"event": event, "run": self._digest, "time": _now(), **names}

    def _add(self, rows: Sequence[dict[str, Any]]) -> None:
        lines = memoryview("".join(json.dumps(row) + "\n" for row in rows).encode())
        with self._lock, self._named():
            while lines:
                lines = lines[self._file.write(lines) :]

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Let errors of the system name the manifest."""
        try:
            yield
        except OSError as error:
            raise FileError.from_os(self.path, error) from error


def _problem(row: Any, *, is_first: bool) -> str | None:
    """Say what is wrong with the fields of a row that are read, or return None."""
    if not isinstance(row, dict):
        return "must be an object of JSON"
    event = row.get("event")
    known = (RUN,) if is_first else (RUN, BEGUN, DONE, FAILED)
    if event not in known:
        return f"event: must be {' or '.join(known)}"
    fields: dict[str, type] = {"run": str}
    if event != RUN:
        fields |= {"source": str, "output": str}
    if event == DONE:
        fields |= {"source_bytes": int, "source_state": str, "output_bytes": int, "sha256": str}
    for name, kind in fields.items():
        if not isinstance(row.get(name), kind):
            return f"{name}: must be {'an integer' if kind is int else 'a text'}"
    return None


def _absolute(name: str) -> str:
    """Return the name of a file or stream that does not depend on the working folder."""
    return name if name in ("", STANDARD) else stores.absolute(name)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _output_size(target: str, there: Outputs | None) -> int | None:
    if there is None:
        return state_of(target)[0]
    return there[target].size if target in there else None


def _same_source(job: Job, row: dict[str, Any]) -> bool:
    stored = job.stored
    found = state_of(job.source) if stored is None else (stored.size, stored.state)
    return found == (row["source_bytes"], row["source_state"])


def _same_output(target: str, row: dict[str, Any]) -> bool:
    """Return whether an output has the bytes of its row; those at URLs are not read."""
    return stores.is_url(target) or sha256_of(target)[1] == row["sha256"]
