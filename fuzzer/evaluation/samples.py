"""The samples of a sweep, which children take once and the sweep reads from its folder."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec

from fuzzer.evaluation.sample_source import SampleSource, source_of
from fuzzer.system.child_environment import anonymous
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.system.files import make_folder, write_atomically
from fuzzer.toolchains.toolchain import HOST
from generators.dialect_names import DEFAULT
from generators.graph import Invalid
from generators.plain_file import MOST_TEXT, read_plain


class Sample(msgspec.Struct):
    """`key` is operator/dtype/number, or operator/test. `why` is the reason where the sample has no case."""

    key: str
    why: str = ""


class SampleRequest(msgspec.Struct):
    """asked.json: which samples the folder holds. `samples` is how many of each kind, None for all."""

    ops: str
    samples: int | None
    dialect: str = DEFAULT

    @property
    def options(self) -> str:
        dialect = "" if self.dialect == DEFAULT else f"--dialect {self.dialect} "
        return f"{dialect}--ops {self.ops!r}" + (f" --samples {self.samples}" if self.samples else "")


class _ChildLine(msgspec.Struct):
    """One line that the child prints: the operator that it begins, or a sample."""

    at: str = ""
    key: str = ""
    why: str = ""


def gather(folder: Path, dialect: str, ops: str | None, samples: int | None) -> list[Sample]:
    """The samples of a sweep. Children make them the first time; afterwards they are read from the folder.

    `ops` and `samples` are None where the user did not give them: then those of the folder apply, and for a new folder
    all operators and as many samples of each kind as the dialect's source takes. Raise `Invalid` where the folder has
    samples of another request.
    """
    index, request_path = folder / "samples.jsonl", folder / "asked.json"
    if not index.exists():
        source = source_of(dialect)
        request = SampleRequest("*" if ops is None else ops, samples or source.most, dialect)
        try:
            make_folder(folder)
        except OSError as error:
            raise Invalid(f"{folder}: {error.strerror}; a sweep needs a folder of its own") from None
        taken = list(_taken(folder / "samples", request, source))
        if not taken:
            raise Invalid(f"no operator of {source.title} matches {request.ops!r}")
        write_atomically(request_path, msgspec.json.encode(request) + b"\n")
        write_atomically(index, msgspec.json.Encoder().encode_lines(taken))
    try:
        held = msgspec.json.decode(read_plain(request_path, MOST_TEXT), type=SampleRequest)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Invalid(f"{folder} does not say which samples it holds: choose another folder") from None
    if dialect != held.dialect or ops not in (None, held.ops) or samples not in (None, held.samples):
        raise Invalid(f"{folder} holds the samples of {held.options}: ask for the same, or choose another folder")
    try:
        return msgspec.json.Decoder(Sample).decode_lines(read_plain(index, MOST_TEXT))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"{index}: {error}; choose another folder") from None


def _taken(folder: Path, request: SampleRequest, source: SampleSource) -> Iterator[Sample]:
    """Make the samples in children. Where an operator ends the child, only its samples are lost: the next child begins
    after it."""
    after = ""
    while True:
        command = [HOST.python, "-P", "-m", source.child, str(folder), "--ops", request.ops]
        command += ["--samples", str(request.samples)] if request.samples else []
        done = subprocess.run([*command, "--after", after], env=anonymous(), stdout=subprocess.PIPE)
        at = ""
        for line in filter(None, map(_child_line, done.stdout.splitlines())):
            at = line.at or at
            if line.key:
                yield Sample(line.key, line.why)
        if done.returncode == 0:
            return
        if not at:
            raise EnvironmentMissing(
                f"{source.title} could not be taken (status {done.returncode}); see its message above"
            )
        yield Sample(f"{at}/any/0", f"{source.owner}'s process ended over it (status {done.returncode})")
        after = at


def _child_line(line: bytes) -> _ChildLine | None:
    """The parsed line; None where a library printed it, or where the end of the child cut it off."""
    try:
        return msgspec.json.decode(line, type=_ChildLine)
    except msgspec.DecodeError:
        return None
