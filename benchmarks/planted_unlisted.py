"""Plant twelve bugs in operators that have no row, inside models of 20 to 500 calls, and let `difftvm.check` find them.

    python benchmarks/planted_unlisted.py [--names GLOB] [--out FOLDER]

Each bug adds one to the results of a converter of TVM's importer, or negates them, in a preloaded file. The model has
the operator between usual ones, and no other call that the converter translates. Prints for each: the calls of the
model and of the reduced one, whether at most three operators are left, and the seconds; then how many were found and
reduced so far, and the median. A model that fails without its bug counts as none.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import median

import torch
from torch import Tensor

import difftvm

MOST_LEFT = 3
"""The operator and two neighbours."""

PLANT = """
from tvm import relax
from tvm.relax.frontend.torch.exported_program_translator import ExportedProgramImporter

create = ExportedProgramImporter.create_convert_map

def changed(self, convert):
    return lambda node: self.block_builder.emit(relax.op.{change}(convert(node)))

def create_convert_map(self):
    known = create(self)
    return {{**known, **{{name: changed(self, known[name]) for name in {names!r}}}}}

ExportedProgramImporter.create_convert_map = create_convert_map
"""


@dataclass(frozen=True)
class Bug:
    """An operator without a row, the converters that translate it, and how many usual calls are before and after."""

    name: str
    call: Callable[[Tensor], Tensor]
    converters: tuple[str, ...]
    before: int
    after: int
    change: str = "negative"


BUGS = (
    Bug("special_ndtr", torch.special.ndtr, ("erf.default",), 9, 10),
    Bug("special_entr", lambda x: torch.special.entr(x.abs()), ("log.default",), 20, 30),
    Bug("special_xlog1py", lambda x: torch.special.xlog1py(x, x.exp()), ("log1p.default",), 40, 20),
    Bug("_weight_norm", lambda x: torch._weight_norm(x, x[:, :1], 0), ("div.Tensor",), 60, 40),
    Bug("cond", lambda x: torch.cond(x.sum() > 0, torch.tan, torch.cos, (x,)), ("tan.default",), 15, 25),
    Bug("masked_select", lambda x: torch.masked_select(x, x > 0).sum() + x, ("masked_select.default",), 30, 50),
    Bug("item", lambda x: x * x.sum().item(), ("_local_scalar_dense.default",), 12, 12),
    Bug("transpose_copy", lambda x: torch.transpose_copy(x, 0, 1), ("permute.default",), 100, 100),
    Bug("renorm", lambda x: torch.renorm(x, 2, 0, 1.0), ("where.self",), 150, 100),
    Bug("cartesian_prod", lambda x: torch.cartesian_prod(x[0], x[1]), ("cat.default",), 30, 30),
    Bug("norm_except_dim", lambda x: torch.norm_except_dim(x, 2, 0), ("linalg_vector_norm.default",), 200, 180),
    Bug("vander", lambda x: torch.vander(x[0], 4), ("cumprod.default",), 250, 240),
)
USUAL = (torch.sin, torch.relu, torch.tanh, lambda x: x + 0.5, lambda x: x * 1.5, torch.sigmoid)


class Model(torch.nn.Module):
    def __init__(self, bug: Bug) -> None:
        super().__init__()
        self.bug = bug

    def forward(self, x: Tensor) -> Tensor:
        for place in range(self.bug.before):
            x = USUAL[place % len(USUAL)](x)
        x = kept = self.bug.call(x)
        for place in range(self.bug.after):
            x = USUAL[(place + 1) % len(USUAL)](x)
        return x + kept  # long rows of usual functions lose every difference


def seconds_until_found(bug: Bug, folder: Path) -> float | None:
    """Print one line. None where the bug is not found, or not reduced so far."""
    x = torch.rand(4, 4) + 0.1
    if why := failure_without(bug, x, folder / "without"):
        print(f"{bug.name}: NOT, it fails without the bug: {why}", flush=True)
        return None
    plant = folder / "plant.py"
    plant.write_text(PLANT.format(change=bug.change, names=bug.converters))
    began = time.monotonic()
    findings: tuple[difftvm.FoundFailure, ...] = ()
    try:
        checked = difftvm.check(Model(bug), x, lanes="relax-export-llvm", preload=plant, folder=folder)
        answer = f"not found: {checked.not_run or checked.not_confirmed or 'no failure'}"
    except difftvm.FindingError as error:
        findings = error.findings
        answer = "; ".join(f"{each.kind} {'+'.join(each.operators)}" for each in findings)
    except ValueError as error:
        answer = f"refused: {error}"
    seconds = time.monotonic() - began
    small = [each for each in findings if len(each.operators) <= MOST_LEFT]
    calls = bug.before + bug.after + 1
    print(f"{bug.name}: {calls} calls, {'found' if small else 'NOT'}, {seconds:.0f} s: {answer[:300]}", flush=True)
    return seconds if small else None


def failure_without(bug: Bug, x: Tensor, folder: Path) -> str:
    """What the model shows in TVM as it is; "" where it is right."""
    try:
        with difftvm.session():
            difftvm.check(Model(bug), x, lanes="relax-export-llvm", folder=folder, reduce=False)
    except (ValueError, difftvm.FindingError) as error:
        return str(error)
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", default="*", metavar="GLOB")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    folder = options.out or Path(tempfile.mkdtemp(prefix="difftvm-unlisted-"))
    chosen = [bug for bug in BUGS if fnmatchcase(bug.name, options.names)]
    taken = []
    for bug in chosen:
        own = folder / bug.name
        own.mkdir(parents=True, exist_ok=True)
        with difftvm.session():
            taken.append(seconds_until_found(bug, own))
    found = [seconds for seconds in taken if seconds is not None]
    print(f"{len(found)} of {len(chosen)} found and reduced, median {median(found):.0f} s" if found else "none found")


if __name__ == "__main__":
    main()
