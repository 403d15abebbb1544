"""Write generators/torch/ops/aten.json: the operators of aten that a case may call by their exact overload.

    python benchmarks/aten_operators.py --write      writes the file again
    python benchmarks/aten_operators.py              says whether the file is what the installed PyTorch says

`functional` has the overloads of each operator whose results depend on its operands alone, and that does nothing else:
it changes no operand, draws no random number, reads no file, prints nothing, and gives no memory that nobody wrote.
`random` has the overloads that draw random numbers. Some of them draw none where an argument says so: a probability of
0, or a flag that says that the model is not in training.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

FILE = Path(__file__).parents[1] / "generators" / "torch" / "ops" / "aten.json"

KINDS = re.compile(r"(Optional\[)?(List\[)?(Optional\[)?(Tensor|int|SymInt|float|bool|number|str|Device)\]*")
"""The types of the arguments that a case can write."""

RESULTS = ("Tensor", "List[Tensor]")

NUMBERS = ("item.default", "_local_scalar_dense.default")
"""What gives a number of Python."""

UNWRITTEN = re.compile(r"_?(new_)?empty|_?(sparse_)?resize|_efficientzerotensor|set$|_make_dep_token|_?pin_memory")
"""What gives memory that nobody wrote, or another kind of memory."""

UNCHECKED = re.compile(
    r"backward|unsafe|_reshape_alias|_with_dims|sparse_\w+_tensor$|nested|jagged|to_padded|_copy_from|_sparse_to_sparse"
    r"|_coalesced|fused_moving_avg|_fused_|_amp_|_batch_dim|_dual|_fw_primal|_masked_scale"
)
"""What trusts its operands (gradients, strides, indices of sparse tensors), what belongs to transforms, or what changes
an operand although its schema does not say so."""

ELSEWHERE = re.compile(
    r"cudnn|miopen|mkldnn|mps|cuda|cslt|fbgemm|vulkan|xnnpack|nnpack|hpu|xpu|mtia|_philox|_semi_structured|_spsolve"
    r"|_flash_attention|_efficient_attention|_dyn_quant|_convert_weight|_weight_int|_mixed_dtypes|_scaled|_grouped_mm"
    r"|_test_|_foobar|_print|from_file|_thnn_|_triton|_lazy|_wrapped|_feature_meta|_autocast|_functional_|overrideable"
)
"""What other devices compute, what packs weights for one kernel, what tests PyTorch or asserts, and what reads or
writes outside of tensors."""

STATISTICS = "running_mean"
"""Operators with this argument change it in training, although their schema does not say so."""


def operators() -> dict[str, dict[str, list[str]]]:
    """Return `functional` and `random`: by operator, its overloads, in alphabetical order."""
    found: dict[str, dict[str, list[str]]] = {"functional": {}, "random": {}}
    for name, overload, operator in sorted(_overloads(), key=lambda each: each[:2]):
        kind = "random" if is_random(operator) else "functional"
        found[kind].setdefault(name, []).append(overload)
    return found


def is_random(operator: Any) -> bool:
    seeded = torch.Tag.nondeterministic_seeded in operator.tags
    return seeded or any("Generator" in str(argument.type) for argument in operator._schema.arguments)


def _overloads() -> Iterator[tuple[str, str, Any]]:
    schemas: list[Any] = torch._C._jit_get_all_schemas()
    for schema in schemas:
        library, _, name = schema.name.partition("::")
        overload = schema.overload_name or "default"
        full = f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name
        if library != "aten" or not torch._C._dispatch_has_kernel(full) or not _fits(name, overload, schema):
            continue
        yield name, overload, getattr(getattr(torch.ops.aten, name), overload)


def _fits(name: str, overload: str, schema: Any) -> bool:
    if schema.is_mutable or any(pattern.search(name) for pattern in (UNCHECKED, ELSEWHERE)) or UNWRITTEN.match(name):
        return False
    if any(argument.name == STATISTICS for argument in schema.arguments) and "no_training" not in name:
        return False
    kinds = [str(argument.type) for argument in schema.arguments]
    if not all(KINDS.fullmatch(kind) or kind == "Optional[Generator]" for kind in kinds):
        return False
    gives = [str(result.type) for result in schema.returns]
    return f"{name}.{overload}" in NUMBERS or (bool(gives) and all(kind in RESULTS for kind in gives))


def text() -> str:
    """The file: one line for each operator."""
    kinds = []
    for kind, named in operators().items():
        lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(overloads)}" for name, overloads in named.items())
        kinds.append(f" {json.dumps(kind)}: {{\n{lines}\n }}")
    return "{\n" + ",\n".join(kinds) + "\n}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the file again")
    if parser.parse_args().write:
        FILE.write_text(text())
    elif FILE.read_text() != text():
        sys.exit(f"{FILE.name} is not what PyTorch {torch.__version__} says: run with --write")


if __name__ == "__main__":
    main()
