"""The codecs that the options of ``mmp sweep`` name, for each kind of pictures."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from mmpcodec.cli import options, output
from mmpcodec.cli.printing import kind_text
from mmpcodec.errors import ParameterError

if TYPE_CHECKING:
    from mmpcodec.bench.codecs.base import Codec, SampleKind

NONE = "none"


def peer_names() -> list[str]:
    """Return the names of the other codecs."""
    from mmpcodec.bench.codecs.peers import PEERS

    return [*PEERS, NONE]


def our_codecs() -> list[str]:
    """Return what ``--codec`` may name: each preset of mmp."""
    return [*(f"mmp:preset={name}" for name in options.PRESET_NAMES), NONE]


@dataclass(frozen=True)
class CodecChoice:
    """The codecs that options name; equal options are equal choices, in every process.

    Parameters
    ----------
    lambdas : str
        Value of --lambda.
    ours : tuple of str or None
        Values of --codec; None takes every preset that can code the pictures.
    peers : str
        Value of --peers.
    programs : tuple of str or None
        Name and text of the file of --commands.
    """

    lambdas: str
    ours: tuple[str, ...] | None
    peers: str
    programs: tuple[str, str] | None = None

    @classmethod
    def of(
        cls, lambdas: str, codec: Sequence[str] | None, peers: str, commands: str | None
    ) -> "CodecChoice":
        """Return the choice of the options, and read the file of --commands.

        Raises
        ------
        FileError
            If the file cannot be read.
        """
        programs = None
        if commands is not None:
            text = output.read(commands).decode(errors="replace")
            programs = output.shown(commands, "stdin"), text
        return cls(lambdas, None if codec is None else tuple(codec), peers, programs)

    def of_kind(self, kind: "SampleKind") -> "list[Codec]":
        """Return the codecs for a kind of pictures.

        Raises
        ------
        ParameterError
            If a codec is unknown or named twice, or there is none.
        BackendUnavailable
            If a backend that is named cannot run here.
        """
        from mmpcodec.bench.codecs.base import CHROMA, OURS, operating_points, parse
        from mmpcodec.bench.codecs.commands import commands
        from mmpcodec.bench.codecs.ours import ours, presets
        from mmpcodec.bench.codecs.peers import peers

        ladder = operating_points("lambda", self.lambdas, ",")
        chosen = []
        for text in presets(kind) if self.ours is None else self.ours:
            if text == NONE:
                continue
            name, given = parse(text)
            if name != OURS:
                raise ParameterError(f"--codec {text}: must begin with {OURS}; others are --peers")
            chosen.append(ours(given, ladder, kind))
        # A comma before KEY= separates options of one codec.
        for text in re.split(r",(?![^:,]*=)", self.peers):
            if text in ("", NONE):
                continue
            found = peers(text, kind)
            if CHROMA in parse(text)[1] and not kind.colour:
                # Gray has no chroma, so its values name one codec.
                there = {each.name for each in chosen}
                found = [each for each in found if each.name not in there]
            chosen += found
        if self.programs is not None:
            name, programs = self.programs
            chosen += commands(programs, name, kind)
        names = [each.name for each in chosen]
        if not names:
            raise ParameterError("no codec to measure: give --codec, --peers or --commands")
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ParameterError(f"codec {twice}: is named twice")
        return chosen


@lru_cache(maxsize=64)
def warm(choice: CodecChoice, kind: "SampleKind") -> "tuple[Codec, ...]":
    """Return the codecs for a kind of pictures, warmed up once in this process."""
    from mmpcodec.bench.sweep import warm_up

    found = choice.of_kind(kind)
    for each in found:
        warm_up(each, kind)
    return tuple(found)


def settings_of(codecs: "Sequence[Codec]", kind: "SampleKind") -> tuple[str, ...]:
    """Return a line of text for each codec: its settings."""
    start = kind_text(kind.planes, kind.depth)
    return tuple(f"{start}{each.name}: {each.settings}" for each in codecs)


def remarks_on(codec: Sequence[str]) -> list[str]:
    """Return a remark for each option of ``--codec`` that changes nothing in the files."""
    from mmpcodec.bench.codecs.base import parse
    from mmpcodec.cli.encoding.choices import without_effect
    from mmpcodec.params import AUTO, EncodeParams

    remarks = []
    for text in codec:
        given = parse(text)[1] if text != NONE else {}
        preset = given.get("preset", AUTO)
        options = {"--effort": given.get("effort"), "--rate-model": given.get("rate_model")}
        params = EncodeParams.from_options(preset=preset)
        for remark in without_effect(params, preset, options):
            name, _, reason = remark.partition(": ")
            remarks.append(f"{text}: {name.strip('-').replace('-', '_')} {reason}")
    return remarks
