"""The lanes that a person means who checks a model: llvm through the importers that fit, and the person's own target,
pipeline and optimisation level."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fuzzer.lanes import EVERY_TVM_LANE, lanes_of, select
from generators.graph import Invalid
from oracles.lane import LaneSpec, Pipeline, is_relax
from oracles.siblings import essential
from oracles.targets import canonical, family_of

PIPELINES: Mapping[str, Pipeline] = {"default": Pipeline.DEFAULT, **{each.value: each for each in Pipeline}}
"""By the name that a person gives it."""

MOST_OPT_LEVEL = 4

_USUAL = "llvm"

_BY_DEFAULT_EXPORTER = select("relax-onnx-dynamo-llvm")[0]


@dataclass(frozen=True, slots=True)
class LaneChoice:
    """What a person asks for.

    lanes      comma-separated globs; None: the plain lanes for llvm
    target     the lanes run for it too, as `oracles.targets.target_named` reads it; "": for no other target
    pipeline   of all lanes; None: their own
    opt_level  of all lanes; None: their own
    """

    lanes: str | None = None
    target: str = ""
    pipeline: Pipeline | None = None
    opt_level: int | None = None


def choice(
    lanes: str | None = None, target: Any = None, pipeline: str | None = None, opt_level: int | None = None
) -> LaneChoice:
    """Read what a person gives: a target is a text, a dictionary or a `tvm.target.Target`. Raise `Invalid` where
    something has no meaning."""
    if pipeline is not None and pipeline not in PIPELINES:
        raise Invalid(f"there is no pipeline {pipeline!r}: pass {', '.join(PIPELINES)}")
    if opt_level is not None and opt_level not in range(MOST_OPT_LEVEL + 1):
        raise Invalid(f"there is no optimisation level {opt_level!r}: pass 0 to {MOST_OPT_LEVEL}")
    found = None if pipeline is None else PIPELINES[pipeline]
    return LaneChoice(lanes, "" if target is None else canonical(_text(target)), found, opt_level)


def _text(target: Any) -> str:
    if isinstance(target, str):
        return target
    if isinstance(target, Mapping):
        return json.dumps(dict(target))
    if type(target).__module__.partition(".")[0] == "tvm":
        return str(target)
    raise Invalid(f"a {type(target).__name__} is no target: pass a text such as 'cuda -arch=sm_90'")


def lanes_for(wanted: LaneChoice, dialect: str) -> tuple[LaneSpec, ...]:
    """The lanes for cases of a dialect, without those that differ in their names alone. Raise `Invalid` where none
    matches."""
    chosen = _usual(dialect) if wanted.lanes is None else select(wanted.lanes, dialect)
    if not chosen:
        raise Invalid(f"no lane of cases of {dialect} matches {wanted.lanes!r}; `fuzz lanes` lists them")
    made = [_as_known(_with_settings(lane, wanted)) for lane in _with_target(chosen, wanted.target)]
    return tuple({essential(lane): lane for lane in reversed(made)}.values())[::-1]


def _usual(dialect: str) -> tuple[LaneSpec, ...]:
    """The plain lanes for llvm. An ONNX file of a module is the one that torch.onnx.export writes by default."""
    plain = [lane for lane in lanes_of(dialect).plain if lane.target == _USUAL]
    return tuple(_BY_DEFAULT_EXPORTER if lane.importer.row.reads.is_exported_file else lane for lane in plain)


def _with_settings(lane: LaneSpec, wanted: LaneChoice) -> LaneSpec:
    """The lane of Relax with the pipeline and the optimisation level."""
    if not is_relax(lane):
        return lane
    if wanted.pipeline is not None and wanted.pipeline is not lane.pipeline:
        lane = replace(lane, pipeline=wanted.pipeline, name=f"{lane.name}-{wanted.pipeline}")
    if wanted.opt_level is not None and wanted.opt_level != lane.opt_level:
        lane = replace(lane, opt_level=wanted.opt_level, name=f"{lane.name}-opt{wanted.opt_level}")
    return lane


def _with_target(lanes: Sequence[LaneSpec], target: str) -> Iterator[LaneSpec]:
    """The lanes, and those for llvm for the target too; where none of them is for llvm, all of them."""
    yield from lanes
    relax = [lane for lane in lanes if is_relax(lane)] if target else []
    for lane in [each for each in relax if family_of(each.target) == _USUAL] or relax:
        yield replace(lane, target=target, name=lane_name(lane.name, target))


def lane_name(name: str, target: str) -> str:
    """The name of a lane for llvm that compiles for another target: `relax-export-cuda-arch-sm_90`."""
    return f"{name.removesuffix('-llvm')}-{re.sub(r'[^A-Za-z0-9_.]+', '-', target)}"[:80].rstrip("-")


def _as_known(lane: LaneSpec) -> LaneSpec:
    """The lane as campaigns have it, if they have one that computes the same."""
    if lane in EVERY_TVM_LANE:
        return lane
    return next((each for each in EVERY_TVM_LANE if essential(each) == essential(lane)), lane)
