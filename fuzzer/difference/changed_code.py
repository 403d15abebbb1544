"""The code that differs between the base and the patched toolchain, and what a test reaches of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from fuzzer.difference.changed_files import OPERATOR, RUNTIME, TARGET, named_by
from fuzzer.difference.pair import Pair
from fuzzer.difference.python_changes import (
    Functions,
    changed_functions,
    changed_modules,
    differing_libraries,
    functions_in,
    tvm_folder,
)
from fuzzer.system.files import write_atomically
from fuzzer.toolchains.reached import FUNCTIONS, PASS, conditions_of
from fuzzer.toolchains.toolchain import Toolchain
from fuzzer.watching.formatting import number_of
from oracles.lane import LaneSpec
from oracles.outcome import Built, Outcome, Ran, facts_of
from oracles.targets import family_of

DOCUMENT = "functions.json"


@dataclass(frozen=True, slots=True)
class ChangedCode:
    """The changed code by the names that lanes record.

    functions  of TVM's Python files
    preloaded  the names of preloaded files, all of whose functions count
    text       the text of these files
    parts      passes, operators, targets and the runtime, by the files that `--changed` names
    called     the names of all functions that count, as lanes note them
    conditions  the two ways of each of their conditions, as lanes note them
    untraced   what else differs, in words. What reaches it is not known
    unbuilt    files that `--changed` names and no build has. They do not count
    """

    functions: Functions = field(default_factory=dict)
    preloaded: tuple[str, ...] = ()
    text: str = ""
    parts: frozenset[str] = frozenset()
    called: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    untraced: tuple[str, ...] = ()
    unbuilt: tuple[str, ...] = ()

    @property
    def is_traced(self) -> bool:
        """Whether it is known of each test if it reaches the changed code."""
        return not self.untraced and bool(self.functions or self.preloaded or self.parts)

    @property
    def names(self) -> str:
        """The names in the changed code, as one text."""
        functions = (name for names in self.functions.values() for name in names)
        return " ".join((self.text, *self.functions, *functions, *self.parts))

    def reached_by(self, lane: LaneSpec, outcome: Outcome) -> Iterator[str]:
        """The names of the changed code that a lane of TVM has reached."""
        facts = facts_of(outcome)
        for name in facts.reached:
            if name in self.parts or not name.startswith(f"{PASS} "):
                yield name
        for name in (*_operators(facts.behaviour), *_of_target(lane, outcome)):
            if name in self.parts:
                yield name


def _operators(behaviour: Sequence[str]) -> Iterator[str]:
    """The operators of the imported module: its names are `relax NAME DTYPE RANK`."""
    for words in (name.split() for name in behaviour):
        if len(words) == 4 and words[0] == "relax":
            yield f"{OPERATOR} {words[1]}"


def _of_target(lane: LaneSpec, outcome: Outcome) -> Iterator[str]:
    if isinstance(outcome, Ran | Built) and outcome.facts.compile_seconds > 0:
        yield f"{TARGET} {family_of(lane.target)}"
        if isinstance(outcome, Ran):
            yield RUNTIME


def changed_code(pair: Pair, changed: Sequence[Path]) -> ChangedCode:
    """Compare the Python files of the toolchains, or take the files that the user names. Raise `Invalid` for a file
    of TVM's package that is no Python, and `EnvironmentMissing` for a toolchain without TVM."""
    preloads = [Path(each.preload.path) for each in (pair.base, pair.patched) if each.preload]
    found = ChangedCode(
        preloaded=tuple(path.name for path in preloads),
        text="\n".join(path.read_text() for path in preloads),
        called=tuple(f"{path.name} {name}" for path in preloads for name in functions_in(path)),
        conditions=tuple(name for path in preloads for name in conditions_of(path.read_bytes(), path.name)),
        untraced=tuple(f"{path.name}, which has no function" for path in preloads if not functions_in(path)),
    )
    if not changed and pair.is_one_installation:
        return found
    patched = tvm_folder(pair.patched)
    if changed:
        named = named_by(changed, patched)
        found = replace(found, parts=frozenset(named.parts), unbuilt=tuple(named.unbuilt))
        functions, untraced = named.functions, tuple(named.untraced)
    else:
        base = tvm_folder(pair.base)
        functions, untraced = changed_functions(base, patched), tuple(_untraced(base, patched))
    called = (*found.called, *(f"{file} {name}" for file, names in functions.items() for name in names))
    conditions = (*found.conditions, *_conditions(patched, functions))
    return replace(
        found, functions=functions, called=called, conditions=conditions, untraced=(*found.untraced, *untraced)
    )


def _conditions(tvm: Path, functions: Functions) -> Iterator[str]:
    for file, names in functions.items():
        yield from conditions_of((tvm / file).read_bytes(), file, frozenset(names))


def _untraced(base: Path, patched: Path) -> Iterator[str]:
    """What differs between two folders of TVM, and leaves no trace, in words."""
    if modules := changed_modules(base, patched):
        more = f" and {number_of(len(modules) - 3, 'other file')}" if len(modules) > 3 else ""
        yield f"code outside of functions in {', '.join(modules[:3])}{more}"
    if libraries := differing_libraries(base, patched):
        yield f"{', '.join(libraries)}: --changed names its files"


def traced(toolchain: Toolchain, changed: ChangedCode, folder: Path) -> Toolchain:
    """The toolchain, whose processes note what they reach of the changed code. A document in `folder` names it."""
    if not (changed.functions or changed.parts):
        return toolchain
    return noting(toolchain, changed.functions, folder)


def noting(toolchain: Toolchain, functions: Functions, folder: Path, conditions: bool = True) -> Toolchain:
    """The toolchain, whose processes note calls of these functions, their conditions, and passes."""
    path = folder.resolve() / DOCUMENT
    write_atomically(path, msgspec.json.encode({"functions": functions, "conditions": conditions}))
    environment: Mapping[str, str] = {**toolchain.environment, FUNCTIONS: str(path)}
    return replace(toolchain, environment=environment)
