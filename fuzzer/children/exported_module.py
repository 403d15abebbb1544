"""Export a module of the user: `python -m fuzzer.children.exported_module FILE NAME OUT PARENT`.

The file is executed, with the rights of the user, because the command line names it. Its function NAME returns a
torch.nn.Module and the tuple of its example inputs, and, where sizes are open, the `dynamic_shapes` of torch.export.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path
from typing import Any

import torch

from fuzzer.system.processes import die_with_parent


class _Unusable(Exception):
    """The file gives no module. The message is the line that the user sees."""


def module_of(path: Path, name: str) -> tuple[torch.nn.Module, tuple[Any, ...], Any]:
    """The module, its example inputs and its dynamic shapes."""
    sys.path.insert(0, str(path.parent))  # its folder, as `python FILE` does it
    found = runpy.run_path(str(path), run_name=path.stem)
    if not callable(found.get(name)):
        raise _Unusable(f"it defines no function {name}")
    made = found[name]()
    if not isinstance(made, tuple) or len(made) not in (2, 3) or not isinstance(made[0], torch.nn.Module):
        raise _Unusable(f"{name}() must return a torch.nn.Module and the tuple of its example inputs")
    module, inputs, *shapes = made
    if not isinstance(inputs, tuple):
        raise _Unusable(f"the example inputs of {name}() must be a tuple")
    return module, inputs, shapes[0] if shapes else None


def main() -> None:
    path, name, out, parent = sys.argv[1:]
    die_with_parent(int(parent))
    os.dup2(2, 1)  # what the file prints is not the answer of a command
    sys.stdout = sys.stderr  # it comes before the line that says why the file gives no module
    try:
        module, inputs, shapes = module_of(Path(path), name)
        program = torch.export.export(module.eval(), inputs, dynamic_shapes=shapes)
        torch.export.save(program, out)
    except _Unusable as why:
        sys.exit(str(why))
    except Exception as error:  # of the user's code, or of torch.export
        first = str(error).strip().partition("\n")[0]
        sys.exit(f"{type(error).__name__}: {first}")


if __name__ == "__main__":
    main()
