"""A campaign with configurations: each finding names exactly the flags that it needs; an unknown option ends it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fuzzer.campaign.plan.known_options import require_known_options
from fuzzer.findings import finding_file
from fuzzer.isolate.fleet import Fleet
from generators.graph import Invalid
from oracles.siblings import additions

pytestmark = [pytest.mark.tvm, pytest.mark.long]

FLAGS = """
passes = ["FoldConstant", "FuseTIR", "FuseOps", "EliminateCommonSubexpr"]
disabled = ["StaticPlanBlockMemory"]
options = ["tirx.disable_vectorize", "tirx.noalias", "tirx.disable_cse_tir"]
pipelines = ["default_build", "zero"]
targets = ["llvm-O0", "llvm"]
opt_levels = [2, 3, 1]

[own]
opt_level = 3
"""
PLANTED = """
import tvm
from tvm import te
from tvm.ir.transform import PassContext


def plant(name, is_wrong):
    right = tvm.ir.Op.get(name).get_attr("FLegalize")

    def legalize(builder, call):
        context = PassContext.current()
        if not is_wrong(context.opt_level, context.config):
            return right(builder, call)

        def compute(x):
            return te.compute(x.shape, lambda *i: x(*i) + tvm.tirx.const(1, x.dtype), name="wrong")

        return builder.call_te(compute, call.args[0])

    tvm.ir.register_op_attr(name, "FLegalize", legalize, level=15)


plant("relax.nn.relu", lambda level, options: level == 3 and "tirx.disable_vectorize" in options)
plant("relax.negative", lambda level, options: "tirx.noalias" in options)
"""


NET = """
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        values = [f(x) for f in (torch.tanh, torch.sigmoid, torch.sin, torch.cos, torch.abs, torch.exp)]
        return tuple(f(value) for value in values for f in (torch.relu, torch.neg))


def net():
    return Net(), (torch.randn(2, 3),)
"""


def test_findings_name_exactly_the_guilty_flags(tmp_path: Path) -> None:
    """relu is wrong with two flags together, and neg with one alone. The pieces of the model have one of them each."""
    for name, text in (("flags.toml", FLAGS), ("planted.py", PLANTED), ("net.py", NET)):
        (tmp_path / name).write_text(text)
    words = "run --around net.py:net --configurations flags.toml --preload planted.py --campaign c --seed 1 --tests 12"
    words += " --until-new 2 --workers 1 --scope-share 0"
    done = subprocess.run(
        [sys.executable, "-m", "fuzzer.cli", *words.split()], cwd=tmp_path, capture_output=True, text=True, timeout=400
    )
    assert done.returncode == 0, done.stderr
    docs = [finding_file.read(folder) for folder in finding_file.folders_in(tmp_path / "c" / "crashes")]
    assert {tuple(doc.ops): additions(doc.lane) for doc in docs} == {
        ("relu",): ("tirx.disable_vectorize", "opt_level 3"),
        ("neg",): ("tirx.noalias",),
    }


def test_an_option_that_tvm_does_not_take_is_refused(fleet: Fleet) -> None:
    require_known_options(fleet.run, ["tirx.noalias", "tirx.disable_vectorize"])
    for name, why in (
        ("tirx.nope", "Invalid config option 'tirx.nope'"),
        ("tirx.UnrollLoop", "Expect config tirx.UnrollLoop to have type .*"),
    ):
        with pytest.raises(
            Invalid, match=f"^TVM does not take the option {name} as a switch, not even for a sine: {why}"
        ):
            require_known_options(fleet.run, ["tirx.noalias", name])
