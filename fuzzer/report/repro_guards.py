"""Values for the part of `repro.py` that puts tensors into larger buffers, for accesses outside of them."""

from __future__ import annotations

from dataclasses import dataclass

from fuzzer.cases.fillings import LEAST_MARGIN, filled_dtype, high, low
from fuzzer.report.script_source import NOTHING, Source, literal_of, name
from oracles.finding import Finding
from oracles.lane import Engine
from oracles.memory_access import Access, MemoryAccess


@dataclass(frozen=True, slots=True)
class Guards:
    """Which tensors stand in larger buffers.

    of      "inputs", "constants", "allocated" (outputs and intermediate tensors), or "" for other findings
    dtype   only tensors of this dtype do
    item    bytes of one element
    margin  bytes of the buffer on each side of a tensor
    low     what stands there in the first run
    high    what stands there in the second run
    write   whether the model writes there; otherwise it reads
    """

    of: str = ""
    dtype: Source = NOTHING
    item: int = 1
    margin: int = 0
    low: Source = NOTHING
    high: Source = NOTHING
    write: bool = False


def parts(finding: Finding) -> Guards:
    access = finding.evidence
    if not isinstance(access, MemoryAccess) or finding.lane.engine is not Engine.TVM:
        return Guards()
    dtype = filled_dtype(access.dtype)
    margin = LEAST_MARGIN * (1 + access.distance * dtype.itemsize // LEAST_MARGIN)
    return Guards(
        of=_owners(access),
        dtype=name(str(dtype)),
        item=dtype.itemsize,
        margin=margin,
        low=literal_of(low(dtype)),
        high=literal_of(high(dtype)),
        write=access.access is Access.WRITE,
    )


def _owners(access: MemoryAccess) -> str:
    if access.tensor.startswith("input "):
        return "inputs"
    return "constants" if access.tensor == "a constant" else "allocated"
