"""Results of a given model in dtypes that a case holds in wider ones (`generators.graph.Given.small`)."""

from __future__ import annotations

from dataclasses import replace

from fuzzer.lanes.base.compiler_error import OtherDtype
from generators.graph import SMALL_DTYPES, Array, Case
from oracles.outcome import Built, Ran


def with_held_results(case: Case, result: Ran | Built) -> Ran | Built:
    """The results as the case holds them. Raise `OtherDtype` where one of them is not in the model's dtype."""
    if case.given is None or not case.given.small or not isinstance(result, Ran):
        return result
    dtypes = tuple(case.given.small.get(name, "") for name in case.graph.outputs)
    again = _held(result.again, dtypes) if result.again is not None else None
    return replace(result, outputs=_held(result.outputs, dtypes), again=again)


def _held(outputs: tuple[Array, ...], dtypes: tuple[str, ...]) -> tuple[Array, ...]:
    """`dtypes` are those of the model; "" for one that a case has."""
    wanted = (*dtypes, *("",) * (len(outputs) - len(dtypes)))
    return tuple(_as_held(place, array, wanted[place]) for place, array in enumerate(outputs))


def _as_held(place: int, array: Array, dtype: str) -> Array:
    if not dtype:
        return array
    if str(array.dtype) != dtype:
        raise OtherDtype(f"output {place} is {array.dtype}, not {dtype}")
    return array.astype(SMALL_DTYPES[dtype].numpy)
