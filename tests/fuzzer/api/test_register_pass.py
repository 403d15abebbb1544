"""What a preloaded file may register, in a process with TVM."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.tvm

PROGRAM = """
import json
import tvm
from fuzzer.api.own_passes import register_pass
from fuzzer.lanes.relax.own_passes import missing

lines = []
passes_of_user = {"same.1": lambda mod: mod, "fold.1": "FoldConstant", "normal.1": "relax.transform.Normalize"}
for name, rewrite in passes_of_user.items():
    passes = (f"own:{name}:idempotent", "FoldConstant")
    before = missing(passes)
    register_pass(name, rewrite)
    made = tvm.get_global_func(f"difftvm.own_pass.{name}")(tvm.IRModule({}))
    lines.append([before, missing(passes), isinstance(made, tvm.IRModule)])
for name, rewrite in ("a b", "FoldConstant"), ("a", "Nonsense"), ("a", "FuseOpsByPattern"), ("a", 3):
    try:
        register_pass(name, rewrite)
    except ValueError as error:
        lines.append(str(error))
print(json.dumps(lines))
"""


def test_functions_and_passes_of_tvm_are_registered_and_anything_else_is_refused() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    why = "no pass is registered as {!r} in this process: give the file that registers it with --preload"
    *lines, needs_arguments, last = json.loads(done.stdout)
    assert needs_arguments.startswith("'FuseOpsByPattern' makes no pass without arguments: TypeError: ")
    assert [*lines, last] == [
        *([why.format(name), None, True] for name in ("same.1", "fold.1", "normal.1")),
        "'a b' is no name for a pass: it has letters, digits, '_', '.' and '-', at most 60",
        "'Nonsense' is neither a pass of relax.transform nor a global function that makes a pass",
        "the pass 'a' is of the type int, which cannot be called with a module",
    ]
