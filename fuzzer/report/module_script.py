"""`repro.py` of a Relax module that fails: a script that needs TVM and numpy, and the files beside it."""

from __future__ import annotations

from fuzzer.isolate.module_job import ModuleJob
from fuzzer.report.python_source import in_docstring
from fuzzer.report.script_source import NOTHING, Source, joined, literal_of, own_text, source
from oracles.lane import DEFAULT_OPT_LEVEL, Pipeline
from oracles.targets import Runs, target_named
from oracles.transforms import transform_named

_IMPORTS = source(
    """import runpy
import sys
import random
from pathlib import Path

import ml_dtypes  # numpy's bfloat16
import numpy as np
import tvm
import tvm_ffi
from tvm import relax

HERE = Path(__file__).parent"""
)
_ARRAYS = source(
    """def arrays(value):
    if isinstance(value, tvm.runtime.Tensor):
        return [value.numpy()]
    return [each for part in value for each in arrays(part)]"""
)
_MAIN = source(
    """def main():
    if len(sys.argv) > 1:
        runpy.run_path(sys.argv[1])
    inputs, expected = np.load(HERE / "inputs.npz"), np.load(HERE / "expected.npz")
    try:
        found = results(inputs)
    except Exception as error:
        print(f"{{type(error).__name__}}: {{error}}")
        return 1
    for place, array in enumerate(found):
        value, allowed = expected[f"value{{place}}"], expected[f"allowed{{place}}"]
        if array.shape != value.shape:
            print(f"result {{place}} has the shape {{array.shape}}, and {{value.shape}} is expected")
            return 1
        number, right = array.astype(np.float64), value.astype(np.float64)
        wrong = ~((np.abs(number - right) <= allowed) | np.isinf(allowed) | (np.isnan(number) & np.isnan(right)))
        if wrong.any():
            print(f"result {{place}}: {{wrong.sum()}} of {{wrong.size}} numbers are wrong")
            print("expected", value[wrong][:8], "and it is", array[wrong][:8])
            return 1
    print("right")
    return 0


sys.exit(main())"""
)


def script(title: str, job: ModuleJob) -> str:
    """It exits with 1 while the failure shows, with 0 when it is gone, and dies where TVM dies."""
    rows = [transform_named(name) for name in job.passes]
    helpers = list(dict.fromkeys(row.helper.strip() for row in rows if row.helper.strip()))
    parts = [_IMPORTS, *map(_of_a_row, helpers), _ARRAYS, _results(job, [_of_a_row(row.source) for row in rows]), _MAIN]
    return _head(title, job) + joined("\n\n\n", parts) + "\n"


def _head(title: str, job: ModuleJob) -> str:
    own = any(name.startswith("own:") for name in job.passes)
    usage = "repro.py own_pass.py" if own else "repro.py"
    return f'''"""{in_docstring(_first_line(title))}

    python {usage}

Exits with 1 while the failure shows, and with 0 when it is gone. expected.npz has what the operators of the module
compute by their definitions, and how far each number may be off.
"""

'''


def _results(job: ModuleJob, passes: list[Source]) -> Source:
    zero = [source('mod = relax.get_pipeline("zero")(mod)')] if job.pipeline is Pipeline.ZERO else []
    steps = [source("mod = {}\n        relax.analysis.well_formed(mod)", each) for each in passes]
    return source(
        """def results(inputs):
    mod = tvm.ir.load_json((HERE / "module.json").read_text())
    types = [np.dtype(str(param.ty.dtype)) for param in mod["main"].params]
    target = tvm.target.Target({})
    with {}target:
        {}
    given = [tvm.runtime.tensor(inputs[f"x{{place}}"].astype(type)) for place, type in enumerate(types)]
    return arrays(machine["main"](*given))""",
        literal_of(dict(target_named(job.target).config)),
        _context(job),
        joined("\n        ", [*steps, *zero, _compilation(job)]),
    )


def _of_a_row(text: str) -> Source:
    """A part of a row of `oracles/transforms.py`; the name of a user's own pass in it was parsed there."""
    return own_text(text)


def _context(job: ModuleJob) -> Source:
    usual = job.opt_level == DEFAULT_OPT_LEVEL
    return NOTHING if usual else source("tvm.transform.PassContext(opt_level={}), ", job.opt_level)


def _compilation(job: ModuleJob) -> Source:
    """The lines that compile and load the module. Code that does not run on the processor is compiled alone."""
    cpu = source(", relax_pipeline=relax.backend.cpu_generic.get_default_pipeline(target)")
    build = source("relax.build(mod, target{})", cpu if job.pipeline is Pipeline.CPU else NOTHING)
    if target_named(job.target).runs is not Runs.HERE:
        return source("{}\n        return []", build)
    return source("machine = relax.VirtualMachine({}, tvm.cpu())", build)


def _first_line(text: str) -> str:
    return " ".join(text.split())[:200].replace('"', "'").rstrip("'") + "."
