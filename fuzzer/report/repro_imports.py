"""The imports that a generated script needs, in the order of ruff's isort rules."""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict

from generators import syntax_tree
from oracles.importers import Importer

_MODULES = {
    **{name: f"import {name}" for name in ("ml_dtypes", "onnx", "onnxruntime", "torch", "tvm", "tvm_ffi")},
    **{
        name: f"import {name}"
        for name in (
            "base64", "copy", "ctypes", "io", "json", "math", "os", "random", "re", "runpy", "shutil", "struct",
            "subprocess", "sys", "tempfile", "time", "zlib",
        )
    },
    "np": "import numpy as np",
    "F": "import torch.nn.functional as F",
}  # fmt: skip
_SHORT = {"I": "ir", "R": "relax", "T": "tirx"}
"""The parts of `tvm.script` by the names that TVMScript has for them."""
_NAMES = {
    **dict.fromkeys(_SHORT, "tvm.script"),
    "GraphModule": "tvm.contrib.graph_executor",
    "ReferenceEvaluator": "onnx.reference",
    "TensorProto": "onnx",
    "VirtualMachine": "tvm.runtime.vm",
    "bind_params_by_name": "tvm.relay.build_module",
    "detach_params": "tvm.relax.frontend",
    "helper": "onnx",
    "inline_local_functions": "onnx.inliner",
    "ir": "onnxscript",
    "numpy_helper": "onnx",
    "optimizer": "onnxscript",
    "relax": "tvm",
    "relay": "tvm",
    **{function.name: function.module for function in (each.row.function for each in Importer if each.row.dialect)},
}

IMPORTED = frozenset((*_MODULES, *_NAMES))
"""The names that a script may import."""


def imports(source: str) -> tuple[str, str]:
    """The import lines for `source`, which has none: those of the standard library, and the others. A name that
    `source` binds anywhere is not imported."""
    names = free_names(source)
    plain = sorted(_MODULES[name] for name in names & _MODULES.keys())
    standard = [line for line in plain if line.split()[1] in sys.stdlib_module_names]
    others = [line for line in plain if line not in standard]
    return "\n".join(standard), "\n".join([*others, *_from_imports(names)])


def free_names(source: str) -> set[str]:
    """The names that the source reads and does not bind."""
    tree = syntax_tree.parse(source)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    bound |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return read - bound


def _from_imports(names: set[str]) -> list[str]:
    by_module = defaultdict(list)
    for name in sorted(names & _NAMES.keys(), key=_as_ruff_sorts):
        by_module[_NAMES[name]].append(name)
    return [line for module, found in sorted(by_module.items()) for line in _lines(module, found)]


def _lines(module: str, names: list[str]) -> list[str]:
    """The imports of a module. Those under another name have a line of their own."""
    short = [f"from {module} import {_SHORT[name]} as {name}" for name in names if name in _SHORT]
    own = [name for name in names if name not in _SHORT]
    return [*short, *([f"from {module} import {', '.join(own)}"] if own else [])]


def _as_ruff_sorts(name: str) -> tuple[bool, str]:
    """The sort key of ruff: classes come before functions and modules."""
    return not re.match("[A-Z]", name), name
