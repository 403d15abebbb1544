"""The entries of TVM that a change touches: converters, legalizations, gradients, passes, pipelines, schedule rules.

A child of each toolchain says what it would run (`fuzzer.children.code_table`). An entry differs where one of the
functions that it calls, as far as Python shows them, has other code or is another function.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from fuzzer.difference.pair import Pair
from fuzzer.difference.python_changes import Functions
from fuzzer.system import untrusted_files
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.system.processes import ONE_THREAD
from fuzzer.toolchains.code_entries import CodeTable, Entry, Kind, decode
from fuzzer.toolchains.toolchain import GraphLanguage, Toolchain, toolchain_environment
from generators.plain_file import read_plain

MODULE = "fuzzer.children.code_table"
SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class ChangedEntry:
    """An entry that differs.

    functions  those that the base does not have in this form, or else those that the entry did not call there. Empty
               where the entry only calls fewer, and where a file of C++ names it
    replaced   functions that the entry called in the base and does not call in this form
    constants  the numbers in their code
    operators  the operators of Relax that the entry makes
    """

    kind: Kind
    name: str
    functions: tuple[str, ...] = ()
    constants: tuple[int | float, ...] = ()
    operators: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangedTable:
    """entries    those that differ
    outside    functions that differ and that no entry calls: `tvm.topi.nn.relu`
    makers     by operator of Relax, the converters that make it in the patched toolchain
    pipelines  by pass without the name of its IR, the pipelines that run it there
    """

    entries: tuple[ChangedEntry, ...] = ()
    outside: tuple[str, ...] = ()
    makers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    pipelines: Mapping[str, Sequence[str]] = field(default_factory=dict)


def changed_table(pair: Pair, named: Functions, folder: Path) -> ChangedTable:
    """Ask both toolchains, in a process each, or in one where both are the same installation. `named` are the functions
    that `--changed` names, or whose text differs: of toolchains that are not the same installation, only these count.
    Nothing is known of toolchains that compile Relay. Raise `EnvironmentMissing` where one does not answer."""
    if pair.patched.kind is GraphLanguage.RELAY:
        return ChangedTable()
    if pair.is_one_installation and pair.base.preload is None:
        base, patched = tables_of(pair.patched, folder)
    elif pair.is_one_installation and pair.patched.preload is None:
        patched, base = tables_of(pair.base, folder)
    else:
        with ThreadPoolExecutor(2) as pool:
            answers = pool.map(lambda toolchain: tables_of(toolchain, folder), (pair.base, pair.patched))
            (_, base), (_, patched) = answers
    return compared(base, patched, None if pair.is_one_installation and not named else _places(named))


def tables_of(toolchain: Toolchain, where: Path) -> tuple[CodeTable, CodeTable]:
    """The tables of a toolchain: without its preloaded file, and with it."""
    scratch = untrusted_files.new_folder(where.resolve())
    try:
        return _tables_in(scratch, toolchain)
    finally:
        untrusted_files.remove(scratch)


def _tables_in(scratch: Path, toolchain: Toolchain) -> tuple[CodeTable, CodeTable]:
    with tempfile.TemporaryFile() as log:
        outs = [scratch / "before.json", scratch / "after.json"]
        then = [*toolchain.preload.arguments, str(outs[1])] if toolchain.preload else []
        command = [toolchain.python, "-P", "-m", MODULE, str(os.getpid()), str(outs[0]), *then]
        environment = {**toolchain_environment(toolchain, scratch), **ONE_THREAD, "PYTHONHASHSEED": "0"}
        try:
            done = subprocess.run(
                command, env=environment, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=SECONDS
            )
            if done.returncode == 0:
                before = decode(read_plain(outs[0]))
                return before, decode(read_plain(outs[1])) if then else before
            log.seek(0)
            why = log.read().decode(errors="replace").strip().rpartition("\n")[2] or f"exit status {done.returncode}"
        except (OSError, subprocess.TimeoutExpired, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            why = str(error)
    raise EnvironmentMissing(f"toolchain {toolchain.name!r} does not say what it would run: {why}")


def compared(base: CodeTable, patched: CodeTable, named: frozenset[str] | None) -> ChangedTable:
    """What differs. Where `named` are the only functions that count, an entry that calls one of them differs."""
    before = {(entry.kind, entry.name): _keys(base, entry) for entry in base.entries}
    known = frozenset(base.functions)
    entries = []
    for entry in patched.entries:
        now, then = _keys(patched, entry), before.get((entry.kind, entry.name), frozenset())
        new = now - then if named is None else {key for key in now if place_of(key) in named}
        if new or (named is None and then - now):
            replaced = tuple(sorted(map(place_of, then - now)))
            entries.append(
                replace(_changed(patched, entry, new - known if named is None else new, new), replaced=replaced)
            )
    called = {place for entry in entries for place in entry.functions}
    return ChangedTable(
        tuple(entries), tuple(_outside(base, patched, named, called)), _makers(patched), _pipelines(patched)
    )


def place_of(key: str) -> str:
    """A function without the digest of its code."""
    return key.rpartition("#")[0]


def _keys(table: CodeTable, entry: Entry) -> frozenset[str]:
    return frozenset(table.functions[number] for number in entry.functions)


def _changed(
    table: CodeTable, entry: Entry, own: frozenset[str] | set[str], new: frozenset[str] | set[str]
) -> ChangedEntry:
    """`own` are functions that the base does not have, and `new` those that the entry did not call there."""
    numbers = [number for number in entry.functions if table.functions[number] in (own or new)]
    constants = sorted({value for number in numbers for value in table.constants[number]} if own else ())
    places = sorted({place_of(table.functions[number]) for number in numbers})
    return ChangedEntry(entry.kind, entry.name, tuple(places), tuple(constants), entry.operators)


def _makers(table: CodeTable) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for entry in table.entries:
        for operator in entry.operators if entry.kind is Kind.CONVERTER else ():
            found.setdefault(operator, []).append(entry.name)
    return found


def _pipelines(table: CodeTable) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for entry in table.entries:
        for key in _keys(table, entry) if entry.kind is Kind.PIPELINE else ():
            file, _, name = place_of(key).partition(" ")
            if "transform" in file and re.match("[A-Z]", name):
                found.setdefault(name, []).append(entry.name)
    return found


def _outside(base: CodeTable, patched: CodeTable, named: frozenset[str] | None, called: set[str]) -> Iterator[str]:
    for place, number in patched.places.items():
        key = patched.functions[number]
        before = base.places.get(place)
        differs = before is None or base.functions[before] != key if named is None else place_of(key) in named
        if differs and place_of(key) not in called:
            yield place


def _places(functions: Functions) -> frozenset[str]:
    return frozenset(f"{file} {name}" for file, names in functions.items() for name in names)
