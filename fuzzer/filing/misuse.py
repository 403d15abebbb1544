"""What is no bug of TVM's although a lane fails: our misuse of it, or the model's of PyTorch.

`misuse.toml` is the reviewed list. Each entry is a table; what it says of a finding must all hold:

    [[misuse]]
    name = "lane-contradiction"            short, and its own
    why = "one sentence, for who wanted to file it"
    source = "where that is said"          documentation, or a file of this project
    component, kind, stage                 as in the signature
    variants, passes, options, params      of the lane: any of these
    importers, targets, executors
    ops = ["sqrt"]                         operators: all of the reduced case's are among them
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from functools import cache
from importlib.resources import files

import msgspec

from fuzzer.findings.finding_file import FindingDoc
from generators.graph import Invalid
from oracles.finding import Component, Kind
from oracles.lane import Execution, Importer, Params
from oracles.outcome import Stage
from oracles.targets import TARGETS_BY_NAME
from oracles.transforms import TRANSFORMS_BY_NAME

FILE = "misuse.toml"


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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
    def says_something(self) -> bool:
        """A component alone would hide whole classes of findings; anything else was thought about."""
        return any(
            getattr(self, field.encode_name) for field in msgspec.structs.fields(self) if field.name not in _PROSE
        )


_PROSE = ("name", "why", "source", "component")


def _any(wanted: Collection[str], there: Collection[str]) -> bool:
    return not wanted or bool(set(wanted) & set(there))


@cache
def entries() -> tuple[Entry, ...]:
    """Those that ship with the project."""
    return parse(files("fuzzer.filing").joinpath(FILE).read_text(encoding="utf-8"), FILE)


def parse(text: str, where: str) -> tuple[Entry, ...]:
    """Raise `Invalid` with one sentence that says what is wrong and where."""
    try:
        found = msgspec.convert(tomllib.loads(text), dict[str, list[Entry]])
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise Invalid(f"{where}: {error}") from None
    if strangers := sorted(found.keys() - {"misuse"}):
        raise Invalid(f"{where}: {strangers[0]!r} is no table of it; each entry is a [[misuse]]")
    names: set[str] = set()
    for entry in found.get("misuse", []):
        if entry.name in names:
            raise Invalid(f"{where}: {entry.name!r} is there twice")
        if not entry.says_something:
            raise Invalid(f"{where}: {entry.name!r} matches every finding")
        strangers = sorted((set(entry.passes) - set(TRANSFORMS_BY_NAME)) | (set(entry.targets) - set(TARGETS_BY_NAME)))
        if strangers:
            raise Invalid(f"{where}: {entry.name!r}: there is no pass or target {strangers[0]!r}")
        names.add(entry.name)
    return tuple(found.get("misuse", []))


def match(doc: FindingDoc) -> Entry | None:
    return next((entry for entry in entries() if entry.matches(doc)), None)
