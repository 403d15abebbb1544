"""The module that a Python file of the user makes. The file is executed, with the rights of the user, because the
command line names it. A function of it returns a torch.nn.Module and the tuple of its example inputs, and, where sizes
are open, the `dynamic_shapes` of torch.export."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzzer.system.processes import die_with_parent
from generators.graph import Invalid

Make = Callable[[Any, tuple[Any, ...], Any, Path], None]


class _Unusable(Exception):
    """The file gives no module. The message is the line that the user sees."""


def run(make: Make) -> None:
    """Call `make` with the module of a file, its example inputs, its dynamic shapes, and the path of what to write. The
    first arguments of the process are the file, the name of the function, this path, and the process that started this
    one. The process ends with one line where that fails."""
    path, name, out, parent = sys.argv[1:5]
    die_with_parent(int(parent))
    os.dup2(2, 1)  # what the file prints is not the answer of a command
    sys.stdout = sys.stderr  # it comes before the line that says why the file gives no module
    try:
        module, inputs, shapes = _module_of(Path(path), name)
        make(module.eval(), inputs, shapes, Path(out))
    except (_Unusable, Invalid) as why:
        sys.exit(str(why))
    except Exception as error:  # of the user's code, or of torch.export
        first = str(error).strip().partition("\n")[0]
        sys.exit(f"{type(error).__name__}: {first}")


def _module_of(path: Path, name: str) -> tuple[Any, tuple[Any, ...], Any]:
    """The module, its example inputs and its dynamic shapes."""
    sys.path.insert(0, str(path.parent))  # its folder, as `python FILE` does it
    found = runpy.run_path(str(path), run_name=path.stem)
    if not callable(found.get(name)):
        raise _Unusable(f"it defines no function {name}")
    made = found[name]()
    torch: Any = sys.modules.get("torch")  # who makes a module has imported it
    is_pair = isinstance(made, tuple) and len(made) in (2, 3)
    if not is_pair or torch is None or not isinstance(made[0], torch.nn.Module):
        raise _Unusable(f"{name}() must return a torch.nn.Module and the tuple of its example inputs")
    module, inputs, *shapes = made
    if not isinstance(inputs, tuple):
        raise _Unusable(f"the example inputs of {name}() must be a tuple")
    return module, inputs, shapes[0] if shapes else None
