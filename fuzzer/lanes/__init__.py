"""The lanes as data, and the code that runs them: `torch`, `onnx`, `relax`, `launched`, `evaluated`, `mutants`,
`relay`.

Importing this loads no compiler. `fuzzer.lanes.runners` gives the code that runs a lane.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from fuzzer.lanes.relay_table import RELAY_LANES as RELAY_LANES
from fuzzer.lanes.relay_table import RELAY_OFTEN as RELAY_OFTEN
from fuzzer.lanes.relay_table import RELAY_ROUTES as RELAY_ROUTES
from fuzzer.lanes.relay_table import RELAY_SAMPLED as RELAY_SAMPLED
from fuzzer.lanes.target_table import SCHEDULED_LANES, TARGET_LANES
from generators.dialect_names import DEFAULT, NAMES
from oracles.finding import exported_program_of, is_other_reader
from oracles.importers import Importer, evaluated_importers, plain_importer
from oracles.lane import EVALUATED, WITNESS, Engine, Execution, LaneSpec, Params, Pipeline, is_relay, returns_gradients
from oracles.siblings import REMEMBERED, sibling

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

RELAX = LaneSpec("relax", Engine.RELAX, variant="eager")
RELAX_F64 = LaneSpec("relax-f64", Engine.RELAX, variant="f64")
RELAX_ENVELOPE = LaneSpec("relax-envelope", Engine.RELAX, variant="envelope")

RELAX_REFERENCES = (RELAX, RELAX_F64, RELAX_ENVELOPE)
"""The references of a case of Relax: the definitions of its operators in the dtypes of the case and in float64, and the
envelope. All three are needed to judge results."""

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


def _other_importers() -> Iterator[LaneSpec]:
    """The plain lanes of importers of PyTorch's models into Relax that `TVM_LANES` do not have. What torch.compile
    makes is not checked, and its kernels check their arguments."""
    for importer in Importer:
        row, lanes = importer.row, [lane.importer for lane in TVM_LANES]
        if row.dialect == "torch" and not row.reads.is_by_jit and importer not in lanes:
            yield _relax("llvm", importer, asserts=not row.reads.is_one_graph, checked=row.reads.is_one_graph)


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
    *(_relax(f"opt{level}", opt_level=level, checked=True) for level in (0, 1, 3)),  # the default is 2
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
    *_other_importers(),
    # the plain lanes of ONNX read opset 20; these are the opsets at which TVM has other versions of converters
    *(_relax(f"llvm-opset{opset}", Importer.ONNX, opset=opset, checked=True) for opset in (7, 11, 13, 16)),
    *(_relax(f"llvm-opset{opset}", Importer.ONNX_DYNAMO, opset=opset, checked=True) for opset in (18, 23)),
    _relax("inputs", Importer.ONNX, params=Params.INPUTS),
    _relax("zero", Importer.ONNX, pipeline=Pipeline.ZERO, checked=True),
    *TARGET_LANES,
    *SCHEDULED_LANES,
)
"""Each test without tiers runs one of them, in turn. With tiers, they are candidates for tier 2."""


def _read_by(importer: Importer, lanes: Sequence[LaneSpec]) -> tuple[LaneSpec, ...]:
    """Those of the lanes that compile the exported program itself, each with another importer in its place."""
    plain = plain_importer("torch")
    return tuple(
        replace(lane, name=lane.name.replace(f"relax-{plain}-", f"relax-{importer}-"), importer=importer)
        for lane in lanes
        if lane.importer is plain and lane.variant == "relax"
    )


MODEL_LANES = _read_by(plain_importer("onnx"), TVM_LANES)
"""The plain lanes of cases of ONNX."""

MODEL_SAMPLED_LANES = (
    *_read_by(plain_importer("onnx"), SAMPLED_LANES),
    _relax("sizes", Importer.ONNX_MODEL, given_sizes=True, checked=True),
    # the same model, converted to another opset
    *(_relax(f"llvm-opset{opset}", Importer.ONNX_MODEL, opset=opset, checked=True) for opset in (13, 18, 21)),
)
"""Each does one thing more than relax-onnx-model-llvm, with the model of a case of ONNX."""

MODULE_LANES = _read_by(plain_importer("relax"), TVM_LANES)
"""The plain lanes of cases of Relax."""

MODULE_SAMPLED_LANES = _read_by(plain_importer("relax"), SAMPLED_LANES)
"""Each does one thing more than relax-module-llvm, with the module of a case of Relax."""

EVALUATED_LANES = tuple(
    _relax(EVALUATED, importer, variant=EVALUATED, checked=True) for importer in evaluated_importers()
)
"""The lanes of tier 1, one for each importer of Relax that gives a single module."""


@lru_cache(REMEMBERED)
def plain_of(lane: LaneSpec) -> LaneSpec:
    """The plain lane that imports as a lane of tier 1 does, and compiles."""
    wanted = replace(lane, name="", variant="relax", toolchain="host")
    found = next(each for each in RELAX_LANES if replace(each, name="") == wanted)
    return replace(found, toolchain=lane.toolchain)


@dataclass(frozen=True, slots=True, kw_only=True)
class DialectLanes:
    """The lanes of a dialect.

    references          every test runs these, in this order
    judges              those that are needed to judge results
    judges_of_failures  those that are needed to judge a lane that fails to run. The first one computes the values of a
                        case, and decides whether it is valid
    screening           the plain lanes of TVM that every test without tiers runs
    often               those that every fourth test without tiers runs
    sampled             the other lanes of Relax that have a name: each does one thing more
    routes              the lane of each route, under the name that a report gives it; scope tries them in this order
    """

    references: tuple[LaneSpec, ...]
    judges: tuple[LaneSpec, ...]
    judges_of_failures: tuple[LaneSpec, ...]
    screening: tuple[LaneSpec, ...]
    often: tuple[LaneSpec, ...] = ()
    sampled: tuple[LaneSpec, ...] = ()
    routes: Mapping[str, str]

    @property
    def plain(self) -> tuple[LaneSpec, ...]:
        """The plain lanes of TVM."""
        return (*self.screening, *self.often)


DIALECT_LANES = {
    TORCH.dialect: DialectLanes(
        references=REFERENCES,
        judges=TORCH_LANES,
        judges_of_failures=(TORCH,),
        screening=SCREENING,
        often=OFTEN,
        sampled=SAMPLED_LANES,
        routes={
            "from_exported_program": "relax-export-llvm",
            "from_fx": "relax-fx-llvm",
            "from_onnx": "relax-onnx-llvm",
            "from_exported_program, not decomposed": "relax-export-raw-llvm",
            "from_onnx of torch.export": "relax-onnx-dynamo-llvm",
            "torch.compile": "relax-dynamo-llvm",
            "pipeline zero": "relax-export-zero",
            "pipeline cpu_generic": "relax-export-cpu",
            "compiled virtual machine": "relax-export-compiled",
            "target c": "relax-export-c",
            "parameters as inputs": "relax-export-inputs",
        },
    ),
    ONNX.dialect: DialectLanes(
        references=ONNX_LANES,
        judges=ONNX_LANES,
        judges_of_failures=(ONNX, ONNX_WITNESS),
        screening=MODEL_LANES,
        sampled=MODEL_SAMPLED_LANES,
        routes={
            "from_onnx": "relax-onnx-model-llvm",
            "converted to opset 13": "relax-onnx-model-llvm-opset13",
            "converted to opset 18": "relax-onnx-model-llvm-opset18",
            "converted to opset 21": "relax-onnx-model-llvm-opset21",
            "pipeline zero": "relax-onnx-model-zero",
            "pipeline cpu_generic": "relax-onnx-model-cpu",
            "compiled virtual machine": "relax-onnx-model-compiled",
            "target c": "relax-onnx-model-c",
            "parameters as inputs": "relax-onnx-model-inputs",
        },
    ),
    RELAX.dialect: DialectLanes(
        references=RELAX_REFERENCES,
        judges=RELAX_REFERENCES,
        judges_of_failures=(RELAX,),
        screening=MODULE_LANES,
        sampled=MODULE_SAMPLED_LANES,
        routes={
            "the module": "relax-module-llvm",
            "pipeline zero": "relax-module-zero",
            "pipeline cpu_generic": "relax-module-cpu",
            "compiled virtual machine": "relax-module-compiled",
            "target c": "relax-module-c",
            "constants as inputs": "relax-module-inputs",
        },
    ),
}
assert tuple(DIALECT_LANES) == NAMES, f"DIALECT_LANES has rows of {', '.join(DIALECT_LANES)}, NAMES {', '.join(NAMES)}"
_OF_DIALECTS = tuple(DIALECT_LANES.values())


def lanes_of(dialect: str) -> DialectLanes:
    return DIALECT_LANES[dialect]


def references_of(dialect: str) -> tuple[LaneSpec, ...]:
    """The references that every test of a case of the dialect runs."""
    return lanes_of(dialect).references


def eager_of(dialect: str) -> LaneSpec:
    """The reference that computes the values of a case of the dialect, and decides whether it is valid."""
    return lanes_of(dialect).judges_of_failures[0]


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

LANES = tuple(lane for each in _OF_DIALECTS for lane in (*each.references, *each.plain))
"""The references and the plain lanes of all dialects."""

PLAIN_ROUTES = (*(lane for each in _OF_DIALECTS for lane in each.plain), *RELAY_ROUTES)
RELAX_LANES = tuple(lane for each in _OF_DIALECTS for lane in (*each.plain, *each.sampled))
EVERY_TVM_LANE = (*RELAX_LANES, *RELAY_LANES)
"""TVM's lanes that have a name, in Relax and Relay."""


@lru_cache(REMEMBERED)
def plain_sibling(lane: LaneSpec) -> LaneSpec | None:
    """The plain sibling of a lane among TVM's lanes that have a name, in the toolchain of the lane."""
    return sibling(lane, (replace(each, toolchain=lane.toolchain) for each in EVERY_TVM_LANE))


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
    if returns_gradients(lane) and lane.engine is Engine.TVM:
        return (TORCH, *GRADIENT_REFERENCES) if values else (TORCH,)
    own = lanes_of(lane.dialect)
    judges = own.judges if values else own.judges_of_failures
    reads = lane.importer.row.reads
    if values and reads.is_program and lane.engine is Engine.TVM:
        return (*judges, *readers_of(lane))
    return (*judges, _onnxruntime(lane)) if reads.is_exported_file and not is_other_reader(lane) else judges


def _onnxruntime(lane: LaneSpec) -> LaneSpec:
    """onnxruntime on the file that the lane reads."""
    name = f"onnxruntime{_file(lane)}"
    return replace(ONNXRUNTIME, name=name, importer=lane.importer, opset=lane.opset, symbolic=lane.symbolic)


def readers_of(lane: LaneSpec) -> tuple[LaneSpec, ...]:
    """The other readers of what a lane imports: they decide whether the exported program is wrong, or its reader.

    They run where onnxruntime or a lane that reads an exported program disagrees with PyTorch, and where TVM would be
    blamed for a file that no other reader has confirmed."""
    program = exported_program_of(lane)
    if program is not None:
        return (LaneSpec(f"torch-{program}", Engine.TORCH, program, "exported"),)
    names = (("onnx-reference", "interpreter"), ("onnxruntime-optimised", "optimised"))
    like = LaneSpec("", Engine.ONNX_REFERENCE, lane.importer, opset=lane.opset, symbolic=lane.symbolic)
    return tuple(replace(like, name=f"{name}{_file(lane)}", variant=variant) for name, variant in names)


def _file(lane: LaneSpec) -> str:
    exporter = "-dynamo" if lane.importer.row.reads.is_by_dynamo else ""
    opset = f"-opset{lane.opset}" if lane.opset else ""
    return f"{exporter}{opset}{'-symbolic' if lane.symbolic else ''}"


EVERY_LANE = frozenset((*LANES, *EVERY_TVM_LANE))
"""The lanes that have a name. All other lanes are drawn for one test."""

ONNX_READERS = readers_of(ONNXRUNTIME)

ALL_PLAIN = "all-plain"
"""Selects the plain lanes of a dialect, as `*` does."""


def select(globs: str, dialect: str | None = None) -> tuple[LaneSpec, ...]:
    """The TVM lanes whose names match one of the comma-separated globs, or an empty tuple; for `*` and `all-plain`,
    the plain lanes. With a dialect, only lanes that run its cases; without one, these are the plain lanes of cases of
    PyTorch."""
    if globs in ("*", ALL_PLAIN):
        return lanes_of(dialect or DEFAULT).plain
    return tuple(lane for lane in matching(EVERY_TVM_LANE, globs) if dialect in (None, lane.dialect))


def matching(lanes: Sequence[LaneSpec], globs: str) -> tuple[LaneSpec, ...]:
    patterns = [glob.strip() for glob in globs.split(",")]
    return tuple(lane for lane in lanes if any(fnmatchcase(lane.name, pattern) for pattern in patterns))
