"""The lines of `repro.py` that apply a lane's passes to `mod` and compile it."""

from __future__ import annotations

from fuzzer.report.script_source import NOTHING, Source, joined, literal_of, own_text, quoted, source
from oracles.lane import CONSUMING, DEFAULT_OPT_LEVEL, Execution, LaneSpec, Params, Pipeline
from oracles.targets import target_named
from oracles.transforms import ROUND_TRIPS, transform_named

_BEFORE_PASSES = {
    Params.REBOUND: [
        source('own = mod["main"].params[-len(params) :]'),
        source('mod = relax.transform.BindParams("main", dict(zip(own, params)))(mod)'),
    ],
    Params.BUNDLED: [source("mod = relax.transform.BundleModelParams()(mod)")],
    Params.LIFTED: [source("mod = relax.transform.LiftTransformParams()(mod)")],
    Params.LIFTED_CONSUMING: [source("mod = relax.transform.LiftTransformParams()(mod)")],
    Params.LIFTED_SHARED: [source("mod = relax.transform.LiftTransformParams(shared_transform=True)(mod)")],
}


def relax_steps(
    lane: LaneSpec, check_after: str, *, compiles: bool, checks: bool, device: str, launched: bool = False
) -> list[Source]:
    """The lines of a Relax lane. `compiles` is false if a pass fails. `checks`: an instrument checks the module.
    `device` is the kind of a target whose architecture TVM detects, or "". `launched`: the script launches the
    kernels."""
    lines = transforms(lane, check_after)
    if compiles and lane.pipeline is Pipeline.ZERO:
        lines.append(source('mod = relax.get_pipeline("zero")(mod)'))
    if lane.passes or lane.pipeline is not Pipeline.DEFAULT or not _is_plain(lane.target):
        lines += [_compile(lane, source("target"))] if compiles else []
        named = source(" as target") if any("target" in line for line in lines) else NOTHING
        lines = within(source("{}{}", _target(lane, device), named), lines)
    elif compiles:
        lines.append(_compile(lane, quoted(lane.target)))
    options = context(lane, checks=checks, launched=launched)
    return within(source("tvm.transform.PassContext({})", joined(", ", options)), lines) if options else lines


def dynamo_passes(lane: LaneSpec, check_after: str) -> list[Source]:
    named = source("mod = relax.get_pipeline({})(mod)", quoted(lane.pipeline))
    return [*transforms(lane, check_after), *([] if lane.pipeline is Pipeline.DEFAULT else [named])]


def relay_steps(lane: LaneSpec) -> list[Source]:
    disabled = source(", disabled_pass={}", literal_of(list(lane.disabled))) if lane.disabled else NOTHING
    asserts = NOTHING if lane.asserts else source(', config={{"tir.disable_assert": True}}')
    build = source("relay.vm.compile") if lane.executor is Execution.VM else source("relay.build")
    return within(
        source("tvm.transform.PassContext(opt_level={}{}{})", lane.opt_level, disabled, asserts),
        [
            *map(_applied, lane.passes),
            source("lib = {}(mod, target={}, params=params)", build, quoted(lane.target)),
        ],
    )


def within(context: Source, lines: list[Source]) -> list[Source]:
    return [source("with {}:", context), *(source("    {}", line) for line in lines)]


def _applied(pass_name: str) -> Source:
    return source("mod = {}", own_text(transform_named(pass_name).source))


def transforms(lane: LaneSpec, check_after: str) -> list[Source]:
    lines = list(_BEFORE_PASSES.get(lane.params, []))
    for name in lane.passes:
        lines.append(_applied(name))
        if name == check_after and name in ROUND_TRIPS:
            lines.append(source("check(mod)"))
    return lines


def context(lane: LaneSpec, *, checks: bool, launched: bool = False) -> list[Source]:
    """The arguments of PassContext that differ from its defaults."""
    options = [*lane.options, *([] if lane.asserts and not launched else ["tirx.disable_assert"])]
    options += [CONSUMING] if lane.params is Params.LIFTED_CONSUMING else []
    arguments = [source("opt_level={}", lane.opt_level)] if lane.opt_level != DEFAULT_OPT_LEVEL else []
    arguments += [source("config={}", literal_of(dict.fromkeys(options, True)))] if options else []
    arguments += [source("disabled_pass={}", literal_of(list(lane.disabled)))] if lane.disabled else []
    instruments = [*([source("Checker()")] if checks else []), *([source("Kernels()")] if launched else [])]
    return arguments + ([source("instruments=[{}]", joined(", ", instruments))] if instruments else [])


def _compile(lane: LaneSpec, target: Source) -> Source:
    whole = source(", relax_pipeline=relax.backend.cpu_generic.get_default_pipeline(target)")
    more = whole if lane.pipeline is Pipeline.CPU else NOTHING
    if lane.executor is Execution.COMPILED:
        return source('executable = relax.build(mod, {}{}, exec_mode="compiled")', target, more)
    return source("executable = tvm.compile(mod, {}{})", target, more)


def _target(lane: LaneSpec, device: str) -> Source:
    if device or _is_plain(lane.target):
        return source("tvm.target.Target({})", quoted(device or lane.target))
    return source("tvm.target.Target({})", literal_of(dict(target_named(lane.target).config)))


def _is_plain(target: str) -> bool:
    """Whether TVM needs only the name of the target."""
    return dict(target_named(target).config) == {"kind": target}
