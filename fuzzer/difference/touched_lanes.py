"""From the entries of TVM that differ to the lanes that run them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from fuzzer.difference.changed_entries import ChangedEntry
from fuzzer.lanes import DIALECT_LANES, RELAX_LANES
from fuzzer.lanes.base.availability import available
from fuzzer.toolchains.code_entries import Kind
from oracles.importers import EXPENSIVE, Importer, plain_importer
from oracles.lane import SCHEDULES, Engine, LaneSpec, Params, Pipeline
from oracles.targets import family_of
from oracles.transforms import TRANSFORMS, ModuleForm

_PARAMS = {
    "LiftTransformParams": (Params.LIFTED, Params.LIFTED_SHARED, Params.LIFTED_CONSUMING),
    "BundleModelParams": (Params.BUNDLED,),
    "BindParams": (Params.REBOUND,),
}
_GPU = ("cuda", "opencl", "webgpu", "rocm")


@dataclass(frozen=True, slots=True)
class TouchedLanes:
    """`always` are the plain lanes that run the entries, a few for each dialect; `in_turn` do one thing more. Both are
    empty where no lane is known."""

    always: tuple[LaneSpec, ...] = ()
    in_turn: tuple[LaneSpec, ...] = ()

    @property
    def all(self) -> tuple[LaneSpec, ...]:
        return (*self.always, *self.in_turn)


def touched_lanes(entries: Iterable[ChangedEntry], targets: Iterable[str] = ()) -> TouchedLanes:
    """The lanes that run one of the entries, or compile for one of the families of targets, on this machine."""
    wanted = sorted(entries, key=lambda entry: entry.kind is not Kind.PIPELINE)
    found = dict.fromkeys(lane for entry in wanted for lane in _lanes_of(entry))
    found |= dict.fromkeys(lane for lane in RELAX_LANES if family_of(lane.target) in set(targets))
    possible = available(tuple(found))
    lanes = tuple(lane for lane in possible if _runs_here(lane)) or possible
    first = {lane.dialect: lane for lane in reversed(lanes)}.values()
    always = tuple(lane for lane in lanes if _is_plain(lane)) or tuple(first)
    return TouchedLanes(always, tuple(lane for lane in lanes if lane not in always))


def _runs_here(lane: LaneSpec) -> bool:
    """Whether the lane compiles for the processor, or schedules alone: other lanes are costly, and may not run."""
    return lane.variant == SCHEDULES or family_of(lane.target) not in _GPU


def _is_plain(lane: LaneSpec) -> bool:
    """Whether the lane compiles for the processor what an importer gives, and nothing more: the plain lanes of the
    importers of tier 1."""
    plain = (lane.pipeline, lane.params, lane.passes, lane.target) == (Pipeline.DEFAULT, Params.BOUND, (), "llvm")
    cheap = lane.importer not in EXPENSIVE and not lane.importer.row.reads.is_exported_file
    usual = lane.opset is None and lane.checked and not (lane.symbolic or lane.given_sizes)
    return plain and cheap and usual and lane.variant == "relax"


def _lanes_of(entry: ChangedEntry) -> Iterator[LaneSpec]:
    match entry.kind:
        case Kind.CONVERTER | Kind.IMPORTER:
            read = entry.name.partition(" ")[0]
            with_these = (lane for lane in RELAX_LANES if lane.importer.row.function.converters == read)
            yield from filter(_only_imports, with_these)
        case Kind.LEGALIZATION:
            yield from _plain_importers(_compiles_otherwise)
        case Kind.GRADIENT:
            yield from (lane for lane in RELAX_LANES if lane.variant == "gradient")
        case Kind.PASS:
            yield from _of_pass(entry.name.rpartition(".")[2])
        case Kind.PIPELINE:
            yield from _of_pipeline(entry.name)
        case Kind.SCHEDULE:
            if ".gpu." in entry.name:  # no lane has rules of processors
                yield from (lane for lane in RELAX_LANES if lane.variant == SCHEDULES)


def _only_imports(lane: LaneSpec) -> bool:
    """Whether the lane does nothing more than a plain one but import in its way."""
    return (
        (lane.pipeline, lane.passes, lane.target) == (Pipeline.DEFAULT, (), "llvm")
        and lane.variant == "relax"
        and (lane.params in (Params.BOUND, Params.INPUTS) and not (lane.fresh or lane.as_library))
    )


def _compiles_otherwise(lane: LaneSpec) -> bool:
    """Whether the lane is a plain one, or compiles the same module in another way that costs little."""
    usual = lane.params in (Params.BOUND, Params.INPUTS) and lane.target in ("llvm", "llvm-O0", "c")
    return usual and lane.opset is None and not (lane.passes or lane.fresh or lane.as_library or lane.given_sizes)


def _plain_importers(fits: Callable[[LaneSpec], bool]) -> Iterator[LaneSpec]:
    """The lanes of the plain importer of each dialect that a function accepts."""
    importers = [plain_importer(dialect) for dialect in DIALECT_LANES]
    yield from (lane for lane in RELAX_LANES if lane.importer in importers and lane.variant == "relax" and fits(lane))


def _of_pipeline(name: str) -> Iterator[LaneSpec]:
    if name in ("relax.pipeline.zero_pipeline", "relax.PIPELINE_MAP.zero"):
        yield from _plain_importers(lambda lane: lane.pipeline is Pipeline.ZERO)
    elif "cpu_generic" in name:
        yield from _plain_importers(lambda lane: lane.pipeline is Pipeline.CPU)
    elif any(word in name for word in ("gpu_generic", "cuda", "rocm", "adreno")):
        yield from (lane for lane in RELAX_LANES if family_of(lane.target) in _GPU and lane.variant == "relax")
    elif "default_build" in name or name.startswith(("tirx.", "s_tir.", "pipeline.")):
        yield from _plain_importers(_compiles_otherwise)


def _of_pass(name: str) -> Iterator[LaneSpec]:
    yield from (lane for lane in RELAX_LANES if lane.params in _PARAMS.get(name, ()))
    yield from (lane for lane in RELAX_LANES if name in lane.passes)
    for row in TRANSFORMS:
        if row.pass_name == name and row.form is not ModuleForm.LOWERED:
            for dialect in DIALECT_LANES:
                importer = plain_importer(dialect)
                yield _drawn(importer, (*row.after, row.name))


def _drawn(importer: Importer, passes: tuple[str, ...]) -> LaneSpec:
    """A lane as `fuzzer.campaign.plan.drawn_lanes` draws them, with these passes."""
    name = f"relax-{importer}-drawn"
    return LaneSpec(name, Engine.TVM, importer, "relax", passes=passes, target="llvm-O0", asserts=False, checked=True)
