"""Modules of exported programs that may change what they own."""

from __future__ import annotations

import torch
from torch.export import ExportedProgram


def module_with_own_state(program: ExportedProgram) -> torch.nn.Module:
    """The module of a program, with copies of its buffers and constants. Those of `program.module()` are the program's
    own tensors: a run that writes into them would change what other lanes import."""
    module = program.module()
    copies: dict[int, torch.Tensor] = {}
    for part in module.modules():
        for owned in (part._buffers, vars(part)):
            for name, tensor in owned.items():
                if isinstance(tensor, torch.Tensor):
                    if id(tensor) not in copies:
                        copies[id(tensor)] = tensor.clone()
                    owned[name] = copies[id(tensor)]
    return module
