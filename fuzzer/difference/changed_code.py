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
from fuzzer.toolchains.reached import FUNCTIONS, PASS
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
    untraced   what else differs, in words. What reaches it is not known
    unbuilt    files that `--changed` names and no build has. They do not count
    """

    functions: Functions = field(default_factory=dict)
    preloaded: tuple[str, ...] = ()
    text: str = ""
    parts: frozenset[str] = frozenset()
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
    preloaded, text = tuple(path.name for path in preloads), "\n".join(path.read_text() for path in preloads)
    silent = tuple(f"{path.name}, which has no function" for path in preloads if not functions_in(path))
    same = pair.base.python == pair.patched.python and pair.base.environment == pair.patched.environment
    if not changed and same:
        return ChangedCode(preloaded=preloaded, text=text, untraced=silent)
    patched = tvm_folder(pair.patched)
    if changed:
        named = named_by(changed, patched)
        parts, untraced, unbuilt = frozenset(named.parts), (*silent, *named.untraced), tuple(named.unbuilt)
        return ChangedCode(named.functions, preloaded, text, parts, untraced, unbuilt)
    base = tvm_folder(pair.base)
    untraced = (*silent, *_untraced(base, patched))
    return ChangedCode(changed_functions(base, patched), preloaded, text, untraced=untraced)


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
    path = (folder / DOCUMENT).resolve()
    path.write_bytes(msgspec.json.encode(changed.functions))
    environment: Mapping[str, str] = {**toolchain.environment, FUNCTIONS: str(path)}
    return replace(toolchain, environment=environment)
