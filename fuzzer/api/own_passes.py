"""Fuzz a user's own pass, from Python: docs/passes.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def register_pass(name: str, rewrite: Callable[[Any], Any] | str) -> None:
    """Let lanes run a pass as `own:NAME` in this process. A file for `--preload` calls it.

    name     letters, digits, `_`, `.` and `-`, at most 60
    rewrite  a function IRModule -> IRModule, or a pass of TVM. As text: the name of a pass that is registered in TVM
             and needs no arguments, such as `FoldConstant` for `relax.transform.FoldConstant()`, or the name of a
             global function that makes a pass

    What the pass claims, such as `idempotent`, is not registered: it stands behind the name where a lane is chosen
    (`--own-pass NAME:idempotent`), because the process that judges results does not execute the file.

    Raise `ValueError` where the name has another form, or where TVM has no such pass.
    """
    from fuzzer.api.register_pass import register  # loads TVM

    register(name, rewrite)
