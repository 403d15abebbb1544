"""Write the cases of a module of the user, with its example inputs:
`python -m fuzzer.api.module_cases FILE NAME FOLDER PARENT WEIGHTS`. WEIGHTS is own or drawn."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from fuzzer.api import written_cases
from fuzzer.api.model_cases import cases_of
from fuzzer.seeds.torch.own_module import run


def _write(module: Any, inputs: tuple[Any, ...], shapes: Any, out: Path) -> None:
    written_cases.write(cases_of(module, inputs, shapes, weights=sys.argv[5]), out)


def main() -> None:
    run(_write)


if __name__ == "__main__":
    main()
