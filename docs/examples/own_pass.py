"""Three passes of Relax, and their checks: `python own_pass.py [FOLDER]`. One is right (docs/passes.md)."""

import sys
from pathlib import Path

import tvm
from tvm import relax

import difftvm

NEGATIVE, RELU = tvm.ir.Op.get("relax.negative"), tvm.ir.Op.get("relax.nn.relu")


def remove_double_negation(mod):
    """-(-x) becomes x."""
    return rewritten(mod, DoubleNegation)


def remove_negation(mod):
    """-x becomes x, which is wrong: nobody looks whether x is negative itself."""
    return rewritten(mod, Negation)


def repeat_relu(mod):
    """relu(x) becomes relu(relu(x)), which is the same. But a second run repeats it again."""
    return rewritten(mod, Relu)


@relax.expr_functor.mutator
class DoubleNegation(relax.PyExprMutator):
    def visit_call_(self, call):
        call = super().visit_call_(call)
        operand = self.lookup_binding(call.args[0]) if call.op == NEGATIVE else None
        return operand.args[0] if isinstance(operand, relax.Call) and operand.op == NEGATIVE else call


@relax.expr_functor.mutator
class Negation(relax.PyExprMutator):
    def visit_call_(self, call):
        call = super().visit_call_(call)
        return call.args[0] if call.op == NEGATIVE else call


@relax.expr_functor.mutator
class Relu(relax.PyExprMutator):
    def visit_call_(self, call):
        call = super().visit_call_(call)
        return relax.op.nn.relu(self.builder_.emit(call)) if call.op == RELU else call


def rewritten(mod, rewriter):
    mutator = rewriter(mod)
    for name, function in mod.functions_items():
        if isinstance(function, relax.Function):
            mutator.builder_.update_func(name, mutator.visit_expr(function))
    return mutator.builder_.get()


def main(folder):
    options = {"ops": "neg,relu,exp", "idempotent": True, "tests": 30, "seed": 1, "most_findings": 1}
    for pass_ in remove_double_negation, remove_negation, repeat_relu:
        try:
            report = difftvm.check_pass(pass_, **options, folder=folder / pass_.__name__)
            print(f"{pass_.__name__}: right in {report.tests} tests; it changed {report.changed} modules")
        except difftvm.FindingError as error:
            print(f"{pass_.__name__}: {error}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if sys.argv[1:] else "own-pass"))
