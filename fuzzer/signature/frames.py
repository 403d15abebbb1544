"""The location of a failure: names of functions, without what depends on the machine or on shapes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from oracles.outcome import Frame

_PLUMBING_FILES = re.compile(
    r"/_?ffi/|tvm_ffi|expr_functor|/ir/(transform|module|expr)\.|function\.pxi|base_(py|fx)_?func|block_builder\.(py|cc)"
    r"|logging|error\.h|/relax/utils\.py|/tirx/build\.py|/relax/vm_build\.py|/driver/build_module\.py|functor\.h"
    r"|object_path|stmt_functor|/fuzzer/|^<string>$|^<[A-Z]"
    r"|/torchscript_exporter/(_type_utils|symbolic_helper)\.py"  # they serve all converters of an exporter
)
_PLUMBING_FUNCTIONS = frozenset({"from_exported_program", "from_onnx", "_translate_fx_graph", "_convert_operator"})
_CONVERTER_METHOD = re.compile(r"_impl(_v\d+)?|base_impl")
"""The names of the methods of TVM's ONNX converters. The class says which operator a method converts."""
_TRANSFORM_SOURCE = re.compile(r"<([A-Z]\w+)(-[\w-]+)?>")
"""The file name that `fuzzer.lanes.relax.build.apply` gives to a transform of a lane: a pass and its options."""
_DIFFTVM_FILE = re.compile(r"(^|/)(fuzzer|generators|oracles)/[a-z_/]+\.py$")


CALLED_BY = " < "
"""Between the C++ function that raised and the innermost Python function that called it."""

IMPORTER = "_translator.py"
"""The end of the file names of TVM's PyTorch frontends, which contain the converters."""


def is_difftvm_frame(frame: Frame) -> bool:
    """Return whether the frame is code of difftvm, which calls the compiler and is never at fault."""
    return _DIFFTVM_FILE.search(frame.file) is not None


def failure_location(frames: Sequence[Frame]) -> str:
    """Return `file:function` of the innermost C++ frame and of the innermost Python frame that locate the fault.

    Without such frames, return the name of the lane's transform that was running, or "".
    """
    cpp = python = transform = ""
    for frame in reversed(frames):
        if found := _TRANSFORM_SOURCE.fullmatch(frame.file):
            transform = found[1]
        if _PLUMBING_FILES.search(frame.file) or is_difftvm_frame(frame) or frame.function in _PLUMBING_FUNCTIONS:
            continue
        name = ":".join(filter(None, (PurePosixPath(frame.file).name, _function(frame))))
        if frame.file.endswith(".py"):
            python = python or name
        elif not python:  # only C++ that the innermost Python frame calls
            cpp = cpp or name
    return CALLED_BY.join(part for part in (cpp, python) if part) or transform


def in_earlier_versions(frame: str) -> str:
    """Return the location that earlier versions made of the same frames: they recorded no classes and no transforms."""
    return re.sub(rf"\w+\.(?=({_CONVERTER_METHOD.pattern})$)", "", frame) if ":" in frame else ""


def in_this_version(frame: str) -> str:
    """Convert a location that an earlier version recorded to the current form."""
    for old, new in _RENAMED:
        frame = old.sub(new, frame)
    return re.sub(r"^([A-Z]\w+)-[\w-]+$", r"\1", frame)  # a transform, with its options


def _function(frame: Frame) -> str:
    """Return the name of the frame's function, with its class for converters of ONNX."""
    if frame.owner and _CONVERTER_METHOD.fullmatch(frame.function):
        return f"{frame.owner}.{frame.function}"
    return plain_function(frame.function)


_RENAMED = (
    (re.compile(r"\b(VisitExpr|VisitStmt|Dispatch)_$"), "Visit_"),
    (re.compile(r"\bInferStructInfo"), "InferType"),
    (re.compile(r"\bCodeGenLLVM::Create(Add|Sub|Mul)\b"), "CodeGenLLVM::CreateArithmetic"),
    (re.compile(r"\bCodeGenLLVM::Create(LT|LE|GT|GE)\b"), "CodeGenLLVM::CreateComparison"),
)
"""Functions that had another name before TVM 0.27, and functions that one macro defines: they are one place."""
_UNNAMED = re.compile(r"\(anonymous namespace\)::|\{anonymous\}::")
_LAMBDA = re.compile(r"\{lambda\([^{}]*\)#\d+\}")


def plain_function(function: str) -> str:
    """Return the name in a C++ signature, without return type, template arguments and parameters. Functions that one
    macro defines have one name."""
    name = _name_in(function)
    for old, new in _RENAMED:
        name = old.sub(new, name)
    return name


def _name_in(signature: str) -> str:
    """The name in a C++ signature; the name itself for a function of Python."""
    function = _LAMBDA.sub("lambda", _UNNAMED.sub("", signature))
    previous = ""
    while previous != function:
        previous, function = function, re.sub(r"<[^<>]*>", "", function)
    name = function.split("(")[0] if not function.startswith("(") else function
    return name.split()[-1] if name.split() else function


def function_that_raised(frames: Sequence[Frame]) -> str:
    """The innermost function that locates the fault, as its source names it: `CreateMul`, `Clip._impl_v1`; "" where
    none does. A C++ function has no namespace, but its class where it is a lambda or an overload of a visitor."""
    for frame in reversed(frames):
        if _PLUMBING_FILES.search(frame.file) or is_difftvm_frame(frame) or frame.function in _PLUMBING_FUNCTIONS:
            continue
        if frame.owner and _CONVERTER_METHOD.fullmatch(frame.function):
            return f"{frame.owner}.{frame.function}"
        parts = [part for part in _name_in(frame.function).split("::") if part and part != "lambda"]
        return "::".join(parts[-2:] if _OF_A_CLASS.search(frame.function) else parts[-1:])
    return ""


_OF_A_CLASS = re.compile(r"(_|operator\W+|lambda.*)\(")
