"""The part of TVM whose code raised, by the files of a traceback: a converter, a legalization, a pass, a code
generator. Paths are those of TVM 0.25 to 0.27; C++ files have the path of TVM's own build."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from fuzzer.signature.blame import Place
from oracles.outcome import Frame

_PLACES = (
    (Place.FRONTEND, r"/frontend/"),
    (Place.LEGALIZATION, r"/legalize_ops/|/topi/"),
    (Place.PASS, r"/(relax|tirx|tir|s_tir)/(transform|backend|analysis)/|/arith/|^<[A-Z]\w*(-\w+)*>$"),
    (Place.CODEGEN, r"/target/|/codegen"),
    (Place.RUNTIME, r"/runtime/"),
)
"""In the order of a compilation. The first place that a traceback has is the one that asked for the rest: a converter
that calls an operator's constructor, a legalization that calls TOPI."""

_GENERIC = re.compile(r"_?((convert|construct|translate|from)_?\w*|__call__)|<lambda>")
"""Functions of an importer that call a converter, and functions without a name."""


def part_of(frames: Sequence[Frame]) -> str:
    """For example "legalization: _split in manipulate.py"; "" where no file tells it. The function is the innermost of
    the part that has a name of its own."""
    for place, files in _PLACES:
        here = [frame for frame in frames if re.search(files, frame.file)]
        named = [frame for frame in here if not _GENERIC.fullmatch(frame.function)]
        if here:
            return f"{place}: {_words(named[-1] if named else here[-1])}"
    return ""


def _words(frame: Frame) -> str:
    if frame.file.startswith("<"):  # the name of a pass, where the lane ran it
        return frame.file.strip("<>")
    function = re.sub(r"\(.*", "", frame.function).rpartition(" ")[2].rpartition("::")[2] or frame.function
    owner = f"{frame.owner}." if frame.owner else ""
    return f"{owner}{function} in {PurePosixPath(frame.file).name}"
