"""The lanes, as data. Importing this loads no compiler. `fuzzer.lanes.runners` gives the code that runs a lane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from fuzzer.lanes.relay_table import RELAY_LANES as RELAY_LANES
from fuzzer.lanes.relay_table import RELAY_OFTEN as RELAY_OFTEN
from fuzzer.lanes.relay_table import RELAY_ROUTES as RELAY_ROUTES
from fuzzer.lanes.relay_table import RELAY_SAMPLED as RELAY_SAMPLED
from fuzzer.lanes.target_table import TARGET_LANES
from oracles.finding import exported_program_of, is_onnx_reader
from oracles.lane import (
    EVALUATED,
    WITNESS,
    Engine,
    Execution,
    Importer,
    LaneSpec,
    Params,
    Pipeline,
    is_relay,
    returns_gradients,
)

TORCH = LaneSpec("torch", Engine.TORCH, variant="eager")
TORCH_F64 = LaneSpec("torch-f64", Engine.TORCH, variant="f64")
TORCH_ENVELOPE = LaneSpec("torch-envelope", Engine.TORCH, variant="envelope")
ONNXRUNTIME = LaneSpec("onnxruntime", Engine.ONNXRUNTIME, Importer.ONNX)

TORCH_LANES = (TORCH, TORCH_F64, TORCH_ENVELOPE)
"""PyTorch's results, the float64 results, and the envelope. All three are needed to judge results."""

REFERENCES = (*TORCH_LANES, ONNXRUNTIME)
"""The references of cases of PyTorch."""

ONNX = LaneSpec("onnx", Engine.ONNX, variant="eager")
ONNX_WITNESS = LaneSpec("onnx-witness", Engine.ONNX, variant=WITNESS)
ONNX_F64 = LaneSpec("onnx-f64", Engine.ONNX, variant="f64")
ONNX_ENVELOPE = LaneSpec("onnx-envelope", Engine.ONNX, variant="envelope")

ONNX_LANES = (ONNX, ONNX_WITNESS, ONNX_F64, ONNX_ENVELOPE)
"""The references of a case of ONNX: onnxruntime without optimisers, the interpreter of the onnx package, the float64
results, and the envelope. The first two decide what may be blamed at all, and all four are needed to judge results."""


def references_of(dialect: str) -> tuple[LaneSpec, ...]:
    """The references that every test of a case of the dialect runs."""
    return ONNX_LANES if dialect == "onnx" else REFERENCES


def eager_of(dialect: str) -> LaneSpec:
    """The reference that computes the values of a case of the dialect, and decides whether it is valid."""
    return ONNX if dialect == "onnx" else TORCH


GRADIENT_REFERENCES = (
    LaneSpec("torch-grad", Engine.TORCH, variant="gradient"),
    LaneSpec("torch-grad-f64", Engine.TORCH, variant="gradient-f64"),
    LaneSpec("torch-grad-envelope", Engine.TORCH, variant="gradient-envelope"),
)
"""The references of lanes that return gradients: torch.autograd."""

TVM_LANES = (
    # without argument checks in kernels, which are half of LLVM's work on small graphs; relax-export-asserts has them
    LaneSpec("relax-export-llvm", Engine.TVM, Importer.EXPORT, "relax", asserts=False, checked=True),
    LaneSpec("relax-onnx-llvm", Engine.TVM, Importer.ONNX, "relax", asserts=False, checked=True),
    LaneSpec("relax-export-c", Engine.TVM, Importer.EXPORT, "relax", target="c"),
)
"""The plain lanes of the Relax routes. A failure that looks new is run in all of them."""

SCREENING = TVM_LANES[:2]
"""Every test without tiers runs these. Their toolchains are those of tier 1."""

OFTEN = TVM_LANES[2:]
"""Every fourth test without tiers runs these. With tiers, they are candidates for tier 2."""


def _relax(name: str, importer: Importer = Importer.EXPORT, variant: str = "relax", **more: Any) -> LaneSpec:
    return LaneSpec(f"relax-{importer}-{name}", Engine.TVM, importer, variant, **{"asserts": False, **more})


SAMPLED_LANES = (
    # each does one thing more than relax-export-llvm, and that must not change the results
    _relax("asserts", asserts=True),
    _relax("zero", pipeline=Pipeline.ZERO, checked=True),
    _relax("cpu", pipeline=Pipeline.CPU, checked=True),
    _relax("compiled", executor=Execution.COMPILED),
    _relax("O0", target="llvm-O0", asserts=True),
    _relax("script", passes=("ScriptRoundTrip",)),
    _relax("json", passes=("JsonRoundTrip",)),
    _relax("library", as_library=True),
    _relax("again", fresh=True),
    _relax("inputs", params=Params.INPUTS),
    _relax("rebound", params=Params.REBOUND, checked=True),
    _relax("bundled", params=Params.BUNDLED, checked=True),
    _relax("lifted", params=Params.LIFTED, checked=True),
    _relax("lifted-shared", params=Params.LIFTED_SHARED, checked=True),
    _relax("lifted-consuming", params=Params.LIFTED_CONSUMING, checked=True),
    _relax("symbolic", symbolic=True, checked=True),
    # these run other programs than the case's own
    _relax("gradient", variant="gradient"),
    _relax("mutants", variant="mutants"),
    # other frontends
    _relax("llvm", Importer.EXPORT_TVM, checked=True),
    _relax("llvm", Importer.EXPORT_RAW, checked=True),
    _relax("llvm", Importer.FX, checked=True),
    _relax("llvm", Importer.DYNAMO, asserts=True),
    _relax("llvm", Importer.ONNX_DYNAMO, checked=True),
    # the plain lanes of ONNX read opset 20; these are the opsets at which TVM has other versions of converters
    *(_relax(f"llvm-opset{opset}", Importer.ONNX, opset=opset, checked=True) for opset in (7, 11, 13, 16)),
    *(_relax(f"llvm-opset{opset}", Importer.ONNX_DYNAMO, opset=opset, checked=True) for opset in (18, 23)),
    _relax("inputs", Importer.ONNX, params=Params.INPUTS),
    _relax("zero", Importer.ONNX, pipeline=Pipeline.ZERO, checked=True),
    *TARGET_LANES,
)
"""Each test without tiers runs one of them, in turn. With tiers, they are candidates for tier 2."""


def _of_a_model(lane: LaneSpec) -> LaneSpec:
    """The lane that does the same with the model of a case of ONNX."""
    name = lane.name.replace("relax-export-", "relax-onnx-model-")
    return replace(lane, name=name, importer=Importer.ONNX_MODEL)


MODEL_LANES = tuple(_of_a_model(lane) for lane in TVM_LANES if lane.importer is Importer.EXPORT)
"""The plain lanes of cases of ONNX."""

MODEL_SAMPLED_LANES = (
    *(_of_a_model(lane) for lane in SAMPLED_LANES if lane.importer is Importer.EXPORT and lane.variant == "relax"),
    _relax("sizes", Importer.ONNX_MODEL, given_sizes=True, checked=True),
    # the same model, converted to another opset
    *(_relax(f"llvm-opset{opset}", Importer.ONNX_MODEL, opset=opset, checked=True) for opset in (13, 18, 21)),
)
"""Each does one thing more than relax-onnx-model-llvm, with the model of a case of ONNX."""

EVALUATED_LANES = tuple(
    _relax(EVALUATED, importer, variant=EVALUATED, checked=True)
    for importer in (
        *(Importer.EXPORT, Importer.ONNX, Importer.EXPORT_RAW, Importer.FX),
        *(Importer.EXPORT_TVM, Importer.ONNX_DYNAMO, Importer.ONNX_MODEL),
    )
)
"""The lanes of tier 1, one for each importer of Relax that gives a single module."""


def plain_of(lane: LaneSpec) -> LaneSpec:
    """The plain lane that imports as a lane of tier 1 does, and compiles."""
    wanted = replace(lane, name="", variant="relax", toolchain="host")
    lanes = (*TVM_LANES, *SAMPLED_LANES, *MODEL_LANES)
    found = next(each for each in lanes if replace(each, name="") == wanted)
    return replace(found, toolchain=lane.toolchain)


HONEST_LANES = (
    *(LaneSpec(f"torch-{name}", Engine.HONEST, variant=name) for name in ("layout", "flush")),
    # torch.compile decomposes as torch.export does
    LaneSpec("torch-decomposed", Engine.HONEST, Importer.EXPORT, "decomposed"),
    *(
        LaneSpec(f"onnxruntime-{level}", Engine.HONEST, Importer.ONNX, f"ort-{level}")
        for level in ("disable", "basic", "extended", "all")
    ),
    LaneSpec("torch-threads", Engine.HONEST, variant="threads", fresh=True),
    LaneSpec("torch-inductor", Engine.HONEST, Importer.EXPORT, "inductor"),
    # the model of a case of ONNX
    *(
        LaneSpec(f"onnx-{level}", Engine.HONEST, Importer.ONNX_MODEL, f"ort-{level}")
        for level in ("disable", "basic", "extended", "all")
    ),
)
"""Lanes that are right by definition. They calibrate the tolerance, and `fuzz bench honesty` judges them."""

LANES = (*REFERENCES, *TVM_LANES, *ONNX_LANES, *MODEL_LANES)
"""The references and the plain lanes of both dialects."""

PLAIN_ROUTES = (*TVM_LANES, *MODEL_LANES, *RELAY_ROUTES)
EVERY_TVM_LANE = (*TVM_LANES, *SAMPLED_LANES, *MODEL_LANES, *MODEL_SAMPLED_LANES, *RELAY_LANES)
"""TVM's lanes that have a name, in Relax and Relay."""


def plain_routes_beside(lane: LaneSpec) -> tuple[LaneSpec, ...]:
    """The plain lanes in the language and the toolchain of a lane. For a lane that writes a shared library, also the
    other lanes that write one."""
    same = [other for other in PLAIN_ROUTES if (other.dialect, is_relay(other)) == (lane.dialect, is_relay(lane))]
    if lane.as_library:
        written = (other for other in EVERY_TVM_LANE if other.as_library and other.dialect == lane.dialect)
        same += [other for other in written if is_relay(other) == is_relay(lane)]
    return tuple(replace(route, toolchain=lane.toolchain) for route in same)


def needed(lane: LaneSpec, *, values: bool = True) -> tuple[LaneSpec, ...]:
    """The references without which a lane's outcome cannot be judged.

    values  False: only the references that are needed to judge a lane that fails to run
    """
    if lane.dialect == "onnx":
        return ONNX_LANES if values else (ONNX, ONNX_WITNESS)
    if returns_gradients(lane) and lane.engine is Engine.TVM:
        return (TORCH, *GRADIENT_REFERENCES) if values else (TORCH,)
    torch = TORCH_LANES if values else (TORCH,)
    if values and lane.importer.is_exported and lane.engine is Engine.TVM:
        return (*torch, *readers_of(lane))
    return (*torch, _onnxruntime(lane)) if lane.importer.is_onnx and not is_onnx_reader(lane) else torch


def _onnxruntime(lane: LaneSpec) -> LaneSpec:
    """onnxruntime on the file that the lane reads."""
    return replace(ONNXRUNTIME, name=f"onnxruntime{_file(lane)}", importer=lane.importer, opset=lane.opset)


def readers_of(lane: LaneSpec) -> tuple[LaneSpec, ...]:
    """The other readers of what a lane imports: they decide whether the exported program is wrong, or its reader.

    They run where onnxruntime or a lane that reads an exported program disagrees with PyTorch, and where TVM would be
    blamed for a file that no other reader has confirmed."""
    program = exported_program_of(lane)
    if program is not None:
        return (LaneSpec(f"torch-{program}", Engine.TORCH, program, "exported"),)
    names = (("onnx-reference", "interpreter"), ("onnxruntime-optimised", "optimised"))
    return tuple(
        LaneSpec(f"{name}{_file(lane)}", Engine.ONNX_REFERENCE, lane.importer, variant, opset=lane.opset)
        for name, variant in names
    )


def _file(lane: LaneSpec) -> str:
    exporter = "" if lane.importer is Importer.ONNX else "-dynamo"
    return exporter + (f"-opset{lane.opset}" if lane.opset else "")


EVERY_LANE = frozenset((*REFERENCES, *ONNX_LANES, *EVERY_TVM_LANE))
"""The lanes that have a name. All other lanes are drawn for one test."""

ONNX_READERS = readers_of(ONNXRUNTIME)


def select(globs: str, dialect: str | None = None) -> tuple[LaneSpec, ...]:
    """The TVM lanes whose names match one of the comma-separated globs, or an empty tuple; for `*`, the plain lanes.
    With a dialect, only lanes that run its cases; without one, `*` is the plain lanes of cases of PyTorch."""
    if globs == "*":
        return MODEL_LANES if dialect == "onnx" else TVM_LANES
    return tuple(lane for lane in matching(EVERY_TVM_LANE, globs) if dialect in (None, lane.dialect))


def matching(lanes: Sequence[LaneSpec], globs: str) -> tuple[LaneSpec, ...]:
    patterns = [glob.strip() for glob in globs.split(",")]
    return tuple(lane for lane in lanes if any(fnmatchcase(lane.name, pattern) for pattern in patterns))
