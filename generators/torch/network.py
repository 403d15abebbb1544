"""A small network of PyTorch that every lane supports."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import NumpySource
from generators.graph import Case, DType, TensorType
from generators.random_graph import with_values
from generators.torch.motifs import call


def network() -> Case:
    b = Builder(NumpySource(0))
    x = b.fresh_input(TensorType(DType.FLOAT32, (1, 2, 6, 6)))
    x = call(b, "pad_constant", x, pad=(1, -1), value=0.5)
    x = call(b, "conv2d", x, b.param(DType.FLOAT32, 3, 2, 3, 3), padding=(1, 1))
    x = call(b, "max_pool2d", call(b, "relu", x), kernel_size=(2, 2))
    x = call(b, "flatten", x, start_dim=1)
    x = call(b, "linear", x, b.param(DType.FLOAT32, 4, 27), b.param(DType.FLOAT32, 4))
    x = call(b, "softmax", x, dim=-1)
    x = call(b, "squeeze", call(b, "unsqueeze", x, dim=0), dim=0)
    x = call(b, "slice", x, dim=1, start=1, end=None, step=1)
    call(b, "add_scalar", call(b, "mean", x, dim=(1,), keepdim=True), other=1.5)
    return with_values(b, "warm-up")
