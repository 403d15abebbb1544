"""Export a module of the user: `python -m fuzzer.children.exported_module FILE NAME OUT.pt2 PARENT`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from fuzzer.seeds.torch.own_module import run


def _export(module: torch.nn.Module, inputs: tuple[Any, ...], shapes: Any, out: Path) -> None:
    torch.export.save(torch.export.export(module, inputs, dynamic_shapes=shapes), out)


def main() -> None:
    run(_export)


if __name__ == "__main__":
    main()
