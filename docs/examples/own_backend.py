"""A backend for relu, right and wrong, and its checks: `python own_backend.py [FOLDER]` (docs/passes.md)."""

import sys
from pathlib import Path

import tvm
from tvm import relax, te
from tvm.relax.dpl import is_op, wildcard

import difftvm


def generator(floor):
    """A code generator as RunCodegen calls it. It computes max(x, floor), which is relu where floor is 0."""

    def generate(functions, options, constants):
        kernels = ({function.attrs["global_symbol"]: kernel(function, floor)} for function in functions)
        return [tvm.compile(tvm.IRModule(each), target="llvm").mod for each in kernels]

    return generate


def kernel(function, floor):
    type = function.params[0].ty
    x = te.placeholder([int(size) for size in type.shape.values], str(type.dtype), "x")
    result = te.compute(x.shape, lambda *i: te.max(x(*i), tvm.tirx.const(floor, x.dtype)), "result")
    return te.create_prim_func([x, result]).with_attr("global_symbol", function.attrs["global_symbol"])


tvm.register_global_func("relax.ext.exact_relu", generator(0), override=True)
tvm.register_global_func("relax.ext.wrong_relu", generator(1), override=True)


def partitioned(mod, backend):
    patterns = [(f"{backend}.relu", is_op("relax.nn.relu")(wildcard()))]
    mod = relax.transform.FuseOpsByPattern(patterns, annotate_codegen=True)(mod)
    return relax.transform.RunCodegen()(relax.transform.MergeCompositeFunctions()(mod))


def exact_relu(mod):
    return partitioned(mod, "exact_relu")


def wrong_relu(mod):
    return partitioned(mod, "wrong_relu")


def main(folder):
    for partition in exact_relu, wrong_relu:
        try:
            report = difftvm.check_backend(
                partition, ops="relu,exp,neg", tests=20, seed=1, most_findings=1, folder=folder / partition.__name__
            )
            print(f"{partition.__name__}: right in {report.tests} tests; it changed {report.changed} modules")
        except difftvm.FindingError as error:
            print(f"{partition.__name__}: {error}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if sys.argv[1:] else "own-backend"))
