"""Relax modules of the user, with real TVM: right ones, wrong ones, and passes that change what they mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import difftvm

ROOT = Path(__file__).parents[3]
CHANGE = """
from tvm import relax

honest = relax.transform.LegalizeOps


def changed(*args, **kwargs):
    return honest({"relax.nn.relu": lambda builder, call: call.args[0]})


relax.transform.LegalizeOps = changed
"""


def attention() -> Any:
    """softmax(relu(x @ w)), of an open number of rows."""
    from tvm import relax

    builder = relax.BlockBuilder()
    from tvm import tirx

    rows = tirx.Var("n", "int64")
    x, w = relax.Var("x", relax.TensorType([rows, 8], "float32")), relax.Var("w", relax.TensorType([8, 8], "float32"))
    with builder.function("main", [x, w]):
        with builder.dataflow():
            made = builder.emit(relax.op.nn.relu(builder.emit(relax.op.matmul(x, w))))
            result = builder.emit_output(relax.op.nn.softmax(made, axis=-1))
        builder.emit_func_output(result)
    return builder.get()


def drop_relu(mod: Any) -> Any:
    """A wrong pass: it removes relu."""
    from tvm import relax, tvm_ffi  # type: ignore[attr-defined]  # noqa: F401

    return mod


@pytest.mark.tvm
def test_a_module_is_right_in_each_lane(tmp_path: Path) -> None:
    rows = np.ones((5, 8), np.float32)
    done = difftvm.check(attention(), {"x": rows}, folder=tmp_path)
    assert done.ran == ("relax-module-llvm", "relax-module-c", "relax-module-zero")
    assert (done.not_run, done.not_confirmed, done.not_covered, done.cases) == ((), (), (), 1)
    assert not (tmp_path / "modules").exists()
