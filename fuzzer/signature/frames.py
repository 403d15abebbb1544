"""Where a failure comes from: functions, without what changes from machine to machine and from shape to shape."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from oracles.outcome import Frame

_PLUMBING_FILES = re.compile(
    r"/_?ffi/|tvm_ffi|expr_functor|/ir/(transform|module|expr)\.|function\.pxi|base_(py|fx)_?func|block_builder\.(py|cc)"
    r"|logging|error\.h|/relax/utils\.py|/tirx/build\.py|/relax/vm_build\.py|/driver/build_module\.py|functor\.h"
    r"|object_path|stmt_functor|/fuzzer/|^<string>$|^<[A-Z]"
    r"|/torchscript_exporter/(_type_utils|symbolic_helper)\.py"  # helpers of the symbolic functions
)
_PLUMBING_FUNCTIONS = frozenset({"from_exported_program", "from_onnx", "_translate_fx_graph", "_convert_operator"})
_OF_A_CLASS = re.compile(r"_impl(_v\d+)?|base_impl")
"""TVM's converters of ONNX are all called this; their class says of what."""
_TRANSFORM = re.compile(r"<([A-Z]\w+)(-[\w-]+)?>")
"""What `fuzzer.lanes.relax.build.apply` calls the source of a row of `oracles.transforms`: a pass, and its options."""
_OURS = re.compile(r"(^|/)(fuzzer|generators|oracles)/[a-z_/]+\.py$")


IMPORTER = "_translator.py"
"""What the files of TVM's frontends of PyTorch that hold converters end with."""


def is_difftvm_frame(frame: Frame) -> bool:
    """A line of difftvm: it led there, and has no part in what went wrong."""
    return _OURS.search(frame.file) is not None


def failure_location(frames: Sequence[Frame]) -> str:
    """`file:function` of the innermost frames that say where the fault is, C++ first, then Python; the transform of the
    lane's where none does, or ""."""
    cpp = python = transform = ""
    for frame in reversed(frames):
        if found := _TRANSFORM.fullmatch(frame.file):
            transform = found[1]
        if _PLUMBING_FILES.search(frame.file) or is_difftvm_frame(frame) or frame.function in _PLUMBING_FUNCTIONS:
            continue
        name = ":".join(filter(None, (PurePosixPath(frame.file).name, _function(frame))))
        if frame.file.endswith(".py"):
            python = python or name
        elif not python:  # C++ above the innermost Python frame only
            cpp = cpp or name
    return " < ".join(part for part in (cpp, python) if part) or transform


def in_earlier_versions(frame: str) -> str:
    """What earlier versions, which knew no classes and no transforms, made of the same frames."""
    return re.sub(rf"\w+\.(?=({_OF_A_CLASS.pattern})$)", "", frame) if ":" in frame else ""


def in_this_version(frame: str) -> str:
    """What an earlier version told, as this one tells it."""
    for called, now in _RENAMED:
        frame = called.sub(now, frame)
    return frame if ":" in frame else re.sub(r"^([A-Z]\w+)-[\w-]+$", r"\1", frame)


def _function(frame: Frame) -> str:
    if frame.owner and _OF_A_CLASS.fullmatch(frame.function):
        return f"{frame.owner}.{frame.function}"
    return plain_function(frame.function)


_RENAMED = (
    (re.compile(r"\b(VisitExpr|VisitStmt|Dispatch)_$"), "Visit_"),
    (re.compile(r"\bInferStructInfo"), "InferType"),
    (re.compile(r"\bCodeGenLLVM::Create(Add|Sub|Mul)\b"), "CodeGenLLVM::CreateArithmetic"),
    (re.compile(r"\bCodeGenLLVM::Create(LT|LE|GT|GE)\b"), "CodeGenLLVM::CreateComparison"),
)
"""What TVM called otherwise before 0.27, and what one macro of its writes several times: one place is one bug."""
_UNNAMED = re.compile(r"\(anonymous namespace\)::|\{anonymous\}::")
_LAMBDA = re.compile(r"\{lambda\([^{}]*\)#\d+\}")


def plain_function(function: str) -> str:
    """A C++ signature without return type, template arguments and parameters."""
    function = _LAMBDA.sub("lambda", _UNNAMED.sub("", function))
    previous = ""
    while previous != function:
        previous, function = function, re.sub(r"<[^<>]*>", "", function)
    name = function.split("(")[0] if not function.startswith("(") else function
    name = name.split()[-1] if name.split() else function
    for called, now in _RENAMED:
        name = called.sub(now, name)
    return name
