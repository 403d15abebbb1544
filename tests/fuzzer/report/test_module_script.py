"""The script of a Relax module: its title comes from a process that ran TVM, and stays a text."""

from __future__ import annotations

import ast

import pytest

from fuzzer.isolate.module_job import ModuleJob
from fuzzer.report import module_script
from oracles.lane import Pipeline

CALL = "__import__('os').system('true')"
JOBS = [
    ModuleJob(0, 1),
    ModuleJob(0, 1, "llvm", Pipeline.ZERO, ("FoldConstant",)),
    ModuleJob(0, 1, "llvm", Pipeline.CPU, ("FoldConstant", "own:mine:idempotent"), opt_level=1),
    ModuleJob(0, 1, "opencl"),
]


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize(
    "title", [f'"""\n{CALL}\n"""', f"'''\n{CALL}\n'''", f'\\"""\n{CALL}', "\\", '"', "\0", "\u2028x", "{0}%s", "\udc80"]
)
def test_a_title_becomes_no_code(job: ModuleJob, title: str) -> None:
    expected, found = (ast.parse(module_script.script(text, job)) for text in ("harmless", title))
    assert ast.dump(ast.Module(expected.body[1:], [])) == ast.dump(ast.Module(found.body[1:], []))
    assert isinstance(found.body[0], ast.Expr)
    assert isinstance(found.body[0].value, ast.Constant)


def test_the_steps_of_a_job() -> None:
    text = module_script.script("a title", JOBS[2])
    assert text.startswith('"""a title.\n\n    python repro.py own_pass.py\n')
    assert (
        "    with tvm.transform.PassContext(opt_level=1), target:\n        mod = relax.transform.FoldConstant" in text
    )
    assert '        mod = own_pass_twice("mine", mod)\n        relax.analysis.well_formed(mod)\n' in text
    assert "relax_pipeline=relax.backend.cpu_generic.get_default_pipeline(target)" in text


@pytest.mark.parametrize("name", [f"own:x\n{CALL}", "FoldConstant\n", CALL, 'own:x"'])
def test_a_pass_is_a_row_or_a_name(name: str) -> None:
    with pytest.raises(KeyError):
        module_script.script("a title", ModuleJob(0, 1, passes=(name,)))
