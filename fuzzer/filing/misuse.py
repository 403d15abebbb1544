"""Failures that are not bugs of TVM: difftvm misuses TVM, or the model misuses PyTorch.

`misuse.toml` is the reviewed list; the passes that lanes run outside of their place (`oracles/pass_places.py`) belong
to it. A finding matches an entry if all of the entry's conditions hold:

    [[misuse]]
    name = "lane-contradiction"            short and unique
    why = "one sentence"                   the reason, for the person who wants to file the finding
    source = "where to read it"            documentation, or a file of this project
    component, kind, stage                 as in the signature
    variants, passes, options, params      lists: the lane has one of them
    importers, targets, executors          lists: the lane has one of them
    ops = ["sqrt"]                         the reduced case has no other operators
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator
from functools import cache
from importlib.resources import files

import msgspec

from fuzzer.findings.finding_doc import FindingDoc
from generators.graph import Invalid
from oracles.finding import Component, Kind
from oracles.lane import Execution, Importer, Params
from oracles.outcome import Stage
from oracles.pass_places import SOURCE, rows_elsewhere
from oracles.targets import TARGETS_BY_NAME
from oracles.transforms import TRANSFORMS_BY_NAME

FILE = "misuse.toml"


class MisuseEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    why: str
    source: str
    component: Component | None = None
    kind: Kind | None = None
    stage: Stage | None = None
    variants: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    params: tuple[Params, ...] = ()
    importers: tuple[Importer, ...] = ()
    targets: tuple[str, ...] = ()
    executors: tuple[Execution, ...] = ()
    ops: tuple[str, ...] = ()

    def matches(self, doc: FindingDoc) -> bool:
        lane = doc.lane
        same = all(
            mine is None or mine is theirs
            for mine, theirs in (
                (self.component, doc.component),
                (self.kind, doc.kind),
                (self.stage, doc.identity.stage),
            )
        )
        return (
            same
            and _any(self.variants, (lane.variant,))
            and _any(self.passes, lane.passes)
            and _any(self.options, lane.options)
            and _any(self.params, (lane.params,))
            and _any(self.importers, (lane.importer,))
            and _any(self.targets, (lane.target,))
            and _any(self.executors, (lane.executor,))
            and (not self.ops or set(doc.ops) <= set(self.ops))
        )

    @property
    def is_specific(self) -> bool:
        """Whether the entry has a condition beside the component, which alone would match whole classes of findings."""
        return any(
            getattr(self, field.encode_name)
            for field in msgspec.structs.fields(self)
            if field.name not in _NOT_CONDITIONS
        )


_NOT_CONDITIONS = ("name", "why", "source", "component")


def _any(wanted: Collection[str], there: Collection[str]) -> bool:
    return not wanted or bool(set(wanted) & set(there))


@cache
def entries() -> tuple[MisuseEntry, ...]:
    """The entries of `misuse.toml`, and one for each pass that lanes run outside of its place."""
    return (*parse(files("fuzzer.filing").joinpath(FILE).read_text(encoding="utf-8"), FILE), *_of_passes())


def _of_passes() -> Iterator[MisuseEntry]:
    for place, name, rows in rows_elsewhere():
        yield MisuseEntry(f"{name}-elsewhere", place.why, f"{SOURCE}.{name}: {place.says}", passes=rows)


def parse(text: str, where: str) -> tuple[MisuseEntry, ...]:
    """Read entries. Raise `Invalid` with one sentence that says what is wrong in `where`."""
    try:
        found = msgspec.convert(tomllib.loads(text), dict[str, list[MisuseEntry]])
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise Invalid(f"{where}: {error}") from None
    if unknown := sorted(found.keys() - {"misuse"}):
        raise Invalid(f"{where}: {unknown[0]!r} is not allowed here; each entry is a [[misuse]]")
    names: set[str] = set()
    for entry in found.get("misuse", []):
        if entry.name in names:
            raise Invalid(f"{where}: {entry.name!r} is there twice")
        if not entry.is_specific:
            raise Invalid(f"{where}: {entry.name!r} matches every finding")
        strangers = sorted((set(entry.passes) - set(TRANSFORMS_BY_NAME)) | (set(entry.targets) - set(TARGETS_BY_NAME)))
        if strangers:
            raise Invalid(f"{where}: {entry.name!r}: there is no pass or target {strangers[0]!r}")
        names.add(entry.name)
    return tuple(found.get("misuse", []))


def match(doc: FindingDoc) -> MisuseEntry | None:
    return next((entry for entry in entries() if entry.matches(doc)), None)
