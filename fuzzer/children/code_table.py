"""What a toolchain would run: `fuzzer.difference.code_tables` starts this as a process.

    python -m fuzzer.children.code_table PARENT OUT [PATH SHA256 OUT]

PARENT is the process with which this one ends, OUT a file to write, and PATH a file to execute before the second table
is made, as zygotes do: one start of the interpreter tells what the file changes. The entries are the converters of each
importer, what operators are registered with (legalizations, gradients), passes, pipelines, and rules of schedules. Each
has the functions that it calls, as far as Python shows them.
"""

from __future__ import annotations

import gc
import importlib
import inspect
import logging
import os
import re
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fuzzer.children.called_code import CodeReader, Read
from fuzzer.system import no_network
from fuzzer.system.processes import die_with_parent
from fuzzer.toolchains.code_entries import CodeTable, Entry, Kind, encode
from fuzzer.toolchains.preload import MODULE, Preload, PreloadFailed, execute

_PASSES = ("relax.transform", "tirx.transform", "s_tir.transform", "tir.transform", "relax.backend")
_PIPELINES = ("pipeline", "relax.pipeline", "tirx.pipeline", "s_tir.pipeline")
_RULES = ("s_tir.dlight.gpu", "s_tir.dlight.cpu", "dlight.gpu", "dlight.cpu")
_REGISTERED = {"FLegalize": Kind.LEGALIZATION, "FPrimalGradient": Kind.GRADIENT}
_LIBRARIES = ("topi", "te", "tirx", "s_tir", "relax", "tir")
_TABLES = ("create_convert_map", "_get_convert_map")
_NO_LIBRARIES = ("testing", "script", "meta_schedule", "contrib", "distributed", "training")

Registered = dict[tuple[str, str], object]
Root = tuple[Kind, str, object, "type | None"]


def remember_registered() -> Registered:
    """Import TVM, and note what its Python registers for its operators: TVM gives back no Python function. What is
    registered last stays."""
    found: Registered = {}
    module: Any = importlib.import_module("tvm_ffi")
    original = module.init_ffi_api

    def noted(namespace: str, target: str | None = None) -> None:
        original(namespace, target)
        owner = sys.modules.get(target or namespace)
        if owner is not None and hasattr(owner, "RegisterOpAttr"):
            register = owner.RegisterOpAttr

            def remember(name: str, key: str, value: object, level: int) -> None:
                found[name, key] = value
                register(name, key, value, level)

            owner.RegisterOpAttr = remember  # type: ignore[attr-defined]

    module.init_ffi_api = noted
    importlib.import_module("tvm")
    return found


def roots(registered: Registered) -> Iterator[Root]:
    yield from _converters()
    for (operator, key), value in registered.items():
        if key in _REGISTERED:
            yield _REGISTERED[key], operator, value, None
    for module in map(_loaded, _PASSES):
        below = module.__name__.removeprefix("tvm.")
        yield from ((Kind.PASS, f"{below}.{name}", value, None) for name, value in _own(module) if is_class_name(name))
    for module in _pipelines():
        for name, value in _own(module):
            if isinstance(value, types.FunctionType):
                yield Kind.PIPELINE, f"{module.__name__.removeprefix('tvm.')}.{name}", value, None
    for name, value in getattr(_loaded("relax.pipeline"), "PIPELINE_MAP", {}).items():
        yield Kind.PIPELINE, f"relax.PIPELINE_MAP.{name}", value, None
    for module in map(_loaded, _RULES):
        for name, value in _own(module):
            if isinstance(value, type):
                yield Kind.SCHEDULE, f"{module.__name__.removeprefix('tvm.')}.{name}", value, value


def is_class_name(name: str) -> bool:
    """Whether it is one of a pass: TVM writes them so, also where they are functions."""
    return re.match("[A-Z]", name) is not None


def _converters() -> Iterator[Root]:
    torch = "tvm.relax.frontend.torch."
    for table, module, name, function in (
        ("export", "exported_program_translator", "ExportedProgramImporter", "from_exported_program"),
        ("fx", "fx_translator", "TorchFXImporter", "from_fx"),
    ):
        importer = getattr(importlib.import_module(torch + module), name)
        yield Kind.IMPORTER, table, getattr(importer, function), importer
        for key, value in importer().create_convert_map().items():
            yield Kind.CONVERTER, f"{table} {key if isinstance(key, str) else f'nn.{key.__name__}'}", value, importer
    onnx = importlib.import_module("tvm.relax.frontend.onnx.onnx_frontend")
    yield Kind.IMPORTER, "onnx", onnx.ONNXGraphImporter.from_onnx, onnx.ONNXGraphImporter
    for name, owner in onnx._get_convert_map().items():
        for version in (each for each in dir(owner) if each.startswith("_impl_v")):
            method = inspect.getattr_static(owner, version)
            yield Kind.CONVERTER, f"onnx {name} {version.removeprefix('_impl_v')}", method, owner


def _loaded(name: str) -> types.ModuleType:
    try:
        return importlib.import_module(f"tvm.{name}")
    except ImportError:  # another release
        return types.ModuleType(name)


def _pipelines() -> Iterator[types.ModuleType]:
    for name in _PIPELINES:
        yield _loaded(name)
    for name, module in list(sys.modules.items()):
        if name.startswith("tvm.relax.backend.") and name.endswith(".pipeline"):
            yield module


def _own(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    """What a module has under a name of its own that is code."""
    return ((name, value) for name, value in sorted(vars(module).items()) if callable(value) and name[:1] != "_")


def library() -> Iterator[tuple[str, object, type | None]]:
    """Each function and method in TVM's modules, by its place: where a change can put another one."""
    for module in list(sys.modules.values()):
        words = getattr(module, "__name__", "").split(".")
        if (
            words[0] != "tvm"
            or words[1:2] == []
            or words[1] not in _LIBRARIES
            or not set(words).isdisjoint(_NO_LIBRARIES)
        ):
            continue
        for name, value in sorted(vars(module).items()):
            place = f"{module.__name__}.{name}"
            if isinstance(value, type) and value.__module__ == module.__name__:
                yield from ((f"{place}.{key}", each, value) for key, each in sorted(vars(value).items()))
            elif not isinstance(value, type):
                yield place, value, None


def table(registered: Registered) -> CodeTable:
    reader = CodeReader(_is_ours, _place, _TABLES)
    functions: dict[str, int] = {}
    constants: dict[int, tuple[int | float, ...]] = {}

    def number(read: Read) -> int:
        place = functions.setdefault(read.key, len(functions))
        if place not in constants:
            constants[place] = tuple(read.constants)
        return place

    entries = []
    for kind, name, value, owner in roots(registered):
        reads = reader.closure(reader.functions_of(value, owner))
        operators = sorted({operator for read in reads for each in read.ffi if (operator := _operator(each))})
        entries.append(Entry(kind, name, tuple(sorted({number(read) for read in reads})), tuple(operators)))
    places = {
        place: number(reader.read(callee))
        for place, value, owner in library()
        for callee in list(reader.functions_of(value, owner))[:1]
    }
    return CodeTable(
        sys.version_info[:2],
        tuple(functions),
        tuple(constants[n] for n in range(len(functions))),
        tuple(entries),
        places,
    )


def _operator(ffi: str) -> str:
    """The operator of Relax that a function in C++ makes: `relax.nn.softmax`; "" for other functions."""
    head, _, name = ffi.rpartition("._ffi_api.")
    below = head.removeprefix("tvm.relax.op")
    return f"relax{below}.{name}" if below != head else ""


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in ("tvm", MODULE)


def _place(file: str) -> str:
    """The path of a file relative to the folder of TVM, or its name."""
    path = Path(file)
    below = path.parts[len(path.parts) - path.parts[::-1].index("tvm") :] if "tvm" in path.parts[:-1] else (path.name,)
    return "/".join(below)


def main() -> None:
    parent, out, *then = sys.argv[1:]
    die_with_parent(int(parent))
    no_network.enter()
    gc.disable()  # collections while modules are imported find little, and take a fifth of the start
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    registered = remember_registered()
    Path(out).write_bytes(encode(table(registered)))
    if then:
        *preload, out = then
        try:
            execute(Preload(*preload))
        except PreloadFailed as error:
            sys.exit(str(error))
        Path(out).write_bytes(encode(table(registered)))
    sys.stdout.flush()
    os._exit(0)  # skip the destructors of torch and TVM


if __name__ == "__main__":
    main()
