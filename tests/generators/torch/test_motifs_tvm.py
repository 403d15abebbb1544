"""Each motif triggers the passes that it names: the pass alone changes the module that TVM imports."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest
import torch

from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.relax.build import apply
from fuzzer.lanes.torch.prepared import exported, model_of
from generators.builder import Builder
from generators.choice import NumpySource
from generators.random_graph import with_values
from generators.torch.motif_table import MOTIFS
from generators.torch.motifs import Motif
from generators.torch.varied_motifs import VARIED_MOTIFS

pytestmark = pytest.mark.tvm

PAIRS = [pytest.param(motif, name, id=f"{motif.name}-{name}") for motif in MOTIFS for name in motif.triggers]
PARAMS_AS_INPUTS = ("LiftTransformParams", "CombineParallelMatmul")
"""Passes that need parameters as inputs. CombineParallelMatmul raises a TypeError where they are constants (0.27)."""

DRAWS = 6
"""How many draws of a motif are tried, because some are too small for a pass. One of them must trigger it."""

VARIED_DRAWS = 20
"""The same for motifs whose operands vary. Some passes raise on some of them, which is what campaigns look for."""


def imported(motif: Motif, seed: int, *, params_as_inputs: bool) -> Any:
    from tvm import relax
    from tvm.relax.frontend.torch import from_exported_program

    builder = Builder(NumpySource(seed))
    assert motif.grow(builder)
    prepared = PreparedCase(with_values(builder), lambda stage: None)
    if motif.name == "dead_value":  # torch.export removes such values, torch.fx keeps them
        inputs = [(list(x.shape), str(x.dtype)) for x in prepared.inputs.values()]
        return relax.frontend.torch.from_fx(torch.fx.symbolic_trace(model_of(prepared)), inputs)
    with torch.no_grad():
        module = from_exported_program(
            exported(prepared), run_ep_decomposition=False, keep_params_as_input=params_as_inputs
        )
    if params_as_inputs:
        module, _ = relax.frontend.detach_params(module)
    return module


def passes() -> dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]]:
    """For each name, the passes that must run before, and the pass."""
    import tvm
    from tvm import relax
    from tvm.s_tir import dlight

    t = relax.transform
    gpu = tvm.target.Target("nvidia/geforce-rtx-3090")

    def in_order(*steps: Any) -> Callable[[Any], Any]:
        return tvm.transform.Sequential(steps)

    def scheduled(rule: Any) -> Callable[[Any], Any]:
        def run(module: Any) -> Any:
            with gpu:
                return dlight.ApplyDefaultSchedule(rule)(module)

        return run

    nothing = in_order()
    lowered = t.LegalizeOps()
    annotated = in_order(lowered, t.AnnotateTIROpPattern())
    planned = in_order(
        lowered, t.RewriteDataflowReshape(), t.ToNonDataflow(), t.RemovePurityChecking(), t.CallTIRRewrite()
    )
    on_operators = (
        "AdjustMatmulOrder",
        "CanonicalizeBindings",
        "CombineParallelMatmul",
        "ConvertToDataflow",
        "DataflowUseInplaceCalls",
        "DeadCodeElimination",
        "DecomposeOpsForInference",
        "EliminateCommonSubexpr",
        "ExpandMatmulOfSum",
        "FastMathTransform",
        "FoldBatchnormToConv2D",
        "FoldConstant",
        "FuseTransposeMatmul",
        "LegalizeOps",
        "LiftTransformParams",
        "RemoveRedundantReshape",
        "ReorderPermuteDimsAfterConcat",
        "ReorderTakeAfterMatmul",
    )
    return {
        **{name: (nothing, getattr(t, name)()) for name in on_operators},
        "ConvertLayout": (nothing, t.ConvertLayout({"relax.nn.conv2d": ["NHWC", "OHWI"]})),
        "ToMixedPrecision": (nothing, t.ToMixedPrecision(out_dtype="float16")),
        "FuseOpsByPattern": (nothing, lambda module: apply("FuseOpsByPattern", module, None)),
        "FuseOps": (annotated, t.FuseOps()),
        "FuseTIR": (in_order(annotated, t.FuseOps()), t.FuseTIR()),
        "RewriteDataflowReshape": (lowered, t.RewriteDataflowReshape()),
        "StaticPlanBlockMemory": (planned, t.StaticPlanBlockMemory()),
        **{f"dlight.{rule}": (lowered, scheduled(getattr(dlight.gpu, rule)())) for rule in
           ("Fallback", "GEMV", "GeneralReduction", "LowBatchGEMV", "Matmul", "RMSNorm", "Reduction", "Transpose")},
    }  # fmt: skip


@pytest.mark.parametrize(("motif", "name"), PAIRS)
def test_the_pass_changes_the_module(motif: Motif, name: str) -> None:
    before, run = passes()[name]
    varied = motif in VARIED_MOTIFS
    draws = VARIED_DRAWS if varied else DRAWS
    for seed in range(draws):
        module = before(imported(motif, seed, params_as_inputs=name in PARAMS_AS_INPUTS))
        text = module.script()  # taken before the pass, because some passes change their argument
        with suppress(Exception) if varied else nullcontext():
            if run(module).script() != text:
                return
    pytest.fail(f"{name} changed none of {draws} draws of {motif.name}")


def test_the_page_names_every_pass() -> None:
    from tvm import relax
    from tvm.s_tir import dlight

    page = (Path(__file__).parents[3] / "docs" / "motifs.md").read_text()
    named = set(re.findall(r"\w+", page))
    passes = {name for name in dir(relax.transform) if name[0].isupper()}
    rules = {name for name in dir(dlight.gpu) if name[0].isupper()}
    assert {"FuseOps", "ConvertLayout"} < passes
    assert {"Matmul", "GEMV"} < rules
    assert sorted((passes | rules) - named) == []
