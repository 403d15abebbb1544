"""Fuzz a user's own pass, from Python: docs/passes.md.

Preloaded files import this module, so what a check needs is imported when it is called.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from fuzzer.api.finding_error import FindingError
from fuzzer.api.pass_report import PassNotReached, PassReport
from fuzzer.api.tracebacks import is_answer

__tracebackhide__ = is_answer

if TYPE_CHECKING:
    from fuzzer.api.pass_check import Wanted

Rewrite = Callable[[Any], Any]
"""IRModule -> IRModule."""


def register_pass(name: str, rewrite: Rewrite | str) -> None:
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


def check_pass(
    pass_: Rewrite | str,
    *,
    modules: Sequence[Any] | None = None,
    on: str = "relax",
    seconds: float = 60.0,
    tests: int | None = None,
    seed: int | None = None,
    ops: str = "*",
    idempotent: bool = False,
    rounding: str | None = None,
    workers: int | None = None,
    most_findings: int = 3,
    folder: Path | str | None = None,
    aliasing: bool = False,
) -> PassReport:
    """Fuzz a pass: random models are imported, compiled and run with it and without it, each in a process of its own.

    pass_          what `register_pass` takes. Other processes import it, or get it through dill
    modules        Relax modules to run it on instead of random models: tvm.IRModule objects, or paths of what
                   `tvm.ir.save_json` wrote. Each must mean after the pass what it means before: main is evaluated by
                   the definitions of its operators, and compiled. Inputs are drawn; `ops`, `seconds` and `workers` do
                   not apply, and `tests` is how often inputs are drawn in all, by default three times for each
    on             `relax`: the pass gets the module as it was imported; `kernels`: it gets the module after
                   LegalizeOps, and in another lane after FuseOps
    seconds        how long tests begin; failures that were found by then are still reduced, 10 to 30 s for each
    tests          how many tests begin at most; None: no limit
    seed           the seed of the models; None: a random one
    ops            the PyTorch operators of the models, comma-separated globs
    idempotent     whether a second run of the pass must not change the module
    rounding       how results may differ: None: within the measured tolerance; `other-order`, `fast-math`, `half`: as
                   for passes of TVM that reorder sums, shorten functions or compute in half precision
    workers        tests that run at the same time; None: one for each core
    most_findings  the check ends with this many findings
    folder         each check makes a folder `folder/N` for its campaign, with the findings, and first runs the models
                   of earlier findings again; None: a new folder among the temporary files
    aliasing       True: an output that shares memory with an input is a failure, too

    A failure counts where the lane with the pass fails and the lane without it is right: the pass raises, ends the
    process or does not end; TVM's checker refuses the module after it; the program cannot be compiled; a result is
    wrong; a second run changes the module although `idempotent`.

    Raise `FindingError` for what was found, `PassNotReached` where the pass never changed a module, `ValueError` where
    an argument is wrong or the pass cannot be given to another process, `EnvironmentMissing` where the compilers do not
    start or the file with the pass raises, and `RuntimeError` where failures could not be investigated.
    """
    from fuzzer.api.pass_check import Wanted, claimed

    claims = claimed(pass_, on, idempotent=idempotent, rounding=rounding)
    wanted = Wanted(pass_, claims, seconds, tests, seed, ops, workers or _cores(), most_findings, aliasing)
    return _checked(wanted, modules, folder)


def check_backend(
    partition: Rewrite | str,
    *,
    modules: Sequence[Any] | None = None,
    seconds: float = 60.0,
    tests: int | None = None,
    seed: int | None = None,
    ops: str = "*",
    rounding: str | None = "other-order",
    workers: int | None = None,
    most_findings: int = 3,
    folder: Path | str | None = None,
    aliasing: bool = False,
) -> PassReport:
    """Fuzz a backend: random models are compiled with a partition and without it, and must give the same results.

    partition  a function IRModule -> IRModule that gives parts of the module to the backend (FuseOpsByPattern,
               MergeCompositeFunctions, ...) and may call its code generator (RunCodegen)
    rounding   as for `check_pass`; a library may add in another order

    The other arguments, the result and the exceptions are those of `check_pass`.
    """
    from fuzzer.api.pass_check import Wanted, claimed

    claims = claimed(partition, "relax", idempotent=False, rounding=rounding)
    wanted = Wanted(partition, claims, seconds, tests, seed, ops, workers or _cores(), most_findings, aliasing)
    return _checked(wanted, modules, folder)


def _cores() -> int:
    return max(1, os.cpu_count() or 1)


def _checked(wanted: Wanted, modules: Sequence[Any] | None, folder: Path | str | None) -> PassReport:
    from fuzzer.api.given_modules import check_given
    from fuzzer.api.pass_check import check
    from generators.graph import Invalid

    where = None if folder is None else Path(folder)
    try:
        if modules is not None:
            return check_given(wanted, modules, where)
        done = check(wanted, where)
    except Invalid as error:
        raise ValueError(str(error)) from None
    if done.findings:
        raise FindingError(done.findings)
    if done.waiting:
        shown = f"fuzz status --campaign {quote(str(done.folder))}"
        raise RuntimeError(f"{done.waiting} failures could not be investigated: {shown}")
    reach = done.reach
    if not reach.changed:
        raise PassNotReached(
            f"no test reached the pass {wanted.name}: it changed the module in none of {reach.tests} tests, and ran to "
            f"its end in {reach.ran}; name operators that it rewrites (ops=...), or give it more tests"
        )
    names = tuple(lane.name for lane in done.lanes)
    return PassReport(reach.tests, reach.ran, reach.changed, names, done.seed, done.flaky, done.folder, done.aliased)
