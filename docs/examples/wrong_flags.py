"""A change of TVM for the worse that shows with two options together alone: relu is wrong at opt_level 3 without
vectorization. `docs/around.md` finds the two."""

import tvm
from tvm import te
from tvm.ir.transform import PassContext

legalize_relu = tvm.ir.Op.get("relax.nn.relu").get_attr("FLegalize")


def legalize(builder, call):
    context = PassContext.current()
    if context.opt_level < 3 or "tirx.disable_vectorize" not in context.config:
        return legalize_relu(builder, call)

    def compute(x):
        return te.compute(x.shape, lambda *i: x(*i), name="relu")

    return builder.call_te(compute, *call.args)


tvm.ir.register_op_attr("relax.nn.relu", "FLegalize", legalize, level=15)
