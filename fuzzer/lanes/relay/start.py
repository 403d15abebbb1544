"""A small program that proves that a Relay TVM builds and runs. The zygote runs it before it forks."""

from __future__ import annotations

import numpy as np


def build_and_run() -> None:
    """Compute x + x through relay.build and the graph executor. Raise where this TVM has no Relay, or adds wrongly."""
    import tvm
    from tvm import relay
    from tvm.contrib.graph_executor import GraphModule

    x = relay.var("x", shape=(2, 3), dtype="float32")
    module = tvm.IRModule.from_expr(relay.Function([x], relay.add(x, x)))
    executor = GraphModule(relay.build(module, target="llvm")["default"](tvm.cpu()))
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    executor.run(x=data)
    if not np.array_equal(executor.get_output(0).numpy(), data + data):
        raise AssertionError("Relay's x + x is not x + x")
