"""The lines of `repro.py` that apply a lane's passes to `mod` and compile it."""

from __future__ import annotations

from fuzzer.report.python_source import literal_of
from oracles.lane import CONSUMING, DEFAULT_OPT_LEVEL, Execution, LaneSpec, Params, Pipeline
from oracles.targets import TARGETS_BY_NAME
from oracles.transforms import ROUND_TRIPS, transform_named

_BEFORE_PASSES = {
    Params.REBOUND: [
        'own = mod["main"].params[-len(params) :]',
        'mod = relax.transform.BindParams("main", dict(zip(own, params)))(mod)',
    ],
    Params.BUNDLED: ["mod = relax.transform.BundleModelParams()(mod)"],
    Params.LIFTED: ["mod = relax.transform.LiftTransformParams()(mod)"],
    Params.LIFTED_CONSUMING: ["mod = relax.transform.LiftTransformParams()(mod)"],
    Params.LIFTED_SHARED: ["mod = relax.transform.LiftTransformParams(shared_transform=True)(mod)"],
}


def relax_steps(lane: LaneSpec, check_after: str, *, compiles: bool, checks: bool, device: str) -> list[str]:
    """The lines of a Relax lane. `compiles` is false if a pass fails. `checks`: an instrument checks the module.
    `device` is the kind of a target whose architecture TVM detects, or ""."""
    lines = transforms(lane, check_after)
    if compiles and lane.pipeline is Pipeline.ZERO:
        lines.append('mod = relax.get_pipeline("zero")(mod)')
    if lane.passes or lane.pipeline is not Pipeline.DEFAULT or not _is_plain(lane.target):
        lines += [_compile(lane, "target")] if compiles else []
        name = " as target" if any("target" in line for line in lines) else ""
        lines = within(f"{_target(lane, device)}{name}", lines)
    elif compiles:
        lines.append(_compile(lane, f'"{lane.target}"'))
    options = context(lane, checks=checks)
    return within(f"tvm.transform.PassContext({', '.join(options)})", lines) if options else lines


def dynamo_passes(lane: LaneSpec, check_after: str) -> list[str]:
    pipeline = [] if lane.pipeline is Pipeline.DEFAULT else [f'mod = relax.get_pipeline("{lane.pipeline}")(mod)']
    return [*transforms(lane, check_after), *pipeline]


def relay_steps(lane: LaneSpec) -> list[str]:
    disabled = f", disabled_pass={literal_of(list(lane.disabled))}" if lane.disabled else ""
    asserts = "" if lane.asserts else ', config={"tir.disable_assert": True}'
    build = "relay.vm.compile" if lane.executor is Execution.VM else "relay.build"
    lines = [f"mod = {transform_named(name).source}" for name in lane.passes]
    return within(
        f"tvm.transform.PassContext(opt_level={lane.opt_level}{disabled}{asserts})",
        [*lines, f'lib = {build}(mod, target="{lane.target}", params=params)'],
    )


def within(context: str, lines: list[str]) -> list[str]:
    return [f"with {context}:", *("    " + line for line in lines)]


def transforms(lane: LaneSpec, check_after: str) -> list[str]:
    lines = list(_BEFORE_PASSES.get(lane.params, []))
    for name in lane.passes:
        lines.append(f"mod = {transform_named(name).source}")
        if name == check_after and name in ROUND_TRIPS:
            lines.append("check(mod)")
    return lines


def context(lane: LaneSpec, *, checks: bool) -> list[str]:
    """The arguments of PassContext that differ from its defaults."""
    options = [*lane.options, *([] if lane.asserts else ["tirx.disable_assert"])]
    options += [CONSUMING] if lane.params is Params.LIFTED_CONSUMING else []
    arguments = [f"opt_level={lane.opt_level}"] if lane.opt_level != DEFAULT_OPT_LEVEL else []
    arguments += [f"config={literal_of(dict.fromkeys(options, True))}"] if options else []
    arguments += [f"disabled_pass={literal_of(list(lane.disabled))}"] if lane.disabled else []
    return arguments + (["instruments=[Checker()]"] if checks else [])


def _compile(lane: LaneSpec, target: str) -> str:
    whole = ", relax_pipeline=relax.backend.cpu_generic.get_default_pipeline(target)"
    more = whole if lane.pipeline is Pipeline.CPU else ""
    if lane.executor is Execution.COMPILED:
        return f'executable = relax.build(mod, {target}{more}, exec_mode="compiled")'
    return f"executable = tvm.compile(mod, {target}{more})"


def _target(lane: LaneSpec, device: str) -> str:
    if device or _is_plain(lane.target):
        return f'tvm.target.Target("{device or lane.target}")'
    return f"tvm.target.Target({literal_of(dict(TARGETS_BY_NAME[lane.target].config))})"


def _is_plain(target: str) -> bool:
    """Whether TVM needs only the name of the target."""
    return dict(TARGETS_BY_NAME[target].config) == {"kind": target}
