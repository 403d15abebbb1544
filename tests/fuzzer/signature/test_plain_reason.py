"""The reason why a lane gave no result names the cause, in one line."""

from __future__ import annotations

import numpy as np

from fuzzer.signature.in_words import plain_reason
from oracles.outcome import Frame, Raised, Ran, Stage, Unsupported

OF_THE_EXPORTER = """Failed to convert the exported program to an ONNX model. \x1b[96mThis is step 3/3\x1b[0m
- Create an error report.

## Exception summary

<class 'torch.onnx.DispatchError'>: No ONNX function found for \x1b[1mquantize\x1b[0m
⬆️
<class 'torch.onnx.ConversionError'>: Error when translating node
"""


def test_the_cause_in_the_report_of_an_exporter_is_the_reason() -> None:
    raised = Raised(Stage.EXPORT, "torch.onnx.ConversionError", OF_THE_EXPORTER)
    assert plain_reason(raised) == (
        "export: torch.onnx.ConversionError: torch.onnx.DispatchError: No ONNX function found for quantize"
    )


def test_a_result_has_no_reason_and_a_refusal_has_its_own() -> None:
    assert plain_reason(Ran((np.zeros(1),))) == ""
    assert plain_reason(Unsupported(Stage.IMPORT, "no such operator")) == "import: no such operator"


def test_a_message_has_the_words_of_titles_with_what_is_at_fault() -> None:
    text = "CodeGenVM cannot emit this Relax operator directly. Run the pass\n call: R.mean(x, axis=[1])\n"
    assert plain_reason(Raised(Stage.COMPILE, "ValueError", text)) == "compile: ValueError: `R.mean` is not lowered"


def test_a_type_in_the_words_is_not_repeated() -> None:
    raised = Raised(Stage.IMPORT, "KeyError", "'num_heads'", (Frame("onnx_frontend.py", 7, "convert"),))
    assert plain_reason(raised) == "import: KeyError: 'num_heads' in `convert`"
