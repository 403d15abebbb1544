"""A case as a few lines of text."""

from __future__ import annotations

from graphs_by_hand import case_of

from fuzzer.report.listing import listing


def test_a_call_of_onnx_says_how_it_is_written_and_leaves_out_what_is_not_given() -> None:
    """The same call with a constant shape is another model, which TVM may compile."""
    reshape = ("v0", "Reshape-14:as-input", "x0", {"shape": (4,), "allowzero": None})
    case = case_of({"x0": "float32[2,2]"}, [reshape, ("v1", "Relu-14:branch", "v0")], "v1", opset=18)
    assert listing(case).splitlines() == [
        "x0: float32[2,2]",
        "v0 = Reshape(x0, shape=(4,))  # float32[4]; `shape` is an input",
        "v1 = Relu(v0)  # float32[4]; in If",
        "return v1",
    ]
