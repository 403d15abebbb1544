"""`repro.py` of a Relax module that fails: a script that needs TVM and numpy, and the files beside it."""

from __future__ import annotations

from fuzzer.isolate.module_job import ModuleJob
from fuzzer.report.python_source import in_docstring
from fuzzer.report.script_source import literal_of
from oracles.lane import DEFAULT_OPT_LEVEL, Pipeline
from oracles.targets import Runs, target_named
from oracles.transforms import transform_named

MAIN = """
def main():
    if len(sys.argv) > 1:
        runpy.run_path(sys.argv[1])
    inputs, expected = np.load(HERE / "inputs.npz"), np.load(HERE / "expected.npz")
    try:
        found = results(inputs)
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
        return 1
    for place, array in enumerate(found):
        value, allowed = expected[f"value{place}"], expected[f"allowed{place}"]
        if array.shape != value.shape:
            print(f"result {place} has the shape {array.shape}, and {value.shape} is expected")
            return 1
        number, right = array.astype(np.float64), value.astype(np.float64)
        wrong = ~((np.abs(number - right) <= allowed) | np.isinf(allowed) | (np.isnan(number) & np.isnan(right)))
        if wrong.any():
            print(f"result {place}: {wrong.sum()} of {wrong.size} numbers are wrong")
            print("expected", value[wrong][:8], "and it is", array[wrong][:8])
            return 1
    print("right")
    return 0


sys.exit(main())
"""


def script(title: str, job: ModuleJob) -> str:
    """It exits with 1 while the failure shows, with 0 when it is gone, and dies where TVM dies."""
    own = any(name.startswith("own:") for name in job.passes)
    rows = [transform_named(name) for name in job.passes]
    helpers = "\n\n\n".join(dict.fromkeys(row.helper.strip() for row in rows if row.helper.strip()))
    steps = [step for row in rows for step in (f"mod = {row.source}", "relax.analysis.well_formed(mod)")]
    zero = ['mod = relax.get_pipeline("zero")(mod)'] if job.pipeline is Pipeline.ZERO else []
    body = "\n".join(f"        {line}" for line in [*steps, *zero, *_compilation(job)])
    usage = "repro.py own_pass.py" if own else "repro.py"
    return (
        f'''"""{in_docstring(_first_line(title))}

    python {usage}

Exits with 1 while the failure shows, and with 0 when it is gone. expected.npz has what the operators of the module
compute by their definitions, and how far each number may be off.
"""

import runpy
import sys
import random
from pathlib import Path

import ml_dtypes  # numpy's bfloat16
import numpy as np
import tvm
import tvm_ffi
from tvm import relax

HERE = Path(__file__).parent
{helpers and chr(10) + chr(10) + helpers + chr(10) + chr(10)}

def arrays(value):
    if isinstance(value, tvm.runtime.Tensor):
        return [value.numpy()]
    return [each for part in value for each in arrays(part)]


def results(inputs):
    mod = tvm.ir.load_json((HERE / "module.json").read_text())
    types = [np.dtype(str(param.ty.dtype)) for param in mod["main"].params]
    target = tvm.target.Target({literal_of(dict(target_named(job.target).config))})
    with {_context(job)}target:
{body}
    given = [tvm.runtime.tensor(inputs[f"x{{place}}"].astype(type)) for place, type in enumerate(types)]
    return arrays(machine["main"](*given))

'''
        + MAIN
    )


def _context(job: ModuleJob) -> str:
    usual = job.opt_level == DEFAULT_OPT_LEVEL
    return "" if usual else f"tvm.transform.PassContext(opt_level={job.opt_level}), "


def _compilation(job: ModuleJob) -> list[str]:
    """The lines that compile and load the module. Code that does not run on the processor is compiled alone."""
    whole = ", relax_pipeline=relax.backend.cpu_generic.get_default_pipeline(target)"
    build = f"relax.build(mod, target{whole if job.pipeline is Pipeline.CPU else ''})"
    if target_named(job.target).runs is not Runs.HERE:
        return [build, "return []"]
    return [f"machine = relax.VirtualMachine({build}, tvm.cpu())"]


def _first_line(text: str) -> str:
    return " ".join(text.split())[:200].replace('"', "'").rstrip("'") + "."
