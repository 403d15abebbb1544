"""The pass of the small project: relu(relu(x)) becomes relu(x)."""

from __future__ import annotations

import tvm
from tvm import relax

RELU = tvm.ir.Op.get("relax.nn.relu")


@relax.expr_functor.mutator
class _Merging(relax.PyExprMutator):
    def visit_call_(self, call: relax.Call) -> relax.Expr:
        call = super().visit_call_(call)
        operand = self.lookup_binding(call.args[0]) if call.op == RELU else None
        return operand if isinstance(operand, relax.Call) and operand.op == RELU else call


def merge_relu(mod: tvm.IRModule) -> tvm.IRModule:
    mutator = _Merging(mod)
    for name, function in mod.functions_items():
        if isinstance(function, relax.Function):
            mutator.builder_.update_func(name, mutator.visit_expr(function))
    return mutator.builder_.get()
