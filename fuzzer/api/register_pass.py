"""Register a user's own pass. A file for `--preload` calls this in each process that runs TVM.

Lanes find the pass as a global function of TVM, `difftvm.own_pass.NAME`, as a finding's script does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tvm
from tvm import relax

from oracles.transforms import OWN_NAME, REGISTERED

Rewrite = Callable[[Any], Any]
"""IRModule -> IRModule."""


def register(name: str, rewrite: Rewrite | str) -> None:
    """`fuzzer.api.own_passes.register_pass` describes it."""
    if not OWN_NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name for a pass: it has letters, digits, '_', '.' and '-', at most 60")
    run = pass_of_tvm(rewrite) if isinstance(rewrite, str) else rewrite
    if not callable(run):
        raise ValueError(f"the pass {name!r} is of the type {type(run).__name__}, which cannot be called with a module")
    tvm.register_global_func(REGISTERED + name, run, override=True)


def pass_of_tvm(name: str) -> Rewrite:
    """Make a pass that is registered in TVM under this name. It must need no arguments."""
    make = getattr(relax.transform, name, None) or tvm.get_global_func(name, allow_missing=True)
    try:
        made: Rewrite | None = make() if make is not None else None
    except Exception as error:  # whatever TVM raises of a call without arguments
        raise ValueError(f"{name!r} makes no pass without arguments: {type(error).__name__}: {error}") from error
    if not isinstance(made, tvm.ir.transform.Pass):
        raise ValueError(f"{name!r} is neither a pass of relax.transform nor a global function that makes a pass")
    return lambda mod: made(mod)
