"""The judgement of a run of a Relax module, with runs that lie."""

from __future__ import annotations

import numpy as np
from fakes import expect

from oracles.finding import Kind
from oracles.outcome import Facts, IllFormed, Raised, Ran, Stage
from oracles.relax_module import objection

RIGHT = (expect([1.0, 2.0]),)
ILL = IllFormed("own:drop", "ValueError", "a variable without a definition")


def ran(*outputs: object) -> Ran:
    return Ran(tuple(np.asarray(each, np.float32) for each in outputs))


def test_each_lie_has_its_kind() -> None:
    one = ran([1.0, 2.0])
    raised = Raised(Stage.COMPILE, "InternalError", "Check failed")
    assert objection(one, RIGHT) is None
    assert objection(ran([1.0, 2.0], [0.0]), RIGHT) == (
        Kind.WRONG_ARITY,
        "result 0: expected 1 outputs, and it is 2 outputs",
    )
    assert objection(ran([1.0]), RIGHT) == (Kind.WRONG_SHAPE, "result 0: expected [2], and it is [1]")
    wide = Ran((one.outputs[0].astype(np.float64),))
    assert objection(wide, RIGHT) == (Kind.WRONG_DTYPE, "result 0: expected float32, and it is float64")
    assert objection(ran([1.0, 3.0]), RIGHT) == (
        Kind.WRONG_VALUE,
        "result 0: expected 2.0 at [1], and it is 3.0 (1 of 2 elements is wrong)",
    )
    assert objection(raised, RIGHT) == (Kind.INTERNAL_ERROR, "InternalError: Check failed")


def test_an_ill_formed_module_explains_what_follows() -> None:
    message = "after own:drop, TVM's checker refuses the module: a variable without a definition"
    assert objection(Ran(ran([9.0]).outputs, facts=Facts(ill_formed=ILL)), RIGHT) == (Kind.ILL_FORMED, message)
