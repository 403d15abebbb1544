"""Failures as text: lines of `key: value`, an empty line, and the text of the failing process.

    lane: relax-export-llvm
    raised: TypeError

      File "/site-packages/tvm/relax/block_builder.py", line 340, in emit [of BlockBuilder] [raises]
    Messages of TVM often have
    several lines.

After `raised: TYPE` come the frames as Python prints them, and the message; after `died: CAUSE CODE` the log.
`[of CLASS]` and `[raises]` are `Frame.owner` and `Frame.raises`. Other evidence is one line of JSON:
`mismatch: {"output":0,"expected":"bool"}`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields

import msgspec

from fuzzer.findings.finding_doc import StoredEvidence
from fuzzer.signature.blame import Blame
from oracles.finding import Evidence
from oracles.outcome import Cause, Died, Frame, Raised, Stage

Lines = list[tuple[str, str]]
"""The lines of a header: keys and values."""

EVIDENCE = tuple(field.name for field in msgspec.structs.fields(StoredEvidence))
"""The keys that say what the evidence is."""

FRAME = re.compile(r'  File "([^"\n]*)", line (\d+), in (.*?)(?: \[of (\S+)\])?( \[raises\])?\n')


def header(lines: Lines) -> str:
    """Lines without a value are left out."""
    return "".join(f"{key}: {value}\n" for key, value in lines if value)


def split(text: str) -> tuple[Lines, str]:
    """The lines of the header, and the body without the end of its last line."""
    head, _, body = text.partition("\n\n")
    lines = [line.partition(": ") for line in head.splitlines()]
    if wrong := [key for key, colon, _ in lines if not colon]:
        raise ValueError(f"This line is not of the form `key: value`: {wrong[0]!r}")
    return [(key, value) for key, _, value in lines], body.removesuffix("\n")


def evidence_key(where: str, values: Mapping[str, str]) -> str:
    found = [key for key in EVIDENCE if key in values]
    if len(found) != 1:
        raise ValueError(f"{where}: not one line of evidence, but {len(found)}")
    return found[0]


def with_body(head: str, body: str) -> str:
    return f"{head}\n{body}\n" if body else head


def evidence_text(evidence: Evidence) -> tuple[tuple[str, str], str]:
    """The line of the header, and the body. The stage stands in another line."""
    match evidence:
        case Raised(type=type, message=message, frames=frames):
            return ("raised", type), "".join(map(_frame_text, frames)) + message
        case Died(cause=cause, code=code, log=log):
            return ("died", f"{cause} {code}"), log
        case _:
            stored = StoredEvidence.of(evidence)
            name = next(name for name in EVIDENCE if getattr(stored, name) is not None)
            return (name, json_of(evidence)), ""


def json_of(value: Evidence | Blame) -> str:
    """One line, without the fields that have their default value."""
    names = [field.name for field in fields(value) if getattr(value, field.name) != field.default]
    return msgspec.json.encode({name: getattr(value, name) for name in names}).decode()


def _frame_text(frame: Frame) -> str:
    owner = f" [of {frame.owner}]" if frame.owner else ""
    raises = " [raises]" if frame.raises else ""
    return f'  File "{frame.file}", line {frame.line}, in {frame.function}{owner}{raises}\n'


def evidence_of(name: str, value: str, stage: Stage, body: str) -> StoredEvidence:
    match name:
        case "raised":
            frames, message = _frames(body)
            return StoredEvidence(raised=Raised(stage, value, message, frames))
        case "died":
            cause, code = value.split()
            return StoredEvidence(died=Died(stage, Cause(cause), int(code), body))
        case _:
            return msgspec.json.decode(f'{{"{name}":{value}}}', type=StoredEvidence)


def _frames(body: str) -> tuple[tuple[Frame, ...], str]:
    """The frames, and the message after them."""
    frames, end = [], 0
    while match := FRAME.match(body, end):
        file, line, function, owner, raises = match.groups()
        frames.append(Frame(file, int(line), function, bool(raises), owner or ""))
        end = match.end()
    return tuple(frames), body[end:]
