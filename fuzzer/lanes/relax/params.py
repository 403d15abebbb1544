"""How parameters reach a compiled program. Each way needs its own steps before compilation and at run time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tvm import relax

from oracles.lane import CONSUMING, Params


def before_passes(module: Any, how: Params, params: Sequence[Any]) -> Any:
    match how:
        case Params.BOUND | Params.INPUTS:
            return module
        case Params.REBOUND:
            variables = module["main"].params
            own = variables[len(variables) - len(params) :]
            return relax.transform.BindParams("main", dict(zip(own, params, strict=True)))(module)
        case Params.BUNDLED:
            return relax.transform.BundleModelParams()(module)
        case Params.LIFTED | Params.LIFTED_CONSUMING:
            return relax.transform.LiftTransformParams()(module)
        case Params.LIFTED_SHARED:
            return relax.transform.LiftTransformParams(shared_transform=True)(module)


def options(how: Params) -> Mapping[str, object]:
    """Return the options of the PassContext."""
    return {CONSUMING: True} if how is Params.LIFTED_CONSUMING else {}


def main_of(machine: Any, how: Params, params: Sequence[Any]) -> Callable[..., Any]:
    """Return a function of the model's inputs alone.

    Lifting changes the signature of main: a second function computes everything that depends only on the parameters,
    and main takes its results."""
    main = machine["main"]
    match how:
        case Params.BOUND | Params.REBOUND:
            return main  # type: ignore[no-any-return]
        case Params.INPUTS:
            rest = tuple(params)
        case Params.BUNDLED:
            rest = (tuple(params),)
        case Params.LIFTED | Params.LIFTED_CONSUMING:
            rest = tuple(machine["main_transform_params"](list(params)))
        case Params.LIFTED_SHARED:
            rest = tuple(machine["transform_params"](list(params)))
    return lambda *inputs: main(*inputs, *rest)
