"""Draw cases of ONNX, and ask the checker, the shape inference of onnx, onnxruntime and the interpreter of onnx.

    python benchmarks/onnx_validity.py --count 2000 --seed 1 --ops 'Conv,*Pool' --nodes 5

A case is valid where the checker takes the file and infers the types of the case, and both readers run it and give
results of these types. `disagree` counts cases whose readers give clearly different numbers.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from fnmatch import fnmatchcase

import numpy as np
import onnx

from fuzzer.lanes.onnx.witnesses import by_interpreter, by_onnxruntime, file_of, to_proto
from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import Array, Case, Profile
from generators.onnx.random_graph import generate
from generators.onnx.rows import OPS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=5)
    parser.add_argument("--ops", default="*", help="globs of names, such as 'Conv,*Pool' or 'Clip-13'")
    parser.add_argument("--opset", type=int)
    parser.add_argument("--show", type=int, default=5, help="how many cases of each fault are printed")
    arguments = parser.parse_args()
    globs = arguments.ops.split(",")
    ops = [op for op in OPS if any(fnmatchcase(name, g) for g in globs for name in (op.name, op.name.split("-")[0]))]
    faults: Counter[str] = Counter()
    shown: Counter[str] = Counter()
    reached: Counter[str] = Counter()
    drawing = 0.0
    for number in range(arguments.count):
        began = time.thread_time()
        case = generate(
            NumpySource(arguments.seed, number), Limits(max_nodes=arguments.nodes), ops, opset=arguments.opset
        )
        drawing += time.thread_time() - began
        reached.update(node.op for node in case.graph.nodes)
        what, message = verdict(case)
        if what:
            names = sorted({node.title for node in case.graph.nodes})
            key = f"{what}: {','.join(names)}"
            faults[what] += 1
            shown[key] += 1
            if shown[key] <= arguments.show:
                print(f"-- {number} opset {case.graph.opset} {key}: {message}")
                for node in case.graph.nodes:
                    types = ", ".join(str(type) for type in case.graph.arg_types(node))
                    print(
                        f"   {node.op}({types}) {dict(node.attrs)} {node.form} -> {[str(v.type) for v in node.results]}"
                    )
    rate = arguments.count / drawing
    print(f"{arguments.count} cases, {len(reached)} of {len(ops)} rows; drawn at {rate:.0f} per CPU second")
    missing = [op.name for op in ops if op.name not in reached]
    print(f"never drawn: {', '.join(missing) or 'none'}")
    invalid = sum(count for what, count in faults.items() if what != "disagree")
    print(f"{100 * (1 - invalid / arguments.count):.2f} % valid; {dict(faults)}")
    return 0


def verdict(case: Case) -> tuple[str, str]:
    """What is wrong with a case, and the message; two empty texts where nothing is."""
    file = file_of(case)
    model = to_proto(file.model)
    try:
        onnx.checker.check_model(_with_types(model, case), full_check=True)
    except Exception as error:
        return "checker", _line(error)
    wanted = case.bound.output_types
    runs = []
    for name, run in (("onnxruntime", by_onnxruntime), ("interpreter", by_interpreter)):
        try:
            outputs = run(model, file.inputs)
        except Exception as error:
            return name, _line(error)
        found = [f"{array.dtype}{list(array.shape)}" for array in outputs]
        if found != [f"{type.dtype}{list(type.sizes)}" for type in wanted]:
            return f"{name} type", f"{found} instead of {[str(type) for type in wanted]}"
        runs.append(outputs)
    for one, other in zip(*runs, strict=True):
        if case.profile is Profile.NORMAL and not _close(one, other):
            return "disagree", f"{one.reshape(-1)[:6]} {other.reshape(-1)[:6]}"
    return "", ""


def _with_types(model: onnx.ModelProto, case: Case) -> onnx.ModelProto:
    """A copy with the types of the case for all values: the checker compares its inference with them. Without them it
    knows nothing behind old versions without inference and operators of com.microsoft, and ends the process at an If.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for value in (value for node in case.bound.nodes for value in node.results):
        element = onnx.helper.np_dtype_to_tensor_dtype(value.type.dtype.numpy)
        copy.graph.value_info.append(onnx.helper.make_tensor_value_info(value.name, element, value.type.sizes))
    return copy


def _close(one: Array, other: Array) -> bool:
    a, b = (array.astype(np.float64) for array in (one, other))
    coarse = {2: 0.05}.get(one.dtype.itemsize, 1e-3)
    return bool(np.allclose(a, b, rtol=coarse, atol=coarse, equal_nan=True))


def _line(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} {frame.name}: {' '.join(str(error).split())[:300]}"


if __name__ == "__main__":
    sys.exit(main())
