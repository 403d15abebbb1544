"""The passes of a preloaded file, which lanes name `own:NAME`: global functions of TVM, `difftvm.own_pass.NAME`."""

from __future__ import annotations

from collections.abc import Sequence

import tvm

from oracles.transforms import OWN, is_own, registered_name


def missing(passes: Sequence[str]) -> str | None:
    """Say which of these passes of the user is not registered in this process; None where all are."""
    for name in passes:
        if is_own(name) and tvm.get_global_func(registered_name(name), allow_missing=True) is None:
            own = name.removeprefix(OWN).partition(":")[0]
            return f"no pass is registered as {own!r} in this process: give the file that registers it with --preload"
    return None
